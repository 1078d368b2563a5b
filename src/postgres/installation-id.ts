/** Calls installation_id(): which database this is. */
import type { Database } from './database.ts'
import { defineStatement, readOne, text } from './statement.ts'

const INSTALLATION_ID = defineStatement('select installation_id()::text as id', { id: text() })

/** A UUID: another for every database that may share a Redis with this one. */
export async function readInstallationId(database: Database): Promise<string> {
  return (await readOne(database, INSTALLATION_ID)).id
}
