/** Calls find_answers(): cache entries by hash, by normalized prompt, by similarity. */
import type { Database } from './database.ts'
import {
  bigint,
  defineStatement,
  double,
  integer,
  listHashes,
  nullable,
  runStatement,
  type Statement,
  text,
  timestamp,
} from './statement.ts'

interface AnswerFacts {
  /** `cache_entries.id`: stays the same while the request's response is stored, also when it is replaced. */
  entry_id: number
  /** Hex SHA-256. */
  request_hash: string
  provider: string
  prompt_tokens: number
  completion_tokens: number
  created_at: Date
  expires_at: Date
}

export interface AnswerAsk {
  projectId: number
  requestHash: string
  /** Null: look for an exact match only. */
  semantic: {
    contextHash: string
    normalizedHash: string
    /** Null: do not look for similar prompts. */
    vector: { spaceId: number; text: string } | null
    /** Hex SHA-256. Similar prompts are looked for only where one was stored with the same; null for all. */
    anchorHash?: string | null
    /** Similarity that must be exceeded. */
    threshold: number
  } | null
  /** Null for any age. */
  maxAgeSeconds: number | null
}

/** The verdict about the asked question and the entry's; null for none. */
type Judged =
  | { verdict: 'same' | 'different'; verdict_source: 'person' | 'review' | 'judge' }
  | { verdict: null; verdict_source: null }

/** Without its response: of several, one at most is served. */
export type SimilarAnswer = AnswerFacts & {
  match: 'normalized' | 'similar'
  similarity: number
  prompt: string
} & Judged
export type ExactAnswer = AnswerFacts & { match: 'exact'; response: string }
export type FoundAnswer = ExactAnswer | SimilarAnswer

export interface FoundAnswers {
  answers: FoundAnswer[]
  /** Whether something comparable is stored that does not exceed the threshold. */
  hasBelow: boolean
}

interface Found {
  /** Index of the ask that it was found for. */
  place: number
}

/** Only says that it exists: its other columns are empty. */
type Below = { match: 'below' }

const FIND_ANSWERS = defineStatement(
  `select * from model_proxy.find_answers(
  $1::bigint[],
  $2::text[]::bytea[],
  $3::text[]::bytea[],
  $4::text[]::bytea[],
  $5::integer[],
  $6::text[],
  $7::double precision[],
  $8::integer[],
  $9::text[]::bytea[]
)`,
  {
    place: integer,
    entry_id: bigint,
    request_hash: text(),
    match: text(),
    similarity: nullable(double),
    response: nullable(text()),
    provider: text(),
    prompt_tokens: integer,
    completion_tokens: integer,
    created_at: timestamp,
    expires_at: timestamp,
    prompt: nullable(text()),
    verdict: nullable(text()),
    verdict_source: nullable(text()),
  },
) as Statement<(FoundAnswer | Below) & Found>

/** For each ask: the exact entry alone, or entries of equal context with the same normalized or a similar prompt; in no order. */
export async function findAnswers(database: Database, asks: readonly AnswerAsk[]): Promise<FoundAnswers[]> {
  const rows = await runStatement(database, FIND_ANSWERS, [
    asks.map(ask => ask.projectId),
    listHashes(asks.map(ask => ask.requestHash)),
    listHashes(asks.map(ask => ask.semantic?.contextHash)),
    listHashes(asks.map(ask => ask.semantic?.normalizedHash)),
    asks.map(ask => ask.semantic?.vector?.spaceId ?? null),
    asks.map(ask => ask.semantic?.vector?.text ?? null),
    asks.map(ask => ask.semantic?.threshold ?? null),
    asks.map(ask => ask.maxAgeSeconds),
    listHashes(asks.map(ask => ask.semantic?.anchorHash)),
  ])
  const found: FoundAnswers[] = asks.map(() => ({ answers: [], hasBelow: false }))
  for (const { place, ...row } of rows) {
    const at = found[place]
    if (!at) continue
    if (row.match === 'below') at.hasBelow = true
    else at.answers.push(row)
  }
  // The exact entry stands alone.
  for (const at of found) {
    const exact = at.answers.find(({ match }) => match === 'exact')
    if (exact) at.answers = [exact]
  }
  return found
}

export async function findAnswer(database: Database, ask: AnswerAsk): Promise<FoundAnswer[]> {
  const [found] = await findAnswers(database, [ask])
  return found?.answers ?? []
}
