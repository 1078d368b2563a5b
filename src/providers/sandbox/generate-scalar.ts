/** Numbers and texts that satisfy a schema. */
import { asNumber, asString, type JsonObject } from '../../formats/json/canonical.ts'
import { FORMAT_SAMPLES, generateMatchingText } from './generate-text.ts'
import {
  contradictionError,
  instanceTooLargeError,
  isInRange,
  isNumberAllowed,
  UnsatisfiableSchemaError,
} from './schema-rules.ts'

/** Where a value stands: texts have the name of their field, and the items of a list differ by their number. */
export interface ValuePosition {
  name: string
  index: number
}

const LONGEST_TEXT_CHARS = 131_072
/** Numbers tried until one is a multiple. */
const MOST_TRIES = 200

export function generateNumber(schema: JsonObject, type: 'integer' | 'number', { index }: ValuePosition): number {
  const low = Math.max(asNumber(schema.minimum, -Infinity), asNumber(schema.exclusiveMinimum, -Infinity))
  const high = Math.min(asNumber(schema.maximum, Infinity), asNumber(schema.exclusiveMaximum, Infinity))
  const step = asNumber(schema.multipleOf, 1)
  const isFit = (value: number) => isNumberAllowed(value, schema) && (type === 'number' || Number.isInteger(value))
  const [start, direction] =
    low > -Infinity ? [Math.ceil(low / step), 1] : high < Infinity ? [Math.floor(high / step), -1] : [1, 1]
  const first = index % Math.max(1, Math.floor((high - low) / step) + 1)
  for (let at = first; at < first + MOST_TRIES; at++) {
    // Three times 0.1 is 0.3.
    const value = Number(((start + at * direction) * step).toPrecision(15))
    if (isFit(value)) return value
  }
  const found = [low + (high - low) * ((index % 97) + 1) * 0.01, low, high].find(isFit)
  if (found === undefined) throw contradictionError()
  return found
}

export function generateText(schema: JsonObject, { name, index }: ValuePosition): string {
  const [least, most] = [asNumber(schema.minLength, 0), asNumber(schema.maxLength, Infinity)]
  if (least > LONGEST_TEXT_CHARS) throw instanceTooLargeError()
  const sample = FORMAT_SAMPLES[asString(schema.format)]?.(index)
  const fits = (text: string | undefined): text is string =>
    text !== undefined && isInRange([...text].length, least, most)
  if (schema.pattern !== undefined) {
    // A format's sample stands for a pattern that only trying would satisfy.
    const text = generateMatchingText(asString(schema.pattern), index, least) ?? sample
    if (fits(text)) return text
    throw new UnsatisfiableSchemaError('has a pattern that the sandbox cannot satisfy')
  }
  if (fits(sample)) return sample
  const text = `sandbox ${name}`
  const shown = [...(text.length > most ? `${index} ${text}` : text)].slice(0, Math.max(0, most))
  const whole = shown.join('') + '.'.repeat(Math.max(0, least - shown.length))
  if (fits(whole)) return whole
  throw contradictionError()
}
