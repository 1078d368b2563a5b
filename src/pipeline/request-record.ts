/** What is recorded about a request when it is over. */

import { ClientGone } from '../errors/errors.ts'
import { plainText } from '../errors/plain-text.ts'
import { msSince, nowIso } from '../event-loop/clock.ts'
import { recordedUserOf } from '../formats/end-user.ts'
import { NO_USAGE, type TokenUsage } from '../formats/token-usage.ts'
import type { Account } from '../postgres/admit.ts'
import type { RequestStory, SpentPart, UsageRecord } from '../postgres/usage-record.ts'
import type { UpstreamAnswer } from '../providers/upstream.ts'
import { MAX_MODEL_LENGTH, type NotedQuery } from './query.ts'
import type { ProxyRequest, Target } from './request.ts'
import { MOST_TOKENS, MOST_USD, type Spent, type SpentUsage } from './spending/spent-usage.ts'
import { tellError } from './tell-failure.ts'

/** How a request ended. */
export interface Outcome {
  status: number
  /** Whether the request counts against its month: an answered request does, one that failed here or upstream does not. */
  counts: boolean
  cacheResult: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  /** What the provider's work took. On a hit: what the stored response took. */
  usage: SpentUsage
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
  /** What calls that failed used, besides `usage`. */
  failed: readonly Spent[]
  /** Under which money is reserved for it; null for none. */
  reservation: string | null
}

const NOTHING: readonly Spent[] = []

export function createRecord(
  {
    request,
    account,
    query,
    model,
    provider,
    isPriced,
    costOf,
    latencyMs,
    judgeUsd,
    story,
    failed,
    reservation,
  }: Recorded,
  { status, cacheResult, usage }: Outcome,
): UsageRecord {
  const durationMs = msSince(request.arrivedAtMs)
  const askedModel = query.alias?.name ?? query.model
  const isHit = cacheResult === 'HIT' || cacheResult === 'HIT-SEMANTIC'
  const price = (worth: TokenUsage) => (worth === NO_USAGE || !isPriced ? 0 : costOf(worth))
  const charged: SpentUsage = isHit ? NO_USAGE : usage
  // A hit costs nothing, and is most of what is recorded.
  const hasSpent = charged !== NO_USAGE || failed.length > 0 || reservation !== null
  const asked = hasSpent ? [...failed, { model, usage: charged }] : NOTHING
  const spent = asked.map(each => ({ ...each, usd: price(each.usage) }))
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
    prompt_tokens: tokensIn(spent, ({ usage }) => usage.promptTokens),
    cached_prompt_tokens: charged.cachedPromptTokens,
    completion_tokens: tokensIn(spent, ({ usage }) => usage.completionTokens),
    tokens_saved: saved.promptTokens,
    cost_usd: sumOf(spent, ({ usd }) => usd ?? 0) + judgeUsd,
    cost_estimated: spent.find(({ usage }) => usage.estimate)?.usage.estimate?.reason ?? null,
    doubtful_usd: doubtfulIn(spent),
    saved_usd: price(saved) ?? 0,
    latency_ms: latencyMs ?? durationMs,
    duration_ms: durationMs,
    asked_model: model === askedModel ? null : askedModel,
    completion_tokens_saved: isHit ? usage.completionTokens : null,
    end_user: recordedUserOf(query.body),
    spent: isPriced || reservation !== null ? spent.map(each => partOf(reservation, each)).filter(isSpent) : [],
    // Last: it takes twice as long where what follows it may replace something.
    ...story,
  }
}

function sumOf<T>(all: readonly T[], amountOf: (one: T) => number): number {
  return all.reduce((sum, one) => sum + amountOf(one), 0)
}

/** As many as a column holds. */
function tokensIn(spent: readonly Spent[], amountOf: (one: Spent) => number): number {
  return Math.min(MOST_TOKENS, sumOf(spent, amountOf))
}

/** Of all that was asked for a request. */
export function tokensOf({ cacheResult, usage }: Pick<Outcome, 'cacheResult' | 'usage'>, failed: readonly Spent[]) {
  const used = cacheResult === 'MISS' ? usage : NO_USAGE
  return sumOf([...failed, { usage: used }], each => each.usage.promptTokens + each.usage.completionTokens)
}

/** Null: nothing, or not known. */
function doubtfulIn(spent: readonly Spent[]): number | null {
  const usd = sumOf(spent, ({ usage: { estimate, isUnpriced } }) => (isUnpriced ? 0 : (estimate?.doubtfulUsd ?? 0)))
  return usd > 0 ? Math.min(MOST_USD, usd) : null
}

/** What the request took of its budgets. The judge's cost is in them already. */
function partOf(id: string | null, { model, usage, usd }: Spent & { usd: number | null }): SpentPart {
  const { isUnpriced = false, estimate } = usage
  const tokens = usage.promptTokens + usage.completionTokens
  const doubtfulUsd = isUnpriced ? MOST_USD : (estimate?.doubtfulUsd ?? 0)
  const doubtfulTokens = estimate?.doubtfulTokens ?? (isUnpriced && tokens === 0 ? MOST_TOKENS : 0)
  return {
    ...{ id, model, usd: usd ?? 0, tokens },
    ...(doubtfulUsd > 0 && { doubtful_usd: doubtfulUsd }),
    ...(doubtfulTokens > 0 && { doubtful_tokens: doubtfulTokens }),
  }
}

/** What was reserved is settled in any case; the rest matters to budgets that are set meanwhile. */
function isSpent({ id, usd, tokens }: SpentPart): boolean {
  return id !== null || usd > 0 || tokens > 0
}

const INTERNAL_STATUS = 500

/** Of an error, or of an upstream's own response. */
export function statusOf(failure: unknown): number {
  if (failure instanceof ClientGone) return CLIENT_GONE_STATUS
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
  const story = tellError(error)
  const reached = {
    provider: null,
    isPriced: false,
    costOf: () => null,
    latencyMs: null,
    judgeUsd: 0,
    failed: [],
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
  // A path may say anything.
  const model = plainText('model' in target ? (target.model ?? '') : '', MAX_MODEL_LENGTH)
  const named = { model, stream: false, body: {} }
  if (target.kind === 'kept' || target.kind === 'bound') return { ...named, endpoint: target.collection }
  if (target.kind === 'operation') return { ...named, endpoint: target.operation }
  return target.kind === 'endpoint' ? { ...named, endpoint: target.endpoint } : null
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
