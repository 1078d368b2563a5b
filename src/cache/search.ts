/** Asks PostgreSQL what it has for a request, in calls that many lookups share. */
import { type BatcherOptions, createBatcher } from '../event-loop/batcher.ts'
import { createMinuteBudget } from '../event-loop/minute-budget.ts'
import { createTimeLimit, TimeLimitExceeded } from '../event-loop/time-limit.ts'
import type { Account } from '../postgres/admit.ts'
import type { Database } from '../postgres/database.ts'
import type { AnswerAsk, FoundAnswers } from '../postgres/find-answer.ts'
import type { AnswerSeal } from '../stores/answer-seal.ts'
import type { CacheQuery, SemanticQuery } from './cache-query.ts'
import type { EntryFacts, SemanticMatch } from './entry.ts'
import { createFindAnswers } from './open-answers.ts'
import { lookupThreshold } from './policy.ts'
import { LOWEST_SAMPLED, SAMPLED_SHARE } from './sampling.ts'
import { readRow } from './to-match.ts'
import type { UnfinishedWrites } from './unfinished-writes.ts'

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

export interface SearchOptions {
  database: Database
  unfinished: UnfinishedWrites
  seal: AnswerSeal
}

/** What a request's question is compared with, and by which vector. */
export type Compared = NonNullable<AnswerAsk['semantic']>

export interface Search {
  /** For `search`. A vector without its text is still to be made. */
  toCompared(query: CacheQuery, semantic: SemanticQuery, vector: Compared['vector']): Compared
  /** Asks for all that might be served; null for the exact entry alone. Rejects after the time limit. */
  search(query: CacheQuery, compared: Compared | null): Promise<FoundAnswers>
  /** Reads the response of the candidate that is served; null if it has gone meanwhile, or was replaced. */
  readResponse(query: CacheQuery, picked: SemanticMatch<EntryFacts>): Promise<SemanticMatch | null>
}

export function createSearch({ database, unfinished, seal }: SearchOptions): Search {
  const findAnswers = createFindAnswers(database, seal)
  const anchorFor = createAnchoring()
  const withinLookupTime = createTimeLimit(TIME_LIMIT_MS)
  const createFinder = (most: Pick<BatcherOptions<AnswerAsk, FoundAnswers>, 'maxItems' | 'maxBatches'>) =>
    createBatcher<AnswerAsk, FoundAnswers>({
      run: findAnswers,
      ...most,
      timeLimitMs: TIME_LIMIT_MS,
      timeLimitError: () => new TimeLimitExceeded(TIME_LIMIT_MS),
    })
  const findSimilar = createFinder({ maxItems: MAX_BATCH, maxBatches: MAX_BATCHES })
  const findAnchored = createFinder({ maxItems: MAX_ANCHORED_BATCH, maxBatches: MAX_ANCHORED_BATCHES })
  const findNamed = createFinder({ maxItems: MAX_NAMED_BATCH, maxBatches: 1 })

  function ask({ account, control }: CacheQuery, requestHash: string, semantic: AnswerAsk['semantic']) {
    const find = !semantic?.vector?.text ? findNamed : semantic.anchorHash ? findAnchored : findSimilar
    const { maxAgeSeconds } = control
    return withinLookupTime(find({ projectId: account.project_id, requestHash, semantic, maxAgeSeconds }))
  }
  return {
    toCompared: (query, semantic, vector) => ({
      ...semantic,
      vector,
      threshold: searchThreshold(query, semantic),
      anchorHash: vector && anchorFor(query, semantic),
    }),
    async search(query, compared) {
      await unfinished.before(query, compared, compared?.vector?.text ? 'vector' : 'name')
      return ask(query, query.requestHash, compared)
    },
    async readResponse(query, picked) {
      const { answers } = await ask(query, picked.entryHash, null)
      const stored = answers.find(row => row.match === 'exact')
      const entry = stored?.match === 'exact' ? readRow(stored) : null
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
  const takeExplained = createMinuteBudget(MOST_EXPLAINED)
  return ({ account }: CacheQuery, { contextHash, anchorHash }: SemanticQuery): string | null =>
    account.semantic_policy !== 'verified' || takeExplained(groupOf(account, contextHash)) ? null : anchorHash
}

/** Names the prompts that are compared with each other. */
export const groupOf = ({ project_id }: Account, contextHash: string) => `${project_id} ${contextHash}`

function searchThreshold({ requestHash }: CacheQuery, semantic: SemanticQuery): number {
  const threshold = lookupThreshold(semantic)
  const isSampled = Number.parseInt(requestHash.slice(0, 2), 16) < 256 * SAMPLED_SHARE
  return isSampled ? Math.min(threshold, LOWEST_SAMPLED) : threshold
}
