/** What is written about a request when it is over: its usage record, and its log line. */
import type { Catalogue } from '../catalogue/catalogue.ts'
import { costUsd, NO_USAGE, type TokenUsage } from '../catalogue/cost.ts'
import type { Account } from '../postgres/admit.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { AccountedRequest, NotedQuery, Outcome } from './outcome.ts'

export interface Recorded {
  request: AccountedRequest
  account: Account
  query: Pick<NotedQuery, 'endpoint' | 'model' | 'stream'>
  /** Time until the response headers were ready; null when none were sent. */
  latencyMs: number | null
  judgeUsd: number
}

export function createRecord(
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

export function describeRequest(record: UsageRecord, account: Account, cause: unknown) {
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
