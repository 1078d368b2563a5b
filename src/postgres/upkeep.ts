/** The database's time, also where a clock steps, and upkeep that takes more than a call. */
import { learnTime } from '../event-loop/clock.ts'
import { call } from './call.ts'
import { type Database, sqlStateOf } from './database.ts'

/** SQLSTATE of a row whose time no partition has, among others. */
const CHECK_VIOLATION = '23514'

/** Runs what writes rows by time. Where a clock has stepped, their partition may be missing: it is made, and all is run once more. */
export async function inPartitions<T>(database: Database, run: (hasStepped: boolean) => Promise<T>): Promise<T> {
  try {
    return await run(false)
  } catch (error) {
    if (sqlStateOf(error) !== CHECK_VIOLATION) throw error
    await call(database, 'maintain_usage_partitions', {})
    await readTime(database)
    return run(true)
  }
}

/** Adds recent records to the sums. */
export async function rollUpUsage(database: Database): Promise<void> {
  await inPartitions(database, () => call(database, 'roll_up_usage', {}))
}

/** At the start, and every minute; each write of records tells the time again. */
export async function readTime(database: Database): Promise<void> {
  const [row] = await database.call<{ now: Date }>('select clock_timestamp() as now', [])
  if (row) learnTime(row.now)
}

/** Rebuilding takes longer than the usual statement timeout. */
const REBUILD_LISTS = `
  set local statement_timeout = '10min';
  set local maintenance_work_mem = '256MB';
  select model_proxy.rebuild_cache_lists();
`

/** Drops unused lists, and rebuilds the ones with the most deleted entries, if any. */
export function rebuildCacheLists(database: Database): Promise<void> {
  return database.runScript(REBUILD_LISTS)
}
