/** What time it is at the database: what is recorded there has its time, however wrong this machine's clock is. */
import type { Database } from './database.ts'
import { defineStatement, readOne, timestamp } from './statement.ts'

export interface DatabaseClock {
  /** Milliseconds since the epoch. */
  nowMs(): number
  /** The same moment as this machine's clock told it, in ISO 8601. */
  correct(iso: string): string
  /** The database has just answered that it was this time. */
  learn(now: Date): void
}

/** Less is the way there and back, and is left alone: the order of records stays that of their ends. */
const TOLERATED_MS = 2_000

const READ_TIME = defineStatement('select clock_timestamp() as now', { now: timestamp })

export async function readDatabaseClock(database: Database): Promise<DatabaseClock> {
  const clock = createDatabaseClock()
  clock.learn((await readOne(database, READ_TIME)).now)
  return clock
}

/** Until it learns, this machine's clock. */
export function createDatabaseClock(): DatabaseClock {
  let aheadMs = 0
  return {
    nowMs: () => Date.now() + aheadMs,
    correct: iso => (aheadMs === 0 ? iso : new Date(Date.parse(iso) + aheadMs).toISOString()),
    learn(now) {
      const foundMs = now.getTime() - Date.now()
      // Small changes of a large difference are the way there and back, too.
      if (Math.abs(foundMs - aheadMs) > TOLERATED_MS) aheadMs = Math.abs(foundMs) > TOLERATED_MS ? foundMs : 0
    },
  }
}
