/** What a response cost, or is going to cost. */
import { isJsonObject } from '../json/json-object.ts'
import type { CatalogueModel, TokenPrices } from '../postgres/list-models.ts'

export interface TokenUsage {
  promptTokens: number
  /** Of the prompt tokens: those read from the provider's cache. */
  cachedPromptTokens: number
  /** Of the prompt tokens: those written to the provider's cache, if the provider charges extra for that. */
  cacheWriteTokens?: number
  /** Of those: kept for an hour, which costs more than the usual minutes. */
  cacheWriteHourTokens?: number
  /** The service tier that the answer names, unless it is the usual one. */
  tier?: string
  completionTokens: number
  /** In US dollars, if the provider reports its own figure. */
  reportedCostUsd: number | null
}

export const NO_USAGE: TokenUsage = {
  promptTokens: 0,
  cachedPromptTokens: 0,
  completionTokens: 0,
  reportedCostUsd: null,
}

/** Names of the usual service tier. */
const USUAL_TIERS = ['default', 'standard', 'auto']

/** Reads OpenAI's `usage` object, with the aggregator's `usage.cost`. Null when there is none. `tier` is the answer's `service_tier`. */
export function readUsage(usage: unknown, tier?: unknown): TokenUsage | null {
  if (!isJsonObject(usage)) return null
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const written = count(details.cache_write_tokens)
  const writtenForAnHour = count(details.cache_write_1h_tokens)
  return {
    promptTokens: count(usage.prompt_tokens),
    cachedPromptTokens: count(details.cached_tokens),
    ...(written > 0 && { cacheWriteTokens: written }),
    ...(writtenForAnHour > 0 && { cacheWriteHourTokens: writtenForAnHour }),
    ...(typeof tier === 'string' && !USUAL_TIERS.includes(tier) && { tier }),
    completionTokens: count(usage.completion_tokens),
    reportedCostUsd:
      typeof usage.cost === 'number' && Number.isFinite(usage.cost) && usage.cost >= 0 ? usage.cost : null,
  }
}

type PricedModel = TokenPrices & Pick<CatalogueModel, 'conditionalPrices'>

/** Sum of two calls' usage. The reported cost is kept only if the provider reported both. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  if (one === NO_USAGE) return other
  if (other === NO_USAGE) return one
  const areReported = one.reportedCostUsd !== null && other.reportedCostUsd !== null
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    cachedPromptTokens: one.cachedPromptTokens + other.cachedPromptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    reportedCostUsd: areReported ? (one.reportedCostUsd ?? 0) + (other.reportedCostUsd ?? 0) : null,
  }
}

/**
 * In US dollars: the provider's own figure, else computed from the catalogue's prices; null for a model that the catalogue does not have.
 */
export function costUsd(model: PricedModel | undefined, usage: TokenUsage): number | null {
  if (usage.reportedCostUsd !== null) return usage.reportedCostUsd
  if (!model) return null
  const prices = pricesFor(model, usage)
  const cached = Math.min(usage.cachedPromptTokens, usage.promptTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.promptTokens - cached)
  const writtenForAnHour = Math.min(usage.cacheWriteHourTokens ?? 0, written)
  const writePrice = prices.cacheWriteUsdPerMillion ?? prices.inputUsdPerMillion
  const dollarsTimesMillion =
    (usage.promptTokens - cached - written) * prices.inputUsdPerMillion +
    cached * (prices.cachedInputUsdPerMillion ?? prices.inputUsdPerMillion) +
    (written - writtenForAnHour) * writePrice +
    writtenForAnHour * (prices.cacheWriteHourUsdPerMillion ?? writePrice) +
    usage.completionTokens * prices.outputUsdPerMillion
  return dollarsTimesMillion / 1_000_000
}

/** Of the prices whose conditions hold, those for the longest prompts. A tier without prices of its own costs as the usual one. */
function pricesFor(model: PricedModel, { tier = 'standard', promptTokens }: TokenUsage): TokenPrices {
  const { conditionalPrices } = model
  const isKnown = conditionalPrices.some(prices => prices.tier === tier)
  const holding = conditionalPrices.filter(
    prices => prices.tier === (isKnown ? tier : 'standard') && promptTokens > prices.abovePromptTokens,
  )
  return holding.toSorted((a, b) => b.abovePromptTokens - a.abovePromptTokens)[0] ?? model
}

/** Plain decimal notation, never with an exponent. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '0'
  return usd.toFixed(10).replace(/\.?0+$/, '')
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
    ? Math.min(Math.round(value), 2_000_000_000)
    : 0
}
