/** Looks a request up in PostgreSQL: exactly, by equal normalized text, by meaning. An undecided candidate goes to the judge. */

import { type BatcherOptions, createBatcher } from '../event-loop/batcher.ts'
import { createMinuteBudget, type TakeOfMinute } from '../event-loop/minute-budget.ts'
import { createTimeLimit, TimeLimitExceeded } from '../event-loop/time-limit.ts'
import type { Account } from '../postgres/admit.ts'
import type { Database } from '../postgres/database.ts'
import {
  type AnswerAsk,
  type FoundAnswer,
  type FoundAnswers,
  findAnswers,
  type SimilarAnswer,
} from '../postgres/find-answer.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import {
  type EntryFacts,
  type Match,
  type MissReason,
  type NearMiss,
  type SemanticMatch,
  toExactMatch,
} from './entry.ts'
import type { ExactCopies } from './exact-copies.ts'
import type { Judge } from './judge/judge.ts'
import type { JudgeQueue } from './judge/judge-queue.ts'
import { lookupThreshold, pickCandidate } from './policy.ts'
import type { LookupVector, PromptVector, PromptVectors } from './prompt-vectors.ts'
import { readRow, toMatch, toNearMiss } from './to-match.ts'

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
/** Per group of comparable prompts and minute: people look at a few, and among a thousand prompts of one pattern each is near another. */
const MOST_NEAR_MISSES = 20
/** Per group and minute: so many are compared even where none may be served, so that a miss says what spoke against the nearest. */
const MOST_EXPLAINED = 60

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
  vector: LookupVector
  /** Time for all of it, and of that for the question's vector, in milliseconds; without them, nothing was looked up or embedded. */
  tookMs?: number | null
  embedMs?: number | null
}

export interface LookupOptions {
  database: Database
  copies: ExactCopies
  vectors: PromptVectors
  judge: Judge
  judgeQueue: JudgeQueue
}

/** Rejects when the database is out of reach, or takes too long. */
export type LookUp = (query: CacheQuery) => Promise<Lookup>

export function createLookUp({ database, copies, vectors, judge, judgeQueue }: LookupOptions): LookUp {
  const takeNearMiss = createMinuteBudget(MOST_NEAR_MISSES)
  const anchorFor = createAnchoring()
  const { find, readResponse } = createFinders(database)

  /** A free embedder's vector is sent with the first call. A paid one is requested only after that found nothing. */
  async function lookUp(query: CacheQuery): Promise<Lookup> {
    const semantic = query.semantic()
    if (typeof semantic === 'string') return { ...(await lookUpWith(query, null, null)), missReason: semantic }
    const early = vectors.isFree && semantic.needsVector ? vectors.make(semantic.reading.normalized) : null
    const first = await lookUpWith(query, semantic, early)
    if (vectors.isFree || first.match || !semantic.needsVector) return first
    const startedAtMs = performance.now()
    const vector = await vectors.find(query.account, semantic.reading.normalized, query.trace)
    const embedMs = performance.now() - startedAtMs
    return vector ? { ...(await lookUpWith(query, semantic, vector)), embedMs } : { ...first, vector: 'late', embedMs }
  }

  async function lookUpWith(
    query: CacheQuery,
    semantic: SemanticQuery | null,
    vector: PromptVector | null,
  ): Promise<Lookup> {
    const asked = semantic && {
      ...semantic,
      vector,
      threshold: searchThreshold(query, semantic),
      anchorHash: vector && anchorFor(query, semantic),
    }
    const found = await find(query, asked)
    const { picked, ...lookup } = readFound(query, semantic, found, { isSemantic: !vectors.isFree, takeNearMiss })
    const match = picked ? await readResponse(query, picked) : lookup.match
    if (match) noteMatch(query, match)
    return { ...lookup, match, vector }
  }

  /** The next request in these words finds the entry in Redis. */
  function noteMatch(query: CacheQuery, match: Match): void {
    if (match.result === 'HIT') return void copies.keep(query.exactKey, match.entry)
    if (query.control.store) copies.nameWording(query, match)
    judgeQueue.noteServed(query, match)
  }

  return async query => {
    const lookup = sayTools(query, await lookUp(query))
    const [candidate] = lookup.match ? [] : (lookup.undecided ?? [])
    const semantic = query.semantic()
    if (!candidate || typeof semantic === 'string') return lookup
    if (!judge.isAskedFor(query.account)) {
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
}

interface Finders {
  /** Rejects after the time limit. */
  find(query: CacheQuery, semantic: AnswerAsk['semantic']): Promise<FoundAnswers>
  /** Reads the response of the candidate that is served; null if it has gone meanwhile. */
  readResponse(query: CacheQuery, picked: SemanticMatch<EntryFacts>): Promise<SemanticMatch | null>
}

function createFinders(database: Database): Finders {
  const withinLookupTime = createTimeLimit(TIME_LIMIT_MS)
  const createFinder = (most: Pick<BatcherOptions<AnswerAsk, FoundAnswers>, 'maxItems' | 'maxBatches'>) =>
    createBatcher<AnswerAsk, FoundAnswers>({
      run: asks => findAnswers(database, asks),
      ...most,
      timeLimitMs: TIME_LIMIT_MS,
      timeLimitError: () => new TimeLimitExceeded(TIME_LIMIT_MS),
    })
  const findSimilar = createFinder({ maxItems: MAX_BATCH, maxBatches: MAX_BATCHES })
  const findAnchored = createFinder({ maxItems: MAX_ANCHORED_BATCH, maxBatches: MAX_ANCHORED_BATCHES })
  const findNamed = createFinder({ maxItems: MAX_NAMED_BATCH, maxBatches: 1 })

  function ask({ account, control }: CacheQuery, requestHash: string, semantic: AnswerAsk['semantic']) {
    const find = !semantic?.vector ? findNamed : semantic.anchorHash ? findAnchored : findSimilar
    const { maxAgeSeconds } = control
    return withinLookupTime(find({ projectId: account.project_id, requestHash, semantic, maxAgeSeconds }))
  }
  return {
    find: (query, semantic) => ask(query, query.requestHash, semantic),
    async readResponse(query, picked) {
      const { answers } = await ask(query, picked.entryHash, null)
      const [stored] = answers.filter(row => row.match === 'exact')
      return stored ? { ...picked, entry: readRow(stored) } : null
    },
  }
}

/**
 * Most questions name something that nobody asked about: then nothing that is stored can be served, and nothing is compared. Returns what must
 * be shared; null where all is compared: under a policy that serves what shares nothing, and for the first of each minute.
 */
function createAnchoring() {
  const takeExplained = createMinuteBudget(MOST_EXPLAINED)
  return ({ account }: CacheQuery, { contextHash, anchorHash }: SemanticQuery): string | null =>
    account.semantic_policy !== 'verified' || takeExplained(groupOf(account, contextHash)) ? null : anchorHash
}

const groupOf = ({ project_id }: Account, contextHash: string) => `${project_id} ${contextHash}`

/** Of so many questions of 256, what lies below the threshold is looked at too: people see what another threshold would serve. */
const SAMPLED_OF_256 = 12
const LOWEST_SAMPLED = 0.8

function searchThreshold({ requestHash }: CacheQuery, semantic: SemanticQuery): number {
  const threshold = lookupThreshold(semantic)
  const isSampled = Number.parseInt(requestHash.slice(0, 2), 16) < SAMPLED_OF_256
  return isSampled ? Math.min(threshold, LOWEST_SAMPLED) : threshold
}

/** The most similar of what lies below the threshold. */
function sampleOf(below: readonly FoundAnswer[]) {
  const [row] = candidatesOf({ answers: below }).filter(({ verdict }) => verdict === null)
  return row && { row, difference: null }
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
  { account, requestHash }: CacheQuery,
  semantic: SemanticQuery | null,
  { answers: found, hasBelow }: FoundAnswers,
  { isSemantic, takeNearMiss }: { isSemantic: boolean; takeNearMiss: TakeOfMinute },
): Omit<Lookup, 'vector'> & { picked?: SemanticMatch<EntryFacts> } {
  const exact = found.find(row => row.match === 'exact')
  if (exact) return { match: toExactMatch(requestHash, readRow(exact)), missReason: 'no-candidate' }
  if (!semantic) return { match: null, missReason: 'no-candidate' }
  const isNear = (row: FoundAnswer) => row.match !== 'similar' || row.similarity > lookupThreshold(semantic)
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
