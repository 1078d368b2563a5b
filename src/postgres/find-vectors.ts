/** Calls find_vectors(): many vectors of a project at once, each by its name. */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { joinHashes } from './join-hashes.ts'

export interface VectorsAsk {
  projectId: number
  /** Hex SHA-256 each. */
  names: readonly string[]
  /** Null: any age. */
  maxAgeSeconds: number | null
}

export interface VectorRow {
  /** Index of its name in the ask. */
  place: number
  vector: Uint8Array
  prompt_tokens: number
  answered_as: string
  created_at: Date
  expires_at: Date
}

/** One row for each name that is known. */
export async function findVectors(database: Database, ask: VectorsAsk): Promise<VectorRow[]> {
  const { rows } = await sql<VectorRow>`select * from find_vectors(
    ${ask.projectId}::bigint, ${joinHashes(ask.names)}::bytea, ${ask.maxAgeSeconds}::integer
  )`.execute(database.queries)
  return rows
}
