/** Calls store_vectors(): stores many vectors of a project. */
import type { Database } from './database.ts'
import { joinHashes } from './join-hashes.ts'
import { defineStatement, nothing, runStatement } from './statement.ts'

export interface VectorsToStore {
  projectId: number
  vectors: readonly {
    /** Hex SHA-256, distinct within the call. */
    name: string
    packed: Uint8Array
    promptTokens: number
    answeredAs: string
  }[]
  ttlSeconds: number
  /** Stored only if the project's cache has not been purged since; null skips this check. */
  cacheGeneration?: number | null
  /** Whether a test key sent the request. */
  test?: boolean
}

const STORE_VECTORS = defineStatement(
  'select store_vectors($1::bigint, $2::bytea, $3::bytea, $4::integer[], $5::integer[], $6::text[], $7::integer, $8::boolean, $9::integer) as done',
  { done: nothing },
)

export async function storeVectors(
  database: Database,
  { projectId, vectors, ttlSeconds, cacheGeneration = null, test = false }: VectorsToStore,
): Promise<void> {
  await runStatement(database, STORE_VECTORS, [
    projectId,
    joinHashes(vectors.map(vector => vector.name)),
    Buffer.concat(vectors.map(vector => vector.packed)),
    vectors.map(vector => vector.packed.length),
    vectors.map(vector => vector.promptTokens),
    vectors.map(vector => vector.answeredAs),
    ttlSeconds,
    test,
    cacheGeneration,
  ])
}
