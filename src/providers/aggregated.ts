/** The aggregator as the router sees it: which models it has, and by which names it is asked for them. */
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { SOUND_NAME } from '../catalogue/native-names.ts'
import type { OfferedNames } from '../catalogue/offered-names.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { renameModel } from './rename-model.ts'
import type { Provider } from './upstream.ts'

/** The catalogue's entry, or what is known of a model that it does not have. */
export type OfferedModel = CatalogueModel | (Pick<CatalogueModel, 'provider' | 'model'> & { kind: null })

export interface AggregatedOptions {
  catalogue: Catalogue
  /** Null when none is configured. */
  aggregatorFor: ((projectId: number) => Provider) | null
  /** Its own list. */
  offered: OfferedNames
}

export interface Aggregated {
  /** Its own name for the model, as far as its list is known; undefined for a name that leads nowhere. */
  nameOf(model: string): string | undefined
  /** The provider, which is asked by that name. */
  find(model: string, projectId: number): Provider | undefined
  /** Whether it is not known to lack the name, or the one that a variant (`:free`) is of. */
  mayHave(model: string): boolean
  /** Its own list's, where that has names without a vendor, else the catalogue's. */
  listModels(): readonly OfferedModel[]
}

export const VENDOR_AND_MODEL = /^[^/\s]+\/\S+$/

export function createAggregated({ catalogue, aggregatorFor, offered }: AggregatedOptions): Aggregated {
  function nameOf(model: string): string | undefined {
    if (VENDOR_AND_MODEL.test(model)) return model
    const { list, keepsNames } = offered
    if (list === null && keepsNames && SOUND_NAME.test(model)) return model
    return catalogue.aliasOf(model, list ?? undefined)
  }

  return {
    nameOf,

    find(model, projectId) {
      const name = aggregatorFor ? nameOf(model) : undefined
      if (!aggregatorFor || name === undefined) return undefined
      return name === model ? aggregatorFor(projectId) : renameModel(aggregatorFor(projectId), name)
    },

    mayHave(model) {
      const { list } = offered
      const name = nameOf(model) ?? model
      const plain = name.replace(/:[^:/]*$/, '')
      return !list || list.has(name) || list.has(plain) || catalogue.find(AGGREGATOR, plain)?.listed === true
    },

    listModels() {
      const { list } = offered
      if (!list?.hasPlain) return catalogue.listedBy(AGGREGATOR)
      return list.names.map(model => ({ provider: AGGREGATOR, model, kind: null }))
    },
  }
}
