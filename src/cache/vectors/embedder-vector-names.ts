/** Names the vectors of prompts like those of clients' embeddings requests, so that both share one store. */

import { AGGREGATOR, type Catalogue, computeCostUsd } from '../../catalogue/catalogue.ts'
import type { Config } from '../../config/config.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { routeIdOf } from '../../providers/model-router.ts'
import type { Embedder } from '../embedders/embedder.ts'
import { createVectorNamer, type VectorNamer } from './pack-vector.ts'

type Aggregator = Pick<Config, 'aggregator'>
export function createEmbedderVectorNamer(
  embedder: Embedder,
  { aggregator }: Aggregator,
  catalogue: Pick<Catalogue, 'vendors' | 'directProvidersOf'>,
): VectorNamer {
  const endpoint = embedder.isFree ? null : embedder.endpoint
  const { baseUrl, model, dimensions } = endpoint ?? { baseUrl: 'in-process', ...embedder.space }
  const shared = { namespace: '', version: '', dimensions, otherFields: {} }
  if (baseUrl === aggregator.baseUrl) {
    const [vendor] = model.includes('/') ? [] : catalogue.directProvidersOf(model)
    return createVectorNamer({
      ...shared,
      route: routeIdOf({ name: aggregator.name, pricedAs: AGGREGATOR }),
      model: vendor ? `${vendor}/${model}` : model,
    })
  }
  // An embedder at a custom address is identified by that address.
  const isOpenAi = baseUrl === catalogue.vendors.find('openai')?.base_url
  const route = isOpenAi ? routeIdOf({ name: 'openai', pricedAs: 'openai' }) : `embedder at ${baseUrl}`
  return createVectorNamer({ ...shared, route, model })
}

/** Returns a function for the cost of an embedder call. The cost is 0 without a price, as at a custom address. */
export function createEmbedderPricing(embedder: Embedder, { aggregator }: Aggregator, catalogue: Catalogue) {
  const baseUrl = embedder.isFree ? undefined : embedder.endpoint?.baseUrl
  const openAi = catalogue.vendors.find('openai')?.base_url
  const pricedAs =
    baseUrl === aggregator.baseUrl ? AGGREGATOR : baseUrl !== undefined && baseUrl === openAi ? 'openai' : null
  return (promptTokens: number) => {
    const listed = catalogue.find(pricedAs, embedder.space.model)
    const usd = computeCostUsd(listed, { ...NO_USAGE, promptTokens }) ?? 0
    return { listedModel: listed?.model ?? null, promptTokens, usd }
  }
}
