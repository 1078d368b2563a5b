/** Calls register_embedding_space(): vectors can be compared within one space only. */
import type { Database } from './database.ts'
import { defineStatement, integer, readOne } from './statement.ts'

const REGISTER_SPACE = defineStatement('select register_embedding_space($1::text, $2::integer, $3::boolean) as id', {
  id: integer,
})

/** Id of the embedder's space, created at first use. */
export async function registerEmbeddingSpace(
  database: Database,
  space: { model: string; dimensions: number },
): Promise<number> {
  const { id } = await readOne(database, REGISTER_SPACE, [space.model, space.dimensions, database.buildsLists])
  return id
}
