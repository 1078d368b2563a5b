/** Asks the database for a sign of life. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

export async function pingDatabase(database: Database): Promise<void> {
  await sql`select 1`.execute(database.queries)
}
