/**
 * One connection to a PostgreSQL server. It uses a client of porsager's driver, `postgres`, that has one connection and never reconnects.
 * Statements are pipelined: each is sent without waiting for earlier replies.
 */
import type { Socket } from 'node:net'
import postgres from 'postgres'
import type { DatabaseAddress, DatabaseHost } from './address.ts'
import { ReplyLost } from './database.ts'
import type { ServerIdentity } from './primary-tracker.ts'
import type { SecureSocket, TlsState } from './secure-socket.ts'
import { buildStartupParameters } from './session-settings.ts'
import { encodeValue, WIRE_TYPES } from './wire-format.ts'

export interface ConnectionOptions {
  address: DatabaseAddress
  /** The server aborts a statement that takes longer; ten seconds by default. */
  statementTimeLimitMs?: number
}

export const STATEMENT_TIME_LIMIT_MS = 10_000
const CONNECT_TIME_LIMIT_MS = 2_000
/** One hour, varied by 10 %, so that connections are not all renewed at once. */
const LIFETIME_MS = 3_600_000

/** Prepares statements by name if possible. The server then parses and plans each of the few dozen texts once per connection. */
const PREPARED_OPTIONS = { prepare: true, simple: false }

export function connectTimeLimitOf({ connectTimeLimitMs }: DatabaseAddress): number {
  return connectTimeLimitMs ?? CONNECT_TIME_LIMIT_MS
}

export class Connection {
  readonly sql: ReturnType<typeof createClient>
  readonly tls: TlsState
  /** The identity of the server; null if the server does not report it. */
  identity: ServerIdentity | null = null
  /** The number of statements without a reply. */
  pendingStatements = 0
  /** `performance.now()` of the last reply, or of the first statement sent after it. */
  silentSinceMs = performance.now()
  /** `performance.now()` of the last reply; before the first reply, when the connection was created. */
  lastReplyAtMs = this.silentSinceMs
  /** True if a reply is overdue. The connection gets no more work while other connections are open. */
  isStalled = false
  /** `performance.now()` after which the pool renews the connection. */
  readonly retireAtMs = this.silentSinceMs + LIFETIME_MS * (0.9 + Math.random() / 5)
  hasEnded = false
  /** Called once, whichever side closes the connection. */
  onEnd: () => void = () => {}
  readonly #socket: Socket | undefined
  #isRetired = false

  /** `secured` is the encrypted socket; null if the driver opens its own. `isPooled` is true if the server rejects session settings. */
  constructor(options: ConnectionOptions, host: DatabaseHost, secured: SecureSocket | null, isPooled: boolean) {
    this.#socket = secured?.socket
    this.tls = secured?.tls ?? 'none'
    this.sql = createClient(options, host, { socket: this.#socket, isPooled, onclose: () => this.end() })
  }

  /** Runs a statement. Rejects with the server's error, or with ReplyLost. */
  run<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    if (this.pendingStatements++ === 0) this.silentSinceMs = performance.now()
    // The driver describes a statement with arguments first, and waits for its types. PgBouncer 1.18 then assigns the server connection to
    // another client, and the statement never gets a reply. With encoded parameters instead of arguments, it sends all in one message.
    const query = this.sql.unsafe(text, [], PREPARED_OPTIONS)
    return Object.assign(query, { parameters: values.map(encodeValue) }).then(
      rows => {
        this.#recordReply(true)
        return rows as unknown as Row[]
      },
      error => {
        this.#recordReply(isServerError(error))
        throw isServerError(error) ? error : new ReplyLost(error)
      },
    )
  }

  #recordReply(hasReply: boolean): void {
    this.pendingStatements--
    this.silentSinceMs = performance.now()
    if (hasReply) this.lastReplyAtMs = this.silentSinceMs
    if (this.#isRetired) this.retire()
  }

  /** Closes after the last reply. */
  retire(): void {
    this.#isRetired = true
    if (this.pendingStatements === 0) this.end()
  }

  /** Closes at once. Statements in flight reject. */
  end(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.sql.end({ timeout: 0 }).catch(() => {})
    this.onEnd()
  }

  /** Closes at once, without telling the server. */
  destroy(): void {
    this.end()
    this.#socket?.destroy()
  }
}

/** Throws if the socket is closed. The driver would otherwise reconnect to run its remaining statements. */
function useOnce(socket: Socket): Socket {
  if (socket.destroyed) throw new Error('the connection to the database was lost')
  return socket
}

interface ClientOptions {
  socket: Socket | undefined
  isPooled: boolean
  onclose(): void
}

function createClient(
  { address, statementTimeLimitMs = STATEMENT_TIME_LIMIT_MS }: ConnectionOptions,
  { host, port }: DatabaseHost,
  { socket, isPooled, onclose }: ClientOptions,
) {
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
    connect_timeout: connectTimeLimitOf(address) / 1_000,
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
      ...buildStartupParameters(statementTimeLimitMs, isPooled),
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
