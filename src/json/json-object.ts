/** Parsed JSON objects with untrusted keys: only own fields are read, and no key can reach a prototype. */

export type JsonObject = Record<string, unknown>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object's own field; undefined for `constructor` and the like, unless the object itself has them. */
export function readField(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets the object's own field, also for `__proto__`, where an assignment would set the prototype. */
export function writeField(object: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Parses a JSON object; undefined for anything else, including invalid JSON. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
