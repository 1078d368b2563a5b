/** The aggregator as the router sees it: which models it has, and by which names it is asked for them. */

import type { AggregatorModelNames } from '../catalogue/aggregator-model-names.ts'
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { VALID_MODEL_NAME } from '../catalogue/vendor-model-names.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { renameModel } from './rename-model.ts'
import type { Provider } from './upstream.ts'

/** The catalogue's entry, or what is known of a model that it does not have. */
export type AvailableModel = CatalogueModel | (Pick<CatalogueModel, 'provider' | 'model'> & { kind: null })

export interface AggregatorModelsOptions {
  catalogue: Catalogue
  /** Null when none is configured. */
  aggregatorFor: ((projectId: number) => Provider) | null
  /** Its own list. */
  modelNames: AggregatorModelNames
}

export interface AggregatorModels {
  /** Its own name for the model, as far as its list is known; undefined for a name that leads nowhere. */
  resolveName(model: string): string | undefined
  /** The provider, which is asked by that name. */
  findProvider(model: string, projectId: number): Provider | undefined
  /** Whether it is not known to lack the name, or the one that a variant (`:free`) is of. */
  canHave(model: string): boolean
  /** Its own list's, where that has names without a vendor, else the catalogue's. */
  listModels(): readonly AvailableModel[]
}

export const VENDOR_MODEL_PATTERN = /^[^/\s]+\/\S+$/

export function createAggregatorModels({
  catalogue,
  aggregatorFor,
  modelNames,
}: AggregatorModelsOptions): AggregatorModels {
  function nameOf(model: string): string | undefined {
    if (VENDOR_MODEL_PATTERN.test(model)) return model
    const { list, forwardsUnlistedNames } = modelNames
    if (list === null && forwardsUnlistedNames && VALID_MODEL_NAME.test(model)) return model
    return catalogue.aggregatorNameOf(model, list ?? undefined)
  }

  return {
    resolveName: nameOf,

    findProvider(model, projectId) {
      const name = aggregatorFor ? nameOf(model) : undefined
      if (!aggregatorFor || name === undefined) return undefined
      return name === model ? aggregatorFor(projectId) : renameModel(aggregatorFor(projectId), name)
    },

    canHave(model) {
      const { list } = modelNames
      const name = nameOf(model) ?? model
      const plain = name.replace(/:[^:/]*$/, '')
      return !list || list.has(name) || list.has(plain) || catalogue.find(AGGREGATOR, plain)?.listed === true
    },

    listModels() {
      const { list } = modelNames
      if (!list?.hasUnprefixedNames) return catalogue.modelsOf(AGGREGATOR)
      return list.names.map(model => ({ provider: AGGREGATOR, model, kind: null }))
    },
  }
}
