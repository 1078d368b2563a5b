/** A pool of connections to a server. It opens them one at a time, picks by load, renews old ones, and closes silent ones. */
import { withTimeout } from '../event-loop/timeouts.ts'
import type { DatabaseAddress } from './address.ts'
import { type Connection, openConnection } from './connection.ts'
import { sqlStateOf } from './database.ts'
import { isStalePlanError, READ_ONLY_SQLSTATE } from './driver.ts'

export interface PoolOptions {
  address: DatabaseAddress
  /** The maximum number of connections of this process. */
  maxConnections: number
  statementTimeLimitMs?: number
}

export interface PooledConnection {
  readonly connection: Connection
  readonly retireAtMs: number
  /** True if a reply is overdue. The connection gets no more work while other connections are open. */
  isStalled: boolean
}

/** The server aborts a statement that takes longer. */
const STATEMENT_TIME_LIMIT_MS = 10_000
/** The extra time after the statement timeout in which a late reply is still read. After it, the server counts as unreachable. */
const SILENCE_MARGIN_MS = 2_000
const STALLED_AFTER_MS = 1_000
/** The pause after a failed attempt to connect, so that reconnecting does not overload a server that is starting. */
const RETRY_AFTER_MS = 100
const CLOSE_TIME_LIMIT_MS = 2_000
const WATCH_EVERY_MS = 250
/** If the watch has not run for this long, the process itself was paused. That time does not count as silence of the server. */
const PAUSED_AFTER_MS = 2_000
/** One hour, varied by 10 %, so that connections are not all renewed at once. */
const LIFETIME_MS = 3_600_000

export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #watchTimer: ReturnType<typeof setInterval>
  readonly #silenceLimitMs: number
  #open: PooledConnection[] = []
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

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** True if another connection may be opened. */
  get canGrow(): boolean {
    return this.#open.length < this.#maxConnections
  }

  get size(): { open: number; most: number } {
    return { open: this.#open.length, most: this.#maxConnections }
  }

  get lastReplyAtMs(): number {
    return Math.max(...this.#open.map(({ connection }) => connection.lastReplyAtMs))
  }

  has(pooled: PooledConnection): boolean {
    return this.#open.includes(pooled)
  }

  /** Returns the connection with the fewest statements in flight; among equals, the one that replied last. Null when none is open. */
  pick(): PooledConnection | null {
    let best: PooledConnection | null = null
    for (const each of this.#open) if (!best || isBetter(each, best)) best = each
    return best
  }

  /** Opens a connection; concurrent calls share one attempt. After a failed attempt, rejects at once for RETRY_AFTER_MS. */
  grow(): Promise<void> {
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

  /** Sets the limit. Connections beyond it are closed after their last replies. */
  setMaxConnections(maxConnections: number): void {
    this.#maxConnections = maxConnections
    for (const each of this.#open.slice(maxConnections)) this.retire(each)
  }

  /** Closes the connection after its last reply. */
  retire({ connection }: PooledConnection): void {
    this.#forget(connection)
    this.#retired.add(connection)
    connection.retire()
  }

  retireAll(): void {
    for (const each of this.#open) this.retire(each)
  }

  /** Closes all connections. Statements in flight get two seconds to finish. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#watchTimer)
    this.retireAll()
    const deadlineMs = performance.now() + CLOSE_TIME_LIMIT_MS
    if (this.#opening) await withTimeout(CLOSE_TIME_LIMIT_MS, this.#opening).catch(() => {})
    while (this.#retired.size > 0 && performance.now() < deadlineMs) await Bun.sleep(5)
    for (const connection of this.#retired) connection.end()
  }

  async #openOne(): Promise<void> {
    try {
      const onEnd = (ended: Connection) => this.#forget(ended)
      const { address, statementTimeLimitMs = STATEMENT_TIME_LIMIT_MS } = this.#options
      const connection = await openConnection({ address, statementTimeLimitMs, onEnd })
      this.#lastFailure = null
      this.#add(connection)
    } catch (error) {
      this.#lastFailure = { error, untilMs: performance.now() + RETRY_AFTER_MS }
      throw error
    }
  }

  #add(connection: Connection): void {
    const stalled = this.canGrow ? undefined : this.#open.find(each => each.isStalled)
    // The pool was closed, or its limit lowered, while the connection was opening.
    if (this.#isClosed || (!this.canGrow && !stalled)) {
      connection.end()
      return
    }
    if (stalled) this.retire(stalled)
    const retireAtMs = performance.now() + LIFETIME_MS * (0.9 + Math.random() / 5)
    this.#open.push({ connection, retireAtMs, isStalled: false })
  }

  #forget(connection: Connection): void {
    this.#open = this.#open.filter(each => each.connection !== connection)
    this.#retired.delete(connection)
  }

  #watch(): void {
    const nowMs = performance.now()
    if (nowMs - this.#watchedAtMs > PAUSED_AFTER_MS) this.#runningSinceMs = nowMs
    this.#watchedAtMs = nowMs
    const silenceOf = ({ silentSinceMs }: Connection) => nowMs - Math.max(silentSinceMs, this.#runningSinceMs)
    const { primary } = this.#options.address
    for (const each of this.#open) {
      const { connection, retireAtMs } = each
      const silentMs = connection.pendingStatements === 0 ? 0 : silenceOf(connection)
      each.isStalled = silentMs > STALLED_AFTER_MS
      if (silentMs > this.#silenceLimitMs) connection.end()
      else if (nowMs > retireAtMs || primary?.isOutdated(connection.identity)) this.retire(each)
    }
    for (const connection of this.#retired) {
      if (silenceOf(connection) > this.#silenceLimitMs) connection.end()
    }
  }
}

function isBetter(a: PooledConnection, b: PooledConnection): boolean {
  if (a.isStalled !== b.isStalled) return b.isStalled
  if (a.connection.pendingStatements !== b.connection.pendingStatements)
    return a.connection.pendingStatements < b.connection.pendingStatements
  return a.connection.silentSinceMs > b.connection.silentSinceMs
}

export interface Connections {
  /** Runs one statement and resolves to its rows. */
  call<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
  /** Limits the number of connections, from now on. */
  setMaxConnections(maxConnections: number): void
  /** The number of `open` connections, and the maximum, `most`. */
  size(): { open: number; most: number }
  /** `performance.now()` of the last reply on any connection, or of its opening; -Infinity without connections. */
  lastReplyAtMs(): number
  /** Disconnects. Statements in flight get two seconds to finish. */
  close(): Promise<void>
}

/** The maximum number of attempts to run a statement whose plan is stale. */
const MAX_ATTEMPTS = 3

export function openConnections(options: PoolOptions): Connections {
  const pool = new ConnectionPool(options)

  function call<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const best = pool.pick()
    if (!best || best.isStalled) return callOnNew(text, values)
    if (best.connection.pendingStatements > 0 && pool.canGrow) pool.grow().catch(() => {})
    return callWith(best, text, values)
  }

  async function callOnNew<Row>(text: string, values: readonly unknown[], attempt = 1): Promise<Row[]> {
    if (pool.isClosed) throw new Error('the connection to the database is closed')
    await pool.grow()
    const best = pool.pick()
    if (!best) throw new Error('the connection to the database was lost')
    return callWith(best, text, values, attempt)
  }

  async function callWith<Row>(
    on: PooledConnection,
    text: string,
    values: readonly unknown[],
    attempt = 1,
  ): Promise<Row[]> {
    try {
      return await on.connection.run<Row>(text, values)
    } catch (error) {
      if (isStalePlanError(error) && attempt < MAX_ATTEMPTS) {
        // A deploy replaced an object that the statement uses. All connections opened before have stale plans, too.
        if (pool.has(on)) pool.retireAll()
        return callOnNew(text, values, attempt + 1)
      }
      // The primary has become a standby. Another host in the address may be the primary now.
      if (sqlStateOf(error) === READ_ONLY_SQLSTATE) pool.retire(on)
      throw error
    }
  }

  return {
    call,
    setMaxConnections: maxConnections => pool.setMaxConnections(maxConnections),
    size: () => pool.size,
    lastReplyAtMs: () => pool.lastReplyAtMs,
    close: () => pool.close(),
  }
}
