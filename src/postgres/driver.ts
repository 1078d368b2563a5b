/** The PostgreSQL driver, porsager's `postgres`: one client per connection, opened to the host that takes writes. */
import type { Socket } from 'node:net'
import postgres from 'postgres'
import { withTimeout } from '../event-loop/timeouts.ts'
import type { DatabaseAddress, DatabaseHost } from './address.ts'
import { sqlStateOf } from './database.ts'
import type { ServerIdentity } from './primary-tracker.ts'
import { openSecureSocket, type SecureSocketOptions, type TlsState } from './secure-socket.ts'
import { buildStartupParameters } from './session-settings.ts'
import { WIRE_TYPES } from './wire-format.ts'

export interface DriverOptions {
  address: DatabaseAddress
  /** The server aborts a statement that takes longer. */
  statementTimeLimitMs: number
  /** No request waits for it: all hosts have time to answer. */
  isComparison?: boolean
  /** Limit until a connection is usable; by default that of the address, or two seconds. */
  connectTimeLimitMs?: number | undefined
}

export interface Driver {
  sql: ReturnType<typeof createClient>
  /** Whether the connection is closed. */
  isLost: boolean
  /** Called when the connection closes. */
  onLost(): void
  /** Null where the server does not tell. */
  identity: ServerIdentity | null
  tls: TlsState
}

const CONNECT_TIME_LIMIT_MS = 2_000
/** How much longer than the first that answers the other hosts may need to be compared with it, where one is known to be no old primary. */
const OTHERS_TIME_LIMIT_MS = 250
/** SQLSTATE: read_only_sql_transaction. */
export const READ_ONLY_SQLSTATE = '25006'

/** Addresses of poolers that refuse settings at the start of a session, which they would have to carry along. */
const behindPooler = new WeakSet<DatabaseAddress>()
/** SQLSTATE: protocol_violation. */
const REFUSED_PARAMETER = '08P01'

/** Named statements, where they can be: the server parses and plans each of the product's few dozen texts once per connection. */
export const PREPARED_OPTIONS = { prepare: true, simple: false }

const GREETING = `select pg_is_in_recovery() as is_standby, current_setting('transaction_read_only')::boolean as read_only`

/** A standby is asked nothing that it would refuse. */
const IDENTITY = `select
  c.system_identifier::text as system,
  ('x' || left(case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_lsn()) end, 8))::bit(32)::integer as timeline,
  pg_postmaster_start_time()::text as instance
from pg_control_system() c`

/**
 * Connects to the host that takes writes, as libpq's `target_session_attrs=read-write` does. The address cannot ask for less, because the
 * proxy does not work on a standby. Of several, `address.primary` chooses. Rejects when there is none, or it was left behind.
 */
export async function openDriver(options: DriverOptions): Promise<Driver> {
  const { hosts, primary } = options.address
  const found: Driver[] = []
  const attempts = hosts.map(host => connect(options, host))
  for (const attempt of attempts) attempt.then(driver => found.push(driver)).catch(() => {})
  let chosen: Driver | undefined
  try {
    const first = await Promise.any(attempts)
    // Who starts knows of no promotion: the old primary may be the first to answer.
    const limitMs = primary?.position && !options.isComparison ? OTHERS_TIME_LIMIT_MS : connectLimitOf(options)
    const areAll = await withTimeout(limitMs, Promise.allSettled(attempts)).then(
      () => true,
      () => false,
    )
    chosen = primary?.choosePrimary(found, areAll) ?? first
    return chosen
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error
  } finally {
    for (const attempt of attempts) attempt.then(each => each !== chosen && closeDriver(each)).catch(() => {})
  }
}

export function closeDriver(driver: Driver): void {
  driver.sql.end({ timeout: 0 }).catch(() => {})
}

function connectLimitOf({ address, connectTimeLimitMs }: DriverOptions): number {
  return connectTimeLimitMs ?? address.connectTimeLimitMs ?? CONNECT_TIME_LIMIT_MS
}

/** With `sslmode=prefer` as libpq does: encrypted, or else without, where the server or its pg_hba.conf wants that. */
async function connect(options: DriverOptions, host: DatabaseHost): Promise<Driver> {
  const { tls } = options.address
  // A Unix socket is not encrypted, whatever the mode.
  if (tls === false || host.host.startsWith('/')) return connectWith(options, host, null)
  if (tls !== 'prefer') return connectWith(options, host, tls)
  try {
    return await connectWith(options, host, { rejectUnauthorized: false, isOptional: true })
  } catch (error) {
    if (!isTlsUnwanted(error)) throw error
    return connectWith(options, host, null).catch(() => {
      throw error
    })
  }
}

/** SQLSTATE: invalid_authorization_specification, as no line of pg_hba.conf fits. */
const NO_ENTRY = '28000'

function isTlsUnwanted(error: unknown): boolean {
  if (sqlStateOf(error) === NO_ENTRY) return true
  return error instanceof Error && 'code' in error && /^(ERR_SSL|ERR_TLS|EPROTO|ECONNRESET)/.test(String(error.code))
}

async function connectWith(
  options: DriverOptions,
  host: DatabaseHost,
  tls: SecureSocketOptions | null,
): Promise<Driver> {
  const limitMs = connectLimitOf(options)
  const offered = tls && (await openSecureSocket(host, tls, limitMs))
  // Without encryption, the driver opens its own socket.
  if (offered?.tls === 'none') offered.socket.destroy()
  const secured = offered?.tls === 'none' ? null : offered
  // Of several connections that open at once, each learns of the pooler by itself.
  const hasStated = !behindPooler.has(options.address)
  const onClose = () => {
    driver.isLost = true
    driver.onLost()
  }
  const sql = createClient(options, host, secured?.socket ?? null, onClose)
  const driver: Driver = { sql, isLost: false, onLost: () => {}, identity: null, tls: secured?.tls ?? 'none' }
  try {
    // A statement is sent when its result is awaited, and the first of them gets the reason of a refusal.
    const greeting = sql.unsafe<{ is_standby: boolean; read_only: boolean }[]>(GREETING, [], PREPARED_OPTIONS).execute()
    // Some operators let nobody ask.
    const identity = sql.unsafe<ServerIdentity[]>(IDENTITY, [], PREPARED_OPTIONS).catch(() => [])
    const [[server], [told = null]] = await withTimeout(limitMs, Promise.all([greeting, identity]))
    driver.identity = told
    const isReadOnly = server?.is_standby || server?.read_only
    if (isReadOnly && !options.address.isStandby)
      throw Object.assign(new Error('the server takes no writes'), {
        code: READ_ONLY_SQLSTATE,
        isStandby: server.is_standby,
      })
    return driver
  } catch (error) {
    closeDriver(driver)
    secured?.socket.destroy()
    if (!hasStated || !refusesParameters(error)) throw error
    behindPooler.add(options.address)
    return connectWith(options, host, tls)
  }
}

function refusesParameters(error: unknown): boolean {
  return isServerError(error) && sqlStateOf(error) === REFUSED_PARAMETER && /startup parameter/.test(String(error))
}

/** The driver asks for another one, where statements are left. */
function useOnce(socket: Socket): Socket {
  if (socket.destroyed) throw new Error('The connection was lost')
  return socket
}

/** Choosing a host, reconnecting and renewing connections are done by the callers, not by the driver. */
function createClient(
  options: DriverOptions,
  { host, port }: DatabaseHost,
  socket: Socket | null,
  onclose: () => void,
) {
  const { address, statementTimeLimitMs } = options
  const { user, password, database, startup, isPrepared = true } = address
  return postgres({
    user,
    password,
    database,
    ...(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : {}),
    host,
    port,
    // The socket is encrypted already.
    ssl: false,
    ...(socket ? { socket: () => useOnce(socket) } : {}),
    max: 1,
    connect_timeout: connectLimitOf(options) / 1_000,
    idle_timeout: 0,
    max_lifetime: 0,
    backoff: false,
    keep_alive: 30,
    fetch_types: false,
    debug: false,
    types: WIRE_TYPES,
    prepare: isPrepared,
    connection: {
      application_name: 'model-proxy',
      ...startup,
      ...buildStartupParameters(statementTimeLimitMs, behindPooler.has(address)),
    },
    onnotice: () => {},
    onclose,
  })
}

/**
 * The driver retries a statement with a stale plan by itself, behind others in flight, and then hands one statement's rows to another. It
 * recognizes such errors by the field `routine`, so that field is stored under another name.
 */
Object.defineProperty(postgres.PostgresError.prototype, 'routine', {
  get: () => undefined,
  set(routine: string) {
    Object.defineProperty(this, 'raisedBy', { value: routine })
  },
})

const INTERNAL_ERROR = 'XX000'

/**
 * Whether the statement's prepared plan is out of date ("cached plan must not change result type", "prepared statement does not exist"),
 * or an object was replaced while it ran. It has changed nothing, and can never succeed on this connection.
 */
export function isStalePlanError(error: unknown): boolean {
  if (!(error instanceof postgres.PostgresError) || !('raisedBy' in error)) return false
  if (error.code === INTERNAL_ERROR) return /^(cache lookup failed|could not open relation)/.test(error.message)
  return error.raisedBy === 'RevalidateCachedQuery' || error.raisedBy === 'FetchPreparedStatement'
}

export function isServerError(error: unknown): boolean {
  return error instanceof postgres.PostgresError
}
