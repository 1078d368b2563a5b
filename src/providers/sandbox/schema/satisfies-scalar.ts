/** Owns the judgement of numbers and strings against a schema's own keywords. */
import type { JsonObject } from '../../../json/json-object.ts'
import { SchemaError } from './budget.ts'
import { countOf, numberOf, textOf } from './keywords.ts'
import type { Workshop } from './workshop.ts'

export function satisfiesNumber(schema: JsonObject, value: number): boolean {
  const least = numberOf(schema, 'minimum') ?? Number.NEGATIVE_INFINITY
  const most = numberOf(schema, 'maximum') ?? Number.POSITIVE_INFINITY
  const above = numberOf(schema, 'exclusiveMinimum') ?? Number.NEGATIVE_INFINITY
  const below = numberOf(schema, 'exclusiveMaximum') ?? Number.POSITIVE_INFINITY
  const step = stepOf(schema)
  const inBounds = value >= least && value <= most && value > above && value < below
  return inBounds && (step === undefined || isMultiple(value, step))
}

/** The schema's `multipleOf`; throws `SchemaError` unless it is above 0. */
export function stepOf(schema: JsonObject): number | undefined {
  const step = numberOf(schema, 'multipleOf')
  if (step === undefined || step > 0) return step
  throw new SchemaError("has a 'multipleOf' that is not above 0")
}

/** Decimal fractions are not exact in binary: 0.3 counts as a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step
  if (Number.isInteger(quotient)) return true
  return Math.abs(quotient) < 1e9 && Math.abs(quotient - Math.round(quotient)) < 1e-7
}

export function satisfiesString(schema: JsonObject, value: string, shop: Workshop): boolean {
  const least = countOf(schema, 'minLength') ?? 0
  const most = countOf(schema, 'maxLength') ?? Number.POSITIVE_INFINITY
  const pattern = textOf(schema, 'pattern')
  const length = lengthOf(value)
  return length >= least && length <= most && (pattern === undefined || shop.matches(pattern, value))
}

/** In code points, as JSON Schema counts. */
export function lengthOf(text: string): number {
  let length = text.length
  for (const character of text) length -= character.length - 1
  return length
}
