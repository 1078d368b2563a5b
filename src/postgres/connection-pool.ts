/** The open connections to a server: they are opened one at a time, chosen by load, renewed, and dropped when silent. */
import { withTimeout } from '../event-loop/timeouts.ts'
import type { DatabaseAddress } from './address.ts'
import { type Connection, openConnection } from './connection.ts'
import { sqlStateOf } from './database.ts'
import { isStalePlanError, READ_ONLY_SQLSTATE } from './driver.ts'

export interface PoolOptions {
  address: DatabaseAddress
  /** Most connections of this process. */
  maxConnections: number
  statementTimeLimitMs?: number
}

export interface PooledConnection {
  readonly connection: Connection
  readonly retireAtMs: number
  /** It has owed a reply for so long that it gets no more work while other connections are open. */
  isStalled: boolean
}

/** The server aborts a statement that takes longer. */
const STATEMENT_TIME_LIMIT_MS = 10_000
/** After a statement may take that much longer without a reply, the server counts as gone or hanging. Until then a late reply is still read. */
const SILENCE_MARGIN_MS = 2_000
const STALLED_AFTER_MS = 1_000
/** Pause after a refusal, so that reconnecting does not overload a server that is starting. */
const RETRY_AFTER_MS = 100
const CLOSE_TIME_LIMIT_MS = 2_000
const WATCH_EVERY_MS = 250
/** A process that has not watched for this long was held, by its machine or by work of its own: that is no silence of the server's. */
const HELD_AFTER_MS = 2_000
/** About an hour, with some variation, so that connections are not all renewed at once. */
const LIFETIME_MS = 3_600_000

export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #watching: ReturnType<typeof setInterval>
  readonly #silenceLimitMs: number
  #open: PooledConnection[] = []
  /** They get no new work; replies in flight are still read. */
  readonly #leaving = new Set<Connection>()
  #opening: Promise<void> | null = null
  #refused: { error: unknown; untilMs: number } | null = null
  #isClosed = false
  #maxConnections: number
  #watchedAtMs = performance.now()
  /** Since when it runs without having been held: what came meanwhile is still to be read. */
  #awakeSinceMs = this.#watchedAtMs

  constructor(options: PoolOptions) {
    this.#options = options
    this.#silenceLimitMs = Math.max(STATEMENT_TIME_LIMIT_MS, options.statementTimeLimitMs ?? 0) + SILENCE_MARGIN_MS
    this.#maxConnections = options.maxConnections
    this.#watching = setInterval(() => this.#watch(), WATCH_EVERY_MS)
    this.#watching.unref()
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether another connection may be opened. */
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

  /** Opens one connection, one at a time. Rejects when no server is available, and then rejects immediately for a moment. */
  grow(): Promise<void> {
    if (this.#opening) return this.#opening
    if (this.#refused && performance.now() < this.#refused.untilMs) return Promise.reject(this.#refused.error)
    const opening = this.#openOne().finally(() => {
      this.#opening = null
    })
    // The waiter handles the rejection; without a waiter it does not matter.
    opening.catch(() => {})
    this.#opening = opening
    return opening
  }

  /** Connections beyond the limit are closed after their last replies. */
  setMaxConnections(maxConnections: number): void {
    this.#maxConnections = maxConnections
    for (const each of this.#open.slice(maxConnections)) this.retire(each)
  }

  /** Closes the connection after its last reply. */
  retire({ connection }: PooledConnection): void {
    this.#forget(connection)
    this.#leaving.add(connection)
    connection.retire()
  }

  retireAll(): void {
    for (const each of this.#open) this.retire(each)
  }

  /** Statements in flight get a moment to finish. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#watching)
    this.retireAll()
    const deadlineMs = performance.now() + CLOSE_TIME_LIMIT_MS
    if (this.#opening) await withTimeout(CLOSE_TIME_LIMIT_MS, this.#opening).catch(() => {})
    while (this.#leaving.size > 0 && performance.now() < deadlineMs) await Bun.sleep(5)
    for (const connection of this.#leaving) connection.end()
  }

  async #openOne(): Promise<void> {
    try {
      const onEnd = (ended: Connection) => this.#forget(ended)
      const { address, statementTimeLimitMs = STATEMENT_TIME_LIMIT_MS } = this.#options
      const connection = await openConnection({ address, statementTimeLimitMs, onEnd })
      this.#refused = null
      this.#add(connection)
    } catch (error) {
      this.#refused = { error, untilMs: performance.now() + RETRY_AFTER_MS }
      throw error
    }
  }

  #add(connection: Connection): void {
    const stalled = this.canGrow ? undefined : this.#open.find(each => each.isStalled)
    // While it was opened, the pool was closed, or its limit lowered.
    if (this.#isClosed || (!this.canGrow && !stalled)) {
      connection.end()
      return
    }
    if (stalled) this.retire(stalled)
    const bestBeforeMs = performance.now() + LIFETIME_MS * (0.9 + Math.random() / 5)
    this.#open.push({ connection, retireAtMs: bestBeforeMs, isStalled: false })
  }

  #forget(connection: Connection): void {
    this.#open = this.#open.filter(each => each.connection !== connection)
    this.#leaving.delete(connection)
  }

  #watch(): void {
    const nowMs = performance.now()
    if (nowMs - this.#watchedAtMs > HELD_AFTER_MS) this.#awakeSinceMs = nowMs
    this.#watchedAtMs = nowMs
    const quietFor = ({ silentSinceMs }: Connection) => nowMs - Math.max(silentSinceMs, this.#awakeSinceMs)
    const { primary } = this.#options.address
    for (const each of this.#open) {
      const { connection, retireAtMs } = each
      const quietMs = connection.pendingStatements === 0 ? 0 : quietFor(connection)
      each.isStalled = quietMs > STALLED_AFTER_MS
      if (quietMs > this.#silenceLimitMs) connection.end()
      else if (nowMs > retireAtMs || primary?.isOutdated(connection.identity)) this.retire(each)
    }
    for (const connection of this.#leaving) {
      if (quietFor(connection) > this.#silenceLimitMs) connection.end()
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
  /** From now on, at most so many connections. */
  setMaxConnections(maxConnections: number): void
  /** Those that are open, and how many there may be. */
  size(): { open: number; most: number }
  /** When one of them last got a reply, or began; -Infinity without any. */
  lastReplyAtMs(): number
  /** Disconnects; statements in flight get a moment to finish. */
  close(): Promise<void>
}

/** Tries of a statement with a stale plan. */
const MOST_TRIES = 3

export function openConnections(options: PoolOptions): Connections {
  const pool = new ConnectionPool(options)

  function call<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const best = pool.pick()
    if (!best || best.isStalled) return callOnNew(text, values)
    if (best.connection.pendingStatements > 0 && pool.canGrow) pool.grow().catch(() => {})
    return callOn(best, text, values)
  }

  async function callOnNew<Row>(text: string, values: readonly unknown[], tries = 1): Promise<Row[]> {
    if (pool.isClosed) throw new Error('The database is closed')
    await pool.grow()
    const best = pool.pick()
    if (!best) throw new Error('The connection was lost')
    return callOn(best, text, values, tries)
  }

  async function callOn<Row>(
    on: PooledConnection,
    text: string,
    values: readonly unknown[],
    tries = 1,
  ): Promise<Row[]> {
    try {
      return await on.connection.run<Row>(text, values)
    } catch (error) {
      if (isStalePlanError(error) && tries < MOST_TRIES) {
        // A deploy replaced what the statement uses. All connections opened before it have stale plans, too.
        if (pool.has(on)) pool.retireAll()
        return callOnNew(text, values, tries + 1)
      }
      // The primary has become a standby: another host in the address may be the primary now.
      if (sqlStateOf(error) === READ_ONLY_SQLSTATE) pool.retire(on)
      throw error
    }
  }

  return {
    call,
    setMaxConnections: most => pool.setMaxConnections(most),
    size: () => pool.size,
    lastReplyAtMs: () => pool.lastReplyAtMs,
    close: () => pool.close(),
  }
}
