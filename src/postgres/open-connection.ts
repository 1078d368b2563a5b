/** Opens connections to the host that accepts writes, encrypted as the address requires. */
import { withTimeout } from '../event-loop/timeouts.ts'
import type { DatabaseAddress, DatabaseHost } from './address.ts'
import { Connection, type ConnectionOptions, connectTimeLimitOf, isServerError } from './connection.ts'
import { ReplyLost, sqlStateOf } from './database.ts'
import type { ServerIdentity } from './primary-tracker.ts'
import { openSecureSocket, type SecureSocketOptions } from './secure-socket.ts'

export interface OpenOptions extends ConnectionOptions {
  /** True if the connection is only opened to compare hosts. No request waits for it, so all hosts have time to reply. */
  isComparison?: boolean
}

/** The time that other hosts have to connect after the first one, once a primary is known. */
const COMPARISON_TIME_LIMIT_MS = 250
/** SQLSTATE: read_only_sql_transaction. */
export const READ_ONLY_SQLSTATE = '25006'

/** Addresses of poolers that reject settings in the startup message. */
const poolersWithoutSettings = new WeakSet<DatabaseAddress>()
/** SQLSTATE: protocol_violation. */
const PROTOCOL_VIOLATION = '08P01'

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
export async function openConnection(options: OpenOptions): Promise<Connection> {
  const { hosts, primary } = options.address
  const connected: Connection[] = []
  const attempts = hosts.map(host => connect(options, host))
  for (const attempt of attempts) attempt.then(connection => connected.push(connection)).catch(() => {})
  let chosen: Connection | undefined
  try {
    const first = await Promise.any(attempts)
    // A process that starts knows of no promotion, and the old primary may be the first to reply.
    const limitMs =
      primary?.position && !options.isComparison ? COMPARISON_TIME_LIMIT_MS : connectTimeLimitOf(options.address)
    const isComplete = await withTimeout(limitMs, Promise.allSettled(attempts)).then(
      () => true,
      () => false,
    )
    chosen = primary?.choosePrimary(connected, isComplete) ?? first
    return chosen
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error
  } finally {
    for (const attempt of attempts) attempt.then(each => each !== chosen && each.end()).catch(() => {})
  }
}

/** Connects to a host. With `sslmode=prefer`, retries without TLS if the server or its pg_hba.conf rejects TLS, as libpq does. */
async function connect(options: OpenOptions, host: DatabaseHost): Promise<Connection> {
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
  options: OpenOptions,
  host: DatabaseHost,
  tls: SecureSocketOptions | null,
): Promise<Connection> {
  const { address } = options
  const limitMs = connectTimeLimitOf(address)
  const negotiated = tls && (await openSecureSocket(host, tls, limitMs))
  // Without encryption, the driver opens its own socket: pipelined statements then take about a tenth less processor time.
  if (negotiated?.tls === 'none') negotiated.socket.destroy()
  // Connections that open at the same time each detect the pooler by themselves.
  const isPooled = poolersWithoutSettings.has(address)
  const connection = new Connection(options, host, negotiated?.tls === 'none' ? null : negotiated, isPooled)
  try {
    const readWriteState = connection.run<{ is_standby: boolean; read_only: boolean }>(READ_WRITE_STATE, [])
    // Some hosting providers do not grant the privilege to read it.
    const identity = connection.run<ServerIdentity>(READ_IDENTITY, []).catch(() => [])
    const [[server], [reported = null]] = await withTimeout(limitMs, Promise.all([readWriteState, identity]))
    if ((server?.is_standby || server?.read_only) && !address.isStandby)
      throw Object.assign(new Error('the server is read-only'), {
        code: READ_ONLY_SQLSTATE,
        isStandby: server.is_standby,
      })
    connection.identity = reported
    return connection
  } catch (failure) {
    connection.destroy()
    // No statement of a caller was sent, so no reply to one is lost.
    const error = failure instanceof ReplyLost ? failure.cause : failure
    if (isPooled || !isParameterRejection(error)) throw error
    poolersWithoutSettings.add(address)
    return connectWith(options, host, tls)
  }
}

function isParameterRejection(error: unknown): boolean {
  return isServerError(error) && sqlStateOf(error) === PROTOCOL_VIOLATION && /startup parameter/.test(String(error))
}
