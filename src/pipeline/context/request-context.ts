/** The context of an admitted request, and the interface of the operations that execute it. */
import type { Admission } from '../../admission/admission.ts'
import type { Cache } from '../../cache/cache.ts'
import type { CacheControl } from '../../cache/cache-control.ts'
import type { CacheQuery } from '../../cache/cache-query.ts'
import type { CacheVersions } from '../../cache/cache-versions.ts'
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
import type { StoredTurns } from '../conversations/stored-turns.ts'
import type { CompletionQuery, ParsedBodyCache, PassThroughQuery, Query } from '../request/query.ts'
import type { ProxyRequest, ProxyResponse } from '../request/request.ts'

/** The dependencies of the pipeline's steps. */
export interface PipelineServices {
  recordVerdict: VerdictRecorder
  admission: Admission
  /** Decides which requests and responses may pass; null if no hook is configured. */
  hook: Hook | null
  largeBodies: LargeBodyReader
  parsedBodies: ParsedBodyCache
  accounting: Accounting
  modelRouter: ModelRouter
  cache: Cache
  versions: Pick<CacheVersions, 'isOld'>
  explainer: LookupExplainer
  /** Shared calls of this process. */
  sharedCalls: SharedCalls
  /** Leases that decide which process leads a call. */
  callLeases: CallLeases
  /** Shared calls for the vectors of single inputs. */
  inFlightVectors: InFlightVectors
  vectors: VectorStore
  catalogue: Catalogue
  /** Conversations at /v1/responses with models whose providers do not store responses. */
  conversations: Conversations
  storedResponses: StoredResponses
  /** What clients may omit from their next request, by the key that requested it. */
  storedTurns: Pick<StoredTurns, 'open'>
  database: Database
  store: Pick<FastStore, 'deleteEntry'>
}

/** The plan of one request. */
export interface PlannedRequest {
  operation: Operation
  /** The provider that is called on a miss; null if none is called, or if finding it needs a lookup. */
  provider: Provider | null
  /** The client's cache control, limited to what the project's cache mode allows; null for a request that is never cached. */
  control: CacheControl | null
  /** The query for the cache. Its `sharedCallName` is the name of the shared call. Null for a request that is not cached as a whole. */
  cacheQuery: CacheQuery | null
}

/** The hook's decision about a request that passed. */
export interface HookCheck extends HookDecision {
  /** Whether a stream is held until the hook has checked the whole response. */
  holdsStreams: boolean
  /** Sends a response, in JSON, to the hook. Null stands for a response that is too long to be in memory. Throws like `Hook.decide`. */
  checkResponse(response: Uint8Array | null, isStored: boolean): Promise<HookDecision>
  decideOnce: Hook['decideOnce']
}

export interface RequestContext<Q extends Query = Query> extends PlannedRequest {
  request: ProxyRequest
  query: Q
  resolvedKey: ResolvedKey
  recorder: RequestRecorder
  /** Null if no hook checked the request. */
  check: HookCheck | null
  /** Whether another model is called if this one fails. */
  hasFallback?: boolean
  /** Whether the request is the trial of a model whose circuit is open: see `sendTrial`. */
  isTrial?: boolean
}

/** A request that goes to a model and whose response may be cached. */
export interface RoutedContext<Q extends Query = CompletionQuery | PassThroughQuery> extends RequestContext<Q> {
  provider: Provider
  control: CacheControl
}

/** A request that leads its call: it calls the provider and settles the call for every subscriber. */
export interface LeaderContext<Q extends Query = CompletionQuery | PassThroughQuery> extends RoutedContext<Q> {
  call: SharedCall
  subscriber: Subscriber
  /** The cache's lookup result; null if there was no lookup. */
  lookup: Pick<LookupResult, 'missReason' | 'nearMiss' | 'vector'> | null
}

/** The response, or a failure: then nothing was sent and the request is not recorded yet. */
export type AttemptResult = { response: ProxyResponse } | { failure: CallFailure }

interface BaseOperation {
  /** Reads the request after it is admitted. Throws a ProxyError. `bytes` is the body, if it was read before. */
  read(request: ProxyRequest, resolvedKey: ResolvedKey, services: PipelineServices, bytes?: Uint8Array): Promise<Query>
  /** Serves a cached response; returns null if it cannot be served. `judgeUsd` is the price of the judge's verdict on it. */
  serveHit(
    context: RequestContext,
    match: CachedResponseMatch,
    services: PipelineServices,
    judgeUsd?: number,
  ): ProxyResponse | null
  /** Returns the cost of the usage in US dollars; null if it is not known. */
  price(context: RoutedContext, usage: TokenUsage, services: PipelineServices): number | null
}

/** An operation whose calls are shared by identical requests: completions and pass-through operations. */
export interface CoalescedOperation extends BaseOperation {
  sharesCalls: true
  /** Calls the provider, and settles the call. Throws a ProxyError if nothing was sent; the caller must then settle the call. */
  execute(context: LeaderContext, services: PipelineServices): Promise<AttemptResult>
}

/** An operation whose calls are not shared as a whole: embeddings by input, stored objects, token counts, explanations, feedback. */
export interface UncoalescedOperation extends BaseOperation {
  sharesCalls: false
  execute(context: RequestContext, services: PipelineServices): Promise<AttemptResult>
}

export type Operation = CoalescedOperation | UncoalescedOperation
