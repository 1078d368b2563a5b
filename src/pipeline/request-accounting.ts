/** What the steps of the pipeline tell the accounting of their request. */
import type { CacheQuery } from '../cache/cache-query.ts'
import type { EntryFacts, Match, NearMiss, SemanticMatch } from '../cache/entry.ts'
import type { Lookup } from '../cache/lookup.ts'
import type { Account } from '../postgres/admit.ts'
import type { RequestStory } from '../postgres/usage-record.ts'
import type { Provider, UpstreamAnswer } from '../providers/upstream.ts'
import type { CallScope } from '../telemetry/proxy-metrics.ts'
import type { CallFailure } from './coalescing/shared-call.ts'
import type { NotedQuery } from './query.ts'
import type { ProxyRequest, Target } from './request.ts'
import type { Outcome } from './request-record.ts'
import type { Spending } from './spending/reservation.ts'
import type { EstimateCall } from './spending/spent-usage.ts'

export type AccountedRequest = Pick<ProxyRequest, 'id' | 'arrivedAtMs' | 'signal' | 'trace' | 'isRecorded'> & {
  target: Target
}

export interface Accounting {
  /** `onFinish` is called once, when the request is over. Null for a request that is free: nothing about it is recorded. */
  open(request: AccountedRequest, account: Account, onFinish: (() => void) | null): RequestAccounting
  /** Records a request of a known key that was not admitted. `query` is null if it was not parsed. */
  noteRefused(request: AccountedRequest, account: Account, query: NotedQuery | null, error: unknown): void
  /** This process is stopping and cuts its clients off. A request cut off that way does not count. */
  noteCut(): void
  /** Resolves when no answer is being read any more. */
  answersRead(): Promise<void>
  /** Ends what is still open, as if its client left: what it may have cost is recorded. */
  endOpen(): void
}

export type KnownEnd = Partial<Pick<Outcome, 'usage' | 'cacheResult' | 'counts'>>

/** The accounting of one request. */
export interface RequestAccounting {
  /** Sets what the request asks, once it is parsed, and its tags, a JSON object. */
  noteQuery(query: NotedQuery, tags?: string | null): void
  /** Sets the provider that is going to answer, and the model, if it is not the one asked for. They replace those noted before. */
  noteProvider(provider: Provider, model?: string): void
  /** The response was stored. */
  noteMatch(match: Match): void
  /** Nothing that the cache holds is served, or what was found there. */
  noteLookup(lookup: Lookup): void
  /** A model gave no answer, and a fallback is asked. What it may have cost is kept. */
  noteFailure(failure: CallFailure): void
  /** The request's money; null in a project without budgets, and for what is free. */
  readonly spending: Spending | null
  /**
   * The provider is being called: from now on the request costs something, even if its client leaves. `estimate` says how much, if nobody
   * ever learns it.
   */
  noteAsked(estimate: EstimateCall): void
  /** Whether its response is read to its end although its client has left: only then it is known what it cost. */
  readonly isReadToEnd: boolean
  /** The provider has begun to answer. */
  noteAnswered(answer: Pick<UpstreamAnswer, 'headers' | 'attempts' | 'keys' | 'status' | 'headAtMs'>): void
  /** Sets columns of its record that a step knows, and nothing else needs. */
  note(known: RequestStory): void
  /** Who makes the call that the request follows, if it follows one. */
  followed: CallScope
  /** Takes the time to a stream's first chunk. */
  noteChunk(): void
  /** Takes the time to the response headers. Call it when they are ready. */
  noteHeaders(): void
  /** Adds what a call to the judge cost, in US dollars. */
  noteJudge(usd: number): void
  /** Records a match that was served, would have been in shadow mode, or nearly was, so that people can give feedback on it. */
  noteSemanticMatch(
    match: SemanticMatch<EntryFacts> | NearMiss,
    asked: CacheQuery,
    options?: { isShadow: boolean },
  ): void
  /** Takes the body of the complete answer, in case it is kept. */
  noteBody(body: Uint8Array): void
  /** Its provider keeps the answer under this id, and will say what it used, where that is estimated. */
  noteKept(id: string): void
  /** Records how the request ended. Only the first call counts. */
  finish(outcome: Outcome): void
  /**
   * Records that the request ended with this failure: an error, or an upstream's own response. `known` is what was learned before that:
   * its usage, that another request's call was followed, or that it counts all the same. A usage that is not known is estimated.
   */
  finishFailed(failure: unknown, known?: KnownEnd): void
}
