/** Looks a request up in PostgreSQL: exactly, by equal normalized text, by meaning. An undecided candidate goes to the judge. */

import { msSince } from '../event-loop/clock.ts'
import { createMinuteLimiter, type MinuteLimiter } from '../event-loop/minute-limiter.ts'
import type { CacheMatchRow, CacheSearchResult, SimilarMatchRow } from '../postgres/search-cache.ts'
import { type CacheQuery, isUserScoped } from './cache-query.ts'
import {
  type CandidateSearch,
  type CandidateSearchOptions,
  createCandidateSearch,
  promptGroupKey,
  type SemanticCriteria,
} from './candidate-search.ts'
import {
  type CachedResponseMatch,
  type EntryMetadata,
  type NearMiss,
  type SemanticMatch,
  toExactMatch,
} from './entry.ts'
import type { ExactEntries } from './exact-entries.ts'
import type { Judge } from './judge/judge.ts'
import type { JudgeQueue } from './judge/judge-queue.ts'
import { isCandidate, isJudgedInline, selectCandidate } from './policy.ts'
import type { PromptEmbedder, PromptVector } from './prompt-embedder.ts'
import type { MissReason } from './reasons.ts'
import { toCacheEntry, toNearMiss, toSemanticMatch } from './row-to-match.ts'

/** Per group of comparable prompts and minute: people look at a few, and among a thousand prompts of one pattern each is near another. */
const MOST_NEAR_MISSES = 20

export interface LookupResult {
  match: CachedResponseMatch | null
  /** Why there is no match. */
  missReason: MissReason
  /** In shadow mode: the match that would have been served. */
  shadow?: SemanticMatch<EntryMetadata>
  /** The near miss, so that people can say whether it should have been a match. */
  nearMiss?: NearMiss
  /** Candidates that a judge might confirm, the most similar first. */
  undecided?: readonly SimilarMatchRow[]
  /** What the judge cost in this lookup, in US dollars. */
  judgeUsd?: number
  /** Reused to store the response. */
  vector: PromptVector | null
  /** Time for all of it, and of that for the question's vector, in milliseconds; without them, nothing was looked up or embedded. */
  durationMs?: number | null
  embedMs?: number | null
}

export interface LookupOptions extends CandidateSearchOptions {
  copies: ExactEntries
  vectors: PromptEmbedder
  judge: Judge
  judgeQueue: JudgeQueue
}

export interface CacheLookup {
  /** Rejects when the database is out of reach, or takes too long. */
  lookUp(query: CacheQuery): Promise<LookupResult>
  /** Begins what `lookUp` asks PostgreSQL first, after what is being sent now. It changes nothing, so that it may be for nothing. */
  prefetch(query: CacheQuery): void
}

/** What PostgreSQL has for a request. */
interface Found {
  vector: PromptVector | null
  /** Null: for the exact request alone. */
  compared: SemanticCriteria | null
  answers: CacheSearchResult
}

export function createCacheLookup(options: LookupOptions): CacheLookup {
  const { copies, vectors, judge, judgeQueue, unfinished } = options
  const takeNearMiss = createMinuteLimiter(MOST_NEAR_MISSES)
  const searches = createCandidateSearch(options)
  const { search, readResponse } = searches
  const { begin, searchFirst } = createFirstSearch(vectors, searches)

  async function lookUp(query: CacheQuery): Promise<LookupResult> {
    const semantic = query.semantic()
    const found = await searchFirst(query)
    const first = await conclude(query, found)
    if (typeof semantic === 'string' || vectors.isFree || first.match || !found.compared?.vector) return first
    const { compared, answers } = found
    const { normalized } = semantic.normalizedPrompt
    if (!answers.hasCandidates && !unfinished.isWriting(query, compared)) {
      // Nobody waits for it: it is made while the provider is asked.
      if (query.control.store) void vectors.findLater(query, normalized)
      return first
    }
    const startedAtMs = performance.now()
    const vector = await vectors.find(query, normalized)
    const embedMs = msSince(startedAtMs)
    if (!vector) return { ...sayUncompared(first), embedMs }
    const second = await conclude(query, { vector, answers: await search(query, { ...compared, vector }) })
    return { ...(unfinished.isWriting(query, compared) ? sayUncompared(second) : second), embedMs }
  }

  async function conclude(query: CacheQuery, { vector, answers }: Omit<Found, 'compared'>): Promise<LookupResult> {
    const { picked, ...lookup } = readFound(query, answers, { isSemantic: !vectors.isFree, takeNearMiss })
    const match = picked ? await readResponse(query, picked) : lookup.match
    if (match) noteMatch(query, match)
    return { ...lookup, match, vector }
  }

  /** The next request in these words finds the entry in Redis. */
  function noteMatch(query: CacheQuery, match: CachedResponseMatch): void {
    if (match.result === 'HIT') return void copies.write(query, match.entry)
    if (query.control.store && !isUserScoped(query)) copies.writeAlias(query, match)
    judgeQueue.sampleServed(query, match)
  }

  async function lookUpOrJudge(query: CacheQuery): Promise<LookupResult> {
    const lookup = sayTools(query, await lookUp(query))
    const [candidate] = lookup.match ? [] : (lookup.undecided ?? [])
    const semantic = query.semantic()
    if (!candidate || typeof semantic === 'string') return lookup
    if (!isJudgedInline(query.resolvedKey)) {
      judgeQueue.enqueueUndecided(query, candidate)
      return lookup
    }
    // The most similar undecided candidate goes to the judge, before the upstream is asked.
    const { verdict, costUsd: judgeUsd } = await judge.decide(query, semantic, candidate)
    if (verdict !== 'same') return { ...lookup, judgeUsd }
    const similarity = Math.min(1, candidate.similarity)
    const match = await readResponse(query, toSemanticMatch(semantic, { row: candidate, reason: 'judged', similarity }))
    if (match) noteMatch(query, match)
    return { ...lookup, match, judgeUsd }
  }

  return { lookUp: lookUpOrJudge, prefetch: begin }
}

/** A free embedder's vector is sent with the first call. Another is waited for only after that found nothing but what it may be compared with. */
function createFirstSearch(vectors: PromptEmbedder, { buildCriteria, search }: CandidateSearch) {
  const begun = new WeakMap<CacheQuery, Promise<Found>>()

  async function searchNow(query: CacheQuery): Promise<Found> {
    const semantic = query.semantic()
    if (typeof semantic === 'string') return { vector: null, compared: null, answers: await search(query, null) }
    const vector = vectors.isFree && semantic.needsVector ? vectors.make(semantic.normalizedPrompt) : null
    const late = vectors.isFree || !semantic.needsVector ? null : { spaceId: vectors.spaceId, text: null }
    const compared = buildCriteria(query, semantic, vector ?? late)
    return { vector, compared, answers: await search(query, compared) }
  }

  return {
    begin(query: CacheQuery): void {
      const searched = nextTurn().then(() => searchNow(query))
      // It is awaited later, if at all.
      searched.catch(() => {})
      begun.set(query, searched)
    },
    searchFirst(query: CacheQuery): Promise<Found> {
      const searched = begun.get(query) ?? searchNow(query)
      begun.delete(query)
      return searched
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** The most similar of what lies below the threshold. */
function sampleOf(below: readonly CacheMatchRow[]) {
  const [row] = candidatesOf({ answers: below }).filter(({ verdict }) => verdict === null)
  return row && { row, difference: null }
}

/** Where nothing was comparable in time, it says so. */
function sayUncompared(lookup: LookupResult): LookupResult {
  return !lookup.match && lookup.missReason === 'no-candidate' ? { ...lookup, missReason: 'no-vector' } : lookup
}

/** Where nothing is comparable because answers that call tools are not matched, it says so. */
function sayTools({ identity: { body } }: CacheQuery, lookup: LookupResult): LookupResult {
  const offersTools = Array.isArray(body.tools) && body.tools.length > 0 && body.tool_choice !== 'none'
  return offersTools && !lookup.match && lookup.missReason === 'no-candidate'
    ? { ...lookup, missReason: 'tools' }
    : lookup
}

function candidatesOf({ answers }: { answers: readonly CacheMatchRow[] }) {
  return answers.filter(row => row.match !== 'exact').toSorted((one, other) => other.similarity - one.similarity)
}

/** Which of the rows may be served, or why none may. */
function readFound(
  query: CacheQuery,
  { matches: found, hasBelowThreshold }: CacheSearchResult,
  { isSemantic, takeNearMiss }: { isSemantic: boolean; takeNearMiss: MinuteLimiter },
): Omit<LookupResult, 'vector'> & { picked?: SemanticMatch<EntryMetadata> } {
  const { resolvedKey, requestHash } = query
  const semantic = query.semantic()
  const exact = found.find(row => row.match === 'exact')
  if (exact) return { match: toExactMatch(requestHash, toCacheEntry(exact)), missReason: 'no-candidate' }
  if (typeof semantic === 'string') return { match: null, missReason: semantic }
  const isNear = (row: CacheMatchRow) => isCandidate(query, semantic, row)
  const [near, below] = [found.filter(isNear), found.filter(row => !isNear(row))]
  const picked = selectCandidate(semantic, near, resolvedKey.semantic_policy, isSemantic)
  if ('missReason' in picked) {
    const { nearest = sampleOf(below), ...none } = picked
    if ((hasBelowThreshold || below.length > 0) && none.missReason === 'no-candidate')
      none.missReason = 'below-threshold'
    const isNoted = nearest && takeNearMiss(promptGroupKey(resolvedKey, semantic.contextHash))
    return { match: null, ...none, ...(isNoted && { nearMiss: toNearMiss(semantic, nearest) }) }
  }
  const match = toSemanticMatch(semantic, picked)
  if (resolvedKey.semantic_mode === 'shadow') return { match: null, missReason: 'shadow', shadow: match }
  return { match: null, missReason: 'no-candidate', picked: match }
}
