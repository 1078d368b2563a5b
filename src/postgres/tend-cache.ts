/** Calls what keeps the cache within its bounds: expired entries and what is too much go, lists are made anew. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Deletes expired cache entries, at most so many; returns how many went. */
export async function deleteExpiredEntries(database: Database, atMost: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`select delete_expired_entries(${atMost}::integer) as deleted`.execute(
    database.queries,
  )
  return rows[0]?.deleted ?? 0
}

/** Deletes what projects keep beyond their `cache_bytes`, at most so many entries; returns how many went. */
export async function evictEntries(database: Database, atMost: number): Promise<number> {
  const { rows } = await sql<{ evicted: number }>`select evict_entries(${atMost}::integer) as evicted`.execute(
    database.queries,
  )
  return rows[0]?.evicted ?? 0
}

/** Rebuilding takes longer than statements that requests wait for may. */
const REBUILD_LISTS = `
  set local statement_timeout = '10min';
  set local maintenance_work_mem = '256MB';
  select rebuild_cache_lists();
`

/** Drops lists that nobody needs any more, and rebuilds those of the group of which most was deleted, if there is one. */
export function rebuildCacheLists(database: Database): Promise<void> {
  return database.runScript(REBUILD_LISTS)
}
