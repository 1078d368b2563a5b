/** Calls find_answer(): stored answers by hash, by normalized prompt, by similarity. */
import type { Database } from './database.ts'
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

const FIND_ANSWER = defineStatement(
  `select * from find_answer(
  $1::bigint,
  decode($2, 'hex'),
  decode($3, 'hex'),
  decode($4, 'hex'),
  $5::integer,
  $6::halfvec,
  $7::double precision,
  $8::integer
)`,
  {
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
) as Statement<FoundAnswer>

/** The exact answer alone, or those of equal context whose prompt is the same normalized or similar; in no order. */
export function findAnswer(database: Database, ask: AnswerAsk): Promise<FoundAnswer[]> {
  const { semantic } = ask
  const vector = semantic?.vector
  return runStatement(database, FIND_ANSWER, [
    ask.projectId,
    ask.requestHash,
    semantic?.contextHash ?? null,
    semantic?.normalizedHash ?? null,
    vector?.spaceId ?? null,
    vector?.text ?? null,
    semantic?.threshold ?? null,
    ask.maxAgeSeconds,
  ])
}
