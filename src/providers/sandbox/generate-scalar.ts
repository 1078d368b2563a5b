/** Generates numbers and texts that match a schema. */
import { asNumber, asString, type JsonObject } from '../../formats/json/canonical.ts'
import { FORMAT_SAMPLES, generateMatchingText } from './generate-text.ts'
import {
  contradictionError,
  instanceTooLargeError,
  isInRange,
  isNumberAllowed,
  UnsatisfiableSchemaError,
} from './schema-rules.ts'

/** A value's position: texts contain the name of their field, and the items of a list differ by their index. */
export interface ValuePosition {
  name: string
  index: number
}

const MAX_TEXT_CHARS = 131_072
/** The number of candidates that are tested until one matches. */
const MAX_ATTEMPTS = 200

export function generateNumber(schema: JsonObject, type: 'integer' | 'number', { index }: ValuePosition): number {
  const low = Math.max(asNumber(schema.minimum, -Infinity), asNumber(schema.exclusiveMinimum, -Infinity))
  const high = Math.min(asNumber(schema.maximum, Infinity), asNumber(schema.exclusiveMaximum, Infinity))
  const step = asNumber(schema.multipleOf, 1)
  const isFit = (value: number) => isNumberAllowed(value, schema) && (type === 'number' || Number.isInteger(value))
  const [start, direction] =
    low > -Infinity ? [Math.ceil(low / step), 1] : high < Infinity ? [Math.floor(high / step), -1] : [1, 1]
  const first = index % Math.max(1, Math.floor((high - low) / step) + 1)
  for (let at = first; at < first + MAX_ATTEMPTS; at++) {
    // Rounding makes three times 0.1 equal to 0.3.
    const value = Number(((start + at * direction) * step).toPrecision(15))
    if (isFit(value)) return value
  }
  const found = [low + (high - low) * ((index % 97) + 1) * 0.01, low, high].find(isFit)
  if (found === undefined) throw contradictionError()
  return found
}

export function generateText(schema: JsonObject, { name, index }: ValuePosition): string {
  const [min, max] = [asNumber(schema.minLength, 0), asNumber(schema.maxLength, Infinity)]
  if (min > MAX_TEXT_CHARS) throw instanceTooLargeError()
  const sample = FORMAT_SAMPLES[asString(schema.format)]?.(index)
  const fits = (text: string | undefined): text is string => text !== undefined && isInRange([...text].length, min, max)
  if (schema.pattern !== undefined) {
    // The format's sample is used when no text can be derived from the pattern.
    const text = generateMatchingText(asString(schema.pattern), index, min) ?? sample
    if (fits(text)) return text
    throw new UnsatisfiableSchemaError('has a pattern that the sandbox cannot satisfy')
  }
  if (fits(sample)) return sample
  const text = `sandbox ${name}`
  const shown = [...(text.length > max ? `${index} ${text}` : text)].slice(0, Math.max(0, max))
  const whole = shown.join('') + '.'.repeat(Math.max(0, min - shown.length))
  if (fits(whole)) return whole
  throw contradictionError()
}
