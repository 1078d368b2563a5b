/** Calls the functions of the judge: its budget, its queue of pairs, and its verdicts. */
import type { Database } from './database.ts'
import {
  bigint,
  boolean,
  date,
  defineAction,
  defineBatch,
  defineStatement,
  double,
  nothing,
  nullable,
  readOne,
  runStatement,
  type Statement,
  text,
  timestamp,
} from './statement.ts'

export interface JudgementToSettle {
  projectId: number
  /** The day of the reservation. */
  day: string
  /** The actual cost less what was reserved. */
  correctionUsd: number
  /** Null when there is none. */
  verdict: 'same' | 'different' | null
  /** Hex SHA-256 of the shared context, and of each question in normalized form. */
  contextHash: string
  askedHash: string
  entryHash: string
  /** When the entry expires. */
  until: Date
  /** Null when it is of no use for calibration. */
  similarity: number | null
  /** The kind of difference that prevented proof; null when nothing did. */
  difference: string | null
  /** review: the judge's verdict about a hit that had been served. */
  source: 'judge' | 'review'
  /** The pair's id, if it was queued. */
  queuedId: number | null
}

const RESERVE = defineStatement('select model_proxy.reserve_judgement($1::bigint, $2::numeric) as day', {
  day: nullable(date),
})
/** Returns the day (`YYYY-MM-DD`) whose budget was charged; null when that budget is used up. */
export async function reserveJudgement(database: Database, projectId: number, usd: number): Promise<string | null> {
  const { day } = await readOne(database, RESERVE, [projectId, usd])
  return day
}

export const settleJudgement = defineAction<JudgementToSettle>('settle_judgement', {
  projectId: 'bigint',
  day: 'date',
  correctionUsd: 'numeric',
  contextHash: 'hash',
  askedHash: 'hash',
  entryHash: 'hash',
  verdict: 'text',
  until: 'timestamptz',
  similarity: 'double precision',
  difference: 'text',
  source: 'text',
  queuedId: 'bigint',
})

export interface PairToQueue {
  projectId: number
  /** Hex SHA-256 of the shared context, and of the asked question in normalized form. */
  contextHash: string
  askedHash: string
  /** `request_hash` of the entry that it was compared with, in hex. */
  entryHash: string
  /** Whether the entry was served. */
  isReview: boolean
  /** The context that both questions share, as JSON. */
  context: string
  asked: string
  similarity: number
}

/** A queued pair, with what is needed to ask the project's judge. */
export interface QueuedPair {
  id: number
  project_id: number
  project_name: string
  context_hash: string
  asked_hash: string
  /** Hex SHA-256 of the entry's question in normalized form. */
  cached_hash: string
  is_review: boolean
  context: string
  asked: string
  cached: string
  similarity: number
  /** When the entry expires. */
  expires_at: Date
  semantic_judge_model: string
  direct_providers: string[]
  provider_keys_version: number
}

export const queueJudgements = defineBatch<PairToQueue>('queue_judgements', {
  projectId: 'bigint',
  contextHash: 'text',
  askedHash: 'text',
  entryHash: 'text',
  isReview: 'boolean',
  context: 'text',
  asked: 'text',
  similarity: 'double precision',
})

const TAKE = defineStatement('select * from model_proxy.take_judgements($1::integer)', {
  id: bigint,
  project_id: bigint,
  project_name: text(),
  context_hash: text(),
  asked_hash: text(),
  cached_hash: text(),
  is_review: boolean,
  context: text(),
  asked: text(),
  cached: text(),
  similarity: double,
  expires_at: timestamp,
  semantic_judge_model: text(),
  direct_providers: { type: '_text' },
  provider_keys_version: bigint,
}) as Statement<QueuedPair>
const POSTPONE = defineStatement(
  'select model_proxy.postpone_judgements($1::bigint, $2::bigint, $3::boolean, $4::integer) as done',
  { done: nothing },
)

/** Reserves the pairs for two minutes: other processes do not get them. */
export function takeJudgements(database: Database, atMost: number): Promise<QueuedPair[]> {
  return runStatement(database, TAKE, [atMost])
}

/** Puts a pair back, and delays all pairs of its project. */
export async function postponeJudgements(
  database: Database,
  { id, project_id }: Pick<QueuedPair, 'id' | 'project_id'>,
  { forSeconds, wasTried }: { forSeconds: number; wasTried: boolean },
): Promise<void> {
  await runStatement(database, POSTPONE, [project_id, id, wasTried, forSeconds])
}
