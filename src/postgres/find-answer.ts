/** Calls find_answer(): stored answers by hash, by normalized prompt, by similarity. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

interface StoredAnswer {
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

export type SimilarAnswer = StoredAnswer & { match: 'normalized' | 'similar'; similarity: number; prompt: string }
export type FoundAnswer = (StoredAnswer & { match: 'exact' }) | SimilarAnswer

/** The exact answer alone, or those of equal context whose prompt is the same normalized or similar; in no order. */
export async function findAnswer(database: Database, ask: AnswerAsk): Promise<FoundAnswer[]> {
  const { semantic } = ask
  const vector = semantic?.vector
  const { rows } = await sql<FoundAnswer>`select * from find_answer(
    ${ask.projectId}::bigint,
    decode(${ask.requestHash}, 'hex'),
    decode(${semantic?.contextHash ?? null}, 'hex'),
    decode(${semantic?.normalizedHash ?? null}, 'hex'),
    ${vector?.spaceId ?? null}::integer,
    ${vector?.text ?? null}::halfvec,
    ${semantic?.threshold ?? null}::double precision,
    ${ask.maxAgeSeconds}::integer
  )`.execute(database.queries)
  return rows
}
