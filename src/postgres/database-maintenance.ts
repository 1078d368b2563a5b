/** Synchronizes with the database's clock, and rebuilds the cache's lists. */
import { setDatabaseTime } from '../event-loop/clock.ts'
import type { Database } from './database.ts'

/** Reads the database's time. Runs at the start and every minute; each write of usage records returns the time, too. */
export async function syncDatabaseTime(database: Database): Promise<void> {
  const [row] = await database.call<{ now: Date }>('select clock_timestamp() as now', [])
  if (row) setDatabaseTime(row.now)
}

/** Rebuilding takes longer than the usual statement timeout. */
const REBUILD_LISTS = `
  set local statement_timeout = '10min';
  set local maintenance_work_mem = '256MB';
  select model_proxy.rebuild_cache_lists();
`

/** Drops unused lists, and rebuilds those with the most deleted entries, if any. */
export function rebuildCacheLists(database: Database): Promise<void> {
  return database.runScript(REBUILD_LISTS)
}
