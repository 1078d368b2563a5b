/** Models and prices in memory. They are reloaded periodically, so that an operator's change needs no restart. */
import type { Database } from '../postgres/database.ts'
import { type CatalogueModel, listModels } from '../postgres/list-models.ts'
import { aggregatorNames, familyOf, providerOfName } from './native-names.ts'

const REFRESH_MS = 30_000
/** Stands for the configured aggregator, whichever it is. */
export const AGGREGATOR = 'aggregator'

export interface Catalogue {
  /**
   * Finds the model as a provider (or AGGREGATOR) offers it. A snapshot that is not listed counts as its family. For the aggregator, a
   * name without a vendor counts as the model it stands for there. Undefined when the price is unknown.
   */
  find(provider: string, model: string): CatalogueModel | undefined
  /** The aggregator's name for a model without a vendor, listed or not; undefined when no vendor's names look like it. */
  aliasOf(model: string): string | undefined
  /** Direct providers that offer a native model of this name. */
  directProvidersOf(model: string): readonly string[]
  /** Models that a provider (or AGGREGATOR) offers. */
  listedBy(provider: string): readonly CatalogueModel[]
  close(): void
}

export async function loadCatalogue(database: Database): Promise<Catalogue> {
  let models = index(await listModels(database))
  const timer = setInterval(async () => {
    // While the database is unavailable, the last prices stay.
    models = await listModels(database).then(index, () => models)
  }, REFRESH_MS)
  timer.unref()
  return {
    find: (provider, model) => find(models, provider, model),
    aliasOf: model => aliasOf(models, model),
    directProvidersOf: model => models.direct.get(model) ?? [],
    listedBy: provider => models.listed.get(provider) ?? [],
    close: () => clearInterval(timer),
  }
}

type Index = ReturnType<typeof index>

function find(models: Index, provider: string, model: string): CatalogueModel | undefined {
  const offered = models.byName.get(provider)
  const name = provider === AGGREGATOR && !model.includes('/') ? (aliasOf(models, model) ?? model) : model
  return offered?.get(name) ?? offered?.get(familyOf(name) ?? name)
}

/** Tries the native name's own vendor first, then the only listed model of this name, then the most likely name. */
function aliasOf({ direct, aliases, byName }: Index, model: string): string | undefined {
  const offered = byName.get(AGGREGATOR)
  const vendor = providerOfName(model)
  const vendors = direct.get(model) ?? (vendor ? [vendor] : [])
  const written = vendors.filter(isVendor).flatMap(name => aggregatorNames(name, model))
  const named = aliases.get(model) ?? []
  return written.find(name => offered?.get(name)?.listed) ?? (named.length === 1 ? named[0] : written.at(-1))
}

/** Groq serves models of other vendors only. */
function isVendor(provider: string): boolean {
  return provider !== 'groq'
}

function index(models: readonly CatalogueModel[]) {
  const byName = new Map<string, Map<string, CatalogueModel>>()
  for (const [provider, offered] of Map.groupBy(models, model => model.provider)) {
    byName.set(provider, new Map(offered.map(model => [model.model, model])))
  }
  const today = new Date().toISOString().slice(0, 10)
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
  return { byName, listed, direct, aliases }
}
