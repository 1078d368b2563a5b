/** Decides whether the cost reported in a response is plausible. */
import type { TokenUsage } from '../formats/token-usage.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { AGGREGATOR } from './catalogue.ts'

/**
 * Returns the usage, without its reported cost if that is implausible. Only aggregators report costs, and 0 is plausible only for a free model
 * or without a response. `model` is the catalogue's.
 */
export function omitImplausibleCost<Usage extends TokenUsage>(
  usage: Usage,
  provider: { readonly kind?: string },
  model: CatalogueModel | undefined,
  { hasBegun = true }: { hasBegun?: boolean } = {},
): Usage {
  if (usage.reportedCostUsd === null) return usage
  const isPlausible = usage.reportedCostUsd > 0 || !hasBegun || isFree(model)
  return provider.kind === AGGREGATOR && isPlausible ? usage : { ...usage, reportedCostUsd: null }
}

function isFree(model: CatalogueModel | undefined): boolean {
  if (!model) return false
  const { conditionalPrices, unitPrices } = model
  const tokens = [model, ...conditionalPrices].flatMap(row => [row.inputUsdPerMillion, row.outputUsdPerMillion])
  return [...tokens, ...Object.values(unitPrices)].every(usd => usd === 0)
}
