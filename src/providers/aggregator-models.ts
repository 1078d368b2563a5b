/** The aggregator's models, and the names under which the aggregator knows them. */

import type { AggregatorModelNames } from '../catalogue/aggregator-model-names.ts'
import { AGGREGATOR, type Catalogue } from '../catalogue/catalogue.ts'
import { VALID_MODEL_NAME } from '../catalogue/vendor-model-names.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { renameModel } from './rename-model.ts'
import type { Provider } from './upstream.ts'

/** A model of the catalogue, or the provider and the name of a model that the catalogue lacks. */
export type AvailableModel = CatalogueModel | (Pick<CatalogueModel, 'provider' | 'model'> & { kind: null })

export interface AggregatorModelsOptions {
  catalogue: Catalogue
  /** Returns the aggregator for a project; the function is null when no aggregator is configured. */
  aggregatorFor: ((projectId: number) => Provider) | null
  /** The list of models that the aggregator itself publishes. */
  modelNames: AggregatorModelNames
}

export interface AggregatorModels {
  /** Returns the aggregator's name for the model, as far as its list is known; undefined when the name has no route. */
  resolveName(model: string): string | undefined
  /** Returns the aggregator as a provider that sends the aggregator's name for the model; undefined when there is none. */
  findProvider(model: string, projectId: number): Provider | undefined
  /** Returns false when the aggregator is known to lack both the name and the name without its variant (`:free`). */
  canHave(model: string): boolean
  /** Returns the models of the aggregator's own list if that has names without a vendor, and otherwise the catalogue's. */
  listModels(): readonly AvailableModel[]
}

export const VENDOR_MODEL_PATTERN = /^[^/\s]+\/\S+$/

export function createAggregatorModels({
  catalogue,
  aggregatorFor,
  modelNames,
}: AggregatorModelsOptions): AggregatorModels {
  function resolveName(model: string): string | undefined {
    if (VENDOR_MODEL_PATTERN.test(model)) return model
    const { list, forwardsUnlistedNames } = modelNames
    if (list === null && forwardsUnlistedNames && VALID_MODEL_NAME.test(model)) return model
    return catalogue.aggregatorNameOf(model, list ?? undefined)
  }

  return {
    resolveName,

    findProvider(model, projectId) {
      const name = aggregatorFor ? resolveName(model) : undefined
      if (!aggregatorFor || name === undefined) return undefined
      return name === model ? aggregatorFor(projectId) : renameModel(aggregatorFor(projectId), name)
    },

    canHave(model) {
      const { list } = modelNames
      const name = resolveName(model) ?? model
      const baseName = name.replace(/:[^:/]*$/, '')
      return !list || list.has(name) || list.has(baseName) || catalogue.find(AGGREGATOR, baseName)?.listed === true
    },

    listModels() {
      const { list } = modelNames
      if (!list?.hasUnprefixedNames) return catalogue.modelsOf(AGGREGATOR)
      return list.names.map(model => ({ provider: AGGREGATOR, model, kind: null }))
    },
  }
}
