/** Owns the judgement of arrays against a schema's own keywords, and which schema an item falls under. */
import type { JsonObject } from '../../../json/json-object.ts'
import { SchemaError } from './budget.ts'
import { jsonEquals, sizeOfValue } from './json-equals.ts'
import { countOf, type Schema, schemaOf, toSchema } from './keywords.ts'
import type { Workshop } from './workshop.ts'

export type JudgePart = (schema: Schema, part: unknown) => boolean

export function satisfiesArray(schema: JsonObject, items: unknown[], shop: Workshop, judge: JudgePart): boolean {
  const inBounds =
    items.length >= (countOf(schema, 'minItems') ?? 0) && items.length <= (countOf(schema, 'maxItems') ?? Infinity)
  return (
    inBounds &&
    items.every((item, index) => judge(itemSchema(schema, index) ?? true, item)) &&
    (schema.uniqueItems !== true || areDistinct(items, shop)) &&
    satisfiesContains(schema, items, judge)
  )
}

/** The items a schema wants to find: by default one. */
export function containsOf(schema: JsonObject): { wanted: Schema; least: number; most: number } | undefined {
  const wanted = schemaOf(schema, 'contains')
  if (wanted === undefined) return undefined
  return { wanted, least: countOf(schema, 'minContains') ?? 1, most: countOf(schema, 'maxContains') ?? Infinity }
}

/** The schema of the item at an index, undefined where nothing is said of it. Reads tuples of draft 7 too. */
export function itemSchema(schema: JsonObject, index: number): Schema | undefined {
  const isOldTuple = Array.isArray(schema.items)
  const first = firstItems(schema)
  if (index < first.length) return toSchema(first[index], 'prefixItems')
  return schemaOf(schema, isOldTuple ? 'additionalItems' : 'items')
}

/** The schemas a tuple gives its first items. */
export function firstItems(schema: JsonObject): unknown[] {
  const first = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : [])
  if (Array.isArray(first)) return first
  throw new SchemaError("has a 'prefixItems' that is not an array")
}

function satisfiesContains(schema: JsonObject, items: unknown[], judge: JudgePart): boolean {
  const contains = containsOf(schema)
  if (contains === undefined) return true
  const found = items.filter(item => judge(contains.wanted, item)).length
  return found >= contains.least && found <= contains.most
}

function areDistinct(items: unknown[], shop: Workshop): boolean {
  if (items.every(item => typeof item !== 'object')) return new Set(items).size === items.length
  return items.every((item, index) => {
    shop.budget.spend(((items.length - index) / 8) * Math.min(4, sizeOfValue(item)))
    return !items.slice(index + 1).some(other => jsonEquals(item, other))
  })
}
