/** What the pipeline has to know of a passed operation's JSON answer. */
import { parseJsonObject } from '../../json/json-object.ts'

export interface PassedAnswer {
  bytes: Uint8Array
  /** As the answer tells it. */
  usage: unknown
  /** Whether it is a whole answer of those that are kept. */
  hasResults: boolean
}

export function judgePassed(bytes: Uint8Array): PassedAnswer {
  const { usage, results } = parseJsonObject(new TextDecoder().decode(bytes)) ?? {}
  return { bytes, usage, hasResults: Array.isArray(results) && results.length > 0 }
}
