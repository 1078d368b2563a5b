/**
 * What a call is charged whose usage nobody reported: what is known to have been used. What it may have used beyond that is doubtful.
 * Whoever left, whatever broke off, and with or without budgets: nothing else in the proxy decides it.
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

/** A provider that was asked something, and the prices. */
export interface PricedCall {
  endpoint: string
  model: string
  body: JsonObject
  /** Worked out where it matters. */
  size: () => RequestSize
  provider: Provider
  catalogue: PriceLookup
  /** Of the prompt, as the tokenizer counts it; null: not counted. */
  promptTokens?: number
}

/**
 * A number that cannot be read limits nothing. Where the request leaves the tier to the provider's settings, the standard one is charged.
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
    return tier === null || tier === 'auto' ? withTier(read, STANDARD) : read
  }
  return { endpoint, model, body, size, provider, catalogue }
}

const STANDARD = 'default'

function withTier(size: RequestSize, tier: string): RequestSize {
  return { ...size, bounds: { ...size.bounds, tier } }
}

/** The same call with what is known of it now: its prompt as counted, with a margin, and the tier that its response names. */
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
  // A token has at least a byte. A prediction is bounded by its bytes, too.
  const bytes = isTextOnly && !hasPrediction ? Math.min(size.bytes, addMargin(counted.promptTokens)) : size.bytes
  return { ...call, size: () => ({ ...tiered, bytes }), promptTokens: counted.promptTokens }
}

/** The model in the catalogue; undefined where it is free, or not known. */
export function findPricedModel({ provider, size, catalogue }: PricedCall): CatalogueModel | undefined {
  return provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, size().model)
}

/** Providers count with tokenizers of their own, and write on while a connection closes. */
const MARGIN_SHARE = 0.2
const MARGIN_TOKENS = 2

/** Tokens that were counted here in place of their provider: no fewer than it charges, and not many more. */
export function addMargin(tokens: number): number {
  return Math.ceil(tokens * (1 + MARGIN_SHARE)) + MARGIN_TOKENS
}

/** The most that a call may have used; null: its provider is free. `written`: as many tokens, and no more, where that is known. */
function maxUsage(call: PricedCall, written: number | null): { usd: number | null; tokens: number | null } | null {
  const { provider, catalogue } = call
  const size = call.size()
  // No model writes more than it is able to, whatever was requested.
  const sizes = [
    size,
    withMaxOutputTokens(size, null),
    ...(written === null ? [] : [withMaxOutputTokens(size, written)]),
  ]
  const bounds = sizes.map(each => maxCost(each, provider, catalogue))
  let [usd, tokens]: (number | null)[] = [null, null]
  for (const bound of bounds) {
    if (bound === null) return null
    usd = lesser(usd ?? null, bound.usd)
    tokens = lesser(tokens ?? null, bound.tokens)
  }
  return { usd: usd ?? null, tokens: tokens ?? null }
}

export interface EstimateOptions {
  reason: EstimateReason
  /** Whether nothing was used beyond what is known. */
  isComplete?: boolean
  /** Tokens of its output, where they are known. */
  outputTokens?: number | null
}

/** Charges what is known of a call, and keeps what it may have used beyond as doubtful. `known`: by default the prompt alone. */
export function estimateUsage(
  call: PricedCall,
  { reason, isComplete = false, outputTokens = null }: EstimateOptions,
  known: TokenUsage = estimatePromptUsage(call),
): CallUsage {
  const { missing: _missing, totalTokens: _totalTokens, ...used } = known
  const most = maxUsage(call, outputTokens)
  if (most === null) return { ...used, reportedCostUsd: 0 }
  const usd = isPaidByToken(call) ? costOf(call, known) : 0
  const isSure = isComplete && usd !== null
  const beyond = (bound: number | null, limit: number, used: number) =>
    isSure ? 0 : Math.max(0, Math.min(bound ?? limit, limit) - used)
  const tokens = used.promptTokens + used.completionTokens
  return {
    ...used,
    reportedCostUsd: Math.min(MAX_RECORDED_USD, usd ?? 0),
    isUnpriced: most.usd === null && usd === null,
    estimate: {
      reason,
      doubtfulUsd: beyond(mostBeside(call, known, most.usd), MAX_RECORDED_USD, usd ?? 0),
      doubtfulTokens: beyond(most.tokens, MAX_RECORDED_TOKENS, tokens),
    },
  }
}

/** Charges the most that a response may have cost which came whole and does not say what it used. */
export function chargeMaxUsage(call: PricedCall): CallUsage {
  const { promptTokens } = estimatePromptUsage(call)
  const most = maxUsage(call, null)
  if (most === null) return { ...NO_USAGE, promptTokens, reportedCostUsd: 0 }
  const tokens = Math.min(MAX_RECORDED_TOKENS, Math.max(promptTokens, most.tokens ?? promptTokens))
  return {
    ...NO_USAGE,
    promptTokens,
    completionTokens: tokens - promptTokens,
    reportedCostUsd: Math.min(MAX_RECORDED_USD, most.usd ?? 0),
    isUnpriced: most.usd === null,
    estimate: { reason: 'not_reported', doubtfulUsd: 0, doubtfulTokens: 0 },
  }
}

/** The prompt alone, as it is counted here, at the tier that is known. */
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

/** What the usage costs, and no less than its provider reported; null where a price is not known. */
function costOf(call: PricedCall, usage: TokenUsage): number | null {
  const { provider, catalogue } = call
  const usd = computeResponseCost(catalogue, provider.pricedAs, pricingKeyOf(call), { ...usage, reportedCostUsd: null })
  return usd === null ? null : Math.max(usd, usage.reportedCostUsd ?? 0)
}

/** Pictures, speech and transcripts are paid by what comes of them, or by the second. */
function isPaidByToken(call: PricedCall): boolean {
  const kind = findPricedModel(call)?.kind ?? 'chat'
  return kind === 'chat' || kind === 'completion' || kind === 'embedding'
}

/** The bound of the whole call, and no less than what was reported with the longest output. */
function mostBeside(call: PricedCall, { missing, ...known }: TokenUsage, usd: number | null): number | null {
  if (usd === null || !missing?.includes('completion')) return usd
  const { output } = maxTokens(call.size(), findPricedModel(call))
  const longest = costOf(call, { ...known, completionTokens: Math.max(known.completionTokens, output ?? 0) })
  return Math.max(usd, longest ?? 0)
}

/** Whether the prompt that is charged is the request's own text: no tool that the provider runs has it read once more. */
export function isTextOnlyPrompt({ size }: PricedCall): boolean {
  const { isTextOnly, canCompact, hostedTools, fallbacks } = size().bounds
  return isTextOnly && !canCompact && hostedTools.length + fallbacks.length === 0
}

/** By which name a response is priced. */
export function pricingKeyOf({ body, model }: PricedCall): { model: string; hasOthers: boolean } {
  return { model, hasOthers: listAlternativeModels(body).length > 0 }
}

/** Null is not known. */
function lesser(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}
