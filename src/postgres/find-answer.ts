/** Calls find_answers(): stored answers by hash, by normalized prompt, by similarity. */
import type { Database } from './database.ts'
import { joinHashes, NO_HASH } from './join-hashes.ts'
import {
  bigint,
  defineStatement,
  double,
  integer,
  nullable,
  runStatement,
  type Statement,
  text,
  timestamp,
} from './statement.ts'

interface StoredAnswer {
  /** `cache_entries.id`: the same for as long as the request's answer is kept, also when it is replaced. */
  entry_id: number
  /** Hex SHA-256. */
  request_hash: string
  response: string
  provider: string
  prompt_tokens: number
  completion_tokens: number
  created_at: Date
  expires_at: Date
}

export interface AnswerAsk {
  projectId: number
  requestHash: string
  /** Null: look for the exact request alone. */
  semantic: {
    contextHash: string
    normalizedHash: string
    /** Null: look for no similar ones. */
    vector: { spaceId: number; text: string } | null
    /** Similarity that must be exceeded. */
    threshold: number
  } | null
  /** Null: any age. */
  maxAgeSeconds: number | null
}

/** What was said of the asked question and the entry's: null for nothing. */
type Judged =
  | { verdict: 'same' | 'different'; verdict_source: 'person' | 'review' | 'judge' }
  | { verdict: null; verdict_source: null }

export type SimilarAnswer = StoredAnswer & {
  match: 'normalized' | 'similar'
  similarity: number
  prompt: string
} & Judged
export type FoundAnswer = (StoredAnswer & { match: 'exact' }) | SimilarAnswer

interface Found {
  /** Which of the asked it was found for, counted from 0. */
  place: number
}

const FIND_ANSWERS = defineStatement(
  `select * from find_answers(
  $1::bigint[],
  $2::bytea,
  $3::bytea,
  $4::bytea,
  $5::integer[],
  $6::text[],
  $7::double precision[],
  $8::integer[]
)`,
  {
    place: integer,
    entry_id: bigint,
    request_hash: text(),
    match: text(),
    similarity: nullable(double),
    response: text(),
    provider: text(),
    prompt_tokens: integer,
    completion_tokens: integer,
    created_at: timestamp,
    expires_at: timestamp,
    prompt: nullable(text()),
    verdict: nullable(text()),
    verdict_source: nullable(text()),
  },
) as Statement<FoundAnswer & Found>

/** For each: the exact answer alone, or those of equal context whose prompt is the same normalized or similar; in no order. */
export async function findAnswers(database: Database, asks: readonly AnswerAsk[]): Promise<FoundAnswer[][]> {
  const rows = await runStatement(database, FIND_ANSWERS, [
    asks.map(ask => ask.projectId),
    joinHashes(asks.map(ask => ask.requestHash)),
    joinHashes(asks.map(ask => ask.semantic?.contextHash ?? NO_HASH)),
    joinHashes(asks.map(ask => ask.semantic?.normalizedHash ?? NO_HASH)),
    asks.map(ask => ask.semantic?.vector?.spaceId ?? null),
    asks.map(ask => ask.semantic?.vector?.text ?? null),
    asks.map(ask => ask.semantic?.threshold ?? null),
    asks.map(ask => ask.maxAgeSeconds),
  ])
  const found: FoundAnswer[][] = asks.map(() => [])
  for (const { place, ...answer } of rows) found[place]?.push(answer)
  return found
}

export async function findAnswer(database: Database, ask: AnswerAsk): Promise<FoundAnswer[]> {
  const [found = []] = await findAnswers(database, [ask])
  return found
}
