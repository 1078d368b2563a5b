/** Reads a tool's input, which streams send as JSON text. */

import { parseExactly } from '../../json/exact-json.ts'
import { isJsonObject, type JsonObject } from '../../json/json-object.ts'

/** Text that is no JSON object, for example cut off, is kept under a key that no tool expects. */
export function readInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  try {
    const input = parseExactly(text)
    if (isJsonObject(input)) return input
  } catch {
    // Handled below.
  }
  return { INVALID_JSON: text }
}
