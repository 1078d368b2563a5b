/** Converts a client's JSON Schema to draft 2020-12, whichever draft it was written for. */
import { isJsonObject, type JsonObject, writeField } from '../../../json/canonical.ts'

/** Keywords with maps of names to schemas: their keys are no keywords. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords whose values are instances, not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'example'])
/** `$schema` would select another draft's rules; `$async` would make validation return a promise, which is always truthy. */
const DROPPED = new Set(['$schema', '$async'])

/**
 * Tuples of draft 7 (`items` as a list) become `prefixItems`, and keywords that name a dialect are dropped. Anything that is no schema
 * stays, for the validator to refuse.
 */
export function adaptSchema(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema
  const adapted: JsonObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (!DROPPED.has(keyword)) writeField(adapted, keyword, adaptKeyword(keyword, value))
  }
  if (!Array.isArray(adapted.items)) return adapted
  const { items, additionalItems, ...rest } = adapted
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) }
}

function adaptKeyword(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value
  if (Array.isArray(value)) return value.map(adaptSchema)
  if (!NAMED.has(keyword) || !isJsonObject(value)) return adaptSchema(value)
  const named: JsonObject = {}
  for (const [name, schema] of Object.entries(value)) writeField(named, name, adaptSchema(schema))
  return named
}

/** The schema for a function's arguments, which must be an object whatever else the schema allows. */
export function demandObject(schema: unknown): unknown {
  if (schema === true) return { type: 'object' }
  if (!isJsonObject(schema)) return schema
  const { type } = schema
  return type === undefined || (Array.isArray(type) && type.includes('object')) ? { ...schema, type: 'object' } : schema
}
