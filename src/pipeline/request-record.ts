/** What is written about a request when it is over: its usage record, and its log line. */
import { NO_USAGE, type TokenUsage } from '../catalogue/catalogue.ts'
import { nowIso } from '../event-loop/clock.ts'
import type { Account } from '../postgres/admit.ts'
import type { RequestStory, UsageRecord } from '../postgres/usage-record.ts'
import type { UpstreamAnswer } from '../providers/upstream.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import type { NotedQuery } from './query.ts'
import type { ProxyRequest, Target } from './request.ts'
import { plainText, tellError } from './tell-failure.ts'

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
  /** What was used has a price that is not known. */
  isUnpriced?: boolean
}

/** What is known about a request when it ends. */
export interface Recorded {
  request: Pick<ProxyRequest, 'id' | 'arrivedAtMs'>
  account: Account
  query: NotedQuery
  /** The model that answered. */
  model: string
  /** The provider that answered, or answered first when it was stored; null when none was reached. */
  provider: string | null
  /** Whether the provider costs anything. */
  isPriced: boolean
  /** In US dollars; null when a price is unknown. */
  costOf(usage: TokenUsage): number | null
  /** Time until the response headers were ready; null when none were sent. */
  latencyMs: number | null
  judgeUsd: number
  story: RequestStory
  /** Under which money is reserved for it; null for none. */
  reservation: string | null
}

/** A story of which nothing is known yet. */
export function openStory(): RequestStory {
  return {
    tags: null,
    error_code: null,
    error_message: null,
    upstream_status: null,
    upstream_message: null,
    attempts: null,
    asked_model: null,
    fallbacks: null,
    provider_keys: null,
    cache_reason: null,
    cache_id: null,
    similarity: null,
    completion_tokens_saved: null,
    admission_ms: null,
    lookup_ms: null,
    embed_ms: null,
    upstream_ms: null,
    first_chunk_ms: null,
    end_user: null,
  }
}

export function createRecord(
  { request, account, query, model, provider, isPriced, costOf, latencyMs, judgeUsd, story, reservation }: Recorded,
  { status, cacheResult, usage }: Outcome,
): UsageRecord {
  const durationMs = performance.now() - request.arrivedAtMs
  const askedModel = query.alias?.name ?? query.model
  const isHit = cacheResult === 'HIT' || cacheResult === 'HIT-SEMANTIC'
  const price = (worth: TokenUsage) => (worth === NO_USAGE || !isPriced ? 0 : costOf(worth))
  const charged = isHit ? NO_USAGE : usage
  const { savedPromptTokens = 0 } = usage
  const known = savedPromptTokens > 0 ? { ...NO_USAGE, promptTokens: savedPromptTokens } : NO_USAGE
  const saved = isHit ? usage : known
  return {
    recorded_at: nowIso(),
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
    cost_usd: (price(charged) ?? 0) + judgeUsd,
    saved_usd: price(saved) ?? 0,
    latency_ms: round(latencyMs ?? durationMs),
    duration_ms: round(durationMs),
    // One by one: every request is recorded, and a spread takes as long as all the rest.
    tags: story.tags,
    error_code: story.error_code,
    error_message: story.error_message,
    upstream_status: story.upstream_status,
    upstream_message: story.upstream_message,
    attempts: story.attempts,
    fallbacks: story.fallbacks,
    provider_keys: story.provider_keys,
    cache_reason: story.cache_reason,
    cache_id: story.cache_id,
    similarity: story.similarity,
    admission_ms: roundKnown(story.admission_ms),
    lookup_ms: roundKnown(story.lookup_ms),
    embed_ms: roundKnown(story.embed_ms),
    upstream_ms: roundKnown(story.upstream_ms),
    first_chunk_ms: roundKnown(story.first_chunk_ms),
    asked_model: model === askedModel ? null : askedModel,
    completion_tokens_saved: isHit ? usage.completionTokens : null,
    end_user: readEndUser(query.body),
    ...(reservation !== null && {
      reservation: { id: reservation, ...spentOf(query, status, charged, price(charged)) },
    }),
  }
}

const LONGEST_END_USER = 128

/** Whom the client asks for: OpenAI's safety_identifier or user, Anthropic's metadata.user_id. */
function readEndUser({ safety_identifier, user, metadata }: NotedQuery['body']): string | null {
  const named = safety_identifier ?? user ?? (metadata as { user_id?: unknown } | null | undefined)?.user_id
  return typeof named === 'string' && named !== '' ? plainText(named, LONGEST_END_USER) : null
}

/** What the request took of its budgets; null for what is not known. The judge's cost is in them already. */
function spentOf({ body }: NotedQuery, status: number, usage: SpentUsage, usd: number | null) {
  // An answer that is still being made tells no usage.
  const isUnknown = usage.isUnpriced === true || (body.background === true && status === 200)
  return isUnknown ? { usd: null, tokens: null } : { usd, tokens: usage.promptTokens + usage.completionTokens }
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
    code: record.error_code ?? undefined,
    streamed: record.streamed,
    dropped_tools: droppedTools ?? undefined,
    promptTokens: record.prompt_tokens,
    completionTokens: record.completion_tokens,
    tokensSaved: record.tokens_saved,
    costUsd: record.cost_usd,
    latencyMs: record.latency_ms,
    durationMs: record.duration_ms,
    cause: cause === undefined ? undefined : describeCause(cause),
    msg: 'request',
  }
}

/** To a microsecond: further digits cost more to write and to read than the rest of the record. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

function roundKnown(milliseconds: number | null): number | null {
  return milliseconds === null ? null : round(milliseconds)
}

const INTERNAL_STATUS = 500

/** Of an error, or of an upstream's own response. */
export function statusOf(failure: unknown): number {
  const status = (failure as { status?: unknown } | null)?.status
  return typeof status === 'number' ? status : INTERNAL_STATUS
}

/** Logged and recorded when the client has left; never sent. */
export const CLIENT_GONE_STATUS = 499

/** The record of a request that was not admitted; null for one of a kind that is not recorded, or that failed here. */
export function createRefusal(
  request: Pick<ProxyRequest, 'id' | 'arrivedAtMs'> & { target: Target },
  account: Account,
  parsed: NotedQuery | null,
  error: unknown,
): UsageRecord | null {
  const status = statusOf(error)
  const query = parsed ?? nameTarget(request)
  if (!query || !isRefusal(status)) return null
  const story = { ...openStory(), ...tellError(error) }
  const reached = {
    provider: null,
    isPriced: false,
    costOf: () => null,
    latencyMs: null,
    judgeUsd: 0,
    reservation: null,
  }
  const outcome = { status, counts: false, cacheResult: null, usage: NO_USAGE }
  return createRecord({ request, account, query, model: query.model, story, ...reached }, outcome)
}

/** Refused requests that are recorded, per key and minute in each process: a client that is refused costs nothing, and may try for ever. */
export const MOST_REFUSED = 30

/** Of the client's own making, other than leaving. */
export function isRefusal(status: number): boolean {
  return status >= 400 && status < CLIENT_GONE_STATUS
}

/** What is known of a request that was not parsed; null for one that is not recorded. */
export function nameTarget({ target }: { target: Target }): NotedQuery | null {
  const named = { model: '', stream: false, body: {} }
  if (target.kind === 'kept') return { ...named, endpoint: target.collection }
  if (target.kind === 'operation') return { ...named, endpoint: target.operation, model: target.model ?? '' }
  return target.kind === 'endpoint' ? { ...named, endpoint: target.endpoint, model: target.model ?? '' } : null
}

/** Each key is named once, the last at the end: a batch of embeddings asks many times. */
export function noteAttempts(
  story: RequestStory,
  { attempts = 1, keys = [] }: Pick<UpstreamAnswer, 'attempts' | 'keys'>,
): void {
  story.attempts = (story.attempts ?? 0) + attempts
  if (keys.length === 0) return
  const before = (story.provider_keys?.split(', ') ?? []).filter(key => !keys.includes(key))
  story.provider_keys = [...new Set([...before, ...keys])].join(', ')
}

/** For a call that ended before its upstream reported anything. */
export function estimateUsage(query: NotedQuery | null): TokenUsage {
  return query ? { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) } : NO_USAGE
}
