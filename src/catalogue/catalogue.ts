/** The catalogue of models and their prices, and the computation of costs. */

import { DEFAULT_TIERS, type TokenUsage, type ToolCallCounts } from '../formats/token-usage.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { type CatalogueModel, listModels, type TokenPrices } from '../postgres/list-models.ts'
import type { Log } from '../telemetry/log.ts'
import type { ModelNameIndex } from './aggregator-model-names.ts'
import { computeMediaSurcharge } from './media-surcharge.ts'
import { findAggregatorName, findModel, findNativeName, indexModels } from './model-index.ts'
import { type InstallationVendors, listVendors, updateVendors, type VendorDirectory } from './vendor-directory.ts'

export { AGGREGATOR } from './model-index.ts'

type UnitPrices = CatalogueModel['unitPrices']
type PricedModel = TokenPrices & Pick<CatalogueModel, 'conditionalPrices' | 'unitPrices'> & { provider?: string }

/**
 * Returns the cost in US dollars: the one that the provider reported, or else one computed from the catalogue's prices. Null for a model
 * that is not in the catalogue, or a tier without a known price. `find` finds other models of the same provider that took part.
 */
export function computeCostUsd(
  model: PricedModel | undefined,
  usage: TokenUsage,
  find: (model: string) => PricedModel | undefined = () => undefined,
): number | null {
  if (usage.reportedCostUsd !== null) return usage.reportedCostUsd
  if (!model) return null
  const parts = usage.parts ?? [{ model: null, usage }]
  const each = parts.map(part => computeTokenCost(part.model === null ? model : find(part.model), part.usage))
  if (each.includes(null)) return null
  const { request = 0 } = model.unitPrices
  return (
    each.reduce<number>((sum, usd) => sum + (usd ?? 0), 0) / 1_000_000 +
    computeToolCost(model.unitPrices, usage.toolCalls) +
    request
  )
}

/**
 * Returns the cost of a response in US dollars, as `computeCostUsd` does. It is 0 when `pricedAs` is null, and for a model that is free without a
 * price. With `hasOthers`, the request named alternative models, and the model name in the response decides.
 */
export function computeResponseCost(
  catalogue: Pick<Catalogue, 'find'>,
  { pricedAs, isFreeWithoutPrice = false }: { pricedAs: string | null; isFreeWithoutPrice?: boolean | undefined },
  { model, hasOthers }: { model: string; hasOthers: boolean },
  usage: TokenUsage,
): number | null {
  if (pricedAs === null) return 0
  const find = (name: string) => catalogue.find(pricedAs, name)
  // In `usage.parts`, a part without a name belongs to the requested model.
  const responseModel = hasOthers && !usage.parts ? usage.responseModel : undefined
  return computeCostUsd(find(responseModel ?? model), usage, find) ?? (isFreeWithoutPrice ? 0 : null)
}

/**
 * Returns what the provider's prompt cache saved, in US dollars: the cost by the catalogue's prices without it, less the cost with it. Below
 * zero if writing cost more than reading saved; null if the cache was not used, or the price is not known.
 */
export function computePromptCacheSavings(
  catalogue: Pick<Catalogue, 'find'>,
  provider: { pricedAs: string | null; isFreeWithoutPrice?: boolean | undefined },
  model: { model: string; hasOthers: boolean },
  usage: TokenUsage,
): number | null {
  if (usage.cachedPromptTokens === 0 && !usage.cacheWriteTokens) return null
  const price = (used: TokenUsage) =>
    computeResponseCost(catalogue, provider, model, { ...used, reportedCostUsd: null })
  const [without, spent] = [price(omitPromptCache(usage)), price(usage)]
  return without === null || spent === null ? null : without - spent
}

function omitPromptCache(usage: TokenUsage): TokenUsage {
  const uncached = {
    ...usage,
    ...{ cachedPromptTokens: 0, cacheWriteTokens: 0, cacheWriteHourTokens: 0, cachedAudioPromptTokens: 0 },
  }
  if (!usage.parts) return uncached
  return { ...uncached, parts: usage.parts.map(part => ({ ...part, usage: omitPromptCache(part.usage) })) }
}

/** Returns the cost of the tokens in millionths of a dollar. */
function computeTokenCost(model: PricedModel | undefined, usage: TokenUsage): number | null {
  const prices = model && pricesFor(model, usage)
  if (!prices) return null
  const cached = Math.min(usage.cachedPromptTokens, usage.promptTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.promptTokens - cached)
  const writtenHour = Math.min(usage.cacheWriteHourTokens ?? 0, written)
  const writePrice = prices.cacheWriteUsdPerMillion ?? prices.inputUsdPerMillion
  const textCost =
    (usage.promptTokens - cached - written) * prices.inputUsdPerMillion +
    cached * (prices.cachedInputUsdPerMillion ?? prices.inputUsdPerMillion) +
    (written - writtenHour) * writePrice +
    writtenHour * (prices.cacheWriteHourUsdPerMillion ?? writePrice) +
    usage.completionTokens * prices.outputUsdPerMillion
  return Math.max(0, textCost + computeMediaSurcharge(model.unitPrices, prices, usage))
}

/** Returns the cost of tool calls in US dollars. A tool without a price costs nothing. */
export function computeToolCost(
  { search = 0, file_search = 0, container = 0 }: UnitPrices,
  called: ToolCallCounts = {},
): number {
  return (called.search ?? 0) * search + (called.file_search ?? 0) * file_search + (called.container ?? 0) * container
}

/** Returns the prices of the usage's tier and prompt length. Null for a tier without a known price. */
function pricesFor(model: PricedModel, { tier = 'standard', promptTokens }: TokenUsage): TokenPrices | null {
  const pricingTier = resolvePricingTier(model, tier)
  if (pricingTier === undefined) return null
  const applicable = model.conditionalPrices.filter(
    row => row.tier === pricingTier && promptTokens > row.abovePromptTokens,
  )
  return applicable.toSorted((a, b) => b.abovePromptTokens - a.abovePromptTokens)[0] ?? model
}

/** Tiers that, without their own prices, cost at most as much as the standard tier: cheaper or prepaid capacity. */
const STANDARD_OR_CHEAPER_TIERS = [...DEFAULT_TIERS, 'standard_only', 'on_demand', 'flex', 'scale', 'batch']

/** Returns the tier whose prices apply to the named tier. Undefined when its price is unknown. */
export function resolvePricingTier({ provider, conditionalPrices }: PricedModel, named: string): string | undefined {
  const isClaude = provider === 'anthropic'
  // OpenAI also calls its priority tier `fast`.
  const tier = named === 'fast' && !isClaude ? 'priority' : named
  if (conditionalPrices.some(prices => prices.tier === tier)) return tier
  // Anthropic's priority tier is prepaid capacity.
  return STANDARD_OR_CHEAPER_TIERS.includes(tier) || (isClaude && tier === 'priority') ? 'standard' : undefined
}

/** Formats an amount in decimal notation, without an exponent. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '0'
  return usd.toFixed(10).replace(/\.?(?<!0)0+$/, '')
}

const REFRESH_MS = 30_000
/** Vendors are read more often than models, because an operator who changes one waits for it. */
const REFRESH_VENDORS_MS = 2_000
export interface Catalogue {
  /** The vendors as last read. */
  readonly vendors: VendorDirectory
  /**
   * Finds a model of a provider (or AGGREGATOR). A snapshot that is not listed resolves to its family, and a name with or without its vendor to
   * that provider's name. Undefined when the price is unknown, and for null, the `pricedAs` of a free provider.
   */
  find(provider: string | null, model: string): CatalogueModel | undefined
  /**
   * Returns the aggregator's name for a model without a vendor, listed or not. Undefined when it matches no vendor's names. `own` is the
   * aggregator's own list, if known.
   */
  aggregatorNameOf(model: string, own?: ModelNameIndex): string | undefined
  /** Returns a direct provider's native name for an aggregator's name such as `vendor/model`. Undefined when there is none. */
  nativeNameOf(provider: string, model: string): string | undefined
  /** Returns the direct providers that offer a native model of this name. */
  directProvidersOf(model: string): readonly string[]
  /** Returns the models that a provider (or AGGREGATOR) offers. */
  modelsOf(provider: string): readonly CatalogueModel[]
  /**
   * Records that a response of the model was longer than its request allowed. From then on, budgets ignore the limits in its requests; other
   * processes do so when they read the catalogue again.
   */
  recordExceededLimit(model: CatalogueModel): void
  close(): void
}

export interface CatalogueOptions {
  database: Database
  /** The settings of vendors, whose addresses replace those of the rows. None by default. */
  installation?: InstallationVendors
  log?: Pick<Log, 'warn' | 'failures'>
  /** The interval at which vendors are read; two seconds by default. */
  refreshVendorsMs?: number | undefined
}

export async function loadCatalogue({
  database,
  installation = { settings: new Map() },
  log,
  refreshVendorsMs = REFRESH_VENDORS_MS,
}: CatalogueOptions): Promise<Catalogue> {
  const [rows, vendorRows] = await Promise.all([listModels(database), listVendors(database)])
  let models = rows
  let vendors = updateVendors(null, vendorRows, installation)
  let index = indexModels(models, vendors)

  async function recordExceededLimit(found: CatalogueModel): Promise<void> {
    if (found.exceedsLimits) return
    found.exceedsLimits = true
    const { provider, model } = found
    const isFirst = await callFunction(database, 'record_exceeded_limit', { of_provider: provider, of_model: model })
    if (isFirst)
      log?.warn({ provider, model }, 'a response exceeded its limit: budgets now reserve the longest response')
  }

  async function refreshModels(): Promise<void> {
    models = await listModels(database)
    index = indexModels(models, vendors)
  }

  async function refreshVendors(): Promise<void> {
    const updated = updateVendors(vendors, await listVendors(database), installation)
    if (updated === vendors) return
    vendors = updated
    index = indexModels(models, vendors)
  }

  const timers = [
    repeat(refreshModels, REFRESH_MS, 'models and prices could not be read; the last known ones stay in use'),
    repeat(refreshVendors, refreshVendorsMs, 'vendors could not be read; the last known ones stay in use', 'vendors'),
  ]

  /** Runs `refresh` at this interval, but not while it runs. */
  function repeat(refresh: () => Promise<void>, everyMs: number, message: string, part = ''): Timer {
    let isRunning = false
    const timer = setInterval(async () => {
      if (isRunning) return
      isRunning = true
      try {
        await refresh()
        log?.failures.recover('catalogue', part)
      } catch (error) {
        log?.failures.report('catalogue', error, message, { part })
      } finally {
        isRunning = false
      }
    }, everyMs)
    timer.unref()
    return timer
  }

  return {
    get vendors() {
      return vendors
    },
    find: (provider, model) => (provider === null ? undefined : findModel(index, provider, model)),
    aggregatorNameOf: (model, own) => findAggregatorName(index, model, own),
    nativeNameOf: (provider, model) => findNativeName(index, provider, model),
    directProvidersOf: model => index.direct.get(model) ?? [],
    modelsOf: provider => index.listed.get(provider) ?? [],
    recordExceededLimit: model =>
      void recordExceededLimit(model).catch(error =>
        log?.failures.report('catalogue', error, 'an exceeded limit could not be recorded', { part: 'limit' }),
      ),
    close: () => timers.forEach(clearInterval),
  }
}
