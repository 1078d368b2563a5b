/** Calls search_cache(): cache entries by hash, by normalized prompt, by similarity. */
import { callFunction } from './call.ts'
import type { Database } from './database.ts'
import { toByteaList } from './wire-format.ts'

interface AnswerFacts {
  /** `cache_entries.id`: stays the same while the request's response is stored, also when it is replaced. */
  entry_id: number
  /** Hex SHA-256. */
  request_hash: string
  provider: string
  prompt_tokens: number
  completion_tokens: number
  created_at: Date
  expires_at: Date
  /** The version of the hook's rules under which it passed; null for none. */
  policy: string | null
}

export interface CacheSearch {
  projectId: number
  requestHash: string
  /** Null: look for an exact match only. */
  semantic: {
    contextHash: string
    normalizedHash: string
    /** Null: do not look for similar prompts. Without its text: say whether there are any to compare with. */
    vector: { spaceId: number; text: string | null } | null
    /** Hex SHA-256. Similar prompts are looked for only where one was stored with the same; null for all. */
    anchorHash?: string | null
    /** Whether a person may have called stored questions the same. */
    hasVerdicts?: boolean
    /** Similarity that must be exceeded. */
    threshold: number
  } | null
  /** Null for any age. */
  maxAgeSeconds: number | null
}

/** The verdict about the asked question and the entry's; null for none. */
type Judged =
  | { verdict: 'same' | 'different'; verdict_source: 'person' | 'review' | 'judge' }
  | { verdict: null; verdict_source: null }

/** Without its response: of several, one at most is served. */
export type SimilarMatchRow = AnswerFacts & {
  /** `confirmed`: a person called the two questions the same. */
  match: 'normalized' | 'confirmed' | 'similar'
  similarity: number
  prompt: string
} & Judged
export type ExactMatchRow = AnswerFacts & { match: 'exact'; response: string }
export type CacheMatchRow = ExactMatchRow | SimilarMatchRow

export interface CacheSearchResult {
  matches: CacheMatchRow[]
  /** Whether something comparable is stored that does not exceed the threshold. */
  hasBelowThreshold: boolean
  /** Of an ask without its vector's text: whether there is anything to compare with. */
  hasCandidates: boolean
}

/** `place`: index of the ask that it was found for. `below` and `open` only say that there is something. */
type FoundRow = (CacheMatchRow | { match: 'below' } | { match: 'open' }) & { place: number }

/** For each ask: the exact entry alone, or entries of equal context with the same normalized, a confirmed or a similar prompt; in no order. */
export async function searchCacheBatch(database: Database, asks: readonly CacheSearch[]): Promise<CacheSearchResult[]> {
  const rows = (await callFunction(database, 'search_cache', {
    project_ids: asks.map(ask => ask.projectId),
    request_hashes: toByteaList(asks.map(ask => ask.requestHash)),
    context_hashes: toByteaList(asks.map(ask => ask.semantic?.contextHash)),
    normalized_hashes: toByteaList(asks.map(ask => ask.semantic?.normalizedHash)),
    space_ids: asks.map(ask => ask.semantic?.vector?.spaceId ?? null),
    vectors: asks.map(ask => ask.semantic?.vector?.text ?? null),
    thresholds: asks.map(ask => ask.semantic?.threshold ?? null),
    max_ages_seconds: asks.map(ask => ask.maxAgeSeconds),
    anchor_hashes: toByteaList(asks.map(ask => ask.semantic?.anchorHash)),
    have_verdicts: asks.map(ask => ask.semantic?.hasVerdicts ?? false),
  })) as FoundRow[]
  const found: CacheSearchResult[] = asks.map(() => ({ matches: [], hasBelowThreshold: false, hasCandidates: false }))
  for (const { place, ...row } of rows) {
    const at = found[place]
    if (!at) continue
    if (row.match === 'below') at.hasBelowThreshold = true
    else if (row.match === 'open') at.hasCandidates = true
    else at.matches.push(row)
  }
  // The exact entry stands alone.
  for (const at of found) {
    const exact = at.matches.find(({ match }) => match === 'exact')
    if (exact) at.matches = [exact]
  }
  return found
}

export async function searchCache(database: Database, ask: CacheSearch): Promise<CacheMatchRow[]> {
  const [found] = await searchCacheBatch(database, [ask])
  return found?.matches ?? []
}
