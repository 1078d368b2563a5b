/** Calls store_vectors(): keeps many vectors of a project at once. */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { joinHashes } from './join-hashes.ts'

export interface VectorsToStore {
  projectId: number
  vectors: readonly {
    /** Hex SHA-256, unlike those of the others. */
    name: string
    packed: Uint8Array
    promptTokens: number
    answeredAs: string
  }[]
  ttlSeconds: number
}

export async function storeVectors(
  database: Database,
  { projectId, vectors, ttlSeconds }: VectorsToStore,
): Promise<void> {
  await sql`select store_vectors(
    ${projectId}::bigint,
    ${joinHashes(vectors.map(vector => vector.name))}::bytea,
    ${Buffer.concat(vectors.map(vector => vector.packed))}::bytea,
    ${vectors.map(vector => vector.packed.length)}::integer[],
    ${vectors.map(vector => vector.promptTokens)}::integer[],
    ${vectors.map(vector => vector.answeredAs)}::text[],
    ${ttlSeconds}::integer
  )`.execute(database.queries)
}
