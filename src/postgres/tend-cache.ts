/** Calls the functions that keep the cache within its bounds: they delete expired and excess entries, and rebuild lists. */
import type { Database } from './database.ts'
import { defineSweep } from './statement.ts'

export const deleteExpiredEntries = defineSweep('delete_expired_entries')
/** Of entries that exceed projects' `cache_bytes`. */
export const evictEntries = defineSweep('evict_entries')

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
