/** Decides whether the cost that a response reports is what it cost. */
import type { TokenUsage } from '../formats/token-usage.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { AGGREGATOR } from './catalogue.ts'

/**
 * Returns the usage without its cost where that is not to be believed: only aggregators are known to report one, and 0 is the cost of a free
 * model alone, or of no response. `model` is as the catalogue lists it.
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
