/** What the pipeline needs to know about a pass-through operation's JSON response. */
import { isJsonObject, parseJson } from '../../formats/json/canonical.ts'

export interface PassedToAssess {
  /** What a request whose answers are stored asks about: each gets a result. */
  results: number
}

export interface PassedAnswer {
  bytes: Uint8Array
  isJson: boolean
  /** As the response reports it. */
  usage: unknown
  /** Whether it is a complete response of an operation whose responses are stored. */
  hasResults: boolean
  /** Whether it reports a failure: aggregators do so inside a 200. */
  hasFailed: boolean
}

export function assessPassed(bytes: Uint8Array, wanted: PassedToAssess): PassedAnswer {
  // Not every response is an object: a transcription may be just its text.
  const body = parseJson(new TextDecoder().decode(bytes))
  const { usage, results, error } = isJsonObject(body) ? body : {}
  const hasResults = Array.isArray(results) && results.length >= wanted.results && !isJsonObject(error)
  return { bytes, isJson: body !== undefined, usage, hasResults, hasFailed: isJsonObject(error) }
}
