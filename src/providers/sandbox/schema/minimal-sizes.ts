/** Owns the estimate of how small an instance of a schema can be, which leads recursion to its shortest end. */
import { isJsonObject, type JsonObject } from '../../../json/json-object.ts'
import { BudgetSpentError, SchemaError } from './budget.ts'
import type { Workshop } from './workshop.ts'

type SizeOf = (schema: unknown) => number

/** Sizes of recursive schemas settle in as many rounds as the shortest way out has steps; further is not looked. */
const ROUNDS = 12

const known = new WeakMap<Workshop, SizeOf>()

/** Values an instance has at least, as far as can be told without writing it; infinite where recursion has no end. */
export function minimalSizes(shop: Workshop): SizeOf {
  const sizes = known.get(shop) ?? estimateSizes(shop)
  known.set(shop, sizes)
  return sizes
}

function estimateSizes(shop: Workshop): SizeOf {
  const schemas = listSchemas(shop)
  const sizes = new Map<unknown, number>()
  const sizeOf: SizeOf = schema =>
    isJsonObject(schema) ? (sizes.get(schema) ?? Infinity) : schema === false ? Infinity : 1
  for (let round = 0; round < ROUNDS; round++) {
    shop.budget.spend(schemas.length / 4)
    const changed = schemas.filter(schema => {
      const size = estimateSize(schema, sizeOf, shop)
      return size < sizeOf(schema) && sizes.set(schema, size)
    })
    if (changed.length === 0) break
  }
  return sizeOf
}

/** Every object of the document, the inner ones first; those that are no schemas do no harm. */
function listSchemas({ root, budget }: Workshop): JsonObject[] {
  const listed: JsonObject[] = []
  const waiting: unknown[] = [root]
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    budget.spend(0.5)
    if (isJsonObject(place)) listed.push(place)
    if (typeof place !== 'object' || place === null) continue
    for (const value of Object.values(place)) if (typeof value === 'object' && value !== null) waiting.push(value)
  }
  return listed.reverse()
}

function estimateSize(schema: JsonObject, sizeOf: SizeOf, shop: Workshop): number {
  if (schema.const !== undefined || Array.isArray(schema.enum)) return 1
  const least = (list: unknown) => (Array.isArray(list) ? Math.min(...list.map(sizeOf)) : 0)
  const total = (list: unknown) => (Array.isArray(list) ? list.reduce<number>((sum, item) => sum + sizeOf(item), 0) : 0)
  const referred = typeof schema.$ref === 'string' ? sizeOfTarget(schema.$ref, sizeOf, shop) : 0
  return 1 + referred + least(schema.anyOf) + least(schema.oneOf) + total(schema.allOf) + estimateInside(schema, sizeOf)
}

/** What looks like a reference may be data, or stand where nothing needs it. */
function sizeOfTarget(reference: string, sizeOf: SizeOf, shop: Workshop): number {
  try {
    return sizeOf(shop.resolve(reference))
  } catch (error) {
    if (error instanceof BudgetSpentError || !(error instanceof SchemaError)) throw error
    return Infinity
  }
}

function estimateInside(schema: JsonObject, sizeOf: SizeOf): number {
  const types = [schema.type].flat()
  const mayBe = (type: string) => schema.type === undefined || types.includes(type)
  const isScalar = types.some(type => typeof type === 'string' && type !== 'object' && type !== 'array')
  if (isScalar) return 0
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = mayBe('object') && Array.isArray(schema.required) ? schema.required : []
  const minItems = mayBe('array') && typeof schema.minItems === 'number' ? schema.minItems : 0
  const inObject = required.reduce<number>(
    (sum, key) => sum + (Object.hasOwn(properties, key) ? sizeOf(properties[key]) : 1),
    0,
  )
  return inObject + (minItems > 0 ? minItems * sizeOf(schema.items) : 0)
}
