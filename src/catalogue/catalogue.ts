/** Models and prices in memory, read again now and then: an operator's change needs no restart. */
import type { Database } from '../postgres/database.ts'
import { type CatalogueModel, listModels } from '../postgres/list-models.ts'
import { aggregatorNames, familyOf, providerOfName } from './native-names.ts'

const REFRESH_MS = 30_000
/** How the catalogue calls whatever aggregator is configured. */
export const AGGREGATOR = 'aggregator'

export interface Catalogue {
  /**
   * The model as a provider (or AGGREGATOR) offers it. A snapshot that is not there itself is its family; a name without a
   * vendor is, for the aggregator, the model that it has instead. Undefined: nobody here knows what it costs.
   */
  find(provider: string, model: string): CatalogueModel | undefined
  /** What the aggregator calls the model of a name without a vendor, listed or not; undefined for names of nobody. */
  aliasOf(model: string): string | undefined
  /** The direct providers that offer a native model of this name. */
  directProvidersOf(model: string): readonly string[]
  /** What a provider (or AGGREGATOR) offers. */
  listedBy(provider: string): readonly CatalogueModel[]
  close(): void
}

export async function loadCatalogue(database: Database): Promise<Catalogue> {
  let models = index(await listModels(database))
  const timer = setInterval(async () => {
    // A database that is away leaves the prices as they were.
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

/** A native name's own vendor comes first; else the one model of this name, whosever it is; else the likeliest name. */
function aliasOf({ direct, aliases, byName }: Index, model: string): string | undefined {
  const offered = byName.get(AGGREGATOR)
  const vendor = providerOfName(model)
  const vendors = direct.get(model) ?? (vendor ? [vendor] : [])
  const written = vendors.filter(isVendor).flatMap(name => aggregatorNames(name, model))
  const named = aliases.get(model) ?? []
  return written.find(name => offered?.get(name)?.listed) ?? (named.length === 1 ? named[0] : written.at(-1))
}

/** Groq makes none of the models that it serves. */
function isVendor(provider: string): boolean {
  return provider !== 'groq'
}

function index(models: readonly CatalogueModel[]) {
  const byName = new Map<string, Map<string, CatalogueModel>>()
  for (const [provider, offered] of Map.groupBy(models, model => model.provider)) {
    byName.set(provider, new Map(offered.map(model => [model.model, model])))
  }
  const listed = Map.groupBy(
    models.filter(model => model.listed),
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
