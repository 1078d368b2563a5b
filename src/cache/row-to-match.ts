/** Converts rows of the database into matches, near misses and cache entries. */

import type { CacheMatchRow, ExactMatchRow, SimilarMatchRow } from '../postgres/search-cache.ts'
import type { SemanticQuery } from './cache-query.ts'
import { type CacheEntry, cacheIdOf, type EntryMetadata, type NearMiss, type SemanticMatch } from './entry.ts'
import type { SelectedCandidate } from './policy.ts'

const encoder = new TextEncoder()

/** Converts a row that may be served. */
export function toSemanticMatch(
  { normalizedHash: askedHash }: SemanticQuery,
  { row, reason, similarity }: SelectedCandidate,
): SemanticMatch<EntryMetadata> {
  const entryHash = row.request_hash
  const found = { askedHash, entryHash, entry: readMetadata(row) }
  return { result: 'HIT-SEMANTIC', reason, similarity, id: cacheIdOf(entryHash), ...found }
}

/** Converts a row that nearly matched. A null difference: it is not similar enough. */
export function toNearMiss(
  { normalizedHash: askedHash }: SemanticQuery,
  { row, difference }: { row: SimilarMatchRow; difference: string | null },
): NearMiss {
  const similarity = Math.min(1, Math.max(0, row.similarity))
  const entryHash = row.request_hash
  return { reason: 'undecided', similarity, difference, askedHash, entryHash, entry: readMetadata(row) }
}

export function toCacheEntry(row: ExactMatchRow): CacheEntry {
  return { body: encoder.encode(row.response), ...readMetadata(row) }
}

function readMetadata(row: CacheMatchRow): EntryMetadata {
  return {
    provider: row.provider,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    policy: row.policy,
  }
}
