/** Looks a request up in PostgreSQL: exactly, by equal normalized text, by meaning. An undecided candidate goes to the judge. */

import { msSince } from '../event-loop/clock.ts'
import { createMinuteBudget, type TakeOfMinute } from '../event-loop/minute-budget.ts'
import type { FoundAnswer, FoundAnswers, SimilarAnswer } from '../postgres/find-answer.ts'
import { type CacheQuery, isAskersOwn } from './cache-query.ts'
import { type EntryFacts, type Match, type NearMiss, type SemanticMatch, toExactMatch } from './entry.ts'
import type { ExactCopies } from './exact-copies.ts'
import type { Judge } from './judge/judge.ts'
import type { JudgeQueue } from './judge/judge-queue.ts'
import { asksJudge, isCandidate, pickCandidate } from './policy.ts'
import type { PromptVector, PromptVectors } from './prompt-vectors.ts'
import type { MissReason } from './reasons.ts'
import { type Compared, createSearch, groupOf, type Search, type SearchOptions } from './search.ts'
import { readRow, toMatch, toNearMiss } from './to-match.ts'

/** Per group of comparable prompts and minute: people look at a few, and among a thousand prompts of one pattern each is near another. */
const MOST_NEAR_MISSES = 20

export interface Lookup {
  match: Match | null
  /** Why there is no match. */
  missReason: MissReason
  /** In shadow mode: the match that would have been served. */
  shadow?: SemanticMatch<EntryFacts>
  /** The near miss, so that people can say whether it should have been a match. */
  nearMiss?: NearMiss
  /** Candidates that a judge might confirm, the most similar first. */
  undecided?: readonly SimilarAnswer[]
  /** What the judge cost in this lookup, in US dollars. */
  judgeUsd?: number
  /** Reused to store the response. */
  vector: PromptVector | null
  /** Time for all of it, and of that for the question's vector, in milliseconds; without them, nothing was looked up or embedded. */
  tookMs?: number | null
  embedMs?: number | null
}

export interface LookupOptions extends SearchOptions {
  copies: ExactCopies
  vectors: PromptVectors
  judge: Judge
  judgeQueue: JudgeQueue
}

export interface Lookups {
  /** Rejects when the database is out of reach, or takes too long. */
  lookUp(query: CacheQuery): Promise<Lookup>
  /** Begins what `lookUp` asks PostgreSQL first, after what is being sent now. It changes nothing, so that it may be for nothing. */
  begin(query: CacheQuery): void
}

/** What PostgreSQL has for a request. */
interface Found {
  vector: PromptVector | null
  /** Null: for the exact request alone. */
  compared: Compared | null
  answers: FoundAnswers
}

export function createLookups(options: LookupOptions): Lookups {
  const { copies, vectors, judge, judgeQueue, unfinished } = options
  const takeNearMiss = createMinuteBudget(MOST_NEAR_MISSES)
  const searches = createSearch(options)
  const { search, readResponse } = searches
  const { begin, searchFirst } = createFirstSearch(vectors, searches)

  async function lookUp(query: CacheQuery): Promise<Lookup> {
    const semantic = query.semantic()
    const found = await searchFirst(query)
    const first = await conclude(query, found)
    if (typeof semantic === 'string' || vectors.isFree || first.match || !found.compared?.vector) return first
    const { compared, answers } = found
    const { normalized } = semantic.reading
    if (!answers.isOpen && !unfinished.isWriting(query, compared)) {
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

  async function conclude(query: CacheQuery, { vector, answers }: Omit<Found, 'compared'>): Promise<Lookup> {
    const { picked, ...lookup } = readFound(query, answers, { isSemantic: !vectors.isFree, takeNearMiss })
    const match = picked ? await readResponse(query, picked) : lookup.match
    if (match) noteMatch(query, match)
    return { ...lookup, match, vector }
  }

  /** The next request in these words finds the entry in Redis. */
  function noteMatch(query: CacheQuery, match: Match): void {
    if (match.result === 'HIT') return void copies.keep(query, match.entry)
    if (query.control.store && !isAskersOwn(query)) copies.nameWording(query, match)
    judgeQueue.noteServed(query, match)
  }

  async function lookUpOrJudge(query: CacheQuery): Promise<Lookup> {
    const lookup = sayTools(query, await lookUp(query))
    const [candidate] = lookup.match ? [] : (lookup.undecided ?? [])
    const semantic = query.semantic()
    if (!candidate || typeof semantic === 'string') return lookup
    if (!asksJudge(query.account)) {
      judgeQueue.noteUndecided(query, candidate)
      return lookup
    }
    // The most similar undecided candidate goes to the judge, before the upstream is asked.
    const { verdict, costUsd: judgeUsd } = await judge.decide(query, semantic, candidate)
    if (verdict !== 'same') return { ...lookup, judgeUsd }
    const similarity = Math.min(1, candidate.similarity)
    const match = await readResponse(query, toMatch(semantic, { row: candidate, reason: 'judged', similarity }))
    if (match) noteMatch(query, match)
    return { ...lookup, match, judgeUsd }
  }

  return { lookUp: lookUpOrJudge, begin }
}

/** A free embedder's vector is sent with the first call. Another is waited for only after that found nothing but what it may be compared with. */
function createFirstSearch(vectors: PromptVectors, { toCompared, search }: Search) {
  const begun = new WeakMap<CacheQuery, Promise<Found>>()

  async function searchNow(query: CacheQuery): Promise<Found> {
    const semantic = query.semantic()
    if (typeof semantic === 'string') return { vector: null, compared: null, answers: await search(query, null) }
    const vector = vectors.isFree && semantic.needsVector ? vectors.make(semantic.reading) : null
    const late = vectors.isFree || !semantic.needsVector ? null : { spaceId: vectors.spaceId, text: null }
    const compared = toCompared(query, semantic, vector ?? late)
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
function sampleOf(below: readonly FoundAnswer[]) {
  const [row] = candidatesOf({ answers: below }).filter(({ verdict }) => verdict === null)
  return row && { row, difference: null }
}

/** Where nothing was comparable in time, it says so. */
function sayUncompared(lookup: Lookup): Lookup {
  return !lookup.match && lookup.missReason === 'no-candidate' ? { ...lookup, missReason: 'no-vector' } : lookup
}

/** Where nothing is comparable because answers that call tools are not matched, it says so. */
function sayTools({ identity: { body } }: CacheQuery, lookup: Lookup): Lookup {
  const offersTools = Array.isArray(body.tools) && body.tools.length > 0 && body.tool_choice !== 'none'
  return offersTools && !lookup.match && lookup.missReason === 'no-candidate'
    ? { ...lookup, missReason: 'tools' }
    : lookup
}

function candidatesOf({ answers }: { answers: readonly FoundAnswer[] }) {
  return answers.filter(row => row.match !== 'exact').toSorted((one, other) => other.similarity - one.similarity)
}

/** Which of the rows may be served, or why none may. */
function readFound(
  query: CacheQuery,
  { answers: found, hasBelow }: FoundAnswers,
  { isSemantic, takeNearMiss }: { isSemantic: boolean; takeNearMiss: TakeOfMinute },
): Omit<Lookup, 'vector'> & { picked?: SemanticMatch<EntryFacts> } {
  const { account, requestHash } = query
  const semantic = query.semantic()
  const exact = found.find(row => row.match === 'exact')
  if (exact) return { match: toExactMatch(requestHash, readRow(exact)), missReason: 'no-candidate' }
  if (typeof semantic === 'string') return { match: null, missReason: semantic }
  const isNear = (row: FoundAnswer) => isCandidate(query, semantic, row)
  const [near, below] = [found.filter(isNear), found.filter(row => !isNear(row))]
  const picked = pickCandidate(semantic, near, account.semantic_policy, isSemantic)
  if ('missReason' in picked) {
    const { nearest = sampleOf(below), ...none } = picked
    if ((hasBelow || below.length > 0) && none.missReason === 'no-candidate') none.missReason = 'below-threshold'
    const isNoted = nearest && takeNearMiss(groupOf(account, semantic.contextHash))
    return { match: null, ...none, ...(isNoted && { nearMiss: toNearMiss(semantic, nearest) }) }
  }
  const match = toMatch(semantic, picked)
  if (account.semantic_mode === 'shadow') return { match: null, missReason: 'shadow', shadow: match }
  return { match: null, missReason: 'no-candidate', picked: match }
}
