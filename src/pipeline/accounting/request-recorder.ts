/** Records one request. The pipeline's steps set details, and the first `finish` writes a usage record and a log line. */
import type { Quota } from '../../admission/quota.ts'
import type { CacheQuery } from '../../cache/cache-query.ts'
import {
  type CachedResponseMatch,
  cacheIdOf,
  type EntryMetadata,
  type NearMiss,
  type SemanticMatch,
} from '../../cache/entry.ts'
import type { LookupResult } from '../../cache/lookup.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import { ClientDisconnected } from '../../errors/errors.ts'
import { msSince } from '../../event-loop/clock.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { RecordDetails } from '../../postgres/usage-record.ts'
import type { AttemptList } from '../../providers/attempts.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { ContentRecorder } from '../../telemetry/content-recorder.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ProxyMetrics, SharedCallScope } from '../../telemetry/proxy-metrics.ts'
import type { SemanticHitRecorder } from '../../telemetry/semantic-hit-recorder.ts'
import type { UsageRecorder } from '../../telemetry/usage-recorder.ts'
import type { RecordedQuery } from '../request/query.ts'
import type { EstimateCallUsage } from '../spending/call-usage.ts'
import { RequestSpending, type SpendingLimits } from '../spending/reservation.ts'
import { type ResponseHead, UpstreamCalls } from '../spending/upstream-calls.ts'
import {
  CLIENT_DISCONNECTED_STATUS,
  createRecordDraft,
  createUsageRecord,
  describeUnparsedRequest,
  listedModelOf,
  mustRecord,
  type RecordDraft,
  type RequestMetadata,
  type RequestOutcome,
  statusOfFailure,
  sumUsedTokens,
} from './create-record.ts'
import { describeClientError, describeUpstreamError } from './describe-failure.ts'
import {
  createRequestLogEntry,
  describeMatchOutcome,
  describeSemanticHit,
  readRequestContent,
} from './describe-request.ts'
import { reconcileEstimatedUsage, type UsageReconciler } from './usage-reconciler.ts'

export interface RecorderOptions extends SpendingLimits {
  recorder: UsageRecorder
  semanticHits: SemanticHitRecorder
  contents: Pick<ContentRecorder, 'record'>
  reconciler: Pick<UsageReconciler, 'reconcileLater'>
  quota: Pick<Quota, 'refund'>
  catalogue: Catalogue
  metrics: Pick<ProxyMetrics, 'recordRequest' | 'recordSimilarity' | 'recordFallback'>
  log: Log
  /** Whether another rejected request of this key is recorded in this minute. */
  canRecordRejection(key: string): boolean
  shutdown: { isCut: boolean }
  /** Requests whose providers were called, and that have not finished. */
  activeRequests: Set<RequestRecorder>
}

export class RequestRecorder {
  /** The request's reservations; null without budgets and token limits, and for a free request. */
  readonly spending: RequestSpending | null
  /** Where the call runs that the request shares, if it shares one. */
  followedCallScope: SharedCallScope = 'process'
  /** The complete response's body, in case contents are logged. */
  responseBody: Uint8Array | null = null
  /** The id under which the provider stores the response. If the usage is estimated, it is requested later by this id. */
  storedResponseId: string | null = null
  /** The attempts of the model that is set, and of those before. */
  readonly attempts: AttemptList
  readonly #options: RecorderOptions
  readonly #onFinish: (() => void) | null
  readonly #draft: RecordDraft
  readonly #calls: UpstreamCalls
  #failure: unknown = null
  #isFinished: boolean

  constructor(
    options: RecorderOptions,
    request: RequestMetadata,
    resolvedKey: ResolvedKey,
    onFinish: (() => void) | null,
  ) {
    this.#options = options
    this.#onFinish = onFinish
    this.#isFinished = onFinish === null
    this.#draft = createRecordDraft(request, resolvedKey)
    this.attempts = this.#draft.attempts
    this.#calls = new UpstreamCalls(this.#draft.details)
    this.#draft.failedCalls = this.#calls.failedCalls
    const isLimited = resolvedKey.has_budgets || resolvedKey.tokens_per_minute !== null
    this.spending = onFinish && isLimited ? new RequestSpending(options, resolvedKey, request.id) : null
    if (!this.#isFinished) request.isRecorded = true
    this.#draft.details.admission_ms = msSince(request.arrivedAtMs)
  }

  /** Sets the parsed request, and its tags, a JSON object. */
  setQuery(query: RecordedQuery, tags: string | null = null): void {
    this.#draft.query = query
    this.#draft.details.tags = tags === null ? null : JSON.parse(tags)
    if (this.spending) this.spending.query = { endpoint: query.endpoint, tags }
  }

  /** Sets the provider to call, and the fallback model, if it is not the requested one. They replace those set before. */
  setProvider(provider: Provider, model?: string): void {
    const { catalogue, metrics } = this.#options
    const from = model === undefined ? null : listedModelOf(this.#draft, catalogue)
    // A failure sets the same provider again. The provider has still been called.
    if (provider !== this.#draft.provider) this.#calls.isCalled = false
    this.#draft.provider = provider
    this.#draft.model = model ?? null
    if (model === undefined) return
    this.setDetails({ fallbacks: [this.#draft.details.fallbacks ?? [], model].flat().join(', ') })
    metrics.recordFallback(from, listedModelOf(this.#draft, catalogue), this.attempts.lastFailureKind)
  }

  /** Sets columns of the usage record. */
  setDetails(details: RecordDetails): void {
    Object.assign(this.#draft.details, details)
  }

  /** Records that a cached response is served. */
  recordHit({ reason, id, entry }: CachedResponseMatch): void {
    this.#draft.cachedProvider = entry.provider
    this.setDetails({ cache_reason: reason, cache_id: id })
  }

  /** Records a lookup: the reason why nothing is served, which a hit replaces, and what was compared. */
  recordLookup({ missReason, instructionsHash, columns, durationMs = null, embedMs = null }: LookupResult): void {
    this.setDetails({ cache_reason: missReason, ...columns, lookup_ms: durationMs, embed_ms: embedMs })
    if (instructionsHash) this.#options.semanticHits.recordContext(instructionsHash, this.#draft)
  }

  /**
   * Records that a provider is called: from now on the request costs something, even if its client disconnects. `estimate` returns the
   * usage to charge if the provider reports none.
   */
  beginCall(estimate: EstimateCallUsage): void {
    if (this.#isFinished) return
    const { request, query, provider, model } = this.#draft
    this.#calls.begin(model ?? query?.model ?? '', estimate)
    this.#options.activeRequests.add(this)
    if (query && provider) request.trace?.beginCall(query, provider.name, model)
  }

  /** Records that the provider has begun to respond. */
  recordResponseHead(head: ResponseHead): void {
    this.#calls.recordHead(head)
  }

  /** Whether the response should be read to its end after its client has disconnected, because its cost is known only then. */
  get isWorthReadingToEnd(): boolean {
    return this.#calls.isUsageWorthAwaiting(this.#draft.resolvedKey.has_budgets)
  }

  /** Records that a call failed, before a fallback is called. The cost of the failed call stays with the request. */
  recordFailure(failure: unknown): void {
    this.#calls.recordFailure(failure)
    this.#describeFailure(failure)
  }

  /** Completes the list of attempts, and describes the first failure. */
  #describeFailure(failure: unknown): void {
    if (this.#isFinished || failure === this.#failure) return
    this.attempts.recordFailure(failure)
    if (this.#failure !== null) return
    this.#failure = failure
    this.setDetails(describeUpstreamError(failure, this.#draft.query))
  }

  /** Records the time to a stream's first chunk. */
  recordFirstChunk(): void {
    this.#draft.details.first_chunk_ms ??= msSince(this.#draft.request.arrivedAtMs)
  }

  /** Records the time to the response headers. */
  recordHeadersSent(): void {
    this.#draft.latencyMs ??= msSince(this.#draft.request.arrivedAtMs)
  }

  /** Adds the cost of a call of the judge, in US dollars. */
  addJudgeCost(usd: number): void {
    this.#draft.judgeCostUsd += usd
  }

  /** Records a match that was served, a match in shadow mode, or a near miss, so that people can give feedback on it. */
  recordSemanticMatch(
    match: SemanticMatch<EntryMetadata> | NearMiss,
    cacheQuery: CacheQuery,
    { isShadow = false } = {},
  ): void {
    if (this.#isFinished) return
    const { semanticHits, catalogue, metrics } = this.#options
    this.setDetails({ similarity: match.similarity, cache_id: cacheIdOf(match.entryHash) })
    metrics.recordSimilarity(describeMatchOutcome(match, isShadow), match.similarity)
    semanticHits.record(describeSemanticHit(match, this.#draft, { cacheQuery, isShadow }, catalogue))
  }

  /**
   * Records that the request ended with this failure: an error, or an upstream's own response. `known` holds the parts of the outcome that
   * are known: the usage, the cache result, or whether the request counts. An unknown usage is estimated.
   */
  finishFailed(failure: unknown, known: Partial<Omit<RequestOutcome, 'status'>> = {}): void {
    const isDisconnected = failure instanceof ClientDisconnected
    const cacheResult = known.cacheResult ?? (this.#draft.provider && 'MISS')
    // A request whose client disconnects counts if work had begun for it, unless this process disconnected the client.
    const hasBegun = this.#calls.isCalled || cacheResult === 'HIT'
    const isCounted = known.isCounted ?? (isDisconnected && !this.#options.shutdown.isCut && hasBegun)
    if (known.usage) this.#calls.recordKnownUsage()
    else this.#calls.recordFailure(failure)
    this.#describeFailure(failure)
    this.setDetails(describeClientError(failure))
    const cause = failure instanceof Error ? failure : undefined
    this.finish({ status: statusOfFailure(failure), isCounted, cacheResult, usage: known.usage ?? NO_USAGE }, cause)
  }

  /** Records the request's outcome. Calls after the first have no effect. */
  finish(result: RequestOutcome, cause?: Error): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#options.activeRequests.delete(this)
    this.#onFinish?.()
    const { request, resolvedKey } = this.#draft
    const query = this.#draft.query ?? describeUnparsedRequest(request)
    if (!result.isCounted && !request.isTrial) this.#options.quota.refund(resolvedKey)
    request.isRecorded = query !== null && mustRecord(this.#draft, result, this.#options.canRecordRejection)
    if (query && request.isRecorded) this.#write(query, result, cause)
    else this.spending?.release()
  }

  #write(query: RecordedQuery, result: RequestOutcome, cause: Error | undefined): void {
    const { recorder, contents, reconciler, catalogue, metrics, log } = this.#options
    const { request, resolvedKey, provider, details } = this.#draft
    const reservation = this.spending?.settle(sumUsedTokens(result, this.#draft.failedCalls)) ?? null
    const status = request.signal.aborted ? CLIENT_DISCONNECTED_STATUS : result.status
    if (status >= 400) details.error_code ??= status === CLIENT_DISCONNECTED_STATUS ? 'client_gone' : 'upstream_error'
    this.setDetails(this.attempts.columns)
    const record = createUsageRecord(this.#draft, query, { ...result, status }, { catalogue, reservation })
    recorder.record(record)
    const [id, key] = [this.storedResponseId, this.attempts.lastKey]
    if (provider && id) reconcileEstimatedUsage({ id, provider, key }, record, reconciler)
    if (resolvedKey.log_content === 'sealed')
      contents.record(record, readRequestContent(query, this.responseBody ?? this.#failure))
    metrics.recordRequest(record, listedModelOf(this.#draft, catalogue), this.followedCallScope)
    const { responseModel } = result.usage
    request.trace?.end(status, { record, project: resolvedKey.project_name, responseModel }, cause)
    log.request(() => createRequestLogEntry(record, resolvedKey, cause, this.#calls.droppedTools))
  }
}
