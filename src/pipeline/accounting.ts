/** Accounts for each request once, when it ends: a usage record, a log line and, if the request does not count, a refund. */
import type { Quota } from '../admission/quota.ts'
import { takeAskedText } from '../cache/asked-text.ts'
import type { CacheQuery } from '../cache/cache-query.ts'
import type { EntryFacts, NearMiss, SemanticMatch } from '../cache/entry.ts'
import { type Catalogue, costUsd, NO_USAGE, type TokenUsage } from '../catalogue/catalogue.ts'
import { ClientGone } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'
import { DROPPED_TOOLS } from '../providers/translations/with-translations.ts'
import type { Provider } from '../providers/upstream.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProxyMetrics, SeenRequest } from '../telemetry/proxy-metrics.ts'
import type { SemanticHitRecorder } from '../telemetry/semantic-hit-recorder.ts'
import type { UsageRecorder } from '../telemetry/usage-recorder.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import type { NotedQuery } from './query.ts'
import type { ProxyRequest } from './request.ts'
import { createRecord, describeRequest, type Outcome, statusOf } from './request-record.ts'

/** The accounting of one request. */
export interface RequestAccounting {
  /** Sets what the request asks, once it is parsed, and its tags, a JSON object. A request without it is not recorded. */
  noteQuery(query: NotedQuery, tags?: string | null): void
  /** Sets the provider that is going to answer, and the model, if it is not the one asked for. They replace those noted before. */
  noteProvider(provider: Provider, model?: string): void
  /** The response was stored, and this provider answered first. */
  noteStored(provider: string): void
  /** The provider has been asked: from now on the request costs something, even if its client leaves. */
  noteAsked(): void
  /** The provider has begun to answer, with these headers. */
  noteAnswered(headers: Headers): void
  /** Sets why the cache answered, or why it did not. */
  noteReason(reason: string): void
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
  /** Records how the request ended. Only the first call counts. */
  finish(outcome: Outcome): void
  /**
   * Records that the request ended with this failure: an error, or an upstream's own response. `known` is what was learned before that:
   * the usage of the part that arrived, or that another request's call was followed.
   */
  finishFailed(failure: unknown, known?: Partial<Pick<Outcome, 'usage' | 'cacheResult'>>): void
}

/** Logged and recorded when the client has left; never sent. */
const CLIENT_GONE_STATUS = 499

export type AccountedRequest = Pick<ProxyRequest, 'id' | 'arrivedAtMs' | 'signal' | 'trace'>

export interface Accounting {
  /** `onFinish` is called once, when the request is over. */
  open(request: AccountedRequest, account: Account, onFinish: () => void): RequestAccounting
  /** This process is stopping and cuts its clients off. A request cut off that way does not count. */
  noteCut(): void
}

export interface AccountingOptions {
  recorder: UsageRecorder
  semanticHits: SemanticHitRecorder
  quota: Pick<Quota, 'refund'>
  catalogue: Catalogue
  metrics: Pick<ProxyMetrics, 'noteRequest' | 'noteSimilarity'>
  log: Log
}

export function createAccounting(options: AccountingOptions): Accounting {
  const shutdown = { isCut: false }
  return {
    noteCut() {
      shutdown.isCut = true
    },
    open: (request, account, onFinish) => new OpenAccount(options, shutdown, request, account, onFinish),
  }
}

class OpenAccount implements RequestAccounting {
  readonly #options: AccountingOptions
  readonly #shutdown: { readonly isCut: boolean }
  readonly #request: AccountedRequest
  readonly #account: Account
  readonly #onFinish: () => void
  #query: NotedQuery | null = null
  #tags: string | null = null
  #provider: Provider | null = null
  #model: string | null = null
  #storedBy: string | null = null
  #askedAtMs: number | null = null
  readonly #seen: SeenRequest = { listedModel: null, upstreamMs: null, firstChunkMs: null, reason: null }
  #latencyMs: number | null = null
  #judgeUsd = 0
  #droppedTools: string | null = null
  #isFinished = false

  constructor(
    options: AccountingOptions,
    shutdown: { readonly isCut: boolean },
    request: AccountedRequest,
    account: Account,
    onFinish: () => void,
  ) {
    this.#options = options
    this.#shutdown = shutdown
    this.#request = request
    this.#account = account
    this.#onFinish = onFinish
    if (request.trace) request.trace.isAccounted = true
  }

  noteQuery(query: NotedQuery, tags: string | null = null): void {
    this.#query = query
    this.#tags = tags
  }

  noteProvider(provider: Provider, model?: string): void {
    // A failure notes the same provider again. The provider has still been asked.
    if (provider !== this.#provider) this.#askedAtMs = null
    this.#provider = provider
    this.#model = model ?? null
  }

  noteStored(provider: string): void {
    this.#storedBy = provider
  }

  noteAsked(): void {
    this.#askedAtMs ??= performance.now()
    if (this.#query && this.#provider) this.#request.trace?.beginCall(this.#query, this.#provider.name, this.#model)
  }

  noteAnswered(headers: Headers): void {
    if (this.#askedAtMs !== null) this.#seen.upstreamMs = performance.now() - this.#askedAtMs
    this.#droppedTools = headers.get(DROPPED_TOOLS)
  }

  noteReason(reason: string): void {
    this.#seen.reason = reason
  }

  noteChunk(): void {
    this.#seen.firstChunkMs ??= performance.now() - this.#request.arrivedAtMs
  }

  noteHeaders(): void {
    this.#latencyMs ??= performance.now() - this.#request.arrivedAtMs
  }

  noteJudge(usd: number): void {
    this.#judgeUsd += usd
  }

  noteSemanticMatch(
    match: SemanticMatch<EntryFacts> | NearMiss,
    { identity }: CacheQuery,
    { isShadow } = { isShadow: false },
  ): void {
    const { semanticHits, catalogue, metrics } = this.#options
    const { log_content, project_id: projectId } = this.#account
    const { promptTokens, completionTokens } = match.entry
    const usage = { ...NO_USAGE, promptTokens, completionTokens }
    const model = this.#query?.model
    const pricedAs = this.#provider?.pricedAs ?? null
    metrics.noteSimilarity(
      isShadow ? 'shadow' : match.reason === 'undecided' ? 'near-miss' : 'served',
      match.similarity,
    )
    semanticHits.record({
      ...match,
      difference: match.reason === 'undecided' ? match.difference : null,
      wording: log_content === 'sealed' ? (takeAskedText(identity.endpoint, identity.body)?.text ?? null) : null,
      projectId,
      requestId: this.#request.id,
      isShadow,
      promptTokens,
      completionTokens,
      savedUsd: pricedAs === null || model === undefined ? 0 : (costUsd(catalogue.find(pricedAs, model), usage) ?? 0),
    })
  }

  finishFailed(failure: unknown, known: Partial<Pick<Outcome, 'usage' | 'cacheResult'>> = {}): void {
    const isGone = failure instanceof ClientGone
    const cacheResult = known.cacheResult ?? (this.#provider && 'MISS')
    // A client that leaves is charged for work that was begun for it, unless it was this process that cut it off.
    const isAsked = this.#askedAtMs !== null
    const counts = isGone && !this.#shutdown.isCut && (isAsked || cacheResult === 'HIT')
    const usage = known.usage ?? (counts && isAsked ? this.#estimate() : NO_USAGE)
    const cause = failure instanceof Error ? failure : undefined
    this.finish({ status: isGone ? CLIENT_GONE_STATUS : statusOf(failure), counts, cacheResult, usage }, cause)
  }

  /** For a call that ended before its upstream reported anything. */
  #estimate(): TokenUsage {
    const query = this.#query
    return query ? { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) } : NO_USAGE
  }

  finish(outcome: Outcome, cause?: Error): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#onFinish()
    const { recorder, quota, catalogue, metrics, log } = this.#options
    const account = this.#account
    if (!outcome.counts) quota.refund(account)
    const request = this.#request
    const query = this.#query
    if (!query) {
      request.trace?.end(outcome.status, undefined, cause)
      return
    }
    const provider = this.#provider
    const model = this.#model ?? query.model
    const pricedAs = provider?.pricedAs ?? null
    const listed = pricedAs === null ? undefined : catalogue.find(pricedAs, model)
    const recorded = {
      request,
      account,
      query,
      model,
      provider: this.#storedBy ?? provider?.name ?? null,
      isPriced: pricedAs !== null,
      listed,
      latencyMs: this.#latencyMs,
      judgeUsd: this.#judgeUsd,
      tags: this.#tags,
    }
    const status = request.signal.aborted ? CLIENT_GONE_STATUS : outcome.status
    const record = createRecord(recorded, { ...outcome, status })
    recorder.record(record)
    this.#seen.listedModel = listed?.model ?? null
    metrics.noteRequest(record, this.#seen)
    request.trace?.end(
      status,
      { ...this.#seen, record, project: account.project_name, answeredAs: outcome.usage.answeredAs },
      cause,
    )
    log.request(() => describeRequest(record, account, cause, this.#droppedTools))
  }
}
