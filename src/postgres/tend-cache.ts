/** Calls the functions that keep the cache within its bounds: they delete expired and excess entries, and rebuild lists. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Deletes at most `atMost` expired cache entries; returns how many. */
export async function deleteExpiredEntries(database: Database, atMost: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`select delete_expired_entries(${atMost}::integer) as deleted`.execute(
    database.queries,
  )
  return rows[0]?.deleted ?? 0
}

/** Deletes at most `atMost` entries that exceed projects' `cache_bytes`; returns how many. */
export async function evictEntries(database: Database, atMost: number): Promise<number> {
  const { rows } = await sql<{ evicted: number }>`select evict_entries(${atMost}::integer) as evicted`.execute(
    database.queries,
  )
  return rows[0]?.evicted ?? 0
}

/** Rebuilding takes longer than the usual statement timeout. */
const REBUILD_LISTS = `
  set local statement_timeout = '10min';
  set local maintenance_work_mem = '256MB';
  select rebuild_cache_lists();
`

/** Drops unused lists, and rebuilds the ones with the most deleted entries, if any. */
export function rebuildCacheLists(database: Database): Promise<void> {
  return database.runScript(REBUILD_LISTS)
}
