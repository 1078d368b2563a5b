/** Creates a request's usage record: the draft while the request is in flight, and the row when it has finished. */

import { type Catalogue, computePromptCacheSavings, computeResponseCost } from '../../catalogue/catalogue.ts'
import { ClientDisconnected, toSingleLine } from '../../errors/errors.ts'
import { msSince, nowIso } from '../../event-loop/clock.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import { NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { CostPart, RecordDetails, UsageRecord } from '../../postgres/usage-record.ts'
import { AttemptList } from '../../providers/attempts.ts'
import type { Provider } from '../../providers/upstream.ts'
import { listAlternativeModels } from '../request/parse-request.ts'
import { MAX_MODEL_LENGTH, type RecordedQuery } from '../request/query.ts'
import type { ProxyRequest, RouteTarget } from '../request/request.ts'
import { type CallUsage, MAX_RECORDED_TOKENS, MAX_RECORDED_USD, type ModelUsage } from '../spending/call-usage.ts'

export type RequestMetadata = Pick<
  ProxyRequest,
  'id' | 'arrivedAtMs' | 'signal' | 'trace' | 'isRecorded' | 'isTrial'
> & {
  target: RouteTarget
}

/** The record under construction. */
export interface RecordDraft {
  readonly request: RequestMetadata
  readonly resolvedKey: ResolvedKey
  /** Null until the request is parsed. */
  query: RecordedQuery | null
  /** The provider that is called, or would be called; null if no provider is selected. */
  provider: Provider | null
  /** The model that is called, if it is not the requested one. */
  model: string | null
  /** On a hit, the provider that had produced the cached response. */
  cachedProvider: string | null
  /** Milliseconds until the response headers were ready; null if none were sent. */
  latencyMs: number | null
  judgeCostUsd: number
  /** Columns that the pipeline's steps set. */
  readonly details: RecordDetails
  readonly attempts: AttemptList
  /** Usage of calls that failed. It is added to the outcome's usage. */
  failedCalls: readonly ModelUsage[]
}

/** The outcome of a request. */
export interface RequestOutcome {
  status: number
  /** Whether the request counts against its monthly quota. One with a response counts; one that failed here or upstream does not. */
  isCounted: boolean
  cacheResult: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | null
  /** The provider's usage. On a hit: the usage of the cached response. */
  usage: CallUsage
}

interface Settlement {
  catalogue: Catalogue
  /** The id of the request's reservation in budgets; null if it has none. */
  reservation: string | null
}

const NO_CALLS: readonly ModelUsage[] = []

export function createRecordDraft(request: RequestMetadata, resolvedKey: ResolvedKey): RecordDraft {
  const draft: RecordDraft = {
    request,
    resolvedKey,
    query: null,
    provider: null,
    model: null,
    cachedProvider: null,
    latencyMs: null,
    judgeCostUsd: 0,
    details: {},
    attempts: new AttemptList({
      currentModel: () => draft.model ?? draft.query?.model ?? '',
      onFailed: attempt => request.trace?.recordFailedAttempt(attempt),
    }),
    failedCalls: NO_CALLS,
  }
  return draft
}

export function createUsageRecord(
  draft: RecordDraft,
  query: RecordedQuery,
  { status, cacheResult, usage }: RequestOutcome,
  { catalogue, reservation }: Settlement,
): UsageRecord {
  const { request, resolvedKey, provider, details, failedCalls } = draft
  const durationMs = msSince(request.arrivedAtMs)
  const requestedModel = query.alias?.name ?? query.model
  const model = draft.model ?? query.model
  const pricedAs = provider?.pricedAs ?? null
  const isHit = cacheResult === 'HIT' || cacheResult === 'HIT-SEMANTIC'
  const hasOthers = listAlternativeModels(query.body).length > 0
  const price = (used: TokenUsage) =>
    used === NO_USAGE || !provider ? 0 : computeResponseCost(catalogue, provider, { model, hasOthers }, used)
  const charged: CallUsage = isHit ? NO_USAGE : usage
  // A hit costs nothing. Most records are hits, so they skip the work below.
  const canHaveCost = charged !== NO_USAGE || failedCalls.length > 0 || reservation !== null
  const calls = canHaveCost ? [...failedCalls, { model, usage: charged }] : NO_CALLS
  const spent = calls.map(each => ({ ...each, usd: price(each.usage) }))
  const { savedPromptTokens = 0 } = usage
  const savedInput = savedPromptTokens > 0 ? { ...NO_USAGE, promptTokens: savedPromptTokens } : NO_USAGE
  const saved = isHit ? usage : savedInput
  return {
    recorded_at: nowIso(),
    request_id: request.id,
    project_id: resolvedKey.project_id,
    key_id: resolvedKey.key_id,
    endpoint: query.endpoint,
    model,
    provider: draft.cachedProvider ?? provider?.name ?? null,
    cache_result: cacheResult,
    status,
    streamed: query.stream,
    prompt_tokens: sumTokensOf(spent, ({ usage }) => usage.promptTokens),
    cached_prompt_tokens: charged.cachedPromptTokens,
    completion_tokens: sumTokensOf(spent, ({ usage }) => usage.completionTokens),
    tokens_saved: saved.promptTokens,
    cost_usd: sumOf(spent, ({ usd }) => usd ?? 0) + draft.judgeCostUsd,
    cost_estimated: spent.find(({ usage }) => usage.estimate)?.usage.estimate?.reason ?? null,
    doubtful_usd: doubtfulUsd(spent),
    saved_usd: price(saved) ?? 0,
    latency_ms: draft.latencyMs ?? durationMs,
    duration_ms: durationMs,
    asked_model: model === requestedModel ? null : requestedModel,
    completion_tokens_saved: isHit ? usage.completionTokens : null,
    end_user: recordedEndUserOf(query.body),
    cache_write_tokens: charged.cacheWriteTokens ?? null,
    prompt_cache_saved_usd:
      charged === NO_USAGE || !provider
        ? null
        : computePromptCacheSavings(catalogue, provider, { model, hasOthers }, charged),
    spent:
      pricedAs !== null || reservation !== null
        ? spent.map(each => toCostPart(reservation, each)).filter(isSettled)
        : [],
    // The spread is last: it takes twice as long if a later property may replace one of its own.
    ...details,
  }
}

function sumOf<T>(all: readonly T[], amountOf: (one: T) => number): number {
  return all.reduce((total, one) => total + amountOf(one), 0)
}

/** Returns the catalogue's name of the model that is set now; null for a model without a price. */
export function listedModelOf({ provider, model, query }: RecordDraft, catalogue: Catalogue): string | null {
  if (!provider || !query) return null
  return catalogue.find(provider.pricedAs, model ?? query.model)?.model ?? null
}

/** Returns the sum, up to the highest number that the column holds. */
function sumTokensOf(spent: readonly ModelUsage[], amountOf: (one: ModelUsage) => number): number {
  return Math.min(MAX_RECORDED_TOKENS, sumOf(spent, amountOf))
}

/** Returns the tokens of all calls for a request. */
export function sumUsedTokens(
  { cacheResult, usage }: Pick<RequestOutcome, 'cacheResult' | 'usage'>,
  failed: readonly ModelUsage[],
) {
  const used = cacheResult === 'MISS' ? usage : NO_USAGE
  return sumOf([...failed, { usage: used }], each => each.usage.promptTokens + each.usage.completionTokens)
}

/** Returns null if no cost is in doubt, or if it is unknown. */
function doubtfulUsd(spent: readonly ModelUsage[]): number | null {
  const usd = sumOf(spent, ({ usage: { estimate, isUnpriced } }) => (isUnpriced ? 0 : (estimate?.doubtfulUsd ?? 0)))
  return usd > 0 ? Math.min(MAX_RECORDED_USD, usd) : null
}

/** Returns the call's part of the cost, as budgets are charged. The judge's cost is charged separately. */
function toCostPart(id: string | null, { model, usage, usd }: ModelUsage & { usd: number | null }): CostPart {
  const { isUnpriced = false, estimate } = usage
  const tokens = usage.promptTokens + usage.completionTokens
  const doubtfulUsd = isUnpriced ? MAX_RECORDED_USD : (estimate?.doubtfulUsd ?? 0)
  const doubtfulTokens = estimate?.doubtfulTokens ?? (isUnpriced && tokens === 0 ? MAX_RECORDED_TOKENS : 0)
  return {
    ...{ id, model, usd: usd ?? 0, tokens },
    ...(doubtfulUsd > 0 && { doubtful_usd: doubtfulUsd }),
    ...(doubtfulTokens > 0 && { doubtful_tokens: doubtfulTokens }),
  }
}

/** Whether budgets must settle this part. A reservation is always settled; other parts matter to budgets that are set meanwhile. */
function isSettled({ id, usd, tokens }: CostPart): boolean {
  return id !== null || usd > 0 || tokens > 0
}

const INTERNAL_STATUS = 500

/** Returns the HTTP status of an error, or of an upstream's own response. */
export function statusOfFailure(failure: unknown): number {
  if (failure instanceof ClientDisconnected) return CLIENT_DISCONNECTED_STATUS
  const status = (failure as { status?: unknown } | null)?.status
  return typeof status === 'number' ? status : INTERNAL_STATUS
}

/** The status that is logged and recorded if the client has disconnected. It is never sent. */
export const CLIENT_DISCONNECTED_STATUS = 499

/** Whether the client caused the status, other than by disconnecting. */
export function isRejectedStatus(status: number): boolean {
  return status >= 400 && status < CLIENT_DISCONNECTED_STATUS
}

/** Whether the outcome is recorded: not every rejection of a key, and of trials those that cost something. */
export function mustRecord(
  { request, resolvedKey, attempts, failedCalls }: RecordDraft,
  { usage, status, isCounted }: RequestOutcome,
  canRecordRejection: (key: string) => boolean,
): boolean {
  if (request.isTrial) return usage !== NO_USAGE || failedCalls.length > 0
  const isRejected = !isCounted && isRejectedStatus(status) && attempts.calls === 0
  return !isRejected || canRecordRejection(`${resolvedKey.key_id}`)
}

/** Returns the recorded fields of a request that was not parsed; null if such requests are not recorded. */
export function describeUnparsedRequest({ target }: { target: RouteTarget }): RecordedQuery | null {
  // The model comes from the path, which may hold any text.
  const model = toSingleLine('model' in target ? (target.model ?? '') : '', MAX_MODEL_LENGTH)
  const query = { model, stream: false, body: {} }
  if (target.kind === 'stored_object')
    return target.collection === 'responses' ? null : { ...query, endpoint: target.collection }
  if (target.kind === 'operation') return { ...query, endpoint: target.operation }
  return target.kind === 'endpoint' ? { ...query, endpoint: target.endpoint } : null
}
