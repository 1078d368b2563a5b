/** Reading of parsed JSON whose fields may have any type. */

/** The value where it is a list, an empty one otherwise. */
export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value as JSON text; empty where it is nested too deeply to be written. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
