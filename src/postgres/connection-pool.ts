/**
 * A pool of connections to a server. It opens them one at a time, picks by load, renews old ones, and closes silent ones.
 *
 * The driver's own pool cannot do this: its size is fixed, its connections have no watch for silence and no identity of their server, and
 * it reconnects to any of its hosts. Statements that wait while a host is frozen each wait for a connection attempt of their own, one after
 * the other, and are sent after their callers have given up. If a load balancer accepts and closes a connection, the statement that opened
 * it never settles.
 */
import { withTimeout } from '../event-loop/timeouts.ts'
import { type Connection, type ConnectionOptions, isStalePlanError, STATEMENT_TIME_LIMIT_MS } from './connection.ts'
import { type Database, sqlStateOf } from './database.ts'
import { openConnection, READ_ONLY_SQLSTATE } from './open-connection.ts'

export interface PoolOptions extends ConnectionOptions {
  /** The maximum number of connections of this process. */
  maxConnections: number
}

/** The extra time after the statement timeout in which a late reply is still read. After it, the server counts as unreachable. */
const SILENCE_MARGIN_MS = 2_000
const STALLED_AFTER_MS = 1_000
/** The pause after a failed attempt to connect, so that reconnecting does not overload a server that is starting. */
const RETRY_AFTER_MS = 100
const CLOSE_TIME_LIMIT_MS = 2_000
const WATCH_EVERY_MS = 250
/** If the watch has not run for this long, the process itself was paused. That time does not count as silence of the server. */
const PAUSED_AFTER_MS = 2_000
/** The maximum number of attempts to run a statement whose plan is stale. */
const MAX_ATTEMPTS = 3

export class ConnectionPool implements Pick<Database, 'call'> {
  readonly #options: PoolOptions
  readonly #watchTimer: ReturnType<typeof setInterval>
  readonly #silenceLimitMs: number
  #open: Connection[] = []
  /** Retired connections. They get no new work, and their outstanding replies are still read. */
  readonly #retired = new Set<Connection>()
  #opening: Promise<void> | null = null
  #lastFailure: { error: unknown; untilMs: number } | null = null
  #isClosed = false
  #maxConnections: number
  #watchedAtMs = performance.now()
  /** The time since which the process has run without a pause. Replies that arrived during a pause are still unread. */
  #runningSinceMs = this.#watchedAtMs

  constructor(options: PoolOptions) {
    this.#options = options
    this.#silenceLimitMs = Math.max(STATEMENT_TIME_LIMIT_MS, options.statementTimeLimitMs ?? 0) + SILENCE_MARGIN_MS
    this.#maxConnections = options.maxConnections
    this.#watchTimer = setInterval(() => this.#watch(), WATCH_EVERY_MS)
    this.#watchTimer.unref()
  }

  /** The number of `open` connections, and the maximum, `most`. */
  get size(): { open: number; most: number } {
    return { open: this.#open.length, most: this.#maxConnections }
  }

  /** `performance.now()` of the last reply on any connection, or of its opening; -Infinity without connections. */
  get lastReplyAtMs(): number {
    return Math.max(...this.#open.map(({ lastReplyAtMs }) => lastReplyAtMs))
  }

  /** Runs one statement and resolves to its rows. */
  call<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const best = this.#pick()
    if (!best || best.isStalled) return this.#callOnNew(text, values)
    if (best.pendingStatements > 0 && this.#canGrow) this.#grow().catch(() => {})
    return this.#callOn(best, text, values)
  }

  /** Sets the limit. Connections beyond it are closed after their last replies. */
  setMaxConnections(maxConnections: number): void {
    this.#maxConnections = maxConnections
    for (const each of this.#open.slice(maxConnections)) this.#retire(each)
  }

  /** Closes all connections. Statements in flight get two seconds to finish. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#watchTimer)
    this.#retireAll()
    const deadlineMs = performance.now() + CLOSE_TIME_LIMIT_MS
    if (this.#opening) await withTimeout(CLOSE_TIME_LIMIT_MS, this.#opening).catch(() => {})
    while (this.#retired.size > 0 && performance.now() < deadlineMs) await Bun.sleep(5)
    for (const connection of this.#retired) connection.end()
  }

  async #callOnNew<Row>(text: string, values: readonly unknown[], attempt = 1): Promise<Row[]> {
    if (this.#isClosed) throw new Error('the connection to the database is closed')
    await this.#grow()
    const best = this.#pick()
    if (!best) throw new Error('the connection to the database was lost')
    return this.#callOn(best, text, values, attempt)
  }

  async #callOn<Row>(on: Connection, text: string, values: readonly unknown[], attempt = 1): Promise<Row[]> {
    try {
      return await on.run<Row>(text, values)
    } catch (error) {
      if (isStalePlanError(error) && attempt < MAX_ATTEMPTS) {
        // A deploy replaced an object that the statement uses. All connections opened before have stale plans, too.
        if (this.#open.includes(on)) this.#retireAll()
        return this.#callOnNew(text, values, attempt + 1)
      }
      // The primary has become a standby. Another host in the address may be the primary now.
      if (sqlStateOf(error) === READ_ONLY_SQLSTATE) this.#retire(on)
      throw error
    }
  }

  /** True if another connection may be opened. */
  get #canGrow(): boolean {
    return this.#open.length < this.#maxConnections
  }

  /** Returns the connection with the fewest statements in flight; among equals, the one that replied last. Null when none is open. */
  #pick(): Connection | null {
    let best: Connection | null = null
    for (const each of this.#open) if (!best || isBetter(each, best)) best = each
    return best
  }

  /** Opens a connection; concurrent calls share one attempt. After a failed attempt, rejects at once for RETRY_AFTER_MS. */
  #grow(): Promise<void> {
    if (this.#opening) return this.#opening
    if (this.#lastFailure && performance.now() < this.#lastFailure.untilMs)
      return Promise.reject(this.#lastFailure.error)
    const opening = this.#openOne().finally(() => {
      this.#opening = null
    })
    // The waiter handles the rejection; without a waiter it does not matter.
    opening.catch(() => {})
    this.#opening = opening
    return opening
  }

  async #openOne(): Promise<void> {
    try {
      const connection = await openConnection(this.#options)
      if (connection.hasEnded) throw new Error('the connection to the database was lost')
      connection.onEnd = () => this.#forget(connection)
      this.#lastFailure = null
      this.#add(connection)
    } catch (error) {
      this.#lastFailure = { error, untilMs: performance.now() + RETRY_AFTER_MS }
      throw error
    }
  }

  #add(connection: Connection): void {
    const stalled = this.#canGrow ? undefined : this.#open.find(each => each.isStalled)
    // The pool was closed, or its limit lowered, while the connection was opening.
    if (this.#isClosed || (!this.#canGrow && !stalled)) {
      connection.end()
      return
    }
    if (stalled) this.#retire(stalled)
    this.#open.push(connection)
  }

  /** Closes the connection after its last reply. */
  #retire(connection: Connection): void {
    this.#forget(connection)
    if (connection.hasEnded) return
    this.#retired.add(connection)
    connection.retire()
  }

  #retireAll(): void {
    for (const each of this.#open) this.#retire(each)
  }

  #forget(connection: Connection): void {
    this.#open = this.#open.filter(each => each !== connection)
    this.#retired.delete(connection)
  }

  #watch(): void {
    const nowMs = performance.now()
    if (nowMs - this.#watchedAtMs > PAUSED_AFTER_MS) this.#runningSinceMs = nowMs
    this.#watchedAtMs = nowMs
    const silenceOf = ({ silentSinceMs }: Connection) => nowMs - Math.max(silentSinceMs, this.#runningSinceMs)
    const { primary } = this.#options.address
    for (const each of this.#open) {
      const silentMs = each.pendingStatements === 0 ? 0 : silenceOf(each)
      each.isStalled = silentMs > STALLED_AFTER_MS
      if (silentMs > this.#silenceLimitMs) each.end()
      else if (nowMs > each.retireAtMs || primary?.isOutdated(each.identity)) this.#retire(each)
    }
    for (const connection of this.#retired) {
      if (silenceOf(connection) > this.#silenceLimitMs) connection.end()
    }
  }
}

function isBetter(a: Connection, b: Connection): boolean {
  if (a.isStalled !== b.isStalled) return b.isStalled
  if (a.pendingStatements !== b.pendingStatements) return a.pendingStatements < b.pendingStatements
  return a.silentSinceMs > b.silentSinceMs
}
