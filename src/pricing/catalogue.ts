/** Models and prices in memory, read again now and then: an operator's change needs no restart. */
import type { Database } from '../postgres/database.ts'
import { type CatalogueModel, listModels } from '../postgres/list-models.ts'

const REFRESH_MS = 30_000
/** How the catalogue calls whatever aggregator is configured. */
export const AGGREGATOR = 'aggregator'

export interface Catalogue {
  /** The model as a provider (or AGGREGATOR) offers it. */
  find(provider: string, model: string): CatalogueModel | undefined
  /** The direct providers that have a native model of this name. */
  directProvidersOf(model: string): readonly string[]
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
    find: (provider, model) => models.byName.get(nameOf(provider, model)),
    directProvidersOf: model => models.direct.get(model) ?? [],
    close: () => clearInterval(timer),
  }
}

function index(models: readonly CatalogueModel[]) {
  const byName = new Map<string, CatalogueModel>()
  const direct = new Map<string, string[]>()
  for (const model of models) {
    byName.set(nameOf(model.provider, model.model), model)
    if (model.provider === AGGREGATOR) continue
    const providers = direct.get(model.model)
    if (providers) providers.push(model.provider)
    else direct.set(model.model, [model.provider])
  }
  return { byName, direct }
}

function nameOf(provider: string, model: string): string {
  return `${provider}\n${model}`
}
