/** Calls find_answer() and find_similar(): stored answers by hash, by normalized prompt, by similarity. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface StoredAnswer {
  entry_id: number
  response: string
  model: string
  provider: string
  prompt_tokens: number
  completion_tokens: number
  created_at: Date
  expires_at: Date
}

export interface ExactAsk {
  projectId: number
  requestHash: string
  /** Null: look for the exact request alone. */
  semantic: { contextHash: string; normalizedHash: string } | null
  /** Null: any age. */
  maxAgeSeconds: number | null
}

export type FoundAnswer = StoredAnswer & ({ match: 'exact'; prompt: null } | { match: 'normalized'; prompt: string })

/** The exact answer alone, or up to five of equal context and normalized prompt, newest first, or none. */
export async function findAnswer(database: Database, ask: ExactAsk): Promise<FoundAnswer[]> {
  const { rows } = await sql<FoundAnswer>`select * from find_answer(
    ${ask.projectId}::bigint,
    decode(${ask.requestHash}, 'hex'),
    decode(${ask.semantic?.contextHash ?? null}, 'hex'),
    decode(${ask.semantic?.normalizedHash ?? null}, 'hex'),
    ${ask.maxAgeSeconds}::integer
  )`.execute(database.queries)
  return rows
}

export interface SimilarAsk {
  projectId: number
  contextHash: string
  spaceId: number
  vector: Float32Array
  /** Similarity that must be exceeded. */
  threshold: number
  maxAgeSeconds: number | null
}

export type SimilarAnswer = StoredAnswer & { similarity: number; prompt: string }

/** Up to five answers of equal context above the threshold, most similar first. */
export async function findSimilar(database: Database, ask: SimilarAsk): Promise<SimilarAnswer[]> {
  const { rows } = await sql<SimilarAnswer>`select * from find_similar(
    ${ask.projectId}::bigint,
    decode(${ask.contextHash}, 'hex'),
    ${ask.spaceId}::integer,
    ${formatVector(ask.vector)}::halfvec,
    ${ask.threshold}::double precision,
    ${ask.maxAgeSeconds}::integer
  )`.execute(database.queries)
  return rows
}

/** pgvector's text form. */
export function formatVector(vector: Float32Array): string {
  return `[${vector.join(',')}]`
}
