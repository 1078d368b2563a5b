/** How each request went: told here once, it becomes a record, a log line and, where the request does not count, a refund. */

import type { Reservations } from '../admission/reservations.ts'
import { takeAskedText } from '../cache/asked-text.ts'
import type { CacheQuery } from '../cache/cache-query.ts'
import type { NearMiss, SemanticMatch } from '../cache/match.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { costUsd, NO_USAGE, type TokenUsage } from '../catalogue/cost.ts'
import { ClientGone, ProxyError } from '../errors.ts'
import type { Account } from '../postgres/admit.ts'
import type { UsageRecord } from '../postgres/record-usage.ts'
import type { Collection, Operation } from '../providers/operations.ts'
import type { Endpoint, Provider } from '../providers/upstream.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { SemanticHitRecorder } from '../telemetry/semantic-hit-recorder.ts'
import type { UsageRecorder } from '../telemetry/usage-recorder.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import { CLIENT_GONE_STATUS, type ProxyRequest } from './exchange.ts'
import type { RequestQuery } from './parse-request.ts'

export interface Outcome {
  status: number
  /** Whether the request counts against its month: what was answered does, what failed here or upstream does not. */
  counts: boolean
  cacheResult: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  /** Who answered, or first answered; null where none was reached. */
  provider: string | null
  /** Under which name the catalogue prices it; null: it costs nothing. */
  pricedAs: string | null
  /** The model that answered, where it may be another than was asked for. */
  model?: string
  /** On a hit: what the stored response once used. */
  usage: TokenUsage
  /** On a miss: prompt tokens of the parts that were known. */
  savedPromptTokens?: number
  /** Why it failed; for the log alone. */
  cause?: unknown
}

/** What is asked, as it is recorded. */
export interface NotedQuery extends Pick<RequestQuery, 'model' | 'stream' | 'body'> {
  endpoint: Endpoint | Operation | Collection
}

/** The accounting of one request. */
export interface RequestAccounting {
  /** What is asked, once that is known. Without it, nothing is recorded. */
  noteQuery(query: NotedQuery): void
  /** Who is going to answer, in place of whoever was noted before. */
  noteProvider(provider: Provider): void
  /** The provider has been asked: from now on the request costs something, even if its client leaves. */
  noteAsked(): void
  /** The response headers are ready. */
  noteHeaders(): void
  /** The judge was paid so much on the way. */
  noteJudge(usd: number): void
  /** This match was served, in shadow mode would have been, or nearly was, so that people can speak of it. */
  noteSemanticMatch(match: SemanticMatch | NearMiss, asked: CacheQuery, options?: { isShadow: boolean }): void
  /** Records how it ended. Only the first call counts. */
  finish(outcome: Outcome): void
  /** Records that it ended with this error, unless an end is recorded. */
  finishFailed(error: unknown): void
}

export type AccountedRequest = Pick<ProxyRequest, 'id' | 'arrivedAtMs'>

export interface Accounting {
  /** `onFinish`: called once, when the request is over. */
  open(request: AccountedRequest, account: Account, onFinish: () => void): RequestAccounting
  /** From now on clients do not leave but are cut off, by the end of this process: what they asked for does not count. */
  noteCut(): void
}

export interface AccountingOptions {
  recorder: UsageRecorder
  semanticHits: SemanticHitRecorder
  reservations: Pick<Reservations, 'refund'>
  catalogue: Catalogue
  log: Log
}

export function createAccounting({
  recorder,
  semanticHits,
  reservations,
  catalogue,
  log,
}: AccountingOptions): Accounting {
  let isCut = false

  return {
    noteCut() {
      isCut = true
    },
    open(request, account, onFinish) {
      let query: NotedQuery | null = null
      let provider: Provider | null = null
      let isAsked = false
      let latencyMs: number | null = null
      let judgeUsd = 0
      let isFinished = false

      function finish(outcome: Outcome): void {
        if (isFinished) return
        isFinished = true
        onFinish()
        if (!outcome.counts) reservations.refund(account)
        if (!query) return
        const record = createRecord({ request, account, query, latencyMs, judgeUsd }, outcome, catalogue)
        recorder.record(record)
        log.request(() => describeRequest(record, account, outcome.cause))
      }

      return {
        noteQuery(given) {
          query = given
        },
        noteProvider(given) {
          // Told again of the same one, as when its failure is told, it has been asked all the same.
          if (given !== provider) isAsked = false
          provider = given
        },
        noteAsked() {
          isAsked = true
        },
        noteHeaders() {
          latencyMs ??= performance.now() - request.arrivedAtMs
        },
        noteJudge(usd) {
          judgeUsd += usd
        },
        noteSemanticMatch(match, { identity }, { isShadow } = { isShadow: false }) {
          const { promptTokens, completionTokens } = match.entry
          const usage = { ...NO_USAGE, promptTokens, completionTokens }
          const pricedAs = provider?.pricedAs ?? null
          semanticHits.record({
            ...match,
            difference: match.reason === 'undecided' ? match.difference : null,
            wording:
              account.log_content === 'sealed' ? (takeAskedText(identity.endpoint, identity.body)?.text ?? null) : null,
            projectId: account.project_id,
            requestId: request.id,
            isShadow,
            promptTokens,
            completionTokens,
            savedUsd: pricedAs === null || !query ? 0 : (costUsd(catalogue.find(pricedAs, query.model), usage) ?? 0),
          })
        },
        finish,
        finishFailed(error) {
          const isGone = error instanceof ClientGone
          // What upstream did for a client that did not wait is charged all the same; how much, nobody told.
          const isCharged = isGone && !isCut && isAsked && query !== null && provider !== null
          const promptTokens = isCharged && query ? estimatePromptTokens(query.body, query.endpoint) : 0
          finish({
            status: isGone ? CLIENT_GONE_STATUS : error instanceof ProxyError ? error.status : 500,
            counts: isCharged,
            cacheResult: provider && 'MISS',
            provider: provider?.name ?? null,
            pricedAs: isCharged && provider ? provider.pricedAs : null,
            usage: isCharged ? { ...NO_USAGE, promptTokens } : NO_USAGE,
            cause: error,
          })
        },
      }
    },
  }
}

interface Recorded {
  request: AccountedRequest
  account: Account
  query: Pick<NotedQuery, 'endpoint' | 'model' | 'stream'>
  /** Null where no headers were sent. */
  latencyMs: number | null
  judgeUsd: number
}

function createRecord(
  { request, account, query, latencyMs, judgeUsd }: Recorded,
  outcome: Outcome,
  catalogue: Catalogue,
): UsageRecord {
  const { cacheResult, pricedAs, model = query.model, savedPromptTokens = 0 } = outcome
  const durationMs = performance.now() - request.arrivedAtMs
  const isHit = cacheResult === 'HIT' || cacheResult === 'HIT-SEMANTIC'
  const price = (worth: TokenUsage) =>
    worth === NO_USAGE || pricedAs === null ? 0 : (costUsd(catalogue.find(pricedAs, model), worth) ?? 0)
  const charged = isHit ? NO_USAGE : outcome.usage
  const known = savedPromptTokens > 0 ? { ...NO_USAGE, promptTokens: savedPromptTokens } : NO_USAGE
  const saved = isHit ? outcome.usage : known
  return {
    recorded_at: new Date().toISOString(),
    request_id: request.id,
    project_id: account.project_id,
    key_id: account.key_id,
    endpoint: query.endpoint,
    model,
    provider: outcome.provider,
    cache_result: cacheResult,
    status: outcome.status,
    streamed: query.stream,
    prompt_tokens: charged.promptTokens,
    cached_prompt_tokens: charged.cachedPromptTokens,
    completion_tokens: charged.completionTokens,
    tokens_saved: saved.promptTokens,
    cost_usd: price(charged) + judgeUsd,
    saved_usd: price(saved),
    latency_ms: round(latencyMs ?? durationMs),
    duration_ms: round(durationMs),
  }
}

const INFO = 30

function describeRequest(record: UsageRecord, account: Account, cause: unknown) {
  return {
    level: INFO,
    time: record.recorded_at,
    id: record.request_id,
    project: account.project_name,
    key: account.key_prefix,
    endpoint: record.endpoint,
    model: record.model,
    provider: record.provider,
    cache: record.cache_result,
    status: record.status,
    streamed: record.streamed,
    promptTokens: record.prompt_tokens,
    completionTokens: record.completion_tokens,
    tokensSaved: record.tokens_saved,
    costUsd: record.cost_usd,
    latencyMs: record.latency_ms,
    durationMs: record.duration_ms,
    ...(cause === undefined ? {} : { cause: describeCause(cause) }),
    msg: 'request',
  }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
