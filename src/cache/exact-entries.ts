/**
 * Stores copies of cache entries in the fast store under the exact keys of their requests. An alias leads from one request's key to another
 * request's entry.
 */

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
  /** Resolves to the bytes under an exact key. Null when there are none or the fast store is unavailable. */
  find(exactKey: string | null): Promise<Uint8Array | null>
  /** Like `find`, for a key under which this process recently stored an entry. Returns null at once for other keys. */
  findRecent(exactKey: string): Promise<Uint8Array | null> | null
  /** Stores an entry until it expires. Resolves to true when it was stored. Never rejects: a failure costs one more lookup in PostgreSQL. */
  write(query: CacheQuery, entry: CacheEntry): Promise<boolean>
  /** Deletes the copy of the match's entry. */
  delete(query: CacheQuery, match: CachedResponseMatch): Promise<void>
  /** Replaces the copy of the match's entry. */
  replace(query: CacheQuery, match: CachedResponseMatch): void
  /** Writes an alias, so that the next equal request finds the entry in the fast store. */
  writeAlias(query: CacheQuery, match: SemanticMatch): void
}

/** Recently stored keys that are remembered: more than a process stores between a request's admission and its provider call. */
const MAX_RECENT = 5_000

export function createExactEntries(store: FastStore, seal: ContentSeal): ExactEntries {
  const recent = new LRUCache<string, true>({ max: MAX_RECENT })

  async function find(exactKey: string | null): Promise<Uint8Array | null> {
    if (exactKey === null) return null
    const [entry = null] = await store.readEntries([exactKey]).catch(() => [])
    return entry
  }
  async function write(exactKey: string, bytes: Uint8Array, expiresAtMs: number): Promise<boolean> {
    const ttlMs = expiresAtMs - nowMs()
    return ttlMs > 0 && store.writeEntry(exactKey, bytes, ttlMs).catch(() => false)
  }
  async function writeEntry(
    exactKey: string,
    entry: CacheEntry,
    resolvedKey: CacheQuery['resolvedKey'],
  ): Promise<boolean> {
    const body = seal.seal(entry.body, resolvedKey)
    return body !== null && write(exactKey, encodeEntry({ ...entry, body }), entry.expiresAtMs)
  }

  return {
    find,
    findRecent: exactKey => (recent.has(exactKey) ? find(exactKey) : null),
    write({ exactKey, resolvedKey }, entry) {
      recent.set(exactKey, true)
      return writeEntry(exactKey, entry, resolvedKey)
    },
    delete: (query, match) => store.deleteEntry(entryNameOf(query, match)),
    replace: (query, match) => void writeEntry(entryNameOf(query, match), match.entry, query.resolvedKey),
    writeAlias(query, match) {
      const { exactKey, resolvedKey } = query
      const { entry } = match
      const target = entryNameOf(query, match)
      const alias = encodeAlias({ ...match, target, settings: matchSettingsKey(resolvedKey) })
      void write(exactKey, alias, entry.expiresAtMs)
      void writeEntry(target, entry, resolvedKey)
    },
  }
}

/** Returns the name of the match's entry, which another request may have created. */
function entryNameOf({ exactKey, requestHash }: CacheQuery, match: CachedResponseMatch): string {
  return exactKey.replace(requestHash, entryHashOf(requestHash, match))
}
