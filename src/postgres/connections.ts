/** Connections to a PostgreSQL server: a few, kept open and shared, and dropped when they fail or fall silent. */
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { DatabaseAddress } from './address.ts'
import { type Connection, openConnection } from './connection.ts'
import { sqlStateOf } from './database.ts'
import { isStale, READ_ONLY } from './driver.ts'

export interface ConnectionsOptions {
  address: DatabaseAddress
  /** Most connections of this process. */
  maxConnections: number
}

export interface Connections {
  /** Runs one statement and resolves to its rows. */
  call<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
  /** Disconnects; work under way is given a moment to end. */
  close(): Promise<void>
}

/** The server ends what takes longer. */
const STATEMENT_TIME_LIMIT_MS = 10_000
/** A connection on which nothing came back by then leads to a server that is gone or hangs. Until then a late answer is heard. */
const SILENCE_LIMIT_MS = STATEMENT_TIME_LIMIT_MS + 2_000
/** One that owes an answer for so long gets no more to do while there are others. */
const STALLED_AFTER_MS = 1_000
/** After a refusal the next try waits: a server that is starting must not be knocked down at the door. */
const RETRY_AFTER_MS = 100
/** Of a statement that has gone stale. */
const MOST_TRIES = 3
const CLOSE_TIME_LIMIT_MS = 2_000
const WATCH_EVERY_MS = 250
/** An hour, give or take, so that they are not all renewed at once. */
const LIFETIME_MS = 3_600_000

interface Open {
  connection: Connection
  bestBeforeMs: number
  isStalled: boolean
}

export function openConnections({ address, maxConnections }: ConnectionsOptions): Connections {
  let open: Open[] = []
  /** Get no more to do, but are still heard. */
  const leaving = new Set<Connection>()
  let opening: Promise<void> | null = null
  let refused: { error: unknown; untilMs: number } | null = null
  let isClosed = false
  const watching = setInterval(watch, WATCH_EVERY_MS)
  watching.unref()

  /** The one with the least to do; of two, the one that was heard of last. */
  function pick(): Open | null {
    let best: Open | null = null
    for (const each of open) if (!best || isBetter(each, best)) best = each
    return best
  }

  function forget(connection: Connection): void {
    open = open.filter(each => each.connection !== connection)
    leaving.delete(connection)
  }

  function leave({ connection }: Open): void {
    forget(connection)
    leaving.add(connection)
    connection.retire()
  }

  /** One at a time; rejects when no server can be had, and then for a moment at once. */
  function grow(): Promise<void> {
    if (opening) return opening
    if (refused && performance.now() < refused.untilMs) return Promise.reject(refused.error)
    opening = openConnection({ address, statementTimeLimitMs: STATEMENT_TIME_LIMIT_MS, onEnd: forget })
      .then(
        connection => {
          refused = null
          if (isClosed) return connection.end()
          const stalled = open.length >= maxConnections ? open.find(each => each.isStalled) : undefined
          if (stalled) leave(stalled)
          const bestBeforeMs = performance.now() + LIFETIME_MS * (0.9 + Math.random() / 5)
          open.push({ connection, bestBeforeMs, isStalled: false })
        },
        error => {
          refused = { error, untilMs: performance.now() + RETRY_AFTER_MS }
          throw error
        },
      )
      .finally(() => {
        opening = null
      })
    // Heard by whoever waits for it, or of no interest.
    opening.catch(() => {})
    return opening
  }

  function watch(): void {
    const nowMs = performance.now()
    for (const each of open) {
      const { connection, bestBeforeMs } = each
      const quietMs = connection.waiting === 0 ? 0 : nowMs - connection.quietSinceMs
      each.isStalled = quietMs > STALLED_AFTER_MS
      if (quietMs > SILENCE_LIMIT_MS) connection.end()
      else if (nowMs > bestBeforeMs) leave(each)
    }
    for (const connection of leaving) {
      if (nowMs - connection.quietSinceMs > SILENCE_LIMIT_MS) connection.end()
    }
  }

  function call<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const best = pick()
    const isIdle = best?.connection.waiting === 0
    if (!best || best.isStalled) return callOnNew(text, values)
    if (!isIdle && open.length < maxConnections) grow().catch(() => {})
    return callOn(best, text, values)
  }

  async function callOnNew<Row>(text: string, values: readonly unknown[], tries = 1): Promise<Row[]> {
    if (isClosed) throw new Error('The database is closed')
    await grow()
    const best = pick()
    if (!best) throw new Error('The connection was lost')
    return callOn(best, text, values, tries)
  }

  async function callOn<Row>(on: Open, text: string, values: readonly unknown[], tries = 1): Promise<Row[]> {
    try {
      return await on.connection.run<Row>(text, values)
    } catch (error) {
      if (isStale(error) && tries < MOST_TRIES) {
        // A deploy replaced what the statement calls: on the others, older than that, it is no better.
        if (open.includes(on)) for (const each of open) leave(each)
        return callOnNew(text, values, tries + 1)
      }
      // The primary has become a standby: another server of the list may be it now.
      if (sqlStateOf(error) === READ_ONLY) leave(on)
      throw error
    }
  }

  return {
    call,
    async close() {
      isClosed = true
      clearInterval(watching)
      for (const each of open) leave(each)
      const deadlineMs = performance.now() + CLOSE_TIME_LIMIT_MS
      if (opening) await withinTimeLimit(CLOSE_TIME_LIMIT_MS, opening).catch(() => {})
      while (leaving.size > 0 && performance.now() < deadlineMs) await Bun.sleep(5)
      for (const connection of leaving) connection.end()
    },
  }
}

function isBetter(a: Open, b: Open): boolean {
  if (a.isStalled !== b.isStalled) return b.isStalled
  if (a.connection.waiting !== b.connection.waiting) return a.connection.waiting < b.connection.waiting
  return a.connection.quietSinceMs > b.connection.quietSinceMs
}
