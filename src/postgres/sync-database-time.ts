/** Synchronizes with the database's clock. */
import { setDatabaseTime } from '../event-loop/clock.ts'
import type { Database } from './database.ts'

/** Reads the database's time. Runs at the start and every minute; each write of usage records returns the time, too. */
export async function syncDatabaseTime(database: Database): Promise<void> {
  const [row] = await database.call<{ now: Date }>('select clock_timestamp() as now', [])
  if (row) setDatabaseTime(row.now)
}
