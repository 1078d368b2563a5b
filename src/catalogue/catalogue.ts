/** The catalogue of models and their prices, and the computation of costs. */

import { VENDORS } from '../config/vendors.ts'
import { nowIso } from '../event-loop/clock.ts'
import { DEFAULT_TIERS, type TokenUsage, type ToolCallCounts } from '../formats/token-usage.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { type CatalogueModel, listModels, type TokenPrices } from '../postgres/list-models.ts'
import type { Log } from '../telemetry/log.ts'
import type { ModelNameIndex } from './aggregator-model-names.ts'
import { computeMediaSurcharge } from './media-surcharge.ts'
import {
  isVendorModelName,
  listAggregatorNames,
  matchProvider,
  modelFamilyOf,
  toNativeName,
} from './vendor-model-names.ts'

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
 * Returns the cost of a response in US dollars, as `computeCostUsd` does. It is 0 when `pricedAs` is null. With `hasOthers`, the request named
 * alternative models, and the model name in the response decides.
 */
export function computeResponseCost(
  catalogue: Pick<Catalogue, 'find'>,
  pricedAs: string | null,
  { model, hasOthers }: { model: string; hasOthers: boolean },
  usage: TokenUsage,
): number | null {
  if (pricedAs === null) return 0
  const find = (name: string) => catalogue.find(pricedAs, name)
  // In `usage.parts`, a part without a name belongs to the requested model.
  const responseModel = hasOthers && !usage.parts ? usage.responseModel : undefined
  return computeCostUsd(find(responseModel ?? model), usage, find)
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
/** The provider name of the configured aggregator. */
export const AGGREGATOR = 'aggregator'

export interface Catalogue {
  /**
   * Finds a model of a provider (or AGGREGATOR). A snapshot that is not listed resolves to its family, and a name with or without its vendor to
   * that provider's name. Undefined when the price is unknown.
   */
  find(provider: string, model: string): CatalogueModel | undefined
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

export async function loadCatalogue(database: Database, log?: Pick<Log, 'warn' | 'failures'>): Promise<Catalogue> {
  let models = buildIndex(await listModels(database))

  async function recordExceededLimit(found: CatalogueModel): Promise<void> {
    if (found.exceedsLimits) return
    found.exceedsLimits = true
    const { provider, model } = found
    const isFirst = await callFunction(database, 'record_exceeded_limit', { of_provider: provider, of_model: model })
    if (isFirst)
      log?.warn({ provider, model }, 'a response exceeded its limit: budgets now reserve the longest response')
  }

  const timer = setInterval(async () => {
    try {
      models = buildIndex(await listModels(database))
      log?.failures.recover('catalogue')
    } catch (error) {
      log?.failures.report('catalogue', error, 'models and prices could not be read; the last known ones stay in use')
    }
  }, REFRESH_MS)
  timer.unref()
  return {
    find: (provider, model) => find(models, provider, model),
    aggregatorNameOf: (model, own) => findAggregatorName(models, model, own),
    nativeNameOf: (provider, model) => findNativeName(models, provider, model),
    directProvidersOf: model => models.direct.get(model) ?? [],
    modelsOf: provider => models.listed.get(provider) ?? [],
    recordExceededLimit: model =>
      void recordExceededLimit(model).catch(error =>
        log?.failures.report('catalogue', error, 'an exceeded limit could not be recorded', { part: 'limit' }),
      ),
    close: () => clearInterval(timer),
  }
}

type Index = ReturnType<typeof buildIndex>

function find(models: Index, provider: string, model: string): CatalogueModel | undefined {
  const offered = models.byName.get(provider)
  const findByName = (name: string) => offered?.get(name) ?? offered?.get(modelFamilyOf(name) ?? name)
  const aggregatorName = () => (model.includes('/') ? undefined : findAggregatorName(models, model))
  const alternativeName = () => (provider === AGGREGATOR ? aggregatorName() : findNativeName(models, provider, model))
  return findByName(model) ?? findByName(alternativeName() ?? model)
}

/**
 * Returns the aggregator's name for a model. Tries the name itself, the name with its vendor, then the only listed model of this name; first
 * in the aggregator's own list, then in the catalogue. Otherwise returns the unchanged name if that list has names without vendors, or the
 * most likely name.
 */
function findAggregatorName(
  { direct, aliases, byName }: Index,
  model: string,
  own?: ModelNameIndex,
): string | undefined {
  const offered = byName.get(AGGREGATOR)
  const vendor = matchProvider(model)
  const vendors = direct.get(model) ?? (vendor ? [vendor] : [])
  const candidates = vendors.filter(isVendor).flatMap(name => listAggregatorNames(name, model))
  const isListed = (name: string) => offered?.get(name)?.listed
  return (
    (own && selectListedName([model, ...candidates], own.has, own.findWithVendor(model))) ??
    (own?.hasUnprefixedNames ? model : selectListedName([model, ...candidates], isListed, aliases.get(model))) ??
    candidates.at(-1)
  )
}

/** Returns the first likely name that is listed, or else the other name if there is only one. */
function selectListedName(
  likely: readonly string[],
  isListed: (name: string) => boolean | undefined,
  others: readonly string[] = [],
): string | undefined {
  return likely.find(isListed) ?? (others.length === 1 ? others[0] : undefined)
}

function findNativeName({ natives, byName }: Index, provider: string, model: string): string | undefined {
  const listed = natives.get(`${provider} ${model}`)
  if (listed !== undefined || !model.startsWith(`${provider}/`)) return listed
  const name = toNativeName(provider, model.slice(provider.length + 1))
  return byName.get(provider)?.get(name)?.listed || isVendorModelName(provider, name) ? name : undefined
}

/** Returns whether the provider has its own models. Some serve only other vendors' models. */
function isVendor(provider: string): boolean {
  return VENDORS.every(({ name, makes_models }) => name !== provider || makes_models)
}

function buildIndex(models: readonly CatalogueModel[]) {
  const byName = new Map<string, Map<string, CatalogueModel>>()
  for (const [provider, offered] of Map.groupBy(models, model => model.provider)) {
    byName.set(provider, new Map(offered.map(model => [model.model, model])))
  }
  const today = nowIso().slice(0, 10)
  const listed = Map.groupBy(
    models.filter(model => model.listed && (model.retiresOn === null || model.retiresOn > today)),
    model => model.provider,
  )
  const direct = new Map<string, string[]>()
  for (const [provider, offered] of listed) {
    if (provider === AGGREGATOR) continue
    for (const { model } of offered) direct.set(model, [...(direct.get(model) ?? []), provider])
  }
  const aggregatorNames = (listed.get(AGGREGATOR) ?? []).map(({ model }) => model)
  const aliases = Map.groupBy(aggregatorNames, model => model.slice(model.indexOf('/') + 1))
  return { byName, listed, direct, aliases, natives: indexNatives(listed) }
}

/** Indexes native names by provider and aggregator's name. Of several snapshots, the name without a date is used. */
function indexNatives(listed: ReadonlyMap<string, readonly CatalogueModel[]>): ReadonlyMap<string, string> {
  const natives = new Map<string, string>()
  for (const { name: provider } of VENDORS) {
    for (const { model } of listed.get(provider) ?? []) {
      for (const name of listAggregatorNames(provider, model)) {
        const other = natives.get(`${provider} ${name}`)
        if (other === undefined || model.length < other.length) natives.set(`${provider} ${name}`, model)
      }
    }
  }
  return natives
}
