/** A provider that knows a model by another name than the client does. */

import { parseExactly } from '../json/exact-json.ts'
import type { JsonObject } from '../json/json-object.ts'
import type { Provider } from './upstream.ts'

/** Asks for `name` whatever model the request names; the answer says what answered. */
export function renameModel(provider: Provider, name: string): Provider {
  return {
    ...provider,
    ask: request => {
      // Written anew from the text, in which no number is rounded.
      const exact = parseExactly(request.bodyText) as JsonObject
      const bodyText = JSON.stringify({ ...exact, model: name })
      return provider.ask({ ...request, bodyText, body: { ...request.body, model: name } })
    },
  }
}
