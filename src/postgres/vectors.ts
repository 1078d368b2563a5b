/** Stores embeddings in the database, and formats vectors as text. */
import { callFunction } from './call.ts'
import type { Database } from './database.ts'
import { toByteaList } from './wire-format.ts'

export interface VectorBatch {
  projectId: number
  vectors: readonly {
    /** Hex SHA-256, distinct within the call. */
    name: string
    packed: Uint8Array
    promptTokens: number
    responseModel: string
  }[]
  ttlSeconds: number
  /** The vectors are stored only if the project's cache still has this generation; null skips this check. */
  cacheGeneration?: number | null
  /** True if a test key sent the request. */
  test?: boolean
  /** The calling key and the end user, as usage records name them. */
  keyId?: number
  endUser?: string | null
  /** The request's namespace, and its name@version, under which the vectors are stored only if it is the newest; null for none. */
  namespace?: string
  version?: string | null
}

export async function storeVectors(
  database: Database,
  { projectId, vectors, ttlSeconds, cacheGeneration = null, test = false, keyId, endUser, ...named }: VectorBatch,
): Promise<void> {
  await callFunction(database, 'store_vectors', {
    of_project: projectId,
    vector_names: toByteaList(vectors.map(vector => vector.name)),
    vectors: Buffer.concat(vectors.map(vector => vector.packed)),
    lengths: vectors.map(vector => vector.packed.length),
    token_counts: vectors.map(vector => vector.promptTokens),
    model_names: vectors.map(vector => vector.responseModel),
    ttl_seconds: ttlSeconds,
    for_test: test,
    for_generation: cacheGeneration,
    of_key: keyId ?? null,
    of_user: endUser ?? null,
    in_namespace: named.namespace ?? '',
    under_version: named.version ?? null,
  })
}

/** The largest integer up to which a half-precision float holds every integer exactly. */
const MAX_INTEGER = 2_047
/** The bytes that the longest number takes with its comma, `-2047,`, rounded up to two words of four bytes. */
const MAX_NUMBER_BYTES = 8

/** The text of each number from -MAX_INTEGER on, as two words, and the number of its bytes. */
const firstBytes = new Uint32Array(2 * MAX_INTEGER + 1)
const lastBytes = new Uint32Array(2 * MAX_INTEGER + 1)
const lengths = new Uint8Array(2 * MAX_INTEGER + 1)
for (let i = 0; i < lengths.length; i++) {
  const text = Buffer.alloc(MAX_NUMBER_BYTES)
  lengths[i] = text.write(`${i - MAX_INTEGER},`)
  firstBytes[i] = text.readUInt32LE(0)
  lastBytes[i] = text.readUInt32LE(4)
}

/** The buffer in which the text of a vector is written before it becomes a string. */
let buffer = new DataView(new ArrayBuffer(0))

/**
 * Formats a vector, scaled to integers: cosine similarity does not depend on the scale, and the text is a fifth as long. Only for vectors
 * that are compared by cosine similarity and never returned. Throws a RangeError for a number that is not finite, because PostgreSQL would
 * reject all vectors of the call.
 */
export function formatVector(vector: Float32Array): string {
  // Loops by index, because iterators take three times as long, and every cache miss formats a vector.
  let largest = 0
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i] as number))
  if (!Number.isFinite(largest)) throw new RangeError('the vector contains a number that is not finite')
  const scale = largest === 0 ? 0 : MAX_INTEGER / largest
  if (buffer.byteLength < MAX_NUMBER_BYTES * vector.length)
    buffer = new DataView(new ArrayBuffer(MAX_NUMBER_BYTES * vector.length))
  let end = 0
  for (let i = 0; i < vector.length; i++) {
    const number = Math.round((vector[i] as number) * scale) + MAX_INTEGER
    // Both words are always written, and the next number overwrites the surplus bytes. Writing by length takes twice as long.
    buffer.setUint32(end, firstBytes[number] as number, true)
    buffer.setUint32(end + 4, lastBytes[number] as number, true)
    end += lengths[number] as number
  }
  return `[${Buffer.from(buffer.buffer).toString('latin1', 0, Math.max(0, end - 1))}]`
}
