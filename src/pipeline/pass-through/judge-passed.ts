/** What the pipeline needs to know about a pass-through operation's JSON response. */
import { isJsonObject } from '../../json/json-object.ts'

export interface PassedAnswer {
  bytes: Uint8Array
  isJson: boolean
  /** As the response reports it. */
  usage: unknown
  /** Whether it is a complete response of an operation whose responses are stored. */
  hasResults: boolean
}

export function judgePassed(bytes: Uint8Array): PassedAnswer {
  const told = parse(new TextDecoder().decode(bytes))
  const { usage, results } = isJsonObject(told) ? told : {}
  return { bytes, isJson: told !== undefined, usage, hasResults: Array.isArray(results) && results.length > 0 }
}

/** Not every answer is an object: some tell a transcription as nothing but its text. Undefined for broken text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
