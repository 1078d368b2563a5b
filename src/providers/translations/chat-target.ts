/** What a translated request needs to know about its model, from the catalogue. */

import { AGGREGATOR, type Catalogue } from '../../catalogue/catalogue.ts'
import type { ChatTarget } from '../../messages-format/request/to-chat-request.ts'

/** `pricedAs` is the provider's name in the catalogue; null when it has none. */
export function chatTargets(catalogue: Catalogue, pricedAs: string | null): (model: string) => ChatTarget {
  return model => {
    const known = pricedAs === null ? undefined : catalogue.find(pricedAs, model)
    return {
      maxOutputTokens: known?.maxOutputTokens ?? null,
      // An unknown model is assumed to reason; the provider checks.
      canReason: known === undefined || known.capabilities.length === 0 || known.capabilities.includes('reasoning'),
      // Aggregators pass cache marks on to vendors that know them.
      keepsCacheMarks: pricedAs === AGGREGATOR,
    }
  }
}
