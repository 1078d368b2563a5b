/** Stores vectors by name in the fast store and in PostgreSQL. */
import { BackgroundWork } from '../../event-loop/background-work.ts'
import { nowMs } from '../../event-loop/clock.ts'
import { withTimeout } from '../../event-loop/timeouts.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { callFunction, type RowOf } from '../../postgres/call.ts'
import type { Database } from '../../postgres/database.ts'
import { storeVectors } from '../../postgres/vectors.ts'
import { toByteaList } from '../../postgres/wire-format.ts'
import { type FastStore, vectorEntryName } from '../../stores/fast-store.ts'
import type { Log } from '../../telemetry/log.ts'
import type { CacheControl } from '../cache-control.ts'

export interface StoredVector {
  /** From `packVector`. */
  packed: Uint8Array
  /** Tokens of the input, as the provider counted them. */
  promptTokens: number
  /** The model's name in the provider's response. */
  responseModel: string
  /** Milliseconds since the epoch. */
  createdAtMs: number
}

const FORMAT = 1
/** Format, length of the model's name, prompt tokens and creation time, in 1, 1, 4 and 8 bytes. */
const HEADER_BYTES = 14
const MAX_NAME_BYTES = 255
const decoder = new TextDecoder()

export function encodeStoredVector({ packed, promptTokens, responseModel, createdAtMs }: StoredVector): Uint8Array {
  const name = Buffer.from(responseModel).subarray(0, MAX_NAME_BYTES)
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeUInt8(FORMAT, 0)
  header.writeUInt8(name.length, 1)
  header.writeUInt32LE(promptTokens, 2)
  header.writeDoubleLE(createdAtMs, 6)
  return Buffer.concat([header, name, packed])
}

/** Returns null for bytes of another format, so that a vector of another version is a miss. */
export function decodeStoredVector(bytes: Uint8Array): StoredVector | null {
  if (bytes.length <= HEADER_BYTES || bytes[0] !== FORMAT) return null
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  const packedAt = HEADER_BYTES + header.getUint8(1)
  return {
    packed: bytes.subarray(packedAt),
    promptTokens: header.getUint32(2, true),
    responseModel: decoder.decode(bytes.subarray(HEADER_BYTES, packedAt)),
    createdAtMs: header.getFloat64(6, true),
  }
}

/** The project that the vectors belong to. A new cache generation hides existing copies and rejects vectors fetched before it. */
export type VectorOwner = Pick<ResolvedKey, 'project_id' | 'cache_generation' | 'key_type' | 'key_id'>

export interface VectorCacheEntry extends StoredVector {
  /** Hex SHA-256, from `createVectorNamer`. */
  name: string
  /** Remaining lifetime in milliseconds. */
  ttlMs: number
}

export interface VectorCache {
  /** Resolves to each name's copy; null when it is missing or older than `maxAgeSeconds`. Never rejects: an unreadable copy is a miss. */
  find(owner: VectorOwner, names: readonly string[], maxAgeSeconds: number | null): Promise<(StoredVector | null)[]>
  /** Resolves to true when the copies were written. Never rejects: a failure costs one more lookup in PostgreSQL. */
  write(owner: VectorOwner, copies: readonly VectorCacheEntry[]): Promise<boolean>
}

export function createVectorCache(store: FastStore): VectorCache {
  return {
    async find(owner, names, maxAgeSeconds) {
      const copies = await store.readEntries(names.map(name => entryNameOf(owner, name))).catch(() => null)
      return names.map((_, at) => {
        const bytes = copies?.[at]
        const copy = bytes ? decodeStoredVector(bytes) : null
        return copy && isFresh(copy, maxAgeSeconds) ? copy : null
      })
    },
    write(owner, copies) {
      const entries = copies
        .filter(({ ttlMs }) => ttlMs > 0)
        .map(copy => ({ name: entryNameOf(owner, copy.name), bytes: encodeStoredVector(copy), ttlMs: copy.ttlMs }))
      return store.writeEntries(entries).catch(() => false)
    },
  }
}

function entryNameOf(owner: VectorOwner, name: string): string {
  return vectorEntryName(owner.project_id, owner.cache_generation, name)
}

function isFresh({ createdAtMs }: StoredVector, maxAgeSeconds: number | null): boolean {
  return maxAgeSeconds === null || nowMs() - createdAtMs < (maxAgeSeconds + 1) * 1000
}

/** Vectors per call: enough for few round trips, and few enough that no other call waits long. */
const VECTORS_PER_CALL = 128
/** A lookup in PostgreSQL that takes longer counts as a miss. */
const FIND_TIME_LIMIT_MS = 1_000
/** The part name of vectors in the failures `lookup` and `store`. */
const VECTORS_PART = 'vectors'

export interface NamedVector extends Omit<StoredVector, 'createdAtMs'> {
  /** Hex SHA-256, from `createVectorNamer`. */
  name: string
}

interface VectorWriteOptions {
  ttlSeconds: number
  /** The end user of the request, as in usage records. */
  endUser: string | null
  /** The request's namespace and version; absent for vectors that requests of any version use. */
  control?: Pick<CacheControl, 'namespace' | 'version'>
}

export interface VectorStore {
  /** Resolves to each name's vector; null when it is missing or older than `maxAgeSeconds`. Never rejects: a failed lookup is a miss. */
  find(owner: VectorOwner, names: readonly string[], maxAgeSeconds: number | null): Promise<(StoredVector | null)[]>
  /**
   * Resolves when the vectors can be found, which may be before they are in PostgreSQL. Never rejects: a vector that is not stored is fetched
   * again.
   */
  store(owner: VectorOwner, vectors: readonly NamedVector[], options: VectorWriteOptions): Promise<void>
  /** Resolves when all stored vectors are in PostgreSQL, or at the time limit. */
  drain(timeLimitMs: number): Promise<void>
}

export interface VectorStoreOptions {
  database: Database
  store: FastStore
  log: Log
}

export function createVectorStore({ database, store, log }: VectorStoreOptions): VectorStore {
  const copies = createVectorCache(store)
  const storing = new BackgroundWork()

  /** Looks the vectors up in PostgreSQL, and copies them to Redis for the next lookup. */
  async function findInPostgres(
    owner: VectorOwner,
    names: readonly string[],
    maxAgeSeconds: number | null,
  ): Promise<(StoredVector | null)[]> {
    const search = { of_project: owner.project_id, by_names: toByteaList(names), max_age_seconds: maxAgeSeconds }
    const rows = await withTimeout(FIND_TIME_LIMIT_MS, callFunction(database, 'find_vectors', search))
    log.failures.recover('lookup', VECTORS_PART)
    if (rows.length > 0) void copies.write(owner, toCopies(rows, names))
    const found: (StoredVector | null)[] = names.map(() => null)
    for (const row of rows) found[row.place] = readRow(row)
    return found
  }

  return {
    async find(owner, names, maxAgeSeconds) {
      const found: (StoredVector | null)[] = []
      let isPostgresAvailable = true
      for (const batch of inBatches(names)) {
        const fresh = await copies.find(owner, batch, maxAgeSeconds)
        const missing = batch.filter((_, at) => fresh[at] === null)
        if (missing.length > 0 && isPostgresAvailable) {
          const stored = await findInPostgres(owner, missing, maxAgeSeconds).catch(error => {
            log.failures.report('lookup', error, 'a vector lookup failed; treated as a miss', { part: VECTORS_PART })
            isPostgresAvailable = false
            return []
          })
          let next = 0
          for (const [at, copy] of fresh.entries()) if (copy === null) fresh[at] = stored[next++] ?? null
        }
        found.push(...fresh)
      }
      return found
    },

    async store(owner, vectors, options) {
      const { ttlSeconds, control } = options
      const createdAtMs = nowMs()
      // A version may have been superseded meanwhile, which PostgreSQL checks. Its vectors are copied when they are found.
      let areCopied = !control?.version
      for (const batch of areCopied ? inBatches(vectors) : []) {
        const entries = batch.map(vector => ({ ...vector, createdAtMs, ttlMs: ttlSeconds * 1000 }))
        areCopied = (await copies.write(owner, entries)) && areCopied
      }
      const stored = storing.add(storeInPostgres(owner, vectors, options, { database, log }))
      if (!areCopied) await stored
    },

    drain: timeLimitMs => storing.drain(timeLimitMs),
  }
}

/** Stores the vectors in one call at a time, because requests need connections, too. */
async function storeInPostgres(
  owner: VectorOwner,
  vectors: readonly NamedVector[],
  { ttlSeconds, endUser, control }: VectorWriteOptions,
  { database, log }: Pick<VectorStoreOptions, 'database' | 'log'>,
): Promise<void> {
  for (const batch of inBatches(vectors)) {
    await storeVectors(database, {
      projectId: owner.project_id,
      cacheGeneration: owner.cache_generation,
      test: owner.key_type === 'test',
      keyId: owner.key_id,
      vectors: batch,
      ttlSeconds,
      endUser,
      ...(control && { namespace: control.namespace, version: control.version || null }),
    })
      .then(() => log.failures.recover('store', VECTORS_PART))
      .catch(error => {
        log.failures.report('store', error, 'vectors could not be stored', { part: VECTORS_PART })
      })
  }
}

type FoundVector = RowOf<'find_vectors'>

function toCopies(rows: readonly FoundVector[], names: readonly string[]): VectorCacheEntry[] {
  const now = nowMs()
  return rows.flatMap(row => {
    const name = names[row.place]
    return name === undefined ? [] : [{ ...readRow(row), name, ttlMs: row.expires_at.getTime() - now }]
  })
}

function readRow(row: FoundVector): StoredVector {
  return {
    packed: row.vector,
    promptTokens: row.prompt_tokens,
    responseModel: row.response_model,
    createdAtMs: row.created_at.getTime(),
  }
}

function* inBatches<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += VECTORS_PER_CALL) yield all.slice(at, at + VECTORS_PER_CALL)
}
