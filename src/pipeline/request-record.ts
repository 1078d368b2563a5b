/** What is written about a request when it is over: its usage record, and its log line. */
import { costUsd, NO_USAGE, type TokenUsage } from '../catalogue/catalogue.ts'
import type { Account } from '../postgres/admit.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { NotedQuery } from './query.ts'
import type { ProxyRequest } from './request.ts'

/** How a request ended. */
export interface Outcome {
  status: number
  /** Whether the request counts against its month: an answered request does, one that failed here or upstream does not. */
  counts: boolean
  cacheResult: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  /** What the provider's work took. On a hit: what the stored response took. */
  usage: SpentUsage
}

export interface SpentUsage extends TokenUsage {
  /** On a miss: prompt tokens of the inputs that were cached. */
  savedPromptTokens?: number
}

/** What is known about a request when it ends. */
export interface Recorded {
  request: Pick<ProxyRequest, 'id' | 'arrivedAtMs'>
  account: Account
  query: Pick<NotedQuery, 'endpoint' | 'stream'>
  /** The model that answered. */
  model: string
  /** The provider that answered, or answered first when it was stored; null when none was reached. */
  provider: string | null
  /** Whether the provider costs anything. */
  isPriced: boolean
  /** The model as the catalogue has it; undefined when its price is unknown. */
  listed: CatalogueModel | undefined
  /** Time until the response headers were ready; null when none were sent. */
  latencyMs: number | null
  judgeUsd: number
  tags: string | null
}

export function createRecord(
  { request, account, query, model, provider, isPriced, listed, latencyMs, judgeUsd, tags }: Recorded,
  { status, cacheResult, usage }: Outcome,
): UsageRecord {
  const durationMs = performance.now() - request.arrivedAtMs
  const isHit = cacheResult === 'HIT' || cacheResult === 'HIT-SEMANTIC'
  const price = (worth: TokenUsage) => (worth === NO_USAGE || !isPriced ? 0 : (costUsd(listed, worth) ?? 0))
  const charged = isHit ? NO_USAGE : usage
  const { savedPromptTokens = 0 } = usage
  const known = savedPromptTokens > 0 ? { ...NO_USAGE, promptTokens: savedPromptTokens } : NO_USAGE
  const saved = isHit ? usage : known
  return {
    recorded_at: new Date().toISOString(),
    request_id: request.id,
    project_id: account.project_id,
    key_id: account.key_id,
    endpoint: query.endpoint,
    model,
    provider,
    cache_result: cacheResult,
    status,
    streamed: query.stream,
    prompt_tokens: charged.promptTokens,
    cached_prompt_tokens: charged.cachedPromptTokens,
    completion_tokens: charged.completionTokens,
    tokens_saved: saved.promptTokens,
    cost_usd: price(charged) + judgeUsd,
    saved_usd: price(saved),
    latency_ms: round(latencyMs ?? durationMs),
    duration_ms: round(durationMs),
    tags,
  }
}

const INFO = 30

export function describeRequest(record: UsageRecord, account: Account, cause: unknown, droppedTools: string | null) {
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
    ...(droppedTools !== null && { dropped_tools: droppedTools }),
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

const INTERNAL_STATUS = 500

/** Of an error, or of an upstream's own response. */
export function statusOf(failure: unknown): number {
  const status = (failure as { status?: unknown } | null)?.status
  return typeof status === 'number' ? status : INTERNAL_STATUS
}
