/** The accounting of one request. Only `finishFailed` decides what a kind of failure means. */
import type { Quota } from '../admission/quota.ts'
import type { CacheQuery } from '../cache/cache-query.ts'
import { cacheIdOf, type EntryFacts, type Match, type NearMiss, type SemanticMatch } from '../cache/entry.ts'
import type { Lookup } from '../cache/lookup.ts'
import { type Catalogue, costOfAnswer } from '../catalogue/catalogue.ts'
import { ClientGone } from '../errors/errors.ts'
import { msSince } from '../event-loop/clock.ts'
import type { createMinuteBudget } from '../event-loop/minute-budget.ts'
import { NO_USAGE, type TokenUsage } from '../formats/token-usage.ts'
import type { Account } from '../postgres/admit.ts'
import type { RequestStory } from '../postgres/usage-record.ts'
import { PROVIDER_KEY } from '../providers/balanced.ts'
import { DROPPED_TOOLS } from '../providers/translations/with-translations.ts'
import type { Provider } from '../providers/upstream.ts'
import { UpstreamFailure } from '../providers/upstream-failure.ts'
import type { ContentRecorder } from '../telemetry/content-recorder.ts'
import type { Log } from '../telemetry/log.ts'
import type { CallScope, ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import type { SemanticHitRecorder } from '../telemetry/semantic-hit-recorder.ts'
import type { UsageRecorder } from '../telemetry/usage-recorder.ts'
import { describeRequest } from './describe-request.ts'
import type { ResponseFollower } from './kept-objects/follow-responses.ts'
import { alternativesOf } from './parse-request.ts'
import type { NotedQuery } from './query.ts'
import type { AccountedRequest, KnownEnd, RequestAccounting } from './request-accounting.ts'
import { contentOf } from './request-content.ts'
import {
  CLIENT_GONE_STATUS,
  createRecord,
  isRefusal,
  nameTarget,
  noteAttempts,
  type Outcome,
  statusOf,
  tokensOf,
} from './request-record.ts'
import { describeSemanticHit, outcomeOf } from './semantic-hit.ts'
import { followEstimated } from './spending/follow-estimated.ts'
import { Spending, type SpendingLimits } from './spending/reservation.ts'
import type { EstimateCall } from './spending/spent-usage.ts'
import { UpstreamCalls } from './spending/upstream-calls.ts'
import { tellError, tellUpstream } from './tell-failure.ts'

export interface AccountingOptions extends SpendingLimits {
  recorder: UsageRecorder
  semanticHits: SemanticHitRecorder
  contents: Pick<ContentRecorder, 'record'>
  follower: Pick<ResponseFollower, 'follow'>
  quota: Pick<Quota, 'refund'>
  catalogue: Catalogue
  metrics: Pick<ProxyMetrics, 'noteRequest' | 'noteSimilarity'>
  log: Log
}

export type OpenOptions = AccountingOptions & {
  takeRefused: ReturnType<typeof createMinuteBudget>
  shutdown: { isCut: boolean }
  /** Requests whose providers were asked, and that are not over. */
  asked: Set<OpenAccount>
}

export class OpenAccount implements RequestAccounting {
  readonly #options: OpenOptions
  readonly #request: AccountedRequest
  readonly #account: Account
  readonly #onFinish: (() => void) | null
  #query: NotedQuery | null = null
  #provider: Provider | null = null
  #model: string | null = null
  #storedBy: string | null = null
  #askedAtMs: number | null = null
  #calledAtMs = 0
  readonly #story: RequestStory = {}
  #failure: unknown = null
  #body: Uint8Array | null = null
  #latencyMs: number | null = null
  #judgeUsd = 0
  #providerKey: string | null = null
  #kept: { id: string; key: string | null } | null = null
  #droppedTools: string | null = null
  followed: CallScope = 'process'
  #isFinished: boolean
  readonly #calls = new UpstreamCalls()
  readonly spending: Spending | null

  constructor(options: OpenOptions, request: AccountedRequest, account: Account, onFinish: (() => void) | null) {
    this.#options = options
    this.#request = request
    this.#account = account
    this.#onFinish = onFinish
    this.#isFinished = onFinish === null
    const isLimited = account.has_budgets || account.tokens_per_minute !== null
    this.spending = onFinish && isLimited ? new Spending(options, account, request.id) : null
    if (!this.#isFinished) request.isRecorded = true
    this.#story.admission_ms = msSince(request.arrivedAtMs)
  }

  noteQuery(query: NotedQuery, tags: string | null = null): void {
    this.#query = query
    this.#story.tags = tags === null ? null : JSON.parse(tags)
    if (this.spending) this.spending.query = { endpoint: query.endpoint, tags }
  }

  noteProvider(provider: Provider, model?: string): void {
    // A failure notes the same provider again. The provider has still been asked.
    if (provider !== this.#provider) this.#askedAtMs = null
    this.#provider = provider
    this.#model = model ?? null
    if (model !== undefined) this.#story.fallbacks = [this.#story.fallbacks ?? [], model].flat().join(', ')
  }

  noteMatch({ reason, id, entry }: Match): void {
    this.#storedBy = entry.provider
    this.#story.cache_reason = reason
    this.#story.cache_id = id
  }

  noteLookup({ missReason, tookMs = null, embedMs = null }: Lookup): void {
    if (missReason) this.#story.cache_reason = missReason
    Object.assign(this.#story, { lookup_ms: tookMs, embed_ms: embedMs })
  }

  noteFailure(failure: unknown): void {
    this.#calls.fail(failure)
    this.#tellFailure(failure)
  }

  /** Each failure's attempts are counted, and the first one is told. */
  #tellFailure(failure: unknown): void {
    if (this.#isFinished || failure === this.#failure) return
    if (failure instanceof UpstreamFailure && this.#askedAtMs !== null) noteAttempts(this.#story, failure)
    if (this.#failure !== null) return
    this.#failure = failure
    Object.assign(this.#story, tellUpstream(failure, this.#query))
  }

  noteAsked(estimate: EstimateCall): void {
    if (this.#isFinished) return
    this.#calls.begin(this.#model ?? this.#query?.model ?? '', estimate)
    this.#options.asked.add(this)
    this.#calledAtMs = performance.now()
    this.#askedAtMs ??= this.#calledAtMs
    if (this.#query && this.#provider) this.#request.trace?.beginCall(this.#query, this.#provider.name, this.#model)
  }

  get isReadToEnd(): boolean {
    return this.#calls.isWorthReading(this.#account.has_budgets)
  }

  noteAnswered(answer: Parameters<RequestAccounting['noteAnswered']>[0]): void {
    this.#calls.noteAnswered(answer.status)
    if (this.#askedAtMs !== null) this.#story.upstream_ms = msSince(this.#calledAtMs, answer.headAtMs)
    noteAttempts(this.#story, answer)
    this.#droppedTools = answer.headers.get(DROPPED_TOOLS)
    this.#providerKey = answer.headers.get(PROVIDER_KEY)
  }

  note(known: RequestStory): void {
    Object.assign(this.#story, known)
  }

  noteChunk(): void {
    this.#story.first_chunk_ms ??= msSince(this.#request.arrivedAtMs)
  }

  noteHeaders(): void {
    this.#latencyMs ??= msSince(this.#request.arrivedAtMs)
  }

  noteBody(body: Uint8Array): void {
    this.#body = body
  }

  noteKept(id: string): void {
    this.#kept = { id, key: this.#providerKey }
  }

  noteJudge(usd: number): void {
    this.#judgeUsd += usd
  }

  noteSemanticMatch(
    match: SemanticMatch<EntryFacts> | NearMiss,
    query: CacheQuery,
    { isShadow } = { isShadow: false },
  ): void {
    if (this.#isFinished) return
    const { semanticHits, catalogue, metrics } = this.#options
    Object.assign(this.#story, { similarity: match.similarity, cache_id: cacheIdOf(match.entryHash) })
    metrics.noteSimilarity(outcomeOf(match, isShadow), match.similarity)
    const asked = { requestId: this.#request.id, account: this.#account, model: this.#query?.model, isShadow, query }
    semanticHits.record(describeSemanticHit(match, { ...asked, pricedAs: this.#provider?.pricedAs ?? null }, catalogue))
  }

  finishFailed(failure: unknown, known: KnownEnd = {}): void {
    const isGone = failure instanceof ClientGone
    const cacheResult = known.cacheResult ?? (this.#provider && 'MISS')
    // A client that leaves is charged for work that was begun for it, unless it was this process that cut it off.
    const isBegun = this.#askedAtMs !== null || cacheResult === 'HIT'
    const counts = known.counts ?? (isGone && !this.#options.shutdown.isCut && isBegun)
    if (known.usage) this.#calls.end()
    else this.#calls.fail(failure)
    this.#tellFailure(failure)
    Object.assign(this.#story, tellError(failure))
    const cause = failure instanceof Error ? failure : undefined
    this.finish({ status: statusOf(failure), counts, cacheResult, usage: known.usage ?? NO_USAGE }, cause)
  }

  finish(outcome: Outcome, cause?: Error): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#options.asked.delete(this)
    this.#onFinish?.()
    const { recorder, contents, follower, quota, catalogue, metrics, log, takeRefused } = this.#options
    const [account, request, provider] = [this.#account, this.#request, this.#provider]
    const query = this.#query ?? nameTarget(request)
    if (!outcome.counts) quota.refund(account)
    const isRefused = !outcome.counts && isRefusal(outcome.status) && !this.#story.attempts
    request.isRecorded = query !== null && (!isRefused || takeRefused(`${account.key_id}`))
    if (!query || !request.isRecorded) return void this.spending?.release()
    const model = this.#model ?? query.model
    const pricedAs = provider?.pricedAs ?? null
    const listed = pricedAs === null ? undefined : catalogue.find(pricedAs, model)
    const hasOthers = alternativesOf(query.body).length > 0
    const recorded = {
      request,
      account,
      query,
      model,
      provider: this.#storedBy ?? provider?.name ?? null,
      isPriced: pricedAs !== null,
      costOf: (usage: TokenUsage) => costOfAnswer(catalogue, pricedAs, { model, hasOthers }, usage),
      latencyMs: this.#latencyMs,
      judgeUsd: this.#judgeUsd,
      story: this.#story,
      failed: this.#calls.failed,
      reservation: this.spending?.end(tokensOf(outcome, this.#calls.failed)) ?? null,
    }
    const status = request.signal.aborted ? CLIENT_GONE_STATUS : outcome.status
    if (status >= 400) this.#story.error_code ??= status === CLIENT_GONE_STATUS ? 'client_gone' : 'upstream_error'
    const record = createRecord(recorded, { ...outcome, status })
    recorder.record(record)
    if (provider && this.#kept) followEstimated({ ...this.#kept, provider }, record, follower)
    if (account.log_content === 'sealed') contents.record(record, contentOf(query, this.#body ?? this.#failure))
    metrics.noteRequest(record, listed?.model ?? null, this.followed)
    request.trace?.end(status, { record, project: account.project_name, answeredAs: outcome.usage.answeredAs }, cause)
    log.request(() => describeRequest(record, account, cause, this.#droppedTools))
  }
}
