/** Calls the functions of responses whose usage is presumed until their provider says it. */
import type { Database } from './database.ts'
import {
  bigint,
  boolean,
  defineAction,
  defineStatement,
  nothing,
  nullable,
  readOne,
  runStatement,
  type Statement,
  text,
  texts,
} from './statement.ts'

export interface ResponseToFollow {
  projectId: number
  id: string
  /** The provider and the key, as `nameKeeper` writes them. */
  provider: string
  /** Of its record. */
  requestId: string
  recordedAt: string
  /** A moment of the budgets' periods that were charged. */
  chargedAt: string
  /** What is presumed of it. */
  usd: number
  tokens: number
}

/** One that is to be asked for, with what is needed to ask. */
export interface OpenResponse {
  project_id: number
  id: string
  provider: string
  model: string
  direct_providers: string[]
  provider_keys_version: number
  named_provider_keys: string[] | null
}

export interface ResponseUsage {
  projectId: number
  id: string
  promptTokens: number
  cachedPromptTokens: number
  completionTokens: number
  usd: number
}

export const followResponse = defineAction<ResponseToFollow>('follow_response', {
  projectId: 'bigint',
  id: 'text',
  provider: 'text',
  requestId: 'text',
  recordedAt: 'timestamptz',
  chargedAt: 'timestamptz',
  usd: 'numeric',
  tokens: 'bigint',
})

const TAKE = defineStatement('select * from model_proxy.take_open_responses($1::integer)', {
  project_id: bigint,
  id: text(),
  provider: text(),
  model: text(),
  direct_providers: texts,
  provider_keys_version: bigint,
  named_provider_keys: nullable(texts),
}) as Statement<OpenResponse>
const SETTLE = defineStatement(
  'select model_proxy.settle_response($1::bigint, $2::text, $3::integer, $4::integer, $5::integer, $6::numeric) as is_settled',
  { is_settled: boolean },
)
const FORGET = defineStatement('select model_proxy.forget_open_response($1::bigint, $2::text) as done', {
  done: nothing,
})

/** They come again later, until one is settled or forgotten. */
export function takeOpenResponses(database: Database, atMost: number): Promise<OpenResponse[]> {
  return runStatement(database, TAKE, [atMost])
}

/** Replaces what was presumed. False where its record is gone. */
export async function settleResponse(database: Database, used: ResponseUsage): Promise<boolean> {
  const { projectId, id, promptTokens, cachedPromptTokens, completionTokens, usd } = used
  const values = [projectId, id, promptTokens, cachedPromptTokens, completionTokens, usd]
  return (await readOne(database, SETTLE, values)).is_settled
}

export async function forgetOpenResponse(database: Database, projectId: number, id: string): Promise<void> {
  await runStatement(database, FORGET, [projectId, id])
}
