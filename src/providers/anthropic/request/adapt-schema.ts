/** Adapts a JSON schema to the keywords that Anthropic can enforce. */

import { invalidRequestError } from '../../../errors/errors.ts'
import { isJsonObject, type JsonObject, writeField } from '../../../formats/json/canonical.ts'

/** Keywords that Anthropic enforces. */
const ENFORCED = new Set(['type', 'enum', 'const', 'required', '$ref', 'title'])
/** Keywords without an effect on validity. */
const ANNOTATIONS = new Set(['$schema', '$id', '$comment', 'examples', 'deprecated', 'readOnly', 'writeOnly'])
/** Keywords with maps of names to schemas. */
const SCHEMA_MAPS = new Set(['properties', '$defs', 'definitions'])
const FORMATS = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '))

/**
 * Returns the schema with `additionalProperties: false` in every object, which Anthropic requires. Keywords that Anthropic cannot enforce are
 * moved into the description, where the model reads them. Throws a 400 for a schema whose objects cannot be closed.
 */
export function adaptSchema(schema: JsonObject, param: string): JsonObject {
  const adapted: JsonObject = {}
  const described: string[] = []
  for (const [keyword, value] of Object.entries(unwrapSingle(schema))) {
    if (ANNOTATIONS.has(keyword) || keyword === 'description' || keyword === 'additionalProperties') continue
    if (ENFORCED.has(keyword) || isEnforced(keyword, value)) adapted[keyword] = value
    else if (SCHEMA_MAPS.has(keyword) && isJsonObject(value))
      adapted[keyword] = adaptSchemaMap(value, `${param}.${keyword}`)
    else if (keyword === 'items' && isJsonObject(value)) adapted.items = adaptSchema(value, `${param}.items`)
    else if ((keyword === 'anyOf' || keyword === 'oneOf') && Array.isArray(value)) {
      adapted.anyOf = value.map((option, index) => adaptSubschema(option, `${param}.${keyword}[${index}]`))
    } else described.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  if (describesObject(schema)) {
    checkClosable(schema, param)
    adapted.additionalProperties = false
  }
  const description = [schema.description, described.join('; ')].filter(text => typeof text === 'string' && text !== '')
  if (description.length > 0) adapted.description = description.join('\n')
  return adapted
}

function isEnforced(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return typeof value === 'string' && FORMATS.has(value)
  return keyword === 'minItems' && (value === 0 || value === 1)
}

/** Merges an `allOf` with one schema, which is a way to write keywords beside a `$ref`. */
function unwrapSingle(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema
  const only: unknown = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined
  return isJsonObject(only) ? { ...rest, ...only } : schema
}

function adaptSchemaMap(schemas: JsonObject, param: string): JsonObject {
  const adapted: JsonObject = {}
  for (const [name, schema] of Object.entries(schemas))
    writeField(adapted, name, adaptSubschema(schema, `${param}.${name}`))
  return adapted
}

function adaptSubschema(schema: unknown, param: string): unknown {
  return isJsonObject(schema) ? adaptSchema(schema, param) : schema
}

function describesObject({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isJsonObject(properties)
}

/** Throws a 400 for an object with arbitrary keys, which would become empty, and for an `allOf`, whose closed parts would contradict each other. */
function checkClosable(
  { properties, additionalProperties, patternProperties, allOf, $ref }: JsonObject,
  param: string,
): void {
  const isMap = isJsonObject(additionalProperties) && Object.keys(additionalProperties).length > 0
  const isOpen = properties === undefined && additionalProperties !== false && $ref === undefined
  const isJoined = Array.isArray(allOf) && allOf.length > 1
  if (!isMap && !isOpen && !isJoined && patternProperties === undefined) return
  throw invalidRequestError(
    `${param} must list its object’s properties: Anthropic enforces no schema of objects with any keys.`,
    param,
  )
}
