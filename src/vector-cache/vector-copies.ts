/** Copies of vectors in the fast store, by project, generation and name. */
import type { Account } from '../postgres/admit.ts'
import { type FastStore, vectorEntryName } from '../stores/fast-store.ts'
import { decodeStoredVector, encodeStoredVector, type StoredVector } from './stored-vector.ts'

/** Whose vectors they are; a new generation makes the copies unfindable, and keeps out what was fetched before it. */
export type Owner = Pick<Account, 'project_id' | 'cache_generation' | 'key_type'>

export interface VectorCopy extends StoredVector {
  /** Hex SHA-256, as `createVectorNames` makes them. */
  name: string
  /** How long it may still be found. */
  ttlMs: number
}

export interface VectorCopies {
  /** For each name its copy, if there is one no older than that. Never rejects: what cannot be read is not there. */
  find(owner: Owner, names: readonly string[], maxAgeSeconds: number | null): Promise<(StoredVector | null)[]>
  /** Whether they can be found from now on. Never rejects: a failure costs one more look into Postgres. */
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
