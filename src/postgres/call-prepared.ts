/** Statements that requests wait for: their text is put together once, and not anew for every call. */
import { CompiledQuery } from 'kysely'
import type { Database } from './database.ts'

/** `text` has `$1` and so on for `values`. The type of the rows is the caller's to know. */
export async function callPrepared<Row>(database: Database, text: string, values: readonly unknown[]): Promise<Row[]> {
  const { rows } = await database.queries.executeQuery<Row>(CompiledQuery.raw(text, [...values]))
  return rows
}
