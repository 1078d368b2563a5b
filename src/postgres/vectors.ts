/** Vectors in the database: the spaces they are comparable in, those that were paid for, and their text form. */

import type { Database } from './database.ts'
import {
  bytes,
  defineStatement,
  integer,
  listHashes,
  nothing,
  readOne,
  runStatement,
  text,
  timestamp,
} from './statement.ts'

const REGISTER_SPACE = defineStatement(
  'select model_proxy.register_embedding_space($1::text, $2::integer, $3::boolean) as id',
  {
    id: integer,
  },
)

/** Id of the embedder's space, created at first use. */
export async function registerEmbeddingSpace(
  database: Database,
  space: { model: string; dimensions: number },
): Promise<number> {
  const { id } = await readOne(database, REGISTER_SPACE, [space.model, space.dimensions, database.buildsLists])
  return id
}

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

const FIND_VECTORS = defineStatement(
  'select * from model_proxy.find_vectors($1::bigint, $2::text[]::bytea[], $3::integer)',
  {
    place: integer,
    vector: bytes,
    prompt_tokens: integer,
    answered_as: text(),
    created_at: timestamp,
    expires_at: timestamp,
  },
)

/** Returns one row for each known name. */
export function findVectors(database: Database, ask: VectorsAsk): Promise<VectorRow[]> {
  return runStatement(database, FIND_VECTORS, [ask.projectId, listHashes(ask.names), ask.maxAgeSeconds])
}

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
  'select model_proxy.store_vectors($1::bigint, $2::text[]::bytea[], $3::bytea, $4::integer[], $5::integer[], $6::text[], $7::integer, $8::boolean, $9::integer) as done',
  { done: nothing },
)

export async function storeVectors(
  database: Database,
  { projectId, vectors, ttlSeconds, cacheGeneration = null, test = false }: VectorsToStore,
): Promise<void> {
  await runStatement(database, STORE_VECTORS, [
    projectId,
    listHashes(vectors.map(vector => vector.name)),
    Buffer.concat(vectors.map(vector => vector.packed)),
    vectors.map(vector => vector.packed.length),
    vectors.map(vector => vector.promptTokens),
    vectors.map(vector => vector.answeredAs),
    ttlSeconds,
    test,
    cacheGeneration,
  ])
}

/** The largest integer up to which a half-precision float holds every integer exactly. */
const GREATEST = 2_047
/** Bytes of the longest number's text with its comma: `-2047,`, in two words of four. */
const LONGEST = 8

/** What is written of each number from -GREATEST on: the bytes of its text in two words, and how many of them count. */
const firstBytes = new Uint32Array(2 * GREATEST + 1)
const lastBytes = new Uint32Array(2 * GREATEST + 1)
const lengths = new Uint8Array(2 * GREATEST + 1)
for (let i = 0; i < lengths.length; i++) {
  const written = Buffer.alloc(LONGEST)
  lengths[i] = written.write(`${i - GREATEST},`)
  firstBytes[i] = written.readUInt32LE(0)
  lastBytes[i] = written.readUInt32LE(4)
}

/** Where the text of each vector is written before it becomes a string. */
let room = new DataView(new ArrayBuffer(0))

/**
 * Scaled to integers: cosine similarity does not depend on the scale, and the text is a fifth as long. For vectors that are only compared
 * by cosine, never returned. Throws a RangeError for a number that is not finite: PostgreSQL would refuse all vectors of its call.
 */
export function formatVector(vector: Float32Array): string {
  // Loops by index, because iterators take three times as long and every miss formats a vector.
  let greatest = 0
  for (let i = 0; i < vector.length; i++) greatest = Math.max(greatest, Math.abs(vector[i] as number))
  if (!Number.isFinite(greatest)) throw new RangeError('A vector has a number that is not finite')
  const scale = greatest === 0 ? 0 : GREATEST / greatest
  if (room.byteLength < LONGEST * vector.length) room = new DataView(new ArrayBuffer(LONGEST * vector.length))
  let end = 0
  for (let i = 0; i < vector.length; i++) {
    const number = Math.round((vector[i] as number) * scale) + GREATEST
    // Always both words; the next number overwrites what does not count. Deciding by each number's length takes twice as long.
    room.setUint32(end, firstBytes[number] as number, true)
    room.setUint32(end + 4, lastBytes[number] as number, true)
    end += lengths[number] as number
  }
  return `[${Buffer.from(room.buffer).toString('latin1', 0, Math.max(0, end - 1))}]`
}
