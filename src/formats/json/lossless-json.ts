/** Parses JSON so that all numbers are written unchanged, including those that JavaScript cannot represent. */
import { hasInexactNumber } from './canonical.ts'

/** The source text access proposal of ECMAScript, which TypeScript's library does not declare yet. */
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): object
}

/** A double represents any number of this many digits exactly. */
const SAFE_DIGITS = 15

/**
 * Parses like `JSON.parse`, and throws like it. A number that would be rounded becomes an opaque object, which `JSON.stringify` writes
 * unchanged.
 */
export function parseLosslessJson(text: string): unknown {
  if (!hasInexactNumber(text)) return JSON.parse(text)
  const exact = JSON as unknown as ExactJson
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isRounded(value, source) ? exact.rawJSON(source) : value,
  )
}

function isRounded(value: number, source: string): boolean {
  if (String(value) === source) return false
  const digits = source
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
  return digits.length > SAFE_DIGITS || !Number.isFinite(value) || (value === 0 && digits !== '')
}

/** Parses like `parseLosslessJson`, but returns undefined for invalid JSON. */
export function tryParseLosslessJson(text: string): unknown {
  try {
    return parseLosslessJson(text)
  } catch {
    return undefined
  }
}
