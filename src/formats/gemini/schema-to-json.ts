/** Translates Gemini's schemas, a subset of OpenAPI's with types in capitals, to JSON Schema. */

import { invalidRequestError } from '../../errors/errors.ts'
import { asString, isJsonObject, type JsonObject, writeField } from '../json/canonical.ts'
import { readObject } from '../json/read-fields.ts'
import { toCamelCase } from './gemini-fields.ts'

const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])
/** Limits that are 64-bit integers, which proto JSON writes as text. */
const LIMITS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
/** Keywords of Gemini's that JSON Schema does not have. A `format` of numbers or `enum` is unknown to some vendors. */
const OMITTED: ReadonlySet<string> = new Set(['propertyOrdering', 'nullable', 'type'])
const UNKNOWN_FORMATS: ReadonlySet<unknown> = new Set(['enum', 'float', 'double', 'int32', 'int64'])

/** Translates a schema of any depth that a request may have. Keywords that are not Gemini's are kept. */
export function translateSchema(value: unknown, param: string): JsonObject {
  const schema = readObject(value, param)
  const translated: JsonObject = { ...readType(schema, param) }
  for (const [given, each] of Object.entries(schema)) {
    const name = toCamelCase(given)
    if (OMITTED.has(name) || (name === 'format' && UNKNOWN_FORMATS.has(each))) continue
    const at = `${param}.${given}`
    if (name === 'properties') translated.properties = translateProperties(each, at)
    else if (name === 'items' || name === 'additionalProperties')
      translated[name] = isJsonObject(each) ? translateSchema(each, at) : each
    else if ((name === 'anyOf' || name === 'prefixItems') && Array.isArray(each))
      translated[name] = each.map((item, index) => translateSchema(item, `${at}[${index}]`))
    else if (name === 'example') translated.examples = [each]
    else writeField(translated, name, LIMITS.has(name) && typeof each === 'string' ? Number(each) : each)
  }
  if (schema.nullable === true && Array.isArray(translated.enum)) translated.enum = [...translated.enum, null]
  return translated
}

function readType({ type, nullable }: JsonObject, param: string): JsonObject {
  const listed = (Array.isArray(type) ? type : [type ?? '']).map(each => asString(each).toLowerCase())
  const types = listed.filter(each => each !== '' && each !== 'type_unspecified')
  if (types.some(each => !TYPES.has(each)))
    throw invalidRequestError(`${param}.type must be one of: ${[...TYPES].join(', ').toUpperCase()}.`, `${param}.type`)
  const all = nullable === true && types.length > 0 ? [...new Set([...types, 'null'])] : types
  if (all.length === 0) return {}
  return { type: all.length === 1 ? all[0] : all }
}

function translateProperties(value: unknown, param: string): JsonObject {
  const properties: JsonObject = {}
  for (const [name, each] of Object.entries(readObject(value, param)))
    writeField(properties, name, translateSchema(each, `${param}.${/^\w{1,64}$/.test(name) ? name : '*'}`))
  return properties
}
