/** Calls store_answers(): stores complete responses, to be found by request and, if wanted, by prompt. */
import type { Database } from './database.ts'
import { defineStatement, listHashes, runStatement, text } from './statement.ts'

export interface AnswerToStore {
  projectId: number
  /** Stored only if the project's cache has not been purged since; null skips this check. */
  cacheGeneration?: number | null
  /** Whether a test key sent the request. */
  test?: boolean
  requestHash: string
  namespace: string
  endpoint: string
  model: string
  provider: string
  /** The plain JSON body. */
  response: string | Uint8Array
  promptTokens: number
  completionTokens: number
  ttlSeconds: number
  /** Null: to be found by the exact request only. */
  semantic: {
    contextHash: string
    normalizedHash: string
    prompt: string
    /** Null when the embedder returned none. */
    vector: { spaceId: number; text: string } | null
    /** See `AnswerAsk`; without it, the prompt is looked at for every question. */
    anchorHash?: string | null
  } | null
}

const STORE_ANSWERS = `select place, entry_id from model_proxy.store_answers(
  $1::bigint[],
  $2::integer[],
  $3::boolean[],
  $4::text[]::bytea[],
  $5::text[],
  $6::text[],
  $7::text[],
  $8::text[],
  $9::bytea,
  $10::integer[],
  $11::integer[],
  $12::integer[],
  $13::integer[],
  $14::text[]::bytea[],
  $15::text[]::bytea[],
  $16::text[],
  $17::integer[],
  $18::text[],
  $19::text[]::bytea[]
)`

/**
 * Returns each response's entry id, in order; null for one that was not stored: its project is gone, was purged since, or is locked by
 * another transaction.
 */
export async function storeAnswers(database: Database, answers: readonly AnswerToStore[]): Promise<(number | null)[]> {
  // One byte string instead of a list of texts: bodies need no escaping.
  const responses = answers.map(({ response }) => (typeof response === 'string' ? Buffer.from(response) : response))
  const rows = await database.call<{ place: number; entry_id: number }>(STORE_ANSWERS, [
    answers.map(answer => answer.projectId),
    answers.map(answer => answer.cacheGeneration ?? null),
    answers.map(answer => answer.test ?? false),
    listHashes(answers.map(answer => answer.requestHash)),
    answers.map(answer => answer.namespace),
    answers.map(answer => answer.endpoint),
    answers.map(answer => answer.model),
    answers.map(answer => answer.provider),
    Buffer.concat(responses),
    responses.map(response => response.length),
    answers.map(answer => answer.promptTokens),
    answers.map(answer => answer.completionTokens),
    answers.map(answer => answer.ttlSeconds),
    listHashes(answers.map(answer => answer.semantic?.contextHash)),
    listHashes(answers.map(answer => answer.semantic?.normalizedHash)),
    answers.map(answer => answer.semantic?.prompt ?? null),
    answers.map(answer => answer.semantic?.vector?.spaceId ?? null),
    answers.map(answer => answer.semantic?.vector?.text ?? null),
    listHashes(answers.map(answer => answer.semantic?.anchorHash)),
  ])
  const ids: (number | null)[] = answers.map(() => null)
  for (const row of rows) ids[row.place] = Number(row.entry_id)
  return ids
}

/** Returns its entry id; null when it was not stored. */
export async function storeAnswer(database: Database, answer: AnswerToStore): Promise<number | null> {
  const [id] = await storeAnswers(database, [answer])
  return id ?? null
}

const FORGET_RESPONSE = defineStatement('select request_hash from model_proxy.forget_response($1::bigint, $2::text)', {
  request_hash: text(),
})

/** Returns the hex SHA-256 of the requests that the response answered. */
export async function forgetResponse(database: Database, projectId: number, id: string): Promise<string[]> {
  const rows = await runStatement(database, FORGET_RESPONSE, [projectId, id])
  return rows.map(row => row.request_hash)
}
