/** Vectors by name: Postgres keeps them, Redis holds copies. Each is looked for and stored by itself, many at a time. */

import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Account } from '../postgres/admit.ts'
import type { Database } from '../postgres/database.ts'
import { findVectors, type VectorRow } from '../postgres/find-vectors.ts'
import { storeVectors } from '../postgres/store-vectors.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { vectorEntryName } from '../stores/fast-store.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { decodeStoredVector, encodeStoredVector, type StoredVector } from './stored-vector.ts'

/** So many a call: few round trips, and none that others would have to wait behind for long. */
const VECTORS_A_CALL = 128
/** A call to Postgres that takes longer finds nothing. */
const FIND_TIME_LIMIT_MS = 1_000

/** Whose vectors they are; a new generation makes the copies in Redis unfindable, and keeps out what was fetched before it. */
export type Owner = Pick<Account, 'project_id' | 'cache_generation' | 'key_type'>

export interface NamedVector extends Omit<StoredVector, 'createdAtMs'> {
  /** Hex SHA-256, as `createVectorNames` makes them. */
  name: string
}

export interface VectorStore {
  /** For each name its vector, if it is known and no older than that. Never throws: what cannot be looked up is not known. */
  find(owner: Owner, names: readonly string[], maxAgeSeconds: number | null): Promise<(StoredVector | null)[]>
  /** Resolves when they can be found, which may be before Postgres has them. Never throws: what cannot be stored is asked for again. */
  store(owner: Owner, vectors: readonly NamedVector[], ttlSeconds: number): Promise<void>
  /** Resolves when Postgres has all that was stored, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export interface VectorStoreOptions {
  database: Database
  store: FastStore
  log: Log
}

export function createVectorStore({ database, store, log }: VectorStoreOptions): VectorStore {
  const underWay = new Set<Promise<void>>()

  async function findCopies(owner: Owner, names: readonly string[]): Promise<(StoredVector | null)[]> {
    const copies = await store.readEntries(names.map(name => entryNameOf(owner, name))).catch(() => null)
    return names.map((_, at) => {
      const bytes = copies?.[at]
      return bytes ? decodeStoredVector(bytes) : null
    })
  }

  /** Not waited for, and a failure costs one more look into Postgres. */
  function refill(owner: Owner, names: readonly string[], rows: readonly VectorRow[]): void {
    const now = Date.now()
    const copies = rows.flatMap(row => {
      const ttlMs = row.expires_at.getTime() - now
      const name = names[row.place]
      return ttlMs > 0 && name !== undefined
        ? [{ name: entryNameOf(owner, name), bytes: encodeStoredVector(readRow(row)), ttlMs }]
        : []
    })
    store.writeEntries(copies).catch(() => {})
  }

  async function findKept(owner: Owner, names: readonly string[], maxAgeSeconds: number | null) {
    const ask = { projectId: owner.project_id, names, maxAgeSeconds }
    const rows = await withinTimeLimit(FIND_TIME_LIMIT_MS, findVectors(database, ask))
    if (rows.length > 0) refill(owner, names, rows)
    const found: (StoredVector | null)[] = names.map(() => null)
    for (const row of rows) found[row.place] = readRow(row)
    return found
  }

  function copy(owner: Owner, vectors: readonly NamedVector[], ttlSeconds: number): Promise<boolean> {
    const createdAtMs = Date.now()
    const copies = vectors.map(vector => ({
      name: entryNameOf(owner, vector.name),
      bytes: encodeStoredVector({ ...vector, createdAtMs }),
      ttlMs: ttlSeconds * 1000,
    }))
    return store.writeEntries(copies).catch(() => false)
  }

  /** One call after the other: connections are for requests, too. */
  async function keep(owner: Owner, vectors: readonly NamedVector[], ttlSeconds: number): Promise<void> {
    for (const some of inCalls(vectors)) {
      await storeVectors(database, {
        projectId: owner.project_id,
        cacheGeneration: owner.cache_generation,
        test: owner.key_type === 'test',
        vectors: some,
        ttlSeconds,
      }).catch(error => {
        log.warn({ cause: describeCause(error) }, 'vectors could not be stored')
      })
    }
  }

  return {
    async find(owner, names, maxAgeSeconds) {
      const found: (StoredVector | null)[] = []
      let postgresAnswers = true
      for (const some of inCalls(names)) {
        const copies = await findCopies(owner, some)
        const fresh = copies.map(copy => (copy && isFresh(copy, maxAgeSeconds) ? copy : null))
        const missing = some.filter((_, at) => fresh[at] === null)
        if (missing.length > 0 && postgresAnswers) {
          const kept = await findKept(owner, missing, maxAgeSeconds).catch(error => {
            log.warn({ cause: describeCause(error) }, 'a vector lookup failed; treated as a miss')
            postgresAnswers = false
            return []
          })
          let next = 0
          for (const [at, copy] of fresh.entries()) if (copy === null) fresh[at] = kept[next++] ?? null
        }
        found.push(...fresh)
      }
      return found
    },

    async store(owner, vectors, ttlSeconds) {
      let areCopied = true
      for (const some of inCalls(vectors)) areCopied = (await copy(owner, some, ttlSeconds)) && areCopied
      const keeping = keep(owner, vectors, ttlSeconds).finally(() => underWay.delete(keeping))
      underWay.add(keeping)
      if (!areCopied) await keeping
    },

    async drain(timeLimitMs) {
      await withinTimeLimit(timeLimitMs, Promise.all(underWay)).catch(() => {})
    },
  }
}

function entryNameOf(owner: Owner, name: string): string {
  return vectorEntryName(owner.project_id, owner.cache_generation, name)
}

function isFresh({ createdAtMs }: StoredVector, maxAgeSeconds: number | null): boolean {
  return maxAgeSeconds === null || Date.now() - createdAtMs < (maxAgeSeconds + 1) * 1000
}

function readRow(row: VectorRow): StoredVector {
  return {
    packed: row.vector,
    promptTokens: row.prompt_tokens,
    answeredAs: row.answered_as,
    createdAtMs: row.created_at.getTime(),
  }
}

function* inCalls<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += VECTORS_A_CALL) yield all.slice(at, at + VECTORS_A_CALL)
}
