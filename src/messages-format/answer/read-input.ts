/** Parses a tool's input, which streams send as JSON text. */

import { parseExactly } from '../../json/exact-json.ts'
import { isJsonObject, type JsonObject } from '../../json/json-object.ts'

/** Text that is not a JSON object, for example cut off, is kept under a name that no tool expects, so that it stays visible. */
export function readInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  try {
    const input = parseExactly(text)
    if (isJsonObject(input)) return input
  } catch {
    // The return below covers invalid JSON too.
  }
  return { INVALID_JSON: text }
}
