/** A stored response that may be served, and why; or why none may. */
import type { Exchange } from '../postgres/equivalences.ts'
import type { CacheEntry } from './entry.ts'

export interface ExactMatch {
  result: 'HIT'
  /** `coalesced`: the response to the same request, which was under way. */
  reason: 'exact' | 'coalesced'
  id: string
  entry: CacheEntry
}

/**
 * `normalized`: written one way, the texts are equal. `proved`: every difference between them is harmless. `judged`: a judge or a
 * person has confirmed the pair. `threshold`: similar enough, where the project asks for no more.
 */
export type SemanticReason = 'normalized' | 'proved' | 'judged' | 'threshold'

export interface SemanticMatch {
  result: 'HIT-SEMANTIC'
  reason: SemanticReason
  id: string
  entry: CacheEntry
  /** Cosine, 0.0 to 1.0. */
  similarity: number
  /** Hex SHA-256 of the question as proof writes it. */
  askedHash: string
  /** `requestHash` of the request that the entry answers. */
  entryHash: string
  /** The one exchange of words between the two questions; null: there is none, or more. */
  exchange: Exchange | null
}

export type Match = ExactMatch | SemanticMatch

/** The most similar stored question that was not served, and that nobody has given a verdict on. */
export interface NearMiss {
  reason: 'undecided'
  /** Cosine, 0.0 to 1.0. */
  similarity: number
  /** The kind of difference that stood in the way; null: it was not similar enough. */
  difference: string | null
  /** As in a match. */
  askedHash: string
  entryHash: string
  exchange: Exchange | null
  entry: CacheEntry
}

/** Why nothing was served: for the X-Proxy-Cache-Reason of a miss. */
export type MissReason =
  | 'no-candidate'
  | 'below-threshold'
  | `unproved:${string}`
  /** The question asks about the present, */
  | 'fresh'
  /** or for something to be done. */
  | 'action'
  /** The answer calls tools. */
  | 'tools'
  /** The request wants no stored response, */
  | 'no-store'
  /** or the project wants to know what would be served, no more, */
  | 'shadow'
  /** or the project none that is not exact. */
  | 'off'

/** What clients, people's verdicts and operators know an entry by. */
export function cacheIdOf(requestHash: string): string {
  return `ce_${requestHash.slice(0, 24)}`
}
