/** Owns reading a client's JSON Schema as draft 2020-12, whichever draft it was written for. */
import { isJsonObject, type JsonObject, writeField } from '../../../json/json-object.ts'

/** Maps of names to schemas: what stands in them by name is no keyword. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Values of instances, whatever they look like. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'example'])
/** `$schema` would ask for another draft's rules; `$async` makes validation a promise, which is true of everything. */
const DROPPED = new Set(['$schema', '$async'])

/**
 * The same demands in 2020-12's words: tuples of draft 7 (`items` as a list) become `prefixItems`, and what names a
 * dialect goes. Anything that is no schema is kept for the validator to refuse.
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

/** The schema for a function's arguments, which are an object whatever else the schema allows. */
export function demandObject(schema: unknown): unknown {
  if (schema === true) return { type: 'object' }
  if (!isJsonObject(schema)) return schema
  const { type } = schema
  return type === undefined || (Array.isArray(type) && type.includes('object')) ? { ...schema, type: 'object' } : schema
}
