/** An admitted request with all that is known about it, and the operations that answer it. */
import type { Admission } from '../../admission/admission.ts'
import type { Cache } from '../../cache/cache.ts'
import type { CacheControl } from '../../cache/cache-control.ts'
import type { CacheQuery } from '../../cache/cache-query.ts'
import type { CachedResponseMatch } from '../../cache/entry.ts'
import type { LookupExplainer } from '../../cache/explain.ts'
import type { LookupResult } from '../../cache/lookup.ts'
import type { VectorStore } from '../../cache/vectors/vector-store.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import type { LargeBodyReader } from '../../formats/large-bodies/read-large-body.ts'
import type { TokenUsage } from '../../formats/token-usage.ts'
import type { Hook, HookDecision } from '../../hooks/hook.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { Database } from '../../postgres/database.ts'
import type { ModelRouter } from '../../providers/model-router.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { FastStore } from '../../stores/fast-store.ts'
import type { VerdictRecorder } from '../../telemetry/proxy-metrics.ts'
import type { Accounting } from '../accounting/accounting.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import type { CallLeases } from '../coalescing/call-leases.ts'
import type { CallFailure, SharedCall, SharedCalls, Subscriber } from '../coalescing/shared-call.ts'
import type { InFlightVectors } from '../coalescing/vector-calls.ts'
import type { Conversations } from '../conversations/conversations.ts'
import type { StoredResponses } from '../conversations/stored-responses.ts'
import type { CompletionQuery, ParsedBodyCache, PassThroughQuery, Query } from '../request/query.ts'
import type { ProxyRequest, ProxyResponse } from '../request/request.ts'

/** The dependencies of the pipeline's steps. */
export interface PipelineServices {
  recordVerdict: VerdictRecorder
  admission: Admission
  /** Says what may pass; null where nobody is asked. */
  hook: Hook | null
  largeBodies: LargeBodyReader
  parsedBodies: ParsedBodyCache
  accounting: Accounting
  modelRouter: ModelRouter
  cache: Cache
  explainer: LookupExplainer
  /** Shared calls of this process. */
  sharedCalls: SharedCalls
  /** Decides, across processes, which one leads a call. */
  callLeases: CallLeases
  /** Shared calls for the vectors of single inputs. */
  inFlightVectors: InFlightVectors
  vectors: VectorStore
  catalogue: Catalogue
  /** Of /v1/responses, with models whose providers keep none. */
  conversations: Conversations
  storedResponses: StoredResponses
  database: Database
  store: Pick<FastStore, 'deleteEntry'>
}

/** What one request is going to do. */
export interface PlannedRequest {
  operation: Operation
  /** The provider that would answer; null where none is asked, or which one it is can only be looked up. */
  provider: Provider | null
  /** The client's cache control, within what the project's cache mode allows; null for what is never cached. */
  control: CacheControl | null
  /** What the cache is asked; its call name is also the shared call's name. Null for what is not cached as a whole. */
  cacheQuery: CacheQuery | null
}

/** The request has passed the hook. */
export interface HookCheck extends HookDecision {
  /** Whether a stream waits until its answer has passed. */
  holdsStreams: boolean
  /** Asks about an answer, in JSON; null: it is too long to be at hand. Throws as `Hook.ask` does. */
  checkResponse(answer: Uint8Array | null, isStored: boolean): Promise<HookDecision>
  decideOnce: Hook['decideOnce']
}

export interface RequestContext<Q extends Query = Query> extends PlannedRequest {
  request: ProxyRequest
  query: Q
  resolvedKey: ResolvedKey
  recorder: RequestRecorder
  /** Null where no hook is asked. */
  check: HookCheck | null
}

/** A request that a model answers, and whose answer may be cached. */
export interface RoutedContext<Q extends Query = CompletionQuery | PassThroughQuery> extends RequestContext<Q> {
  provider: Provider
  control: CacheControl
}

/** A request that leads its call: it asks the provider, and settles the call for every subscriber. */
export interface LeaderContext<Q extends Query = CompletionQuery | PassThroughQuery> extends RoutedContext<Q> {
  call: SharedCall
  subscriber: Subscriber
  /** What the cache said; null when it was not asked. */
  lookup: Pick<LookupResult, 'missReason' | 'nearMiss' | 'vector'> | null
}

/** The response, or why there is none. Without one, nothing was sent and the request is not accounted for. */
export type AttemptResult = { response: ProxyResponse } | { failure: CallFailure }

interface Answering {
  /** Reads what is asked, once the request is admitted. Throws a ProxyError. `bytes` is the body, if it was read before. */
  read(request: ProxyRequest, resolvedKey: ResolvedKey, stages: PipelineServices, bytes?: Uint8Array): Promise<Query>
  /** Serves a stored response. Null when it cannot be served after all. `judgeUsd` is the price of deciding that it may be. */
  serveHit(
    context: RequestContext,
    match: CachedResponseMatch,
    stages: PipelineServices,
    judgeUsd?: number,
  ): ProxyResponse | null
  /** What this usage costs, in US dollars; null when that is not known. */
  price(context: RoutedContext, usage: TokenUsage, stages: PipelineServices): number | null
}

/** An operation whose calls identical requests share: chat and other completions, and what is passed on. */
export interface SharedOperation extends Answering {
  sharesCalls: true
  /** Asks the provider, and settles the call. Throws a ProxyError when nothing was sent; the caller must then settle the call. */
  execute(context: LeaderContext, stages: PipelineServices): Promise<AttemptResult>
}

/** An operation that each request asks for by itself: embeddings by input, objects that providers keep, questions. */
export interface UnsharedOperation extends Answering {
  sharesCalls: false
  execute(context: RequestContext, stages: PipelineServices): Promise<AttemptResult>
}

export type Operation = SharedOperation | UnsharedOperation
