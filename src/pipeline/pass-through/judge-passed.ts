/** What the pipeline needs to know about a pass-through operation's JSON response. */
import { parseJsonObject } from '../../json/json-object.ts'

export interface PassedAnswer {
  bytes: Uint8Array
  /** As the response reports it. */
  usage: unknown
  /** Whether it is a complete response of an operation whose responses are stored. */
  hasResults: boolean
}

export function judgePassed(bytes: Uint8Array): PassedAnswer {
  const { usage, results } = parseJsonObject(new TextDecoder().decode(bytes)) ?? {}
  return { bytes, usage, hasResults: Array.isArray(results) && results.length > 0 }
}
