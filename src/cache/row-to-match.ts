/** Converts what the stores hold into matches: bytes of the fast store, rows of the database. */

import type { CacheMatchRow, ExactMatchRow, SimilarMatchRow } from '../postgres/search-cache.ts'
import type { SemanticQuery } from './cache-query.ts'
import { type CacheEntry, cacheIdOf, type EntryMetadata, type NearMiss, type SemanticMatch } from './entry.ts'
import type { SelectedCandidate } from './policy.ts'

const encoder = new TextEncoder()

/** From a row that may be served. */
export function toSemanticMatch(
  { normalizedHash: askedHash }: SemanticQuery,
  { row, reason, similarity }: SelectedCandidate,
): SemanticMatch<EntryMetadata> {
  const entryHash = row.request_hash
  const found = { askedHash, entryHash, entry: readFacts(row) }
  return { result: 'HIT-SEMANTIC', reason, similarity, id: cacheIdOf(entryHash), ...found }
}

/** From a row that nearly matched. */
export function toNearMiss(
  { normalizedHash: askedHash }: SemanticQuery,
  { row, difference }: { row: SimilarMatchRow; difference: string | null },
): NearMiss {
  const similarity = Math.min(1, Math.max(0, row.similarity))
  const entryHash = row.request_hash
  return { reason: 'undecided', similarity, difference, askedHash, entryHash, entry: readFacts(row) }
}

export function toCacheEntry(row: ExactMatchRow): CacheEntry {
  return { body: encoder.encode(row.response), ...readFacts(row) }
}

function readFacts(row: CacheMatchRow): EntryMetadata {
  return {
    provider: row.provider,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    policy: row.policy,
  }
}
