/** Copies of entries in the fast store, under the exact keys of their requests, and aliases that name another request's entry. */

import type { FastStore } from '../stores/fast-store.ts'
import type { CacheQuery } from './cache-query.ts'
import {
  ageSeconds,
  type CacheEntry,
  decodeEntry,
  encodeEntry,
  type Match,
  readStored,
  type SemanticMatch,
  type SemanticReason,
} from './entry.ts'
import { matchSettings } from './policy.ts'

/** Marks an alias, whose target windows.lua reads in the same call. */
const FORM = 3
const LINE_FEED = 10
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export interface Alias {
  /** The entry's exact key. */
  target: string
  id: string
  similarity: number
  reason: SemanticReason
  /** Hex SHA-256 of the wording in normalized form. */
  askedHash: string
  /** The project's settings under which the match was made. */
  settings: string
}

export function encodeAlias({ target, id, similarity, reason, settings, askedHash }: Alias): Uint8Array {
  const line = [FORM, target, id, similarity, reason, settings, askedHash]
  return encoder.encode(`${JSON.stringify(line)}\n`)
}

export function isAlias(bytes: Uint8Array): boolean {
  return bytes[0] === OPENING && bytes[1] === FORM_DIGIT
}

/** A name in the store ends with the hex hash of its request. */
const HASH_LENGTH = 64
const OPENING = '['.charCodeAt(0)
const FORM_DIGIT = String(FORM).charCodeAt(0)

/**
 * Returns the match that an alias and the entry after it make; null when the settings have changed since, or the bytes have another
 * format.
 */
export function decodeAliasedEntry(bytes: Uint8Array, settings: string): SemanticMatch | null {
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0) return null
  try {
    const line: unknown = JSON.parse(decoder.decode(bytes.subarray(0, end)))
    if (!Array.isArray(line) || line.length !== 7 || line[5] !== settings) return null
    const entry = decodeEntry(bytes.subarray(end + 1))
    if (!entry) return null
    const [, target, id, similarity, reason, , askedHash] = line
    return {
      result: 'HIT-SEMANTIC',
      id: String(id),
      similarity: Number(similarity),
      reason: reason as SemanticReason,
      askedHash: String(askedHash),
      entryHash: String(target).slice(-HASH_LENGTH),
      entry,
    }
  } catch {
    return null
  }
}

export interface ExactCopies {
  /** Returns the bytes under an exact key; null when there are none or the fast store is out of reach. */
  find(exactKey: string | null): Promise<Uint8Array | null>
  /** Stores an entry until it expires, and resolves to whether it did. Never rejects: a failure costs one more lookup in PostgreSQL. */
  keep(exactKey: string, entry: CacheEntry): Promise<boolean>
  /** Writes an alias: from now on, a request in these words is answered like an exact request. */
  nameWording(query: CacheQuery, match: SemanticMatch): void
}

export function createExactCopies(store: FastStore): ExactCopies {
  async function write(exactKey: string, bytes: Uint8Array, expiresAtMs: number): Promise<boolean> {
    const ttlMs = expiresAtMs - Date.now()
    return ttlMs > 0 && store.writeEntry(exactKey, bytes, ttlMs).catch(() => false)
  }

  return {
    async find(exactKey) {
      if (exactKey === null) return null
      const [entry = null] = await store.readEntries([exactKey]).catch(() => [])
      return entry
    },
    keep: (exactKey, entry) => write(exactKey, encodeEntry(entry), entry.expiresAtMs),
    nameWording({ exactKey, requestHash, account }, match) {
      const { entry, entryHash } = match
      const target = exactKey.replace(requestHash, entryHash)
      const alias = encodeAlias({ ...match, target, settings: matchSettings(account) })
      void write(exactKey, alias, entry.expiresAtMs)
      void write(target, encodeEntry(entry), entry.expiresAtMs)
    },
  }
}

/** Reads the bytes under a request's exact key as a match; null when it is too old or not similar enough for the request. */
export function readCopy(bytes: Uint8Array, { account, control, requestHash }: CacheQuery): Match | null {
  const match = isAlias(bytes) ? decodeAliasedEntry(bytes, matchSettings(account)) : readStored(bytes, requestHash)
  const now = Date.now()
  if (!match || match.entry.expiresAtMs <= now) return null
  if (control.maxAgeSeconds !== null && ageSeconds(match.entry, now) > control.maxAgeSeconds) return null
  if (match.result === 'HIT' || match.reason === 'judged') return match
  return match.similarity > (control.threshold ?? account.semantic_threshold) ? match : null
}
