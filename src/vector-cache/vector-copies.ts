/** Copies of vectors in the fast store, by project, generation and name. */
import type { Account } from '../postgres/admit.ts'
import { type FastStore, vectorEntryName } from '../stores/fast-store.ts'
import { decodeStoredVector, encodeStoredVector, type StoredVector } from './stored-vector.ts'

/** The project that the vectors belong to. A new generation hides the copies, and keeps out vectors fetched before it. */
export type Owner = Pick<Account, 'project_id' | 'cache_generation' | 'key_type'>

export interface VectorCopy extends StoredVector {
  /** Hex SHA-256, from `createVectorNames`. */
  name: string
  /** Remaining lifetime. */
  ttlMs: number
}

export interface VectorCopies {
  /** Returns each name's copy, unless it is missing or older than `maxAgeSeconds`. Never rejects: an unreadable copy is a miss. */
  find(owner: Owner, names: readonly string[], maxAgeSeconds: number | null): Promise<(StoredVector | null)[]>
  /** Resolves to whether the copies were written. Never rejects: a failure costs one more lookup in PostgreSQL. */
  write(owner: Owner, copies: readonly VectorCopy[]): Promise<boolean>
}

export function createVectorCopies(store: FastStore): VectorCopies {
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

function entryNameOf(owner: Owner, name: string): string {
  return vectorEntryName(owner.project_id, owner.cache_generation, name)
}

function isFresh({ createdAtMs }: StoredVector, maxAgeSeconds: number | null): boolean {
  return maxAgeSeconds === null || Date.now() - createdAtMs < (maxAgeSeconds + 1) * 1000
}
