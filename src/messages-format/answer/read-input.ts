/** A tool's input, of which streams tell the JSON text. */

import { parseExactly } from '../../json/exact-json.ts'
import { isJsonObject, type JsonObject } from '../../json/json-object.ts'

/** Text that is no JSON object, as when an answer was cut, stays visible under a name that no tool expects. */
export function readInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  try {
    const input = parseExactly(text)
    if (isJsonObject(input)) return input
  } catch {
    // Told below.
  }
  return { INVALID_JSON: text }
}
