/** Calls forget_response(): deletes what is cached of a response that is gone at its provider. */
import type { Database } from './database.ts'
import { defineStatement, runStatement, text } from './statement.ts'

const FORGET_RESPONSE = defineStatement('select request_hash from forget_response($1::bigint, $2::text)', {
  request_hash: text(),
})

/** Hex SHA-256 of the requests that it answered. */
export async function forgetResponse(database: Database, projectId: number, id: string): Promise<string[]> {
  const rows = await runStatement(database, FORGET_RESPONSE, [projectId, id])
  return rows.map(row => row.request_hash)
}
