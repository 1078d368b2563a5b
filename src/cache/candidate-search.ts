/** Asks PostgreSQL what it has for a request, in calls that many lookups share. */
import { type BatcherOptions, createBatcher } from '../event-loop/batcher.ts'
import { createMinuteLimiter } from '../event-loop/minute-limiter.ts'
import { createSharedTimeout, TimeoutError } from '../event-loop/timeouts.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { Database } from '../postgres/database.ts'
import type { CacheSearch, CacheSearchResult } from '../postgres/search-cache.ts'
import type { ContentSeal } from '../stores/content-seal.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { EntryMetadata, SemanticMatch } from './entry.ts'
import { LOOKUP_SAMPLE_RATE, MIN_SAMPLED_SIMILARITY } from './lookup-sampling.ts'
import type { PendingWrites } from './pending-writes.ts'
import { lookupThreshold } from './policy.ts'
import { createResponseFinder } from './response-finder.ts'
import { toCacheEntry } from './row-to-match.ts'

/** A slower lookup is a miss. Together with admission it stays under a second. */
const TIME_LIMIT_MS = 400
/** Lookups per call: one in a large group takes a millisecond, and the others in its call wait for it. */
const MAX_BATCH = 8
/** Calls in flight: how many of PostgreSQL's processors work on lookups of one process. */
const MAX_BATCHES = 4
/** The same of lookups by name alone, which take a few microseconds each: most of a call is its start. */
const MAX_NAMED_BATCH = 50
/** The same of lookups by anchor: mostly nothing has it. Where many prompts do, one takes as long as any. */
const MAX_ANCHORED_BATCH = 16
const MAX_ANCHORED_BATCHES = 2
/** Per group and minute: so many are compared even where none may be served, so that a miss says what spoke against the nearest. */
const MOST_EXPLAINED = 60

export interface CandidateSearchOptions {
  database: Database
  unfinished: PendingWrites
  seal: ContentSeal
}

/** What a request's question is compared with, and by which vector. */
export type SemanticCriteria = NonNullable<CacheSearch['semantic']>

export interface CandidateSearch {
  /** For `search`. A vector without its text is still to be made. */
  buildCriteria(query: CacheQuery, semantic: SemanticQuery, vector: SemanticCriteria['vector']): SemanticCriteria
  /** Asks for all that might be served; null for the exact entry alone. Rejects after the time limit. */
  search(query: CacheQuery, compared: SemanticCriteria | null): Promise<CacheSearchResult>
  /** Reads the response of the candidate that is served; null if it has gone meanwhile, or was replaced. */
  readResponse(query: CacheQuery, picked: SemanticMatch<EntryMetadata>): Promise<SemanticMatch | null>
}

export function createCandidateSearch({ database, unfinished, seal }: CandidateSearchOptions): CandidateSearch {
  const findAnswers = createResponseFinder(database, seal)
  const anchorFor = createAnchoring()
  const withinLookupTime = createSharedTimeout(TIME_LIMIT_MS)
  const createFinder = (most: Pick<BatcherOptions<CacheSearch, CacheSearchResult>, 'maxItems' | 'maxBatches'>) =>
    createBatcher<CacheSearch, CacheSearchResult>({
      run: findAnswers,
      ...most,
      timeoutMs: TIME_LIMIT_MS,
      createTimeoutError: () => new TimeoutError(TIME_LIMIT_MS),
    })
  const findSimilar = createFinder({ maxItems: MAX_BATCH, maxBatches: MAX_BATCHES })
  const findAnchored = createFinder({ maxItems: MAX_ANCHORED_BATCH, maxBatches: MAX_ANCHORED_BATCHES })
  const findNamed = createFinder({ maxItems: MAX_NAMED_BATCH, maxBatches: 1 })

  function ask({ resolvedKey, control }: CacheQuery, requestHash: string, semantic: CacheSearch['semantic']) {
    const find = !semantic?.vector?.text ? findNamed : semantic.anchorHash ? findAnchored : findSimilar
    const { maxAgeSeconds } = control
    return withinLookupTime(find({ projectId: resolvedKey.project_id, requestHash, semantic, maxAgeSeconds }))
  }
  return {
    buildCriteria: (query, semantic, vector) => ({
      ...semantic,
      vector,
      threshold: searchThreshold(query, semantic),
      anchorHash: vector && anchorFor(query, semantic),
    }),
    async search(query, compared) {
      await unfinished.waitFor(query, compared, compared?.vector?.text ? 'vector' : 'name')
      return ask(query, query.requestHash, compared)
    },
    async readResponse(query, picked) {
      const { matches } = await ask(query, picked.entryHash, null)
      const stored = matches.find(row => row.match === 'exact')
      const entry = stored?.match === 'exact' ? toCacheEntry(stored) : null
      // Another answer may have taken its place: of somebody else, whose question this may not be answered by.
      return entry?.createdAtMs === picked.entry.createdAtMs ? { ...picked, entry } : null
    },
  }
}

/**
 * Most questions name something that nobody asked about: then nothing that is stored can be served, and nothing is compared. Returns what must
 * be shared; null where all is compared: under a policy that serves what shares nothing, and for the first of each minute.
 */
function createAnchoring() {
  const takeExplained = createMinuteLimiter(MOST_EXPLAINED)
  return ({ resolvedKey }: CacheQuery, { contextHash, anchorHash }: SemanticQuery): string | null =>
    resolvedKey.semantic_policy !== 'verified' || takeExplained(promptGroupKey(resolvedKey, contextHash))
      ? null
      : anchorHash
}

/** Names the prompts that are compared with each other. */
export const promptGroupKey = ({ project_id }: ResolvedKey, contextHash: string) => `${project_id} ${contextHash}`

function searchThreshold({ requestHash }: CacheQuery, semantic: SemanticQuery): number {
  const threshold = lookupThreshold(semantic)
  const isSampled = Number.parseInt(requestHash.slice(0, 2), 16) < 256 * LOOKUP_SAMPLE_RATE
  return isSampled ? Math.min(threshold, MIN_SAMPLED_SIMILARITY) : threshold
}
