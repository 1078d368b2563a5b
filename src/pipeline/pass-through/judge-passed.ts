/** What the pipeline has to know of a passed operation's JSON answer. */
import { isJsonObject } from '../../json/json-object.ts'

export interface PassedAnswer {
  bytes: Uint8Array
  isJson: boolean
  /** As the answer tells it. */
  usage: unknown
  /** Whether it is a whole answer of those that are kept. */
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
