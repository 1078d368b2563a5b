/** Looks a request up in Postgres: exactly, by equal normalized text, by meaning; and puts what stays undecided to the judge. */
import { createBatcher } from '../event-loop/batcher.ts'
import { createTimeLimit, TimeLimitExceeded } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { type AnswerAsk, type FoundAnswer, findAnswers, type SimilarAnswer } from '../postgres/find-answer.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { ExactCopies } from './exact-copies.ts'
import type { Judge } from './judge/judge.ts'
import type { JudgeQueue } from './judge/judge-queue.ts'
import type { LearnedEquivalences } from './learned-equivalences.ts'
import type { Match, MissReason, NearMiss, SemanticMatch } from './match.ts'
import { createNearMissBudget, type TakeNearMiss } from './near-miss-budget.ts'
import { lookupThreshold, pickCandidate } from './policy.ts'
import type { PromptVector, PromptVectors } from './prompt-vectors.ts'
import { type LearnedExchanges, NOTHING_LEARNED } from './proof/exchange.ts'
import { readRow, toExactMatch, toMatch, toNearMiss } from './to-match.ts'

/** A look into the database that takes longer is a miss: together with admission it stays under a second. */
const TIME_LIMIT_MS = 400
/** Looks that travel together: one into a large group takes a millisecond, and the others wait for it. */
const MAX_BATCH = 8
/** As many processors of PostgreSQL's as look for one process at the same time. */
const MAX_BATCHES = 4

export interface Lookup {
  match: Match | null
  /** Why there is no match. */
  missReason: MissReason
  /** In shadow mode: what would have been served. */
  shadow?: SemanticMatch
  /** For people to say whether it should have been one. */
  nearMiss?: NearMiss
  /** What a judge might confirm, the most similar first. */
  undecided?: readonly SimilarAnswer[]
  /** What the judge was paid on the way, in US dollars. */
  judgeUsd?: number
  /** Made on the way; kept for storing the response. */
  vector: PromptVector | null
}

export interface LookupOptions {
  database: Database
  copies: ExactCopies
  vectors: PromptVectors
  judge: Judge
  judgeQueue: JudgeQueue
  equivalences: LearnedEquivalences
}

/** Rejects where the database is out of reach, or takes too long. */
export type LookUp = (query: CacheQuery) => Promise<Lookup>

export function createLookUp({ database, copies, vectors, judge, judgeQueue, equivalences }: LookupOptions): LookUp {
  const withinLookupTime = createTimeLimit(TIME_LIMIT_MS)
  const takeNearMiss = createNearMissBudget()
  const findStored = createBatcher<AnswerAsk, FoundAnswer[]>({
    run: asks => findAnswers(database, asks),
    maxItems: MAX_BATCH,
    maxBatches: MAX_BATCHES,
    timeLimitMs: TIME_LIMIT_MS,
    timeLimitError: () => new TimeLimitExceeded(TIME_LIMIT_MS),
  })

  /** A free embedder's vector goes along at once; one that is paid for is asked for when nothing else was found. */
  async function lookUp(query: CacheQuery): Promise<Lookup> {
    const semantic = query.semantic()
    if (typeof semantic === 'string') return { ...(await lookUpWith(query, null, null)), missReason: semantic }
    const early = vectors.isFree ? vectors.make(semantic.reading.normalized) : null
    const first = await lookUpWith(query, semantic, early)
    if (vectors.isFree || first.match) return first
    const vector = await vectors.find(query.account, semantic.reading.normalized)
    return vector ? lookUpWith(query, semantic, vector) : first
  }

  async function lookUpWith(
    query: CacheQuery,
    semantic: SemanticQuery | null,
    vector: PromptVector | null,
  ): Promise<Lookup> {
    const asked = findStored({
      projectId: query.account.project_id,
      requestHash: query.requestHash,
      semantic: semantic && { ...semantic, threshold: lookupThreshold(semantic), vector },
      maxAgeSeconds: query.control.maxAgeSeconds,
    })
    const known = semantic ? equivalences.of(query.account) : NOTHING_LEARNED
    const [found, learned] = await withinLookupTime(Promise.all([asked, known]))
    const lookup = readFound(query, semantic, found, { learned, takeNearMiss })
    if (lookup.match) noteMatch(query, lookup.match)
    return { ...lookup, vector }
  }

  /** The next request in these words need not look here. */
  function noteMatch(query: CacheQuery, match: Match): void {
    if (match.result === 'HIT') return void copies.keep(query.exactKey, match.entry)
    if (query.control.store) copies.nameWording(query, match)
    judgeQueue.noteServed(query, match)
  }

  return async query => {
    const lookup = await lookUp(query)
    const [candidate] = lookup.match ? [] : (lookup.undecided ?? [])
    const semantic = query.semantic()
    if (!candidate || typeof semantic === 'string') return lookup
    if (!judge.isAskedFor(query.account)) {
      judgeQueue.noteUndecided(query, candidate)
      return lookup
    }
    // The most similar of what could not be decided is put to the judge, before upstream is asked.
    const { verdict, costUsd: judgeUsd } = await judge.decide(query, semantic, candidate)
    if (verdict !== 'same') return { ...lookup, judgeUsd }
    const match = toMatch(semantic, { row: candidate, reason: 'judged', similarity: Math.min(1, candidate.similarity) })
    noteMatch(query, match)
    return { ...lookup, match, judgeUsd }
  }
}

/** What of the rows found may be served, or why nothing may. */
function readFound(
  { account, requestHash }: CacheQuery,
  semantic: SemanticQuery | null,
  found: readonly FoundAnswer[],
  { learned, takeNearMiss }: { learned: LearnedExchanges; takeNearMiss: TakeNearMiss },
): Omit<Lookup, 'vector'> {
  const exact = found.find(row => row.match === 'exact')
  if (exact) return { match: toExactMatch(requestHash, readRow(exact)), missReason: 'no-candidate' }
  if (!semantic) return { match: null, missReason: 'no-candidate' }
  const picked = pickCandidate(semantic, found, account.semantic_policy, learned)
  if ('missReason' in picked) {
    const { nearest, ...none } = picked
    const isNoted = nearest && takeNearMiss(account.project_id, semantic.contextHash)
    return { match: null, ...none, ...(isNoted && { nearMiss: toNearMiss(semantic, nearest) }) }
  }
  const match = toMatch(semantic, picked)
  if (account.semantic_mode === 'shadow') return { match: null, missReason: 'shadow', shadow: match }
  return { match, missReason: 'no-candidate' }
}
