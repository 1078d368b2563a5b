/** Calls register_embedding_space(), find_prompt_vector() and store_prompt_vector(): vectors that were paid for. */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { formatVector } from './format-vector.ts'

/** Id of the embedder's space, made at first use. */
export async function registerEmbeddingSpace(
  database: Database,
  space: { model: string; dimensions: number },
): Promise<number> {
  const { rows } = await sql<{ id: number }>`select register_embedding_space(
    ${space.model}::text, ${space.dimensions}::integer, ${database.buildsGraphs}::boolean
  ) as id`.execute(database.queries)
  const id = rows[0]?.id
  if (id === undefined) throw new Error('register_embedding_space() returned nothing')
  return id
}

export interface PromptVectorName {
  projectId: number
  spaceId: number
  /** Hex SHA-256 of the normalized text. */
  textHash: string
}

export async function findPromptVector(database: Database, name: PromptVectorName): Promise<Float32Array | null> {
  const { rows } = await sql<{ vector: string | null }>`select find_prompt_vector(
    ${name.projectId}::bigint, ${name.spaceId}::integer, decode(${name.textHash}, 'hex')
  )::text as vector`.execute(database.queries)
  const text = rows[0]?.vector
  return text ? Float32Array.from(JSON.parse(text) as number[]) : null
}

export async function storePromptVector(
  database: Database,
  name: PromptVectorName,
  vector: Float32Array,
  ttlSeconds: number,
): Promise<void> {
  await sql`select store_prompt_vector(
    ${name.projectId}::bigint, ${name.spaceId}::integer, decode(${name.textHash}, 'hex'),
    ${formatVector(vector)}::halfvec, ${ttlSeconds}::integer
  )`.execute(database.queries)
}
