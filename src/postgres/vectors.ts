/** Vectors in the database: those that were paid for, and their text form. */
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
  /** Stored only if the project's cache has not been purged since; null skips this check. */
  cacheGeneration?: number | null
  /** Whether a test key sent the request. */
  test?: boolean
  /** The key that asked, and whom for, as records name them. */
  keyId?: number
  endUser?: string | null
}

export async function storeVectors(
  database: Database,
  { projectId, vectors, ttlSeconds, cacheGeneration = null, test = false, keyId, endUser }: VectorBatch,
): Promise<void> {
  await callFunction(database, 'store_vectors', {
    of_project: projectId,
    under_names: toByteaList(vectors.map(vector => vector.name)),
    vectors: Buffer.concat(vectors.map(vector => vector.packed)),
    lengths: vectors.map(vector => vector.packed.length),
    token_counts: vectors.map(vector => vector.promptTokens),
    model_names: vectors.map(vector => vector.responseModel),
    ttl_seconds: ttlSeconds,
    for_test: test,
    for_generation: cacheGeneration,
    asked_by_key: keyId ?? null,
    asked_for: endUser ?? null,
  })
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
