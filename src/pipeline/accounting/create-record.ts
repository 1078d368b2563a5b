/** The usage record of a request: what is known of it while it is in flight, and the row that is written when it has finished. */

import { type Catalogue, costOfAnswer } from '../../catalogue/catalogue.ts'
import { ClientGone } from '../../errors/errors.ts'
import { plainText } from '../../errors/plain-text.ts'
import { msSince, nowIso } from '../../event-loop/clock.ts'
import { recordedUserOf } from '../../formats/end-user.ts'
import { NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import type { Account } from '../../postgres/admit.ts'
import type { RecordDetails, SpentPart, UsageRecord } from '../../postgres/usage-record.ts'
import type { Provider } from '../../providers/upstream.ts'
import { alternativesOf } from '../parse-request.ts'
import { MAX_MODEL_LENGTH, type RecordedQuery } from '../query.ts'
import type { ProxyRequest, Target } from '../request.ts'
import { MOST_TOKENS, MOST_USD, type Spent, type SpentUsage } from '../spending/spent-usage.ts'

export type AccountedRequest = Pick<ProxyRequest, 'id' | 'arrivedAtMs' | 'signal' | 'trace' | 'isRecorded'> & {
  target: Target
}

/** The record under construction. */
export interface RecordDraft {
  readonly request: AccountedRequest
  readonly account: Account
  /** Null until the request is parsed. */
  query: RecordedQuery | null
  /** The provider that is called, or would be; null when none is reached. */
  provider: Provider | null
  /** The model that is called, where it is not the requested one. */
  model: string | null
  /** On a hit, the provider that had produced the cached response. */
  cachedFrom: string | null
  /** Time until the response headers were ready; null when none were sent. */
  latencyMs: number | null
  judgeUsd: number
  /** Columns that the pipeline's steps set. */
  readonly details: RecordDetails
  /** What calls that failed used, besides the result's usage. */
  failed: readonly Spent[]
}

/** How a request ended. */
export interface RequestResult {
  status: number
  /** Whether the request counts against its month: one with a response does, one that failed here or upstream does not. */
  counts: boolean
  cacheResult: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  /** What the provider used. On a hit: what the cached response had used. */
  usage: SpentUsage
}

interface Ledger {
  catalogue: Catalogue
  /** Under which money is reserved for the request; null for none. */
  reservation: string | null
}

const NOTHING: readonly Spent[] = []

export function startDraft(request: AccountedRequest, account: Account): RecordDraft {
  return {
    request,
    account,
    query: null,
    provider: null,
    model: null,
    cachedFrom: null,
    latencyMs: null,
    judgeUsd: 0,
    details: {},
    failed: NOTHING,
  }
}

export function createRecord(
  { request, account, provider, model: called, cachedFrom, latencyMs, judgeUsd, details, failed }: RecordDraft,
  query: RecordedQuery,
  { status, cacheResult, usage }: RequestResult,
  { catalogue, reservation }: Ledger,
): UsageRecord {
  const durationMs = msSince(request.arrivedAtMs)
  const requestedModel = query.alias?.name ?? query.model
  const model = called ?? query.model
  const pricedAs = provider?.pricedAs ?? null
  const isHit = cacheResult === 'HIT' || cacheResult === 'HIT-SEMANTIC'
  const hasOthers = alternativesOf(query.body).length > 0
  const price = (used: TokenUsage) =>
    used === NO_USAGE || pricedAs === null ? 0 : costOfAnswer(catalogue, pricedAs, { model, hasOthers }, used)
  const charged: SpentUsage = isHit ? NO_USAGE : usage
  // A hit costs nothing, and is most of what is recorded.
  const hasSpent = charged !== NO_USAGE || failed.length > 0 || reservation !== null
  const calls = hasSpent ? [...failed, { model, usage: charged }] : NOTHING
  const spent = calls.map(each => ({ ...each, usd: price(each.usage) }))
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
    provider: cachedFrom ?? provider?.name ?? null,
    cache_result: cacheResult,
    status,
    streamed: query.stream,
    prompt_tokens: sumTokens(spent, ({ usage }) => usage.promptTokens),
    cached_prompt_tokens: charged.cachedPromptTokens,
    completion_tokens: sumTokens(spent, ({ usage }) => usage.completionTokens),
    tokens_saved: saved.promptTokens,
    cost_usd: sum(spent, ({ usd }) => usd ?? 0) + judgeUsd,
    cost_estimated: spent.find(({ usage }) => usage.estimate)?.usage.estimate?.reason ?? null,
    doubtful_usd: doubtfulUsd(spent),
    saved_usd: price(saved) ?? 0,
    latency_ms: latencyMs ?? durationMs,
    duration_ms: durationMs,
    asked_model: model === requestedModel ? null : requestedModel,
    completion_tokens_saved: isHit ? usage.completionTokens : null,
    end_user: recordedUserOf(query.body),
    spent:
      pricedAs !== null || reservation !== null ? spent.map(each => toPart(reservation, each)).filter(isSpent) : [],
    // Last: it takes twice as long where what follows it may replace something.
    ...details,
  }
}

function sum<T>(all: readonly T[], amountOf: (one: T) => number): number {
  return all.reduce((total, one) => total + amountOf(one), 0)
}

/** As many as a column holds. */
function sumTokens(spent: readonly Spent[], amountOf: (one: Spent) => number): number {
  return Math.min(MOST_TOKENS, sum(spent, amountOf))
}

/** Of all calls for a request. */
export function tokensOf(
  { cacheResult, usage }: Pick<RequestResult, 'cacheResult' | 'usage'>,
  failed: readonly Spent[],
) {
  const used = cacheResult === 'MISS' ? usage : NO_USAGE
  return sum([...failed, { usage: used }], each => each.usage.promptTokens + each.usage.completionTokens)
}

/** Null: nothing, or not known. */
function doubtfulUsd(spent: readonly Spent[]): number | null {
  const usd = sum(spent, ({ usage: { estimate, isUnpriced } }) => (isUnpriced ? 0 : (estimate?.doubtfulUsd ?? 0)))
  return usd > 0 ? Math.min(MOST_USD, usd) : null
}

/** What the call took of the request's budgets. The judge's cost is in them already. */
function toPart(id: string | null, { model, usage, usd }: Spent & { usd: number | null }): SpentPart {
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

/** Whether the client itself is the cause, other than by leaving. */
export function isRejection(status: number): boolean {
  return status >= 400 && status < CLIENT_GONE_STATUS
}

/** What is recorded of a request that was not parsed; null for one that is not recorded. */
export function recordedTarget({ target }: { target: Target }): RecordedQuery | null {
  // A path may hold any text.
  const model = plainText('model' in target ? (target.model ?? '') : '', MAX_MODEL_LENGTH)
  const query = { model, stream: false, body: {} }
  if (target.kind === 'kept' || target.kind === 'bound') return { ...query, endpoint: target.collection }
  if (target.kind === 'operation') return { ...query, endpoint: target.operation }
  return target.kind === 'endpoint' ? { ...query, endpoint: target.endpoint } : null
}
