/** Calls find_locked_counters(): whose counters cannot be written just now. */
import type { Database } from './database.ts'
import { defineStatement, integer, runStatement } from './statement.ts'

const FIND_LOCKED = defineStatement('select ordinal from find_locked_counters($1::text[])', { ordinal: integer })

/** Those of the keys whose project's counter somebody holds locked. Nothing is waited for. */
export async function findLockedCounters(database: Database, keyHashes: readonly string[]): Promise<Set<string>> {
  const rows = await runStatement(database, FIND_LOCKED, [keyHashes])
  return new Set(rows.flatMap(({ ordinal }) => keyHashes[ordinal - 1] ?? []))
}
