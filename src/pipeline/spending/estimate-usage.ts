/**
 * Estimates the usage of a call whose provider reported none. The call is charged the usage that is known; the rest of the upper bound is
 * doubtful. The estimate is the same for every way in which a call can end early, with or without budgets.
 */
import { type Catalogue, computeResponseCost, resolvePricingTier } from '../../catalogue/catalogue.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { DEFAULT_TIERS, type MissingCount, NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'
import type { Provider } from '../../providers/upstream.ts'
import { listAlternativeModels } from '../request/parse-request.ts'
import type { CompletionQuery, PassThroughQuery } from '../request/query.ts'
import { type CallUsage, type EstimateReason, MAX_RECORDED_TOKENS, MAX_RECORDED_USD } from './call-usage.ts'
import { maxCost, requestSizeOf } from './max-cost.ts'
import { maxTokens, type RequestSize, withMaxOutputTokens } from './max-tokens.ts'

export type PriceLookup = Pick<Catalogue, 'find'> & Partial<Pick<Catalogue, 'recordExceededLimit'>>

/** An upstream call, with the means to price it. */
export interface PricedCall {
  endpoint: string
  model: string
  body: JsonObject
  /** Returns the request's size. It is computed only if needed. */
  size: () => RequestSize
  provider: Provider
  catalogue: PriceLookup
  /** The prompt's tokens, as the tokenizer counts them; undefined until they are counted. */
  promptTokens?: number
}

/**
 * Describes a call for pricing. A limit in the request that cannot be parsed is ignored. If the request leaves the service tier to the
 * provider's settings, the standard tier is charged.
 */
export function describePricedCall(
  query: CompletionQuery | PassThroughQuery,
  provider: Provider,
  catalogue: PriceLookup,
): PricedCall {
  const { endpoint, model, body } = query
  const size = () => {
    const read = requestSizeOf(query, { isLenient: true })
    const { tier } = read.bounds
    return tier === null || tier === 'auto' ? withTier(read, STANDARD_TIER) : read
  }
  return { endpoint, model, body, size, provider, catalogue }
}

const STANDARD_TIER = 'default'

function withTier(size: RequestSize, tier: string): RequestSize {
  return { ...size, bounds: { ...size.bounds, tier } }
}

/** Returns the call with its prompt as counted, with a margin, and the service tier that its response names. */
export function withCountedTokens(
  call: PricedCall,
  counted: { promptTokens: number; tier: string | null },
): PricedCall {
  const size = call.size()
  const { isTextOnly, hasPrediction } = size.bounds
  const model = findPricedModel(call)
  const tier =
    model && counted.tier !== null && resolvePricingTier(model, counted.tier) !== undefined ? counted.tier : null
  const tiered = tier === null ? size : withTier(size, tier)
  // A token has at least one byte. The bytes also bound the tokens of a prediction, so they stay if there is one.
  const bytes = isTextOnly && !hasPrediction ? Math.min(size.bytes, addMargin(counted.promptTokens)) : size.bytes
  return { ...call, size: () => ({ ...tiered, bytes }), promptTokens: counted.promptTokens }
}

/** Returns the call's model in the catalogue; undefined if the provider is free, or the model is not in the catalogue. */
export function findPricedModel({ provider, size, catalogue }: PricedCall): CatalogueModel | undefined {
  return catalogue.find(provider.pricedAs, size().model)
}

/** Providers count with their own tokenizers, and generate further tokens while a connection closes. */
const MARGIN_SHARE = 0.2
const MARGIN_TOKENS = 2

/** Adds a margin to tokens that the proxy counted, so that they are no fewer than the provider charges, and not many more. */
export function addMargin(tokens: number): number {
  return Math.ceil(tokens * (1 + MARGIN_SHARE)) + MARGIN_TOKENS
}

/** Returns the upper bound of a call's usage; null if its provider is free. `outputTokens` is null if unknown. */
function maxUsage(call: PricedCall, outputTokens: number | null): { usd: number | null; tokens: number | null } | null {
  const { provider, catalogue } = call
  const size = call.size()
  // A model's own output limit holds even if the request allows more.
  const sizes = [
    size,
    withMaxOutputTokens(size, null),
    ...(outputTokens === null ? [] : [withMaxOutputTokens(size, outputTokens)]),
  ]
  const bounds = sizes.map(each => maxCost(each, provider, catalogue))
  let [usd, tokens]: (number | null)[] = [null, null]
  for (const bound of bounds) {
    if (bound === null) return null
    usd = minKnown(usd ?? null, bound.usd)
    tokens = minKnown(tokens ?? null, bound.tokens)
  }
  return { usd: usd ?? null, tokens: tokens ?? null }
}

export interface EstimateOptions {
  reason: EstimateReason
  /** Whether the known usage is all that was used. */
  isComplete?: boolean
  /** Tokens of the output, or the most that they can be; null if unknown. */
  outputTokens?: number | null
}

/** Charges the known usage of a call, by default its prompt alone. The rest of the upper bound is recorded as doubtful. */
export function estimateUsage(
  call: PricedCall,
  { reason, isComplete = false, outputTokens = null }: EstimateOptions,
  known: TokenUsage = estimatePromptUsage(call),
): CallUsage {
  const { missing: _missing, totalTokens: _totalTokens, ...used } = known
  const max = maxUsage(call, outputTokens)
  if (max === null) return { ...used, reportedCostUsd: 0 }
  const usd = isPaidByToken(call) ? costOf(call, known) : 0
  const isExact = isComplete && usd !== null
  const doubtful = (bound: number | null, limit: number, used: number) =>
    isExact ? 0 : Math.max(0, Math.min(bound ?? limit, limit) - used)
  const tokens = used.promptTokens + used.completionTokens
  return {
    ...used,
    reportedCostUsd: Math.min(MAX_RECORDED_USD, usd ?? 0),
    isUnpriced: max.usd === null && usd === null,
    estimate: {
      reason,
      doubtfulUsd: doubtful(maxCostWith(call, known, max.usd, outputTokens), MAX_RECORDED_USD, usd ?? 0),
      doubtfulTokens: doubtful(max.tokens, MAX_RECORDED_TOKENS, tokens),
    },
  }
}

/** Charges the upper bound of a call whose response is complete and reports no usage. */
export function chargeMaxUsage(call: PricedCall): CallUsage {
  const { promptTokens } = estimatePromptUsage(call)
  const max = maxUsage(call, null)
  if (max === null) return { ...NO_USAGE, promptTokens, reportedCostUsd: 0 }
  const tokens = Math.min(MAX_RECORDED_TOKENS, Math.max(promptTokens, max.tokens ?? promptTokens))
  return {
    ...NO_USAGE,
    promptTokens,
    completionTokens: tokens - promptTokens,
    reportedCostUsd: Math.min(MAX_RECORDED_USD, max.usd ?? 0),
    isUnpriced: max.usd === null,
    estimate: { reason: 'not_reported', doubtfulUsd: 0, doubtfulTokens: 0 },
  }
}

/** Returns the usage of the prompt alone, as the proxy counts it, with the known service tier. */
export function estimatePromptUsage(call: PricedCall): TokenUsage {
  const { endpoint, body, promptTokens = estimatePromptTokens(body, endpoint) } = call
  const { tier } = call.size().bounds
  return {
    ...NO_USAGE,
    promptTokens,
    missing: BOTH_COUNTS,
    ...(tier !== null && !DEFAULT_TIERS.includes(tier) && { tier }),
  }
}

export const BOTH_COUNTS: readonly MissingCount[] = ['prompt', 'completion']

/** Returns the cost of the usage, and no less than the provider reported; null if a price is unknown. */
function costOf(call: PricedCall, usage: TokenUsage): number | null {
  const { provider, catalogue } = call
  const usd = computeResponseCost(catalogue, provider, pricingKeyOf(call), { ...usage, reportedCostUsd: null })
  return usd === null ? null : Math.max(usd, usage.reportedCostUsd ?? 0)
}

/** Images, speech and transcripts are priced by their output, or by the second. */
function isPaidByToken(call: PricedCall): boolean {
  const kind = findPricedModel(call)?.kind ?? 'chat'
  return kind === 'chat' || kind === 'completion' || kind === 'embedding'
}

/**
 * Returns the upper bound of the whole call, and no less than the known usage costs with the longest possible output: `outputTokens`, if the
 * provider reported so many in total.
 */
function maxCostWith(
  call: PricedCall,
  { missing, ...known }: TokenUsage,
  usd: number | null,
  outputTokens: number | null,
): number | null {
  if (usd === null || !missing?.includes('completion')) return usd
  const output = outputTokens ?? maxTokens(call.size(), findPricedModel(call)).output ?? 0
  const longest = costOf(call, { ...known, completionTokens: Math.max(known.completionTokens, output) })
  return Math.max(usd, longest ?? 0)
}

/** Whether the prompt is charged once: it is text, and no hosted tool makes the model read it again. */
export function isTextOnlyPrompt({ size }: PricedCall): boolean {
  const { isTextOnly, canCompact, hostedTools, fallbacks } = size().bounds
  return isTextOnly && !canCompact && hostedTools.length + fallbacks.length === 0
}

/** Returns the model by which a response is priced, and whether the request names alternatives. */
export function pricingKeyOf({ body, model }: PricedCall): { model: string; hasOthers: boolean } {
  return { model, hasOthers: listAlternativeModels(body).length > 0 }
}

/** Returns the lower of two numbers. Null is an unknown number. */
function minKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}
