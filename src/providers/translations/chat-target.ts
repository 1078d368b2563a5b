/** What a translated request has to know of its model, from the catalogue. */

import { AGGREGATOR, type Catalogue } from '../../catalogue/catalogue.ts'
import type { ChatTarget } from '../../messages-format/request/to-chat-request.ts'

/** `pricedAs`: the provider, as the catalogue calls it; null where it is none of the catalogue's. */
export function chatTargets(catalogue: Catalogue, pricedAs: string | null): (model: string) => ChatTarget {
  return model => {
    const known = pricedAs === null ? undefined : catalogue.find(pricedAs, model)
    return {
      maxOutputTokens: known?.maxOutputTokens ?? null,
      // What is not known is left to the provider to judge.
      canReason: known === undefined || known.capabilities.length === 0 || known.capabilities.includes('reasoning'),
      // Aggregators pass them on to those who know them.
      keepsCacheMarks: pricedAs === AGGREGATOR,
    }
  }
}
