/** Numbers and texts that satisfy a schema. */
import { type JsonObject, numberOf, textOf } from '../../formats/json/canonical.ts'
import { SAMPLE_FORMATS, samplePattern } from './sample-text.ts'
import { contradicts, isBetween, isWithin, tooLarge, Unsatisfiable } from './schema-rules.ts'

/** Where a value stands: texts have the name of their field, and the items of a list differ by their number. */
export interface Place {
  name: string
  nth: number
}

const LONGEST_TEXT_CHARS = 131_072
/** Numbers tried until one is a multiple. */
const MOST_TRIES = 200

export function writeNumber(schema: JsonObject, type: 'integer' | 'number', { nth }: Place): number {
  const low = Math.max(numberOf(schema.minimum, -Infinity), numberOf(schema.exclusiveMinimum, -Infinity))
  const high = Math.min(numberOf(schema.maximum, Infinity), numberOf(schema.exclusiveMaximum, Infinity))
  const step = numberOf(schema.multipleOf, 1)
  const isFit = (value: number) => isWithin(value, schema) && (type === 'number' || Number.isInteger(value))
  const [start, direction] =
    low > -Infinity ? [Math.ceil(low / step), 1] : high < Infinity ? [Math.floor(high / step), -1] : [1, 1]
  const first = nth % Math.max(1, Math.floor((high - low) / step) + 1)
  for (let at = first; at < first + MOST_TRIES; at++) {
    // Three times 0.1 is 0.3.
    const value = Number(((start + at * direction) * step).toPrecision(15))
    if (isFit(value)) return value
  }
  const found = [low + (high - low) * ((nth % 97) + 1) * 0.01, low, high].find(isFit)
  if (found === undefined) throw contradicts()
  return found
}

export function writeText(schema: JsonObject, { name, nth }: Place): string {
  const [least, most] = [numberOf(schema.minLength, 0), numberOf(schema.maxLength, Infinity)]
  if (least > LONGEST_TEXT_CHARS) throw tooLarge()
  const sample = SAMPLE_FORMATS[textOf(schema.format)]?.(nth)
  const fits = (text: string | undefined): text is string =>
    text !== undefined && isBetween([...text].length, least, most)
  if (schema.pattern !== undefined) {
    // A format's sample stands for a pattern that only trying would satisfy.
    const text = samplePattern(textOf(schema.pattern), nth, least) ?? sample
    if (fits(text)) return text
    throw new Unsatisfiable('has a pattern that the sandbox cannot satisfy')
  }
  if (fits(sample)) return sample
  const text = `sandbox ${name}`
  const shown = [...(text.length > most ? `${nth} ${text}` : text)].slice(0, Math.max(0, most))
  const whole = shown.join('') + '.'.repeat(Math.max(0, least - shown.length))
  if (fits(whole)) return whole
  throw contradicts()
}
