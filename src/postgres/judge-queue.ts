/** Calls the functions of the judge's queue, off every request's path. */
import type { Database } from './database.ts'
import {
  bigint,
  boolean,
  defineStatement,
  double,
  nothing,
  runStatement,
  type Statement,
  text,
  timestamp,
  toColumns,
} from './statement.ts'

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

const QUEUE = defineStatement(
  `select queue_judgements(
  $1::bigint[],
  $2::text[],
  $3::text[],
  $4::text[],
  $5::boolean[],
  $6::text[],
  $7::text[],
  $8::double precision[]
) as done`,
  { done: nothing },
)
const QUEUED = [
  'projectId',
  'contextHash',
  'askedHash',
  'entryHash',
  'isReview',
  'context',
  'asked',
  'similarity',
] as const satisfies (keyof PairToQueue)[]
const TAKE = defineStatement('select * from take_judgements($1::integer)', {
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
  'select postpone_judgements($1::bigint, $2::bigint, $3::boolean, $4::integer) as done',
  {
    done: nothing,
  },
)

export async function queueJudgements(database: Database, pairs: readonly PairToQueue[]): Promise<void> {
  await runStatement(database, QUEUE, toColumns(pairs, QUEUED))
}

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
