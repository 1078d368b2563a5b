/** Indexes the catalogue's models by the names under which providers and the aggregator know them. */
import { nowIso } from '../event-loop/clock.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import type { ModelNameIndex } from './aggregator-model-names.ts'
import type { VendorDirectory } from './vendor-directory.ts'
import { listAggregatorNames, modelFamilyOf, toNativeName } from './vendor-model-names.ts'

/** The provider name of the configured aggregator. */
export const AGGREGATOR = 'aggregator'

type Index = ReturnType<typeof indexModels>

export function findModel(models: Index, provider: string, model: string): CatalogueModel | undefined {
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
export function findAggregatorName(
  { vendors: directory, direct, aliases, byName }: Index,
  model: string,
  own?: ModelNameIndex,
): string | undefined {
  const offered = byName.get(AGGREGATOR)
  const vendors = direct.get(model) ?? directory.matchNames(model).slice(0, 1)
  // Some serve only other vendors' models.
  const makers = vendors.filter(name => directory.find(name)?.makes_models !== false)
  const candidates = makers.flatMap(name => listAggregatorNames(name, model))
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

export function findNativeName(
  { vendors, natives, byName }: Index,
  provider: string,
  model: string,
): string | undefined {
  const listed = natives.get(`${provider} ${model}`)
  if (listed !== undefined || !model.startsWith(`${provider}/`)) return listed
  const name = toNativeName(provider, model.slice(provider.length + 1))
  return byName.get(provider)?.get(name)?.listed || vendors.isNativeName(provider, name) ? name : undefined
}

export function indexModels(models: readonly CatalogueModel[], vendors: VendorDirectory) {
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
  return { vendors, byName, listed, direct, aliases, natives: indexNatives(listed, vendors) }
}

/** Indexes native names by provider and aggregator's name. Of several snapshots, the name without a date is used. */
function indexNatives(
  listed: ReadonlyMap<string, readonly CatalogueModel[]>,
  vendors: VendorDirectory,
): ReadonlyMap<string, string> {
  const natives = new Map<string, string>()
  for (const provider of vendors.names) {
    for (const { model } of listed.get(provider) ?? []) {
      for (const name of listAggregatorNames(provider, model)) {
        const other = natives.get(`${provider} ${name}`)
        if (other === undefined || model.length < other.length) natives.set(`${provider} ${name}`, model)
      }
    }
  }
  return natives
}
