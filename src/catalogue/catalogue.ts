/** The catalogue of models and their prices, and what a response costs by them. */

import { VENDORS } from '../config/vendors.ts'
import { nowIso } from '../event-loop/clock.ts'
import { DEFAULT_TIERS, type TokenUsage, type ToolCallCounts } from '../formats/token-usage.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { type CatalogueModel, listModels, type TokenPrices } from '../postgres/list-models.ts'
import type { Log } from '../telemetry/log.ts'
import type { ModelNameIndex } from './aggregator-model-names.ts'
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
 * In US dollars: the provider's own figure, else computed from the catalogue's prices; null for a model that the catalogue does not have,
 * or a tier of unknown price. `find` finds the other models of the same provider that took part.
 */
export function computeCostUsd(
  model: PricedModel | undefined,
  usage: TokenUsage,
  find: (model: string) => PricedModel | undefined = () => undefined,
): number | null {
  if (usage.reportedCostUsd !== null) return usage.reportedCostUsd
  if (!model) return null
  const parts = usage.parts ?? [{ model: null, usage }]
  const each = parts.map(part => tokensTimesMillion(part.model === null ? model : find(part.model), part.usage))
  if (each.includes(null)) return null
  const { request = 0 } = model.unitPrices
  return (
    each.reduce<number>((sum, usd) => sum + (usd ?? 0), 0) / 1_000_000 +
    computeToolCost(model.unitPrices, usage.toolCalls) +
    request
  )
}

/**
 * The same of what a provider answered, which is free where `pricedAs` is null. `hasOthers`: the request named other models that might
 * answer, so that the name in the answer says which one did.
 */
export function computeResponseCost(
  catalogue: Pick<Catalogue, 'find'>,
  pricedAs: string | null,
  { model, hasOthers }: { model: string; hasOthers: boolean },
  usage: TokenUsage,
): number | null {
  if (pricedAs === null) return 0
  const find = (name: string) => catalogue.find(pricedAs, name)
  // In its parts, no name stands for the model that was asked.
  const answeredAs = hasOthers && !usage.parts ? usage.responseModel : undefined
  return computeCostUsd(find(answeredAs ?? model), usage, find)
}

/** What the tokens cost, in millionths of a dollar. */
function tokensTimesMillion(model: PricedModel | undefined, usage: TokenUsage): number | null {
  const prices = model && pricesFor(model, usage)
  if (!prices) return null
  const cached = Math.min(usage.cachedPromptTokens, usage.promptTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.promptTokens - cached)
  const writtenForAnHour = Math.min(usage.cacheWriteHourTokens ?? 0, written)
  const writePrice = prices.cacheWriteUsdPerMillion ?? prices.inputUsdPerMillion
  const asText =
    (usage.promptTokens - cached - written) * prices.inputUsdPerMillion +
    cached * (prices.cachedInputUsdPerMillion ?? prices.inputUsdPerMillion) +
    (written - writtenForAnHour) * writePrice +
    writtenForAnHour * (prices.cacheWriteHourUsdPerMillion ?? writePrice) +
    usage.completionTokens * prices.outputUsdPerMillion
  return Math.max(0, asText + beyondText(model, prices, usage))
}

/** What sound and pictures cost more than text, in millionths of a dollar. A part may be negative. */
function beyondText({ unitPrices }: PricedModel, prices: TokenPrices, usage: TokenUsage): number {
  const { promptTokens, cachedPromptTokens, completionTokens } = usage
  const { audio_input, cached_audio_input, image_input, audio_output } = unitPrices
  // What was cached and is not told apart by kind costs what cached text does.
  const fresh = Math.max(0, promptTokens - cachedPromptTokens)
  const heardBefore = Math.min(usage.cachedAudioPromptTokens ?? 0, usage.audioPromptTokens ?? 0, cachedPromptTokens)
  const heard = Math.min((usage.audioPromptTokens ?? 0) - heardBefore, fresh)
  const seen = Math.min(usage.imagePromptTokens ?? 0, fresh - heard)
  const spoken = Math.min(usage.audioCompletionTokens ?? 0, completionTokens)
  const more = (price: number | undefined, asText: number) => (price === undefined ? 0 : price - asText)
  return (
    heard * more(audio_input, prices.inputUsdPerMillion) +
    heardBefore * more(cached_audio_input, prices.cachedInputUsdPerMillion ?? prices.inputUsdPerMillion) +
    seen * more(image_input, prices.inputUsdPerMillion) +
    spoken * more(audio_output, prices.outputUsdPerMillion)
  )
}

/** A tool without a price costs nothing. */
export function computeToolCost(
  { search = 0, file_search = 0, container = 0 }: UnitPrices,
  called: ToolCallCounts = {},
): number {
  return (called.search ?? 0) * search + (called.file_search ?? 0) * file_search + (called.container ?? 0) * container
}

/** Of the prices whose conditions hold, those for the longest prompts; null for a tier whose price is not known. */
function pricesFor(model: PricedModel, { tier = 'standard', promptTokens }: TokenUsage): TokenPrices | null {
  const found = resolvePricingTier(model, tier)
  if (found === undefined) return null
  const holding = model.conditionalPrices.filter(row => row.tier === found && promptTokens > row.abovePromptTokens)
  return holding.toSorted((a, b) => b.abovePromptTokens - a.abovePromptTokens)[0] ?? model
}

/** Without prices of their own, they cost no more than the usual tier: cheaper capacity, or what was paid for apart. */
const NEVER_DEARER = [...DEFAULT_TIERS, 'standard_only', 'on_demand', 'flex', 'scale', 'batch']

/** The tier whose prices count where this one is named; undefined when they are not known. */
export function resolvePricingTier({ provider, conditionalPrices }: PricedModel, named: string): string | undefined {
  const isClaude = provider === 'anthropic'
  // OpenAI's other name for it.
  const tier = named === 'fast' && !isClaude ? 'priority' : named
  if (conditionalPrices.some(prices => prices.tier === tier)) return tier
  // Anthropic's priority is capacity that was bought before.
  return NEVER_DEARER.includes(tier) || (isClaude && tier === 'priority') ? 'standard' : undefined
}

/** Plain decimal notation, never with an exponent. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '0'
  return usd.toFixed(10).replace(/\.?(?<!0)0+$/, '')
}

const REFRESH_MS = 30_000
/** Stands for the configured aggregator, whichever it is. */
export const AGGREGATOR = 'aggregator'

export interface Catalogue {
  /**
   * Finds the model as a provider (or AGGREGATOR) offers it. A snapshot that is not listed counts as its family, and a name with or without
   * its vendor as the model it stands for at that provider. Undefined when the price is unknown.
   */
  find(provider: string, model: string): CatalogueModel | undefined
  /**
   * The aggregator's name for a model without a vendor, listed or not; undefined when no vendor's names look like it. `own` is the
   * aggregator's own list, where it is known.
   */
  aggregatorNameOf(model: string, own?: ModelNameIndex): string | undefined
  /** The native name of a direct provider's model that is named as aggregators do: `vendor/model`; undefined when it has none such. */
  nativeNameOf(provider: string, model: string): string | undefined
  /** Direct providers that offer a native model of this name. */
  directProvidersOf(model: string): readonly string[]
  /** Models that a provider (or AGGREGATOR) offers. */
  modelsOf(provider: string): readonly CatalogueModel[]
  /**
   * A response of the model was longer than its request allowed. From then on its requests' limits do not count, in all processes as soon as
   * they read the catalogue again.
   */
  recordExceededLimit(model: CatalogueModel): void
  close(): void
}

export async function loadCatalogue(database: Database, log?: Pick<Log, 'warn' | 'failures'>): Promise<Catalogue> {
  let models = index(await listModels(database))

  async function recordExceededLimit(found: CatalogueModel): Promise<void> {
    if (found.exceedsLimits) return
    found.exceedsLimits = true
    const { provider, model } = found
    const isFirst = await callFunction(database, 'record_exceeded_limit', { of_provider: provider, of_model: model })
    if (isFirst) log?.warn({ provider, model }, 'a response exceeded its limit: budgets now reserve the longest answer')
  }

  const timer = setInterval(async () => {
    try {
      models = index(await listModels(database))
      log?.failures.recover('catalogue')
    } catch (error) {
      log?.failures.report('catalogue', error, 'models and prices could not be read: the last known stay')
    }
  }, REFRESH_MS)
  timer.unref()
  return {
    find: (provider, model) => find(models, provider, model),
    aggregatorNameOf: (model, own) => aliasOf(models, model, own),
    nativeNameOf: (provider, model) => nativeOf(models, provider, model),
    directProvidersOf: model => models.direct.get(model) ?? [],
    modelsOf: provider => models.listed.get(provider) ?? [],
    recordExceededLimit: model =>
      void recordExceededLimit(model).catch(error =>
        log?.failures.report('catalogue', error, 'an exceeded limit could not be recorded', { part: 'limit' }),
      ),
    close: () => clearInterval(timer),
  }
}

type Index = ReturnType<typeof index>

function find(models: Index, provider: string, model: string): CatalogueModel | undefined {
  const offered = models.byName.get(provider)
  const named = (name: string) => offered?.get(name) ?? offered?.get(modelFamilyOf(name) ?? name)
  const ofAggregator = () => (model.includes('/') ? undefined : aliasOf(models, model))
  const other = () => (provider === AGGREGATOR ? ofAggregator() : nativeOf(models, provider, model))
  return named(model) ?? named(other() ?? model)
}

/**
 * Tries the name itself, then the native name's own vendor, then the only listed model of this name: of the aggregator's own list before the
 * catalogue's. At last the name as it is, where that list has such names, or the most likely one.
 */
function aliasOf({ direct, aliases, byName }: Index, model: string, own?: ModelNameIndex): string | undefined {
  const offered = byName.get(AGGREGATOR)
  const vendor = matchProvider(model)
  const vendors = direct.get(model) ?? (vendor ? [vendor] : [])
  const written = vendors.filter(isVendor).flatMap(name => listAggregatorNames(name, model))
  const isListed = (name: string) => offered?.get(name)?.listed
  return (
    (own && firstOf([model, ...written], own.has, own.findWithVendor(model))) ??
    (own?.hasUnprefixedNames ? model : firstOf([model, ...written], isListed, aliases.get(model))) ??
    written.at(-1)
  )
}

/** The first of the likely names that is listed, else the only one of the others. */
function firstOf(
  likely: readonly string[],
  isListed: (name: string) => boolean | undefined,
  others: readonly string[] = [],
): string | undefined {
  return likely.find(isListed) ?? (others.length === 1 ? others[0] : undefined)
}

function nativeOf({ natives, byName }: Index, provider: string, model: string): string | undefined {
  const listed = natives.get(`${provider} ${model}`)
  if (listed !== undefined || !model.startsWith(`${provider}/`)) return listed
  const name = toNativeName(provider, model.slice(provider.length + 1))
  return byName.get(provider)?.get(name)?.listed || isVendorModelName(provider, name) ? name : undefined
}

/** Some serve other vendors' models only. */
function isVendor(provider: string): boolean {
  return VENDORS.every(({ name, makes_models }) => name !== provider || makes_models)
}

function index(models: readonly CatalogueModel[]) {
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
  const ofAggregator = (listed.get(AGGREGATOR) ?? []).map(({ model }) => model)
  const aliases = Map.groupBy(ofAggregator, model => model.slice(model.indexOf('/') + 1))
  return { byName, listed, direct, aliases, natives: indexNatives(listed) }
}

/** Native names by the provider and an aggregator's name for each; of several snapshots, the name without a date. */
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
