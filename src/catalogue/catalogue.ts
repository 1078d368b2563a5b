/** Models and prices in memory, read again now and then: an operator's change needs no restart. */
import type { Database } from '../postgres/database.ts'
import { type CatalogueModel, listModels } from '../postgres/list-models.ts'

const REFRESH_MS = 30_000
/** How the catalogue calls whatever aggregator is configured. */
export const AGGREGATOR = 'aggregator'

export interface Catalogue {
  /** The model as a provider (or AGGREGATOR) offers it. */
  find(provider: string, model: string): CatalogueModel | undefined
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
    find: (provider, model) => models.byName.get(provider)?.get(model),
    directProvidersOf: model => models.direct.get(model) ?? [],
    listedBy: provider => models.listed.get(provider) ?? [],
    close: () => clearInterval(timer),
  }
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
  return { byName, listed, direct }
}
