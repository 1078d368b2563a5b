/** Copies of entries in the fast store, under the exact keys of their requests, and aliases that name another request's entry. */

import { LRUCache } from 'lru-cache'
import { nowMs } from '../event-loop/clock.ts'
import type { ContentSeal } from '../stores/content-seal.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { CacheQuery } from './cache-query.ts'
import {
  type CachedResponseMatch,
  type CacheEntry,
  encodeAlias,
  encodeEntry,
  entryHashOf,
  type SemanticMatch,
} from './entry.ts'
import { matchSettingsKey } from './policy.ts'

export interface ExactEntries {
  /** Returns the bytes under an exact key; null when there are none or the fast store is out of reach. */
  find(exactKey: string | null): Promise<Uint8Array | null>
  /** As `find`, for a key under which this process has stored an entry lately; null at once for any other. */
  findRecent(exactKey: string): Promise<Uint8Array | null> | null
  /** Stores an entry until it expires, and resolves to whether it did. Never rejects: a failure costs one more lookup in PostgreSQL. */
  write(query: CacheQuery, entry: CacheEntry): Promise<boolean>
  /** The match's entry is no more. */
  delete(query: CacheQuery, match: CachedResponseMatch): Promise<void>
  /** In place of a copy of the match's entry. */
  replace(query: CacheQuery, match: CachedResponseMatch): void
  /** Writes an alias: from now on, a request in these words is answered like an exact request. */
  writeAlias(query: CacheQuery, match: SemanticMatch): void
}

/** More than a process stores from a request's admission until it leads. */
const MOST_LATE = 5_000

export function createExactEntries(store: FastStore, seal: ContentSeal): ExactEntries {
  const late = new LRUCache<string, true>({ max: MOST_LATE })

  async function find(exactKey: string | null): Promise<Uint8Array | null> {
    if (exactKey === null) return null
    const [entry = null] = await store.readEntries([exactKey]).catch(() => [])
    return entry
  }
  async function write(exactKey: string, bytes: Uint8Array, expiresAtMs: number): Promise<boolean> {
    const ttlMs = expiresAtMs - nowMs()
    return ttlMs > 0 && store.writeEntry(exactKey, bytes, ttlMs).catch(() => false)
  }
  async function writeEntry(exactKey: string, entry: CacheEntry, account: CacheQuery['resolvedKey']): Promise<boolean> {
    const body = seal.seal(entry.body, account)
    return body !== null && write(exactKey, encodeEntry({ ...entry, body }), entry.expiresAtMs)
  }

  return {
    find,
    findRecent: exactKey => (late.has(exactKey) ? find(exactKey) : null),
    write({ exactKey, resolvedKey }, entry) {
      late.set(exactKey, true)
      return writeEntry(exactKey, entry, resolvedKey)
    },
    delete: (query, match) => store.deleteEntry(nameOf(query, match)),
    replace: (query, match) => void writeEntry(nameOf(query, match), match.entry, query.resolvedKey),
    writeAlias(query, match) {
      const { exactKey, resolvedKey } = query
      const { entry } = match
      const target = nameOf(query, match)
      const alias = encodeAlias({ ...match, target, settings: matchSettingsKey(resolvedKey) })
      void write(exactKey, alias, entry.expiresAtMs)
      void writeEntry(target, entry, resolvedKey)
    },
  }
}

/** Of the entry, which another request may have made. */
function nameOf({ exactKey, requestHash }: CacheQuery, match: CachedResponseMatch): string {
  return exactKey.replace(requestHash, entryHashOf(requestHash, match))
}
