/**
 * What a call is charged whose usage nobody reported: what is known to have been used. What it may have used beyond that is doubtful.
 * Whoever left, whatever broke off, and with or without budgets: nothing else in the proxy decides it.
 */
import { type Catalogue, costOfAnswer, findTier } from '../../catalogue/catalogue.ts'
import type { JsonObject } from '../../formats/json/canonical.ts'
import { type MissingCount, NO_USAGE, type TokenUsage, USUAL_TIERS } from '../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import type { CatalogueModel } from '../../postgres/list-models.ts'
import type { Provider } from '../../providers/upstream.ts'
import { alternativesOf } from '../parse-request.ts'
import type { CompletionQuery, PassedQuery } from '../query.ts'
import { maxCost, sizeOf } from './max-cost.ts'
import { maxTokens, type RequestSize, withLongestAnswer } from './max-tokens.ts'
import { type EstimateReason, MOST_TOKENS, MOST_USD, type SpentUsage } from './spent-usage.ts'

export type Prices = Pick<Catalogue, 'find'> & Partial<Pick<Catalogue, 'recordExceededLimit'>>

/** A provider that was asked something, and the prices. */
export interface PricedCall {
  endpoint: string
  model: string
  body: JsonObject
  /** Worked out where it matters. */
  size: () => RequestSize
  provider: Provider
  catalogue: Prices
  /** Of the prompt, as the tokenizer counts it; null: not counted. */
  promptTokens?: number
}

/**
 * A number that cannot be read limits nothing. Where the request leaves the tier to the provider's settings, the standard one is charged.
 */
export function describePricedCall(
  query: CompletionQuery | PassedQuery,
  provider: Provider,
  catalogue: Prices,
): PricedCall {
  const { endpoint, model, body } = query
  const size = () => {
    const read = sizeOf(query, { isLenient: true })
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
export function withCounted(call: PricedCall, counted: { promptTokens: number; tier: string | null }): PricedCall {
  const size = call.size()
  const { isText, hasPrediction } = size.bounds
  const model = priced(call)
  const tier = model && counted.tier !== null && findTier(model, counted.tier) !== undefined ? counted.tier : null
  const tiered = tier === null ? size : withTier(size, tier)
  // A token has at least a byte. A prediction is bounded by its bytes, too.
  const bytes = isText && !hasPrediction ? Math.min(size.bytes, withMargin(counted.promptTokens)) : size.bytes
  return { ...call, size: () => ({ ...tiered, bytes }), promptTokens: counted.promptTokens }
}

/** The model in the catalogue; undefined where it is free, or not known. */
export function priced({ provider, size, catalogue }: PricedCall): CatalogueModel | undefined {
  return provider.pricedAs === null ? undefined : catalogue.find(provider.pricedAs, size().model)
}

/** Providers count with tokenizers of their own, and write on while a connection closes. */
const MARGIN_SHARE = 0.2
const MARGIN_TOKENS = 2

/** Tokens that were counted here in place of their provider: no fewer than it charges, and not many more. */
export function withMargin(tokens: number): number {
  return Math.ceil(tokens * (1 + MARGIN_SHARE)) + MARGIN_TOKENS
}

/** The most that a call may have used; null: its provider is free. `written`: as many tokens, and no more, where that is known. */
function maxUsage(call: PricedCall, written: number | null): { usd: number | null; tokens: number | null } | null {
  const { provider, catalogue } = call
  const size = call.size()
  // No model writes more than it is able to, whatever was requested.
  const sizes = [size, withLongestAnswer(size, null), ...(written === null ? [] : [withLongestAnswer(size, written)])]
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
  isAllKnown?: boolean
  /** Tokens of its output, where they are known. */
  written?: number | null
}

/** Charges what is known of a call, and keeps what it may have used beyond as doubtful. `known`: by default the prompt alone. */
export function estimateUsage(
  call: PricedCall,
  { reason, isAllKnown = false, written = null }: EstimateOptions,
  known: TokenUsage = unreported(call),
): SpentUsage {
  const { missing: _missing, totalTokens: _totalTokens, ...used } = known
  const most = maxUsage(call, written)
  if (most === null) return { ...used, reportedCostUsd: 0 }
  const usd = isPaidByToken(call) ? costOf(call, known) : 0
  const isSure = isAllKnown && usd !== null
  const beyond = (bound: number | null, limit: number, used: number) =>
    isSure ? 0 : Math.max(0, Math.min(bound ?? limit, limit) - used)
  const tokens = used.promptTokens + used.completionTokens
  return {
    ...used,
    reportedCostUsd: Math.min(MOST_USD, usd ?? 0),
    isUnpriced: most.usd === null && usd === null,
    estimate: {
      reason,
      doubtfulUsd: beyond(mostBeside(call, known, most.usd), MOST_USD, usd ?? 0),
      doubtfulTokens: beyond(most.tokens, MOST_TOKENS, tokens),
    },
  }
}

/** Charges the most that a response may have cost which came whole and does not say what it used. */
export function chargeMost(call: PricedCall): SpentUsage {
  const { promptTokens } = unreported(call)
  const most = maxUsage(call, null)
  if (most === null) return { ...NO_USAGE, promptTokens, reportedCostUsd: 0 }
  const tokens = Math.min(MOST_TOKENS, Math.max(promptTokens, most.tokens ?? promptTokens))
  return {
    ...NO_USAGE,
    promptTokens,
    completionTokens: tokens - promptTokens,
    reportedCostUsd: Math.min(MOST_USD, most.usd ?? 0),
    isUnpriced: most.usd === null,
    estimate: { reason: 'not_reported', doubtfulUsd: 0, doubtfulTokens: 0 },
  }
}

/** The prompt alone, as it is counted here, at the tier that is known. */
export function unreported(call: PricedCall): TokenUsage {
  const { endpoint, body, promptTokens = estimatePromptTokens(body, endpoint) } = call
  const { tier } = call.size().bounds
  return {
    ...NO_USAGE,
    promptTokens,
    missing: EITHER,
    ...(tier !== null && !USUAL_TIERS.includes(tier) && { tier }),
  }
}

export const EITHER: readonly MissingCount[] = ['prompt', 'completion']

/** What the usage costs, and no less than its provider reported; null where a price is not known. */
function costOf(call: PricedCall, usage: TokenUsage): number | null {
  const { provider, catalogue } = call
  const usd = costOfAnswer(catalogue, provider.pricedAs, pricedName(call), { ...usage, reportedCostUsd: null })
  return usd === null ? null : Math.max(usd, usage.reportedCostUsd ?? 0)
}

/** Pictures, speech and transcripts are paid by what comes of them, or by the second. */
function isPaidByToken(call: PricedCall): boolean {
  const kind = priced(call)?.kind ?? 'chat'
  return kind === 'chat' || kind === 'completion' || kind === 'embedding'
}

/** The bound of the whole call, and no less than what was reported with the longest output. */
function mostBeside(call: PricedCall, { missing, ...known }: TokenUsage, usd: number | null): number | null {
  if (usd === null || !missing?.includes('completion')) return usd
  const { output } = maxTokens(call.size(), priced(call))
  const longest = costOf(call, { ...known, completionTokens: Math.max(known.completionTokens, output ?? 0) })
  return Math.max(usd, longest ?? 0)
}

/** Whether the prompt that is charged is the request's own text: no tool that the provider runs has it read once more. */
export function isPromptOfText({ size }: PricedCall): boolean {
  const { isText, isCompacted, hosted, fallbacks } = size().bounds
  return isText && !isCompacted && hosted.length + fallbacks.length === 0
}

/** By which name a response is priced. */
export function pricedName({ body, model }: PricedCall): { model: string; hasOthers: boolean } {
  return { model, hasOthers: alternativesOf(body).length > 0 }
}

/** Null is not known. */
function lesser(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}
