/** Calls installation_id(): identifies this database. */
import type { Database } from './database.ts'
import { defineStatement, readOne, text } from './statement.ts'

const INSTALLATION_ID = defineStatement('select installation_id()::text as id', { id: text() })

/** A UUID that differs between databases, so that they can share a Redis. */
export async function readInstallationId(database: Database): Promise<string> {
  return (await readOne(database, INSTALLATION_ID)).id
}
