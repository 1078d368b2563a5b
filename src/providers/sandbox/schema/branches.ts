/** Owns unfolding schemas that hold together: references followed, alternatives chosen, one list of plain parts a choice. */
import type { JsonObject } from '../../../json/json-object.ts'
import { type Schema, schemaMapOf, schemaOf, schemasOf, toSchema } from './keywords.ts'
import { leadsBack, type Place } from './maker.ts'
import { minimalSizes } from './minimal-sizes.ts'
import type { Workshop } from './workshop.ts'

export interface Branch {
  /** Schemas to be satisfied at once by their own keywords; what they refer to and choose from is among them. */
  parts: JsonObject[]
  compact: boolean
}

interface Unfolding {
  waiting: Schema[]
  found: Set<JsonObject>
  /** Points where one alternative, a list of schemas, is to be chosen. */
  choices: Schema[][][]
}

/** The ways to satisfy all schemas, the best first. Not all of them lead to a value. */
export function* branches(schemas: Schema[], place: Place, shop: Workshop): Generator<Branch> {
  yield* unfold({ waiting: [...schemas], found: new Set(), choices: [] }, place, shop)
}

function* unfold({ waiting, found, choices }: Unfolding, place: Place, shop: Workshop): Generator<Branch> {
  for (const schema of waiting) {
    shop.budget.spend(1)
    if (schema === false) return
    if (schema === true || found.has(schema)) continue
    found.add(schema)
    for (const other of impliedBy(schema, shop)) waiting.push(other)
    for (const choice of choicesOf(schema)) choices.push(choice)
  }
  const parts = [...found]
  const compact = place.compact || parts.some(part => place.open.has(part))
  const [choice, ...others] = choices
  if (choice === undefined) {
    yield { parts, compact }
    return
  }
  for (const alternative of putInOrder(choice, { ...place, compact }, shop)) {
    shop.budget.spend(found.size / 4)
    yield* unfold({ waiting: [...alternative], found: new Set(found), choices: [...others] }, place, shop)
  }
}

function impliedBy(schema: JsonObject, shop: Workshop): Schema[] {
  const references = [schema.$ref, schema.$dynamicRef].filter(reference => reference !== undefined)
  return [...references.map(shop.resolve), ...(schemasOf(schema, 'allOf') ?? [])]
}

function choicesOf(schema: JsonObject): Schema[][][] {
  const either = [schemasOf(schema, 'anyOf'), schemasOf(schema, 'oneOf')].filter(list => list !== undefined)
  const dependent = Object.entries(schemaMapOf(schema, 'dependentSchemas')).map(([key, other]) => [
    [toSchema(other, 'dependentSchemas')],
    [{ properties: { [key]: false } }],
  ])
  return [...either.map(list => list.map(alternative => [alternative])), ...dependent, ...conditionOf(schema)]
}

function conditionOf(schema: JsonObject): Schema[][][] {
  const condition = schemaOf(schema, 'if')
  if (condition === undefined) return []
  return [[[condition, schemaOf(schema, 'then') ?? true], [schemaOf(schema, 'else') ?? true]]]
}

/** As declared, but recursion last; where little is to be written, the alternative with the smallest instance first. */
function putInOrder(choice: Schema[][], place: Place, shop: Workshop): Schema[][] {
  if (choice.length === 1) return choice
  const weigh = place.compact
    ? (alternative: Schema[]) => alternative.reduce((sum, schema) => sum + minimalSizes(shop)(schema), 0)
    : (alternative: Schema[]) => Number(alternative.some(schema => leadsBack(schema, place, shop)))
  const weights = new Map(choice.map(alternative => [alternative, weigh(alternative)]))
  const compare = (one: Schema[], other: Schema[]) => {
    const [oneWeight, otherWeight] = [weights.get(one) ?? 0, weights.get(other) ?? 0]
    return oneWeight === otherWeight ? 0 : oneWeight - otherWeight
  }
  return [...choice].sort(compare)
}
