/** Calls find_vectors(): many vectors of a project by name. */
import type { Database } from './database.ts'
import { joinHashes } from './join-hashes.ts'
import { bytes, defineStatement, integer, runStatement, text, timestamp } from './statement.ts'

export interface VectorsAsk {
  projectId: number
  /** Hex SHA-256 each. */
  names: readonly string[]
  /** Null for any age. */
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

const FIND_VECTORS = defineStatement('select * from find_vectors($1::bigint, $2::bytea, $3::integer)', {
  place: integer,
  vector: bytes,
  prompt_tokens: integer,
  answered_as: text(),
  created_at: timestamp,
  expires_at: timestamp,
})

/** Returns one row for each known name. */
export function findVectors(database: Database, ask: VectorsAsk): Promise<VectorRow[]> {
  return runStatement(database, FIND_VECTORS, [ask.projectId, joinHashes(ask.names), ask.maxAgeSeconds])
}
