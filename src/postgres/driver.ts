/** Opens connections with porsager's driver, `postgres`: one client per connection, to the host that accepts writes. */
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
  /** True if the connection is only opened to compare hosts. No request waits for it, so all hosts have time to reply. */
  isComparison?: boolean
  /** The time limit for opening a connection; by default the one of the address, or two seconds. */
  connectTimeLimitMs?: number | undefined
}

export interface Driver {
  sql: ReturnType<typeof createClient>
  /** True once the connection is closed. */
  isLost: boolean
  /** Called when the connection closes. */
  onLost(): void
  /** Null if the server does not report its identity. */
  identity: ServerIdentity | null
  tls: TlsState
}

const CONNECT_TIME_LIMIT_MS = 2_000
/** The time that other hosts have to connect after the first one, once a primary is known. */
const COMPARISON_TIME_LIMIT_MS = 250
/** SQLSTATE: read_only_sql_transaction. */
export const READ_ONLY_SQLSTATE = '25006'

/** Addresses of poolers that reject settings in the startup message. */
const poolersWithoutSettings = new WeakSet<DatabaseAddress>()
/** SQLSTATE: protocol_violation. */
const PROTOCOL_VIOLATION = '08P01'

/** Prepares statements by name if possible. The server then parses and plans each of the few dozen texts once per connection. */
export const PREPARED_OPTIONS = { prepare: true, simple: false }

const READ_WRITE_STATE = `select pg_is_in_recovery() as is_standby, current_setting('transaction_read_only')::boolean as read_only`

/** On a standby, the statement omits functions that would fail there. */
const READ_IDENTITY = `select
  c.system_identifier::text as system,
  ('x' || left(case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_lsn()) end, 8))::bit(32)::integer as timeline,
  pg_postmaster_start_time()::text as instance
from pg_control_system() c`

/**
 * Connects to the host that accepts writes, as libpq's `target_session_attrs=read-write` does. If several hosts accept writes,
 * `address.primary` chooses one. Rejects when no host accepts writes, and when the only one that does is an old primary.
 */
export async function openDriver(options: DriverOptions): Promise<Driver> {
  const { hosts, primary } = options.address
  const connected: Driver[] = []
  const attempts = hosts.map(host => connect(options, host))
  for (const attempt of attempts) attempt.then(driver => connected.push(driver)).catch(() => {})
  let chosen: Driver | undefined
  try {
    const first = await Promise.any(attempts)
    // A process that starts knows of no promotion, and the old primary may be the first to reply.
    const limitMs = primary?.position && !options.isComparison ? COMPARISON_TIME_LIMIT_MS : connectTimeLimit(options)
    const isComplete = await withTimeout(limitMs, Promise.allSettled(attempts)).then(
      () => true,
      () => false,
    )
    chosen = primary?.choosePrimary(connected, isComplete) ?? first
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

function connectTimeLimit({ address, connectTimeLimitMs }: DriverOptions): number {
  return connectTimeLimitMs ?? address.connectTimeLimitMs ?? CONNECT_TIME_LIMIT_MS
}

/** Connects to a host. With `sslmode=prefer`, retries without TLS if the server or its pg_hba.conf rejects TLS, as libpq does. */
async function connect(options: DriverOptions, host: DatabaseHost): Promise<Driver> {
  const { tls } = options.address
  // A Unix socket is not encrypted, whatever the mode.
  if (tls === false || host.host.startsWith('/')) return connectWith(options, host, null)
  if (tls !== 'prefer') return connectWith(options, host, tls)
  try {
    return await connectWith(options, host, { rejectUnauthorized: false, isOptional: true })
  } catch (error) {
    if (!isTlsRejected(error)) throw error
    return connectWith(options, host, null).catch(() => {
      throw error
    })
  }
}

/** SQLSTATE: invalid_authorization_specification. The server returns it if no line of pg_hba.conf matches. */
const INVALID_AUTHORIZATION = '28000'

function isTlsRejected(error: unknown): boolean {
  if (sqlStateOf(error) === INVALID_AUTHORIZATION) return true
  return error instanceof Error && 'code' in error && /^(ERR_SSL|ERR_TLS|EPROTO|ECONNRESET)/.test(String(error.code))
}

async function connectWith(
  options: DriverOptions,
  host: DatabaseHost,
  tls: SecureSocketOptions | null,
): Promise<Driver> {
  const limitMs = connectTimeLimit(options)
  const negotiated = tls && (await openSecureSocket(host, tls, limitMs))
  // Without encryption, the driver opens its own socket.
  if (negotiated?.tls === 'none') negotiated.socket.destroy()
  const secured = negotiated?.tls === 'none' ? null : negotiated
  // Connections that open at the same time each detect the pooler by themselves.
  const hasSentSettings = !poolersWithoutSettings.has(options.address)
  const onClose = () => {
    driver.isLost = true
    driver.onLost()
  }
  const sql = createClient(options, host, secured?.socket ?? null, onClose)
  const driver: Driver = { sql, isLost: false, onLost: () => {}, identity: null, tls: secured?.tls ?? 'none' }
  try {
    // The driver sends a statement when its result is awaited. The first one rejects with the reason why the connection failed.
    const readWriteState = sql
      .unsafe<{ is_standby: boolean; read_only: boolean }[]>(READ_WRITE_STATE, [], PREPARED_OPTIONS)
      .execute()
    // Some hosting providers do not grant the privilege to read it.
    const identity = sql.unsafe<ServerIdentity[]>(READ_IDENTITY, [], PREPARED_OPTIONS).catch(() => [])
    const [[server], [reported = null]] = await withTimeout(limitMs, Promise.all([readWriteState, identity]))
    driver.identity = reported
    const isReadOnly = server?.is_standby || server?.read_only
    if (isReadOnly && !options.address.isStandby)
      throw Object.assign(new Error('the server accepts no writes'), {
        code: READ_ONLY_SQLSTATE,
        isStandby: server.is_standby,
      })
    return driver
  } catch (error) {
    closeDriver(driver)
    secured?.socket.destroy()
    if (!hasSentSettings || !isParameterRejection(error)) throw error
    poolersWithoutSettings.add(options.address)
    return connectWith(options, host, tls)
  }
}

function isParameterRejection(error: unknown): boolean {
  return isServerError(error) && sqlStateOf(error) === PROTOCOL_VIOLATION && /startup parameter/.test(String(error))
}

/** Throws if the socket is closed. The driver would otherwise reconnect to run its remaining statements. */
function useOnce(socket: Socket): Socket {
  if (socket.destroyed) throw new Error('the connection to the database was lost')
  return socket
}

/** Creates a client for one connection. Callers choose the host, reconnect and renew connections; the driver does none of that. */
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
    connect_timeout: connectTimeLimit(options) / 1_000,
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
      ...buildStartupParameters(statementTimeLimitMs, poolersWithoutSettings.has(address)),
    },
    onnotice: () => {},
    onclose,
  })
}

/**
 * The driver retries a statement with a stale plan by itself, behind others in flight, and then returns the rows of one statement for another.
 * It recognizes such errors by the field `routine`. This setter stores the field as `raisedBy`, which turns the retry off.
 */
Object.defineProperty(postgres.PostgresError.prototype, 'routine', {
  get: () => undefined,
  set(routine: string) {
    Object.defineProperty(this, 'raisedBy', { value: routine })
  },
})

const INTERNAL_ERROR = 'XX000'

/**
 * Returns true if the statement's prepared plan is out of date ("cached plan must not change result type", "prepared statement does not
 * exist"), or if an object was replaced while it ran. The statement changed nothing, and can never succeed on this connection.
 */
export function isStalePlanError(error: unknown): boolean {
  if (!(error instanceof postgres.PostgresError) || !('raisedBy' in error)) return false
  if (error.code === INTERNAL_ERROR) return /^(cache lookup failed|could not open relation)/.test(error.message)
  return error.raisedBy === 'RevalidateCachedQuery' || error.raisedBy === 'FetchPreparedStatement'
}

export function isServerError(error: unknown): boolean {
  return error instanceof postgres.PostgresError
}
