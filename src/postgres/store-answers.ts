/** Calls store_answers(): keeps whole answers, findable by their requests and, where wanted, by their prompts. */
import type { Database } from './database.ts'
import { joinHashes, NO_HASH } from './join-hashes.ts'

export interface AnswerToStore {
  projectId: number
  /** Stored only while the project's cache has not been purged since; null: in any case. */
  cacheGeneration?: number | null
  /** Whether a test key asked. */
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
  /** Null: to be found by the exact request alone. */
  semantic: {
    contextHash: string
    normalizedHash: string
    prompt: string
    /** Null where the embedder had none to give. */
    vector: { spaceId: number; text: string } | null
  } | null
}

const STORE_ANSWERS = `select place, entry_id from store_answers(
  $1::bigint[],
  $2::integer[],
  $3::boolean[],
  $4::bytea,
  $5::text[],
  $6::text[],
  $7::text[],
  $8::text[],
  $9::bytea,
  $10::integer[],
  $11::integer[],
  $12::integer[],
  $13::integer[],
  $14::bytea,
  $15::bytea,
  $16::text[],
  $17::integer[],
  $18::text[]
)`

/**
 * The entry id of each answer, in their order; null for one that was not stored: its project is gone, was purged since, or is
 * locked by somebody.
 */
export async function storeAnswers(database: Database, answers: readonly AnswerToStore[]): Promise<(number | null)[]> {
  // Bytes rather than a list of texts: bodies are sent as they are, with nothing to escape.
  const responses = answers.map(({ response }) => (typeof response === 'string' ? Buffer.from(response) : response))
  const rows = await database.call<{ place: number; entry_id: number }>(STORE_ANSWERS, [
    answers.map(answer => answer.projectId),
    answers.map(answer => answer.cacheGeneration ?? null),
    answers.map(answer => answer.test ?? false),
    joinHashes(answers.map(answer => answer.requestHash)),
    answers.map(answer => answer.namespace),
    answers.map(answer => answer.endpoint),
    answers.map(answer => answer.model),
    answers.map(answer => answer.provider),
    Buffer.concat(responses),
    responses.map(response => response.length),
    answers.map(answer => answer.promptTokens),
    answers.map(answer => answer.completionTokens),
    answers.map(answer => answer.ttlSeconds),
    joinHashes(answers.map(answer => answer.semantic?.contextHash ?? NO_HASH)),
    joinHashes(answers.map(answer => answer.semantic?.normalizedHash ?? NO_HASH)),
    answers.map(answer => answer.semantic?.prompt ?? null),
    answers.map(answer => answer.semantic?.vector?.spaceId ?? null),
    answers.map(answer => answer.semantic?.vector?.text ?? null),
  ])
  const ids: (number | null)[] = answers.map(() => null)
  for (const row of rows) ids[row.place] = Number(row.entry_id)
  return ids
}
