/** The driver for PostgreSQL, porsager's `postgres`: one client a connection, opened to whichever host takes writes. */
import postgres from 'postgres'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { DatabaseAddress, DatabaseHost } from './address.ts'
import { wireTypes } from './wire-values.ts'

export interface DriverOptions {
  address: DatabaseAddress
  /** The server ends what takes longer. */
  statementTimeLimitMs: number
}

export interface Driver {
  sql: ReturnType<typeof createClient>
  /** Whether the connection is gone. */
  isLost: boolean
  /** Called when it goes. */
  onLost(): void
}

/** For a connection that can be used. */
export const CONNECT_TIME_LIMIT_MS = 2_000
/** SQLSTATE: read_only_sql_transaction. */
export const READ_ONLY = '25006'

/** A name makes the server parse and plan a statement once a connection. The product has a few dozen texts. */
export const PREPARED = { prepare: true, simple: false }

const GREETING = `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only`

/**
 * Connected, to the first of the hosts that takes writes: as libpq's `target_session_attrs=read-write`, whatever the address
 * asks for, since nothing here works on a standby.
 */
export async function openDriver(options: DriverOptions): Promise<Driver> {
  const attempts = options.address.hosts.map(host => connect(options, host))
  try {
    const first = await Promise.any(attempts)
    for (const attempt of attempts) attempt.then(each => each !== first && endDriver(each)).catch(() => {})
    return first
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error
  }
}

export function endDriver(driver: Driver): void {
  driver.sql.end({ timeout: 0 }).catch(() => {})
}

async function connect(options: DriverOptions, host: DatabaseHost): Promise<Driver> {
  const onClose = () => {
    driver.isLost = true
    driver.onLost()
  }
  const driver: Driver = { sql: createClient(options, host, onClose), isLost: false, onLost: () => {} }
  try {
    const [server] = await withinTimeLimit(
      CONNECT_TIME_LIMIT_MS,
      driver.sql.unsafe<{ read_only: boolean }[]>(GREETING, [], PREPARED),
    )
    if (server?.read_only) throw Object.assign(new Error('the server takes no writes'), { code: READ_ONLY })
    return driver
  } catch (error) {
    endDriver(driver)
    throw error
  }
}

/** Which host to use, when to try again and for how long to keep a connection is not left to it. */
function createClient(options: DriverOptions, { host, port }: DatabaseHost, onclose: () => void) {
  const { address, statementTimeLimitMs } = options
  const { user, password, database, tls } = address
  return postgres({
    user,
    password,
    database,
    ...(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : {}),
    host,
    port,
    // Where the host is an address, its certificate would else be compared with `localhost`.
    ssl: typeof tls === 'object' ? { host, ...tls } : tls,
    max: 1,
    connect_timeout: CONNECT_TIME_LIMIT_MS / 1_000,
    idle_timeout: 0,
    max_lifetime: 0,
    backoff: false,
    keep_alive: 30,
    fetch_types: false,
    debug: false,
    types: wireTypes,
    connection: { application_name: 'model-proxy', statement_timeout: statementTimeLimitMs },
    onnotice: () => {},
    onclose,
  })
}

/**
 * The driver would repeat a statement that has gone stale by itself, behind others that are under way, and hand one's rows to
 * another. It knows such errors by this field, which is therefore kept under another name.
 */
Object.defineProperty(postgres.PostgresError.prototype, 'routine', {
  get: () => undefined,
  set(routine: string) {
    Object.defineProperty(this, 'raisedBy', { value: routine })
  },
})

const INTERNAL_ERROR = 'XX000'

/**
 * What the statement was prepared for has been replaced: "cached plan must not change result type", "prepared statement does
 * not exist"; or was, in the midst of it. It has done nothing, and on this connection it never may.
 */
export function isStale(error: unknown): boolean {
  if (!(error instanceof postgres.PostgresError) || !('raisedBy' in error)) return false
  if (error.code === INTERNAL_ERROR) return /^(cache lookup failed|could not open relation)/.test(error.message)
  return error.raisedBy === 'RevalidateCachedQuery' || error.raisedBy === 'FetchPreparedStatement'
}

export function isServerError(error: unknown): boolean {
  return error instanceof postgres.PostgresError
}
