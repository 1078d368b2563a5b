/** Calls store_answer(): keeps a whole answer, findable by its request and, where wanted, by its prompt. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface AnswerToStore {
  projectId: number
  requestHash: string
  namespace: string
  endpoint: string
  model: string
  provider: string
  /** The plain JSON body. */
  response: string
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

export async function storeAnswer(database: Database, answer: AnswerToStore): Promise<void> {
  const { semantic } = answer
  await sql`select store_answer(
    ${answer.projectId}::bigint,
    decode(${answer.requestHash}, 'hex'),
    ${answer.namespace}::text,
    ${answer.endpoint}::text,
    ${answer.model}::text,
    ${answer.provider}::text,
    ${answer.response}::text,
    ${answer.promptTokens}::integer,
    ${answer.completionTokens}::integer,
    ${answer.ttlSeconds}::integer,
    decode(${semantic?.contextHash ?? null}, 'hex'),
    decode(${semantic?.normalizedHash ?? null}, 'hex'),
    ${semantic?.prompt ?? null}::text,
    ${semantic?.vector?.spaceId ?? null}::integer,
    ${semantic?.vector?.text ?? null}::halfvec
  )`.execute(database.queries)
}
