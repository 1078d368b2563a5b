/** Stored responses: what an entry holds, how it is written as bytes, and what a match with it is. */
import type { HitReason } from './reasons.ts'

export interface CacheEntry {
  /** The plain (not streamed) JSON body. */
  body: Uint8Array
  provider: string
  /** Prompt and completion tokens as the provider counted them. */
  promptTokens: number
  completionTokens: number
  /** Milliseconds since the epoch. */
  createdAtMs: number
  expiresAtMs: number
  /** The version of the hook's rules under which it passed; null: no hook was heard about it. */
  policy: string | null
}

/** What is known of a response without reading it. */
export type EntryMetadata = Omit<CacheEntry, 'body'>

const FORM = 1
const LINE_FEED = 10
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function encodeEntry(entry: CacheEntry): Uint8Array {
  const { provider, promptTokens, completionTokens, createdAtMs, expiresAtMs, policy } = entry
  const about = [FORM, provider, promptTokens, completionTokens, createdAtMs, expiresAtMs, policy]
  const line = encoder.encode(`${JSON.stringify(about)}\n`)
  const bytes = new Uint8Array(line.length + entry.body.length)
  bytes.set(line)
  bytes.set(entry.body, line.length)
  return bytes
}

interface EntryHead extends EntryMetadata {
  /** Where the body begins. */
  bodyAt: number
}

/** Of bytes that were read before: the fast store gives the same bytes of an entry that is asked for again. */
const heads = new WeakMap<Uint8Array, EntryHead>()

/** Returns null for bytes of another format: an older or newer version's entry is a miss, not an error. */
export function decodeEntry(bytes: Uint8Array): CacheEntry | null {
  const known = heads.get(bytes)
  const head = known ?? readHead(bytes)
  if (!head) return null
  if (!known) heads.set(bytes, head)
  const { bodyAt, ...facts } = head
  return { body: bytes.subarray(bodyAt), ...facts }
}

function readHead(bytes: Uint8Array): EntryHead | null {
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0) return null
  try {
    const about: unknown = JSON.parse(decoder.decode(bytes.subarray(0, end)))
    if (!Array.isArray(about) || about.length !== 7 || about[0] !== FORM) return null
    const [, provider, promptTokens, completionTokens, createdAtMs, expiresAtMs, policy] = about
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
  /** `coalesced`: the response to an identical request that was in flight. */
  reason: Exclude<HitReason, SemanticReason>
  id: string
  entry: CacheEntry
}

/**
 * `normalized`: the normalized texts are equal. `verified`: no veto speaks against two similar questions, and each word of the one has its
 * partner in the other. `judged`: a judge or a person confirmed the pair. `threshold`: similar enough, and the project asks for no more.
 */
export type SemanticReason = Extract<HitReason, 'normalized' | 'verified' | 'judged' | 'threshold'>

/** `Entry`: only facts of it, where the match is recorded but not served. */
export interface SemanticMatch<Entry extends EntryMetadata = CacheEntry> {
  result: 'HIT-SEMANTIC'
  reason: SemanticReason
  id: string
  entry: Entry
  /** Cosine, 0.0 to 1.0. */
  similarity: number
  /** Hex SHA-256 of the question in normalized form. */
  askedHash: string
  /** `requestHash` of the request that created the entry. */
  entryHash: string
}

export type CachedResponseMatch = ExactMatch | SemanticMatch

/** Of the request that made the entry. */
export function entryHashOf(requestHash: string, match: CachedResponseMatch): string {
  return match.result === 'HIT' ? requestHash : match.entryHash
}

/** The most similar stored question that was not served and has no verdict. */
export interface NearMiss {
  reason: 'undecided'
  /** Cosine, 0.0 to 1.0. */
  similarity: number
  /** The kind of difference that prevented a match; null when it was not similar enough. */
  difference: string | null
  /** As in a match. */
  askedHash: string
  entryHash: string
  entry: EntryMetadata
}

/** The id by which clients, people's verdicts and operators refer to an entry. */
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

/** Marks an alias, whose target windows.lua and fast-store.ts read in the same call: they have the same digit. */
const ALIAS_FORM = 3

/** Names another request's entry. */
export interface EntryAlias {
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

export function encodeAlias({ target, id, similarity, reason, settings, askedHash }: EntryAlias): Uint8Array {
  const line = [ALIAS_FORM, target, id, similarity, reason, settings, askedHash]
  return encoder.encode(`${JSON.stringify(line)}\n`)
}

export function isAlias(bytes: Uint8Array): boolean {
  return bytes[0] === OPENING && bytes[1] === ALIAS_DIGIT
}

/** A name in the store ends with the hex hash of its request. */
const HASH_LENGTH = 64
const OPENING = '['.charCodeAt(0)
const ALIAS_DIGIT = String(ALIAS_FORM).charCodeAt(0)

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
