/** Adapts a JSON schema to what Anthropic can enforce. */

import { invalidRequestError } from '../../../errors/errors.ts'
import { isJsonObject, type JsonObject, writeField } from '../../../formats/json/canonical.ts'

/** Keywords that Anthropic enforces. */
const ENFORCED = new Set(['type', 'enum', 'const', 'required', '$ref', 'title'])
/** Keywords without an effect on validity. */
const ANNOTATIONS = new Set(['$schema', '$id', '$comment', 'examples', 'deprecated', 'readOnly', 'writeOnly'])
/** Keywords with maps of names to schemas. */
const NAMED = new Set(['properties', '$defs', 'definitions'])
const FORMATS = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '))

/**
 * Closes every object, as Anthropic demands. Keywords that Anthropic cannot enforce move into the description, where the model reads
 * them. Throws a 400 when closing an object would break its purpose.
 */
export function adaptSchema(schema: JsonObject, param: string): JsonObject {
  const fitted: JsonObject = {}
  const described: string[] = []
  for (const [keyword, value] of Object.entries(unwrapSingle(schema))) {
    if (ANNOTATIONS.has(keyword) || keyword === 'description' || keyword === 'additionalProperties') continue
    if (ENFORCED.has(keyword) || isEnforced(keyword, value)) fitted[keyword] = value
    else if (NAMED.has(keyword) && isJsonObject(value)) fitted[keyword] = fitNamed(value, `${param}.${keyword}`)
    else if (keyword === 'items' && isJsonObject(value)) fitted.items = adaptSchema(value, `${param}.items`)
    else if ((keyword === 'anyOf' || keyword === 'oneOf') && Array.isArray(value)) {
      fitted.anyOf = value.map((option, index) => fitOption(option, `${param}.${keyword}[${index}]`))
    } else described.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  if (describesObject(schema)) {
    checkClosable(schema, param)
    fitted.additionalProperties = false
  }
  const description = [schema.description, described.join('; ')].filter(text => typeof text === 'string' && text !== '')
  if (description.length > 0) fitted.description = description.join('\n')
  return fitted
}

function isEnforced(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return typeof value === 'string' && FORMATS.has(value)
  return keyword === 'minItems' && (value === 0 || value === 1)
}

/** `allOf` with one schema is a way to write keywords beside a `$ref`. */
function unwrapSingle(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema
  const only: unknown = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined
  return isJsonObject(only) ? { ...rest, ...only } : schema
}

function fitNamed(schemas: JsonObject, param: string): JsonObject {
  const fitted: JsonObject = {}
  for (const [name, schema] of Object.entries(schemas)) writeField(fitted, name, fitOption(schema, `${param}.${name}`))
  return fitted
}

function fitOption(schema: unknown, param: string): unknown {
  return isJsonObject(schema) ? adaptSchema(schema, param) : schema
}

function describesObject({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isJsonObject(properties)
}

/** Closing an object with free keys would leave it empty, and closing the parts of an `allOf` would make them contradict. */
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
