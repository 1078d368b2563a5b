/** Calls the functions that keep responses for the keys that asked for them, where providers keep none. */
import type { Database } from './database.ts'
import { boolean, defineStatement, defineSweep, nothing, nullable, readOne, runStatement, text } from './statement.ts'

/** The key that may reach a response. */
export interface KeptFor {
  project_id: number
  key_id: number
}

export interface KeptResponse {
  id: string
  /** The response that its request continued; null when it began a conversation. */
  previousId: string | null
  /** JSON list of the request's own input items; null when they were too long to be kept. */
  input: string | null
  /** JSON. */
  response: string
}

const KEEP = defineStatement(
  'select model_proxy.keep_response($1::bigint, $2::bigint, $3::text, $4::text, $5::text, $6::text) as done',
  { done: nothing },
)
const COLUMNS = { id: text(), previousId: nullable(text()), input: nullable(text()), response: text() }
const FIND = defineStatement(
  `select id, previous_id as "previousId", input, response from model_proxy.find_kept_responses($1::bigint, $2::bigint, $3::text[])`,
  COLUMNS,
)
const FIND_CONVERSATION = defineStatement(
  `select id, previous_id as "previousId", input, response from model_proxy.find_conversation($1::bigint, $2::bigint, $3::text)`,
  COLUMNS,
)
const FORGET = defineStatement('select model_proxy.forget_kept_response($1::bigint, $2::bigint, $3::text) as forgot', {
  forgot: boolean,
})

export async function keepResponse(
  database: Database,
  { project_id, key_id }: KeptFor,
  { id, previousId, input, response }: KeptResponse,
): Promise<void> {
  await runStatement(database, KEEP, [project_id, key_id, id, previousId, input, response])
}

export function findKeptResponses(
  database: Database,
  { project_id, key_id }: KeptFor,
  ids: readonly string[],
): Promise<KeptResponse[]> {
  return runStatement(database, FIND, [project_id, key_id, ids])
}

/** The first turn comes first. */
export function findConversation(
  database: Database,
  { project_id, key_id }: KeptFor,
  id: string,
): Promise<KeptResponse[]> {
  return runStatement(database, FIND_CONVERSATION, [project_id, key_id, id])
}

/** Returns whether there was one. */
export async function forgetKeptResponse(
  database: Database,
  { project_id, key_id }: KeptFor,
  id: string,
): Promise<boolean> {
  return (await readOne(database, FORGET, [project_id, key_id, id])).forgot
}

export const deleteExpiredResponses = defineSweep('delete_expired_responses')
