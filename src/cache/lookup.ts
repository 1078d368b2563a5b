/** Looks a request up in PostgreSQL: exactly, by equal normalized text, then by similarity. An undecided candidate goes to the judge. */

import { msSince } from '../event-loop/clock.ts'
import { createMinuteLimiter } from '../event-loop/minute-limiter.ts'
import type { CacheSearchResult, SimilarMatchRow } from '../postgres/search-cache.ts'
import { type DecisionColumns, decide } from './cache-decision.ts'
import { type CacheQuery, isUserScoped } from './cache-query.ts'
import {
  type CandidateSearch,
  type CandidateSearchOptions,
  createCandidateSearch,
  type SemanticCriteria,
} from './candidate-search.ts'
import type { CachedResponseMatch, EntryMetadata, NearMiss, SemanticMatch } from './entry.ts'
import type { ExactEntries } from './exact-entries.ts'
import type { Judge } from './judge/judge.ts'
import type { JudgeQueue } from './judge/judge-queue.ts'
import { isJudgedInline } from './policy.ts'
import type { PromptEmbedder, PromptVector } from './prompt-embedder.ts'
import type { MissReason } from './reasons.ts'
import { toSemanticMatch } from './row-to-match.ts'

/** Near misses recorded per group and minute. People review a few, and a group of similar prompts has many. */
const MAX_NEAR_MISSES_PER_MINUTE = 20

export interface LookupResult {
  match: CachedResponseMatch | null
  /** The reason why there is no match. */
  missReason: MissReason
  /** Hash of the instructions that prevented a comparison, if the reason is `context`. */
  instructionsHash?: string | null
  /** The match that would have been served without shadow mode. */
  shadow?: SemanticMatch<EntryMetadata>
  /** The near miss, on which people can give a verdict. */
  nearMiss?: NearMiss
  /** What was compared, for the request's record. Absent if nothing was. */
  columns?: DecisionColumns
  /** Candidates that a judge might confirm, the most similar first. */
  undecided?: readonly SimilarMatchRow[]
  /** Cost of the judge in this lookup, in US dollars. */
  judgeUsd?: number
  /** The prompt's vector, with which the response is stored. */
  vector: PromptVector | null
  /** Duration of the lookup in milliseconds. Absent without a lookup. */
  durationMs?: number | null
  /** Part of the duration that computed the prompt's vector, in milliseconds. Absent without an embedding call. */
  embedMs?: number | null
}

export interface LookupOptions extends CandidateSearchOptions {
  copies: ExactEntries
  vectors: PromptEmbedder
  judge: Judge
  judgeQueue: JudgeQueue
}

export interface CacheLookup {
  /** Rejects when the database is unavailable or takes too long. */
  lookUp(query: CacheQuery): Promise<LookupResult>
  /** Starts the first search of `lookUp` in the next tick. It changes nothing, so that its result may be discarded. */
  prefetch(query: CacheQuery): void
}

/** The result of a search for a request. */
interface SearchOutcome {
  vector: PromptVector | null
  /** The criteria; null for a search of the exact entry only. */
  criteria: SemanticCriteria | null
  result: CacheSearchResult
}

export function createCacheLookup(options: LookupOptions): CacheLookup {
  const { copies, vectors, judge, judgeQueue, unfinished } = options
  const mayRecordNearMiss = createMinuteLimiter(MAX_NEAR_MISSES_PER_MINUTE)
  const searches = createCandidateSearch(options)
  const { search, readResponse } = searches
  const { prefetch, searchFirst } = createFirstSearch(vectors, searches)

  async function lookUp(query: CacheQuery): Promise<LookupResult> {
    const semantic = query.semantic()
    const found = await searchFirst(query)
    const first = await selectMatch(query, found)
    if (typeof semantic === 'string' || vectors.isFree || first.match || !found.criteria?.vector) return first
    const { criteria, result } = found
    const { normalized } = semantic.normalizedPrompt
    if (!result.hasCandidates && !unfinished.isWriting(query, criteria)) {
      // The vector is computed during the provider call, and no request waits for it.
      if (query.control.store) void vectors.findLater(query, normalized)
      return first
    }
    const startedAtMs = performance.now()
    const vector = await vectors.find(query, normalized)
    const embedMs = msSince(startedAtMs)
    if (!vector) return { ...markNotCompared(first), embedMs }
    const second = await selectMatch(query, { vector, result: await search(query, { ...criteria, vector }) })
    return { ...(unfinished.isWriting(query, criteria) ? markNotCompared(second) : second), embedMs }
  }

  async function selectMatch(
    query: CacheQuery,
    { vector, result }: Omit<SearchOutcome, 'criteria'>,
  ): Promise<LookupResult> {
    const conditions = { readsCosine: vectors.isReadByVerifier, mayRecordNearMiss }
    const { picked, ...lookup } = decide(query, result, conditions)
    const match = picked ? await readResponse(query, picked) : lookup.match
    if (match) cacheMatch(query, match)
    return { ...lookup, match, vector }
  }

  /** Copies the match to Redis, where the next equal request finds it. Under a version, no alias is written: a purge could not find it. */
  function cacheMatch(query: CacheQuery, match: CachedResponseMatch): void {
    if (match.result === 'HIT') return void copies.write(query, match.entry)
    if (query.control.store && query.identity.version === '' && !isUserScoped(query)) copies.writeAlias(query, match)
    judgeQueue.sampleServed(query, match)
  }

  async function lookUpOrJudge(query: CacheQuery): Promise<LookupResult> {
    const lookup = markContextMiss(query, markToolMiss(query, await lookUp(query)))
    const [candidate] = lookup.match ? [] : (lookup.undecided ?? [])
    const semantic = query.semantic()
    if (!candidate || typeof semantic === 'string') return lookup
    if (!isJudgedInline(query.resolvedKey)) {
      judgeQueue.enqueueUndecided(query, candidate)
      return lookup
    }
    // The judge decides on the most similar undecided candidate before the provider is called.
    const { verdict, costUsd: judgeUsd } = await judge.decide(query, semantic, candidate)
    if (verdict !== 'same') return { ...lookup, judgeUsd }
    const similarity = Math.min(1, candidate.similarity)
    const match = await readResponse(query, toSemanticMatch(semantic, { row: candidate, reason: 'judged', similarity }))
    if (match) cacheMatch(query, match)
    return { ...lookup, match, judgeUsd }
  }

  return { lookUp: lookUpOrJudge, prefetch }
}

/** Creates the first search of a lookup. A free embedder's vector is part of it. Another embedder is called only if the first search finds comparable entries. */
function createFirstSearch(vectors: PromptEmbedder, { buildCriteria, search }: CandidateSearch) {
  const prefetched = new WeakMap<CacheQuery, Promise<SearchOutcome>>()

  async function searchNow(query: CacheQuery): Promise<SearchOutcome> {
    const semantic = query.semantic()
    if (typeof semantic === 'string') return { vector: null, criteria: null, result: await search(query, null) }
    const vector = vectors.isFree && semantic.needsVector ? vectors.make(semantic.normalizedPrompt) : null
    const pending = vectors.isFree || !semantic.needsVector ? null : { spaceId: vectors.spaceId, text: null }
    const criteria = buildCriteria(query, semantic, vector ?? pending)
    return { vector, criteria, result: await search(query, criteria) }
  }

  return {
    prefetch(query: CacheQuery): void {
      const searched = nextTurn().then(() => searchNow(query))
      // The promise is awaited later, if at all.
      searched.catch(() => {})
      prefetched.set(query, searched)
    },
    searchFirst(query: CacheQuery): Promise<SearchOutcome> {
      const searched = prefetched.get(query) ?? searchNow(query)
      prefetched.delete(query)
      return searched
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** Sets the miss reason `no-vector` on a lookup that could not compare in time. */
function markNotCompared(lookup: LookupResult): LookupResult {
  return !lookup.match && lookup.missReason === 'no-candidate' ? { ...lookup, missReason: 'no-vector' } : lookup
}

/** Sets the miss reason `tools` on a miss of a request with tools, because responses that call tools are not matched. */
function markToolMiss({ identity: { body } }: CacheQuery, lookup: LookupResult): LookupResult {
  const offersTools = Array.isArray(body.tools) && body.tools.length > 0 && body.tool_choice !== 'none'
  return offersTools && !lookup.match && lookup.missReason === 'no-candidate'
    ? { ...lookup, missReason: 'tools' }
    : lookup
}

/** Sets the miss reason `context`. */
function markContextMiss(query: CacheQuery, lookup: LookupResult): LookupResult {
  const missReason = nameContext(query, lookup.missReason)
  const semantic = query.semantic()
  if (lookup.match || missReason !== 'context' || typeof semantic === 'string') return lookup
  return { ...lookup, missReason, instructionsHash: semantic.instructionsHash }
}

/** Returns the miss reason `context` where only the context, which works on the message's wording, prevented a comparison. */
export function nameContext(
  { semantic, resolvedKey }: Pick<CacheQuery, 'semantic' | 'resolvedKey'>,
  reason: MissReason,
): MissReason {
  const query = semantic()
  const isCompared =
    typeof query === 'string' ||
    query.normalizedPrompt.context !== 'work' ||
    resolvedKey.semantic_policy === 'threshold'
  return !isCompared && /^(?:no-candidate|no-vector|un(?:verified|proved):(?!verdict))/.test(reason)
    ? 'context'
    : reason
}
