/** Runs statements on a PostgreSQL server: on the least loaded connection, and again on a new one if its prepared plan is stale. */
import { ConnectionPool, type PooledConnection, type PoolOptions } from './connection-pool.ts'
import { sqlStateOf } from './database.ts'
import { isStale, READ_ONLY } from './driver.ts'

export interface Connections {
  /** Runs one statement and resolves to its rows. */
  call<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
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
    if (best.connection.waiting > 0 && pool.hasRoom) pool.grow().catch(() => {})
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
      if (isStale(error) && tries < MOST_TRIES) {
        // A deploy replaced what the statement uses. All connections opened before it have stale plans, too.
        if (pool.has(on)) pool.leaveAll()
        return callOnNew(text, values, tries + 1)
      }
      // The primary has become a standby: another host in the address may be the primary now.
      if (sqlStateOf(error) === READ_ONLY) pool.leave(on)
      throw error
    }
  }

  return { call, close: () => pool.close() }
}
