/** Calls find_locked_counters(): keys whose counters are locked at the moment. */
import type { Database } from './database.ts'
import { defineStatement, integer, runStatement } from './statement.ts'

const FIND_LOCKED = defineStatement('select ordinal from find_locked_counters($1::text[])', { ordinal: integer })

/** Returns those keys whose project's counter another transaction has locked. Does not wait for locks. */
export async function findLockedCounters(database: Database, keyHashes: readonly string[]): Promise<Set<string>> {
  const rows = await runStatement(database, FIND_LOCKED, [keyHashes])
  return new Set(rows.flatMap(({ ordinal }) => keyHashes[ordinal - 1] ?? []))
}
