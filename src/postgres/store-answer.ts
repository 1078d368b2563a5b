/** Calls store_answer(): keeps a whole answer, findable by its request and, where wanted, by its prompt. */
import type { Database } from './database.ts'
import { bigint, defineStatement, runStatement } from './statement.ts'

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

const STORE_ANSWER = defineStatement(
  `select store_answer(
  $1::bigint,
  decode($2, 'hex'),
  $3::text,
  $4::text,
  $5::text,
  $6::text,
  $7::text,
  $8::integer,
  $9::integer,
  $10::integer,
  decode($11, 'hex'),
  decode($12, 'hex'),
  $13::text,
  $14::integer,
  $15::halfvec
) as id`,
  { id: bigint },
)

export async function storeAnswer(database: Database, answer: AnswerToStore): Promise<void> {
  const { semantic } = answer
  await runStatement(database, STORE_ANSWER, [
    answer.projectId,
    answer.requestHash,
    answer.namespace,
    answer.endpoint,
    answer.model,
    answer.provider,
    answer.response,
    answer.promptTokens,
    answer.completionTokens,
    answer.ttlSeconds,
    semantic?.contextHash ?? null,
    semantic?.normalizedHash ?? null,
    semantic?.prompt ?? null,
    semantic?.vector?.spaceId ?? null,
    semantic?.vector?.text ?? null,
  ])
}
