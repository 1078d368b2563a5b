/** Owns the judgement whether a value satisfies a schema: the last word on every instance that is made. */
import { isJsonObject, type JsonObject } from '../../../json/json-object.ts'
import { jsonEquals, sizeOfValue } from './json-equals.ts'
import { listOf, type Schema, schemaMapOf, schemaOf, schemasOf, textsMapOf, toSchema } from './keywords.ts'
import { satisfiesArray } from './satisfies-array.ts'
import { satisfiesObject } from './satisfies-object.ts'
import { satisfiesNumber, satisfiesString } from './satisfies-scalar.ts'
import { declaredTypes, isOfType } from './types.ts'
import type { Workshop } from './workshop.ts'

/**
 * By JSON Schema 2020-12, less `unevaluatedProperties` and `unevaluatedItems`; `format` is an annotation there.
 * Throws `SchemaError` for a malformed schema and where the budget ends.
 */
export function satisfies(schema: Schema, value: unknown, shop: Workshop, trail: Schema[] = []): boolean {
  if (typeof schema === 'boolean') return schema
  shop.budget.spend(1)
  // A schema that refers to itself for the same value says nothing new.
  if (trail.includes(schema)) return true
  const judge = (other: Schema) => satisfies(other, value, shop, [...trail, schema])
  return (
    (declaredTypes(schema)?.some(type => isOfType(value, type)) ?? true) &&
    isListed(schema, value, shop) &&
    satisfiesOwn(schema, value, shop) &&
    satisfiesApplied(schema, judge, shop) &&
    satisfiesDependent(schema, value, judge)
  )
}

function isListed(schema: JsonObject, value: unknown, shop: Workshop): boolean {
  if (schema.const !== undefined && !jsonEquals(schema.const, value)) return false
  const listed = listOf(schema, 'enum')
  if (listed) shop.budget.spend(listed.length * Math.min(4, sizeOfValue(value)))
  return listed?.some(item => jsonEquals(item, value)) ?? true
}

function satisfiesOwn(schema: JsonObject, value: unknown, shop: Workshop): boolean {
  const judge = (other: Schema, part: unknown) => satisfies(other, part, shop)
  if (typeof value === 'number') return satisfiesNumber(schema, value)
  if (typeof value === 'string') return satisfiesString(schema, value, shop)
  if (Array.isArray(value)) return satisfiesArray(schema, value, shop, judge)
  return isJsonObject(value) ? satisfiesObject(schema, value, shop, judge) : true
}

function satisfiesApplied(schema: JsonObject, judge: (other: Schema) => boolean, shop: Workshop): boolean {
  const { not, if: condition } = { not: schemaOf(schema, 'not'), if: schemaOf(schema, 'if') }
  return (
    (schema.$ref === undefined || judge(shop.resolve(schema.$ref))) &&
    (schema.$dynamicRef === undefined || judge(shop.resolve(schema.$dynamicRef))) &&
    (schemasOf(schema, 'allOf')?.every(judge) ?? true) &&
    (schemasOf(schema, 'anyOf')?.some(judge) ?? true) &&
    (schemasOf(schema, 'oneOf')?.filter(judge).length ?? 1) === 1 &&
    (not === undefined || !judge(not)) &&
    (condition === undefined || judge(schemaOf(schema, judge(condition) ? 'then' : 'else') ?? true))
  )
}

function satisfiesDependent(schema: JsonObject, value: unknown, judge: (other: Schema) => boolean): boolean {
  if (!isJsonObject(value)) return true
  const has = (key: string) => Object.hasOwn(value, key)
  return (
    textsMapOf(schema, 'dependentRequired').every(([key, needed]) => !has(key) || needed.every(has)) &&
    Object.entries(schemaMapOf(schema, 'dependentSchemas')).every(
      ([key, dependent]) => !has(key) || judge(toSchema(dependent, 'dependentSchemas')),
    )
  )
}
