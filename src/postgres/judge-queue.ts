/** Calls what has pairs of questions wait for the judge, off every request's path. */
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
  /** Hex SHA-256 of what the questions share, and of the asked one as proof writes it. */
  contextHash: string
  askedHash: string
  /** `request_hash` of the entry that it was compared with, in hex. */
  entryHash: string
  /** Whether it was served. */
  isReview: boolean
  /** What both were sent with, as JSON. */
  context: string
  asked: string
  similarity: number
}

/** A pair that waits, with what it takes to ask the project's judge. */
export interface QueuedPair {
  id: number
  project_id: number
  project_name: string
  context_hash: string
  asked_hash: string
  /** Hex SHA-256 of the entry's question as proof writes it. */
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

/** No other process is given them for two minutes. */
export function takeJudgements(database: Database, atMost: number): Promise<QueuedPair[]> {
  return runStatement(database, TAKE, [atMost])
}

/** Puts one back that was taken, and has all pairs of its project wait. */
export async function postponeJudgements(
  database: Database,
  { id, project_id }: Pick<QueuedPair, 'id' | 'project_id'>,
  { forSeconds, wasTried }: { forSeconds: number; wasTried: boolean },
): Promise<void> {
  await runStatement(database, POSTPONE, [project_id, id, wasTried, forSeconds])
}
