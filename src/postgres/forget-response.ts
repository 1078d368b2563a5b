/** Calls forget_response(): deletes cache entries with a response that is gone at its provider. */
import type { Database } from './database.ts'
import { defineStatement, runStatement, text } from './statement.ts'

const FORGET_RESPONSE = defineStatement('select request_hash from forget_response($1::bigint, $2::text)', {
  request_hash: text(),
})

/** Returns the hex SHA-256 of the requests that the response answered. */
export async function forgetResponse(database: Database, projectId: number, id: string): Promise<string[]> {
  const rows = await runStatement(database, FORGET_RESPONSE, [projectId, id])
  return rows.map(row => row.request_hash)
}
