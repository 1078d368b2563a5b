/** Reads parsed JSON whose fields may have any type. */

/** Returns the value if it is a list, else an empty list. */
export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the value as JSON text; '' when it is nested too deeply to be written. */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
