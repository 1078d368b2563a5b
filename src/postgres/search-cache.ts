/** Calls search_cache(), which finds cache entries by request hash, by normalized prompt and by similarity. */
import { callFunction } from './call.ts'
import type { Database } from './database.ts'
import { toByteaList, toIntegerArray } from './wire-format.ts'

interface EntryFields {
  /** `cache_entries.id`. It stays the same when the cached response of the request is replaced. */
  entry_id: number
  /** Hex SHA-256. */
  request_hash: string
  provider: string
  prompt_tokens: number
  completion_tokens: number
  created_at: Date
  expires_at: Date
  /** The version of the hook's rules that accepted the response; null for none. */
  policy: string | null
}

export interface CacheSearch {
  projectId: number
  requestHash: string
  /** Null for an exact match only. */
  semantic: {
    contextHash: string
    normalizedHash: string
    /** Null to skip similar prompts. If its text is null, the search only reports whether there are prompts to compare with. */
    vector: { spaceId: number; text: string | null } | null
    /** Hashes of topic words. Prompts that share one are compared. */
    topicWords?: readonly number[]
    /** True if the newest 512 prompts of the context are compared too, whatever their words. */
    comparesNewest?: boolean
    /** True if verdicts on questions may exist. */
    hasVerdicts?: boolean
    /** The similarity that a match must exceed. */
    threshold: number
  } | null
  /** The maximum age of an entry; null for any age. */
  maxAgeSeconds: number | null
}

/** The verdict on the requested question and the entry's question; null for none. */
type VerdictFields =
  | { verdict: 'same' | 'different'; verdict_source: 'person' | 'review' | 'judge' }
  | { verdict: null; verdict_source: null }

/** A match without its response, because at most one of several matches is served. */
export type SimilarMatchRow = EntryFields & {
  /** `confirmed`: a person judged the two questions to be the same. */
  match: 'normalized' | 'confirmed' | 'similar'
  similarity: number
  prompt: string
} & VerdictFields
export type ExactMatchRow = EntryFields & { match: 'exact'; response: string }
export type CacheMatchRow = ExactMatchRow | SimilarMatchRow

export interface CacheSearchResult {
  matches: CacheMatchRow[]
  /** True if a comparable prompt is stored whose similarity does not exceed the threshold. */
  hasBelowThreshold: boolean
  /** For a search without the vector's text: true if there are prompts to compare with. */
  hasCandidates: boolean
}

/** `place` is the index of the search. Rows `below` and `open` set `hasBelowThreshold` and `hasCandidates`. */
type ResultRow = (CacheMatchRow | { match: 'below' } | { match: 'open' }) & { place: number }

/** Runs several searches. Each result has the exact entry alone, or the normalized, confirmed and similar matches of the context, unordered. */
export async function searchCacheBatch(
  database: Database,
  searches: readonly CacheSearch[],
): Promise<CacheSearchResult[]> {
  const rows = (await callFunction(database, 'search_cache', {
    project_ids: searches.map(search => search.projectId),
    request_hashes: toByteaList(searches.map(search => search.requestHash)),
    context_hashes: toByteaList(searches.map(search => search.semantic?.contextHash)),
    normalized_hashes: toByteaList(searches.map(search => search.semantic?.normalizedHash)),
    space_ids: searches.map(search => search.semantic?.vector?.spaceId ?? null),
    vectors: searches.map(search => search.semantic?.vector?.text ?? null),
    thresholds: searches.map(search => search.semantic?.threshold ?? null),
    max_ages_seconds: searches.map(search => search.maxAgeSeconds),
    topic_words: searches.map(search => toIntegerArray(search.semantic?.topicWords)),
    compare_newest: searches.map(search => search.semantic?.comparesNewest ?? false),
    have_verdicts: searches.map(search => search.semantic?.hasVerdicts ?? false),
  })) as ResultRow[]
  const results: CacheSearchResult[] = searches.map(() => ({
    matches: [],
    hasBelowThreshold: false,
    hasCandidates: false,
  }))
  for (const { place, ...row } of rows) {
    const result = results[place]
    if (!result) continue
    if (row.match === 'below') result.hasBelowThreshold = true
    else if (row.match === 'open') result.hasCandidates = true
    else result.matches.push(row)
  }
  // An exact match replaces all others.
  for (const result of results) {
    const exact = result.matches.find(({ match }) => match === 'exact')
    if (exact) result.matches = [exact]
  }
  return results
}
