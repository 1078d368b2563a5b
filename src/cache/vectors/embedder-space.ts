/** Names the vectors of prompts as the vectors of clients' own embeddings requests are named, so that both share one store. */

import { AGGREGATOR, type Catalogue, costUsd } from '../../catalogue/catalogue.ts'
import type { Config } from '../../config/config.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { nameRoute } from '../../providers/model-router.ts'
import type { Embedder } from '../embedders/embedder.ts'
import { createVectorNames, type NameVector } from './pack-vector.ts'

type Addresses = Pick<Config, 'aggregator' | 'direct'>

/** `directProvidersOf`: the providers that have a native model of this name. */
export function nameEmbedderVectors(
  embedder: Embedder,
  { aggregator, direct }: Addresses,
  directProvidersOf: (model: string) => readonly string[],
): NameVector {
  const asks = embedder.isFree ? null : embedder.asks
  const { baseUrl, model, dimensions } = asks ?? { baseUrl: 'in-process', ...embedder.space }
  const shared = { namespace: '', dimensions, otherFields: {} }
  if (baseUrl === aggregator.baseUrl) {
    const [vendor] = model.includes('/') ? [] : directProvidersOf(model)
    return createVectorNames({
      ...shared,
      route: nameRoute({ name: aggregator.name, pricedAs: AGGREGATOR }),
      model: vendor ? `${vendor}/${model}` : model,
    })
  }
  // An embedder at a custom address is identified by that address.
  const isOpenAi = baseUrl === direct.openai.baseUrl
  const route = isOpenAi ? nameRoute({ name: 'openai', pricedAs: 'openai' }) : `embedder at ${baseUrl}`
  return createVectorNames({ ...shared, route, model })
}

/** What a call of the embedder costs. Without a price, as at an address of one's own, nothing. */
export function createEmbedderPrice(embedder: Embedder, { aggregator, direct }: Addresses, catalogue: Catalogue) {
  const baseUrl = embedder.isFree ? undefined : embedder.asks?.baseUrl
  const pricedAs = baseUrl === aggregator.baseUrl ? AGGREGATOR : baseUrl === direct.openai.baseUrl ? 'openai' : ''
  return (promptTokens: number) => {
    const listed = catalogue.find(pricedAs, embedder.space.model)
    const usd = costUsd(listed, { ...NO_USAGE, promptTokens }) ?? 0
    return { listedModel: listed?.model ?? null, promptTokens, usd }
  }
}
