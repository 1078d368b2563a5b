/** Owns the search for a value: every way to satisfy the schemas, every proposal for it, checked before it is given out. */
import type { JsonObject } from '../../../json/json-object.ts'
import { branches } from './branches.ts'
import { BudgetSpentError } from './budget.ts'
import { sizeOfValue } from './json-equals.ts'
import { listOf, type Schema } from './keywords.ts'
import type { Maker, Place } from './maker.ts'
import { satisfies } from './satisfies.ts'
import { allowedTypes, type TypeName } from './types.ts'
import type { Workshop } from './workshop.ts'
import { writeArrays } from './write-arrays.ts'
import { writeNumbers } from './write-numbers.ts'
import { writeObjects } from './write-objects.ts'
import { writeStrings } from './write-strings.ts'

/** No instance is nested deeper; OpenAI allows schemas of ten levels. */
const DEEPEST = 64
const TOO_DEEP = 'nests deeper than the sandbox writes, or without an end'

/** Objects and arrays are right as they are built, but for these. */
const KEYWORDS_TO_CHECK = ['not', 'oneOf', 'if', 'contains', 'dependentSchemas', 'const', 'enum']

/** Values that satisfy all schemas at once, the best first. */
export function* solve(schemas: Schema[], place: Place, shop: Workshop): Generator<unknown> {
  if (place.depth >= DEEPEST) throw new BudgetSpentError(TOO_DEEP)
  for (const { parts, compact } of branches(schemas, place, shop)) {
    const here: Place = { ...place, depth: place.depth + 1, open: new Set([...place.open, ...parts]), compact }
    const maker: Maker = { shop, place: here, solve: (inner, change) => solve(inner, { ...here, ...change }, shop) }
    const mustCheck = parts.some(part => KEYWORDS_TO_CHECK.some(keyword => part[keyword] !== undefined))
    for (const value of propose(parts, maker)) {
      shop.budget.spend(1)
      const isBuilt = typeof value === 'object' && value !== null && !mustCheck
      if (isBuilt || schemas.every(schema => satisfies(schema, value, shop))) yield value
    }
  }
}

function* propose(parts: JsonObject[], maker: Maker): Generator<unknown> {
  const lists = parts.flatMap(part => (part.const === undefined ? [listOf(part, 'enum')] : [[part.const]]))
  const listed = lists.find(list => list !== undefined)
  for (const value of listed ?? []) {
    maker.shop.budget.spend(sizeOfValue(value))
    yield value
  }
  if (listed !== undefined) return
  if (!maker.place.compact) yield* writeSuggested(parts)
  for (const type of allowedTypes(parts)) yield* writeType(type, parts, maker)
}

/** Plain values the schema's author shows. */
function* writeSuggested(parts: JsonObject[]): Generator<unknown> {
  for (const { default: preset, examples } of parts) {
    const shown = Array.isArray(examples) ? [preset, ...examples] : [preset]
    yield* shown.filter(value => value !== undefined && typeof value !== 'object')
  }
}

function* writeType(type: TypeName, parts: JsonObject[], maker: Maker): Generator<unknown> {
  switch (type) {
    case 'string':
      return yield* writeStrings(parts, maker)
    case 'integer':
    case 'number':
      return yield* writeNumbers(parts, type === 'integer', maker.place.variety)
    case 'boolean':
      return yield* [true, false]
    case 'object':
      return yield* writeObjects(parts, maker)
    case 'array':
      return yield* writeArrays(parts, maker)
    case 'null':
      yield null
  }
}
