/** Searches PostgreSQL for the candidates of requests. Lookups share calls. */
import { type BatcherOptions, createBatcher } from '../event-loop/batcher.ts'
import { createSharedTimeout, TimeoutError } from '../event-loop/timeouts.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { Database } from '../postgres/database.ts'
import type { CacheSearch, CacheSearchResult } from '../postgres/search-cache.ts'
import type { ContentSeal } from '../stores/content-seal.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { EntryMetadata, SemanticMatch } from './entry.ts'
import type { PendingWrites } from './pending-writes.ts'
import { createResponseFinder } from './response-finder.ts'
import { toCacheEntry } from './row-to-match.ts'

/** Lookups per call. One takes up to half a millisecond, and the others of its call wait for it. */
const MAX_BATCH = 16
/** Calls in flight, which limits the PostgreSQL processors that one process uses for lookups. */
const MAX_BATCHES = 2
/** Lookups per call by name alone. Each takes a few microseconds, so that a call's start costs most. */
const MAX_NAMED_BATCH = 50

/** The lowest cosine at which a policy decides about a prompt. */
const CANDIDATE_COSINE = 0.3

export interface CandidateSearchOptions {
  database: Database
  unfinished: PendingWrites
  /** A slower lookup is rejected. */
  lookupTimeoutMs: number
  seal: ContentSeal
}

/** The criteria of a semantic search, with the request's vector. */
export type SemanticCriteria = NonNullable<CacheSearch['semantic']>

export interface CandidateSearch {
  /** Builds the criteria for `search`. A vector without `text` is not computed yet. */
  buildCriteria(query: CacheQuery, semantic: SemanticQuery, vector: SemanticCriteria['vector']): SemanticCriteria
  /** Searches for all candidates. Null criteria search for the exact entry only. Rejects after the time limit. */
  search(query: CacheQuery, criteria: SemanticCriteria | null): Promise<CacheSearchResult>
  /** Reads the response of the selected candidate. Null if it was deleted or replaced meanwhile. */
  readResponse(query: CacheQuery, picked: SemanticMatch<EntryMetadata>): Promise<SemanticMatch | null>
}

export function createCandidateSearch({
  database,
  unfinished,
  lookupTimeoutMs,
  seal,
}: CandidateSearchOptions): CandidateSearch {
  const findResponses = createResponseFinder(database, seal)
  const withLookupTimeout = createSharedTimeout(lookupTimeoutMs)
  const createSearchBatcher = (
    limits: Pick<BatcherOptions<CacheSearch, CacheSearchResult>, 'maxItems' | 'maxBatches'>,
  ) =>
    createBatcher<CacheSearch, CacheSearchResult>({
      run: findResponses,
      ...limits,
      timeoutMs: lookupTimeoutMs,
      createTimeoutError: () => new TimeoutError(lookupTimeoutMs),
    })
  const findSimilar = createSearchBatcher({ maxItems: MAX_BATCH, maxBatches: MAX_BATCHES })
  const findNamed = createSearchBatcher({ maxItems: MAX_NAMED_BATCH, maxBatches: 1 })

  function runSearch({ resolvedKey, control }: CacheQuery, requestHash: string, semantic: CacheSearch['semantic']) {
    const find = semantic?.vector?.text ? findSimilar : findNamed
    const { maxAgeSeconds } = control
    return withLookupTimeout(find({ projectId: resolvedKey.project_id, requestHash, semantic, maxAgeSeconds }))
  }
  return {
    buildCriteria: (query, semantic, vector) => ({
      ...semantic,
      vector,
      threshold: CANDIDATE_COSINE,
      // Similarity alone, or a judge, may match questions without a topic word in common.
      comparesNewest: query.resolvedKey.semantic_policy !== 'verified',
    }),
    async search(query, criteria) {
      await unfinished.waitFor(query, criteria, criteria?.vector?.text ? 'vector' : 'name')
      return runSearch(query, query.requestHash, criteria)
    },
    async readResponse(query, picked) {
      const { matches } = await runSearch(query, picked.entryHash, null)
      const stored = matches.find(row => row.match === 'exact')
      const entry = stored?.match === 'exact' ? toCacheEntry(stored) : null
      // The entry may have been replaced by the response to another prompt, which may not be served here.
      return entry?.createdAtMs === picked.entry.createdAtMs ? { ...picked, entry } : null
    },
  }
}

/** Names the group of prompts that are compared with each other. */
export const promptGroupKey = ({ project_id }: ResolvedKey, contextHash: string) => `${project_id} ${contextHash}`
