/** Owns the judgement of objects against a schema's own keywords, and which schemas a property falls under. */
import type { JsonObject } from '../../../json/json-object.ts'
import { countOf, type Schema, schemaMapOf, schemaOf, textsOf, toSchema } from './keywords.ts'
import type { JudgePart } from './satisfies-array.ts'
import type { Workshop } from './workshop.ts'

export function satisfiesObject(schema: JsonObject, value: JsonObject, shop: Workshop, judge: JudgePart): boolean {
  const keys = Object.keys(value)
  const names = schemaOf(schema, 'propertyNames') ?? true
  return (
    keys.length >= (countOf(schema, 'minProperties') ?? 0) &&
    keys.length <= (countOf(schema, 'maxProperties') ?? Infinity) &&
    textsOf(schema, 'required').every(key => Object.hasOwn(value, key)) &&
    keys.every(key => judge(names, key)) &&
    keys.every(key => propertySchemas(schema, key, shop).every(property => judge(property, value[key])))
  )
}

/** The schemas one schema puts a property under: its own, its patterns', or else that of additional ones. */
export function propertySchemas(schema: JsonObject, key: string, shop: Workshop): Schema[] {
  const declared = declaredSchemas(schema, key, shop)
  const additional = declared.length > 0 ? undefined : schemaOf(schema, 'additionalProperties')
  return additional === undefined ? declared : [additional]
}

/** Those of `properties` and `patternProperties` alone. */
export function declaredSchemas(schema: JsonObject, key: string, shop: Workshop): Schema[] {
  const properties = schemaMapOf(schema, 'properties')
  const own = Object.hasOwn(properties, key) ? [toSchema(properties[key], 'properties')] : []
  const byPattern = Object.entries(schemaMapOf(schema, 'patternProperties')).filter(([pattern]) =>
    shop.matches(pattern, key),
  )
  return [...own, ...byPattern.map(([, property]) => toSchema(property, 'patternProperties'))]
}
