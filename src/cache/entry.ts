/** Cache entries: their content, their encoding as bytes, and matches with them. */
import type { HitReason } from './reasons.ts'

export interface CacheEntry {
  /** The plain (not streamed) JSON body. */
  body: Uint8Array
  provider: string
  /** Prompt tokens as the provider counted them. */
  promptTokens: number
  /** Completion tokens as the provider counted them. */
  completionTokens: number
  /** Milliseconds since the epoch. */
  createdAtMs: number
  expiresAtMs: number
  /** The hook's policy version under which the response was accepted. Null when no hook checked it. */
  policy: string | null
}

/** A cache entry without its body. */
export type EntryMetadata = Omit<CacheEntry, 'body'>

const FORMAT = 1
const LINE_FEED = 10
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function encodeEntry(entry: CacheEntry): Uint8Array {
  const { provider, promptTokens, completionTokens, createdAtMs, expiresAtMs, policy } = entry
  const header = [FORMAT, provider, promptTokens, completionTokens, createdAtMs, expiresAtMs, policy]
  const line = encoder.encode(`${JSON.stringify(header)}\n`)
  const bytes = new Uint8Array(line.length + entry.body.length)
  bytes.set(line)
  bytes.set(entry.body, line.length)
  return bytes
}

interface EntryHeader extends EntryMetadata {
  /** Position of the body in the bytes. */
  bodyAt: number
}

/** Headers by the entry's bytes. The fast store returns the same bytes when an entry is read again. */
const headers = new WeakMap<Uint8Array, EntryHeader>()

/** Returns null for bytes of another format, so that an entry of another version is a miss. */
export function decodeEntry(bytes: Uint8Array): CacheEntry | null {
  const known = headers.get(bytes)
  const parsed = known ?? parseHeader(bytes)
  if (!parsed) return null
  if (!known) headers.set(bytes, parsed)
  const { bodyAt, ...metadata } = parsed
  return { body: bytes.subarray(bodyAt), ...metadata }
}

function parseHeader(bytes: Uint8Array): EntryHeader | null {
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0) return null
  try {
    const header: unknown = JSON.parse(decoder.decode(bytes.subarray(0, end)))
    if (!Array.isArray(header) || header.length !== 7 || header[0] !== FORMAT) return null
    const [, provider, promptTokens, completionTokens, createdAtMs, expiresAtMs, policy] = header
    return {
      bodyAt: end + 1,
      provider: String(provider),
      promptTokens: Number(promptTokens),
      completionTokens: Number(completionTokens),
      createdAtMs: Number(createdAtMs),
      expiresAtMs: Number(expiresAtMs),
      policy: policy === null ? null : String(policy),
    }
  } catch {
    return null
  }
}

/** Whole seconds since the response was stored. */
export function entryAgeSeconds(entry: Pick<CacheEntry, 'createdAtMs'>, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - entry.createdAtMs) / 1000))
}

export interface ExactMatch {
  result: 'HIT'
  /** `exact` is a stored response. `coalesced` is the response to an identical request in flight. */
  reason: Exclude<HitReason, SemanticReason>
  id: string
  entry: CacheEntry
}

/**
 * - `normalized`: the normalized texts are equal.
 * - `verified`: the prompts are similar, no rule vetoes the pair, and each word of one has a counterpart in the other.
 * - `judged`: the judge or a person confirmed the pair.
 * - `threshold`: the prompts are similar enough, and the project requires no more.
 */
export type SemanticReason = Extract<HitReason, 'normalized' | 'verified' | 'judged' | 'threshold'>

/** A match with the entry of a similar prompt. `Entry` is its metadata when the match is recorded but not served. */
export interface SemanticMatch<Entry extends EntryMetadata = CacheEntry> {
  result: 'HIT-SEMANTIC'
  reason: SemanticReason
  id: string
  entry: Entry
  /** Cosine similarity, 0.0 to 1.0. */
  similarity: number
  /** Hex SHA-256 of the request's normalized text. */
  askedHash: string
  /** `requestHash` of the request that created the entry. */
  entryHash: string
}

export type CachedResponseMatch = ExactMatch | SemanticMatch

/** Returns the hash of the request that created the matched entry. */
export function entryHashOf(requestHash: string, match: CachedResponseMatch): string {
  return match.result === 'HIT' ? requestHash : match.entryHash
}

/** The most similar cached prompt that was not served and has no verdict. */
export interface NearMiss {
  reason: 'undecided'
  /** Cosine similarity, 0.0 to 1.0. */
  similarity: number
  /** The kind of difference that prevented a match. Null when the prompt was not similar enough. */
  difference: string | null
  /** As in `SemanticMatch`. */
  askedHash: string
  entryHash: string
  entry: EntryMetadata
}

/** Returns the public id of an entry, which clients, verdicts and operators use. */
export function cacheIdOf(requestHash: string): string {
  return `ce_${requestHash.slice(0, 24)}`
}

export function decodeExactMatch(bytes: Uint8Array, requestHash: string): CachedResponseMatch | null {
  const entry = decodeEntry(bytes)
  return entry && toExactMatch(requestHash, entry)
}

export function toExactMatch(requestHash: string, entry: CacheEntry): CachedResponseMatch {
  return { result: 'HIT', reason: 'exact', id: cacheIdOf(requestHash), entry }
}

/** The format number of an alias. windows.lua and fast-store.ts contain the same digit. */
const ALIAS_FORMAT = 3

/** An entry that refers to another request's entry. */
export interface EntryAlias {
  /** The exact key of the entry. */
  target: string
  id: string
  similarity: number
  reason: SemanticReason
  /** Hex SHA-256 of the normalized text of the request that the alias stands for. */
  askedHash: string
  /** The project's match settings when the match was found. */
  settings: string
}

export function encodeAlias({ target, id, similarity, reason, settings, askedHash }: EntryAlias): Uint8Array {
  const line = [ALIAS_FORMAT, target, id, similarity, reason, settings, askedHash]
  return encoder.encode(`${JSON.stringify(line)}\n`)
}

export function isAlias(bytes: Uint8Array): boolean {
  return bytes[0] === OPENING && bytes[1] === ALIAS_DIGIT
}

/** Length of the hex request hash at the end of a name in the store. */
const HASH_LENGTH = 64
const OPENING = '['.charCodeAt(0)
const ALIAS_DIGIT = String(ALIAS_FORMAT).charCodeAt(0)

/**
 * Returns the match of an alias followed by its entry. Null when the project's settings have changed since, or the bytes have another
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
