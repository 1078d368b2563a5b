/** Calls register_embedding_space(): within which vectors can be compared. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

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
