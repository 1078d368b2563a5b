/** Calls record_refusals(): adds refused requests to the sums of the hour. */
import type { Database } from './database.ts'
import { defineStatement, nothing, runStatement } from './statement.ts'

const RECORD = defineStatement('select record_refusals($1::text[], $2::bigint[]) as done', { done: nothing })

/** `counts`: by reason. */
export async function recordRefusals(database: Database, counts: ReadonlyMap<string, number>): Promise<void> {
  await runStatement(database, RECORD, [[...counts.keys()], [...counts.values()]])
}
