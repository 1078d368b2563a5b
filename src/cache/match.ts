/** A stored response that may be served, and why; or why none may. */
import type { CacheEntry, EntryFacts } from './entry.ts'

export interface ExactMatch {
  result: 'HIT'
  /** `coalesced`: the response to an identical request that was in flight. */
  reason: 'exact' | 'coalesced'
  id: string
  entry: CacheEntry
}

/**
 * `normalized`: the normalized texts are equal. `verified`: no veto speaks against two similar questions, and each word of the one has its
 * partner in the other. `judged`: a judge or a person confirmed the pair. `threshold`: similar enough, and the project asks for no more.
 */
export type SemanticReason = 'normalized' | 'verified' | 'judged' | 'threshold'

/** `Entry`: only facts of it, where the match is recorded but not served. */
export interface SemanticMatch<Entry extends EntryFacts = CacheEntry> {
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

export type Match = ExactMatch | SemanticMatch

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
  entry: EntryFacts
}

/** Why nothing was served: the X-Proxy-Cache-Reason of a miss. */
export type MissReason =
  | 'no-candidate'
  | 'below-threshold'
  | `unproved:${string}`
  | `unverified:${string}`
  /** The question depends on the time at which it is asked. */
  | 'fresh'
  /** The question asks for an action. */
  | 'action'
  /** The response calls tools. */
  | 'tools'
  /** The client's headers forbid a stored response. */
  | 'no-store'
  /** Shadow mode: the match is recorded but not served. */
  | 'shadow'
  /** The project allows exact matches only. */
  | 'off'

/** The id by which clients, people's verdicts and operators refer to an entry. */
export function cacheIdOf(requestHash: string): string {
  return `ce_${requestHash.slice(0, 24)}`
}
