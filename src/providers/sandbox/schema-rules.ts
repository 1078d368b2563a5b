/** Merges schemas, and checks values against them. */
import {
  asNumber,
  asString,
  isJsonObject,
  type JsonObject,
  readField,
  writeField,
} from '../../formats/json/canonical.ts'

/** An unsupported or contradictory schema. The message is the predicate of a sentence whose subject is the schema, and never quotes the schema. */
export class UnsatisfiableSchemaError extends Error {}

export const instanceTooLargeError = () =>
  new UnsatisfiableSchemaError('requires an instance that is too large for the sandbox')
export const contradictionError = () => new UnsatisfiableSchemaError('has no instance that the sandbox can find')

const ANNOTATIONS = ['title', 'description', 'default', 'examples', '$schema', '$id', '$comment', '$defs']

/** Merges two schemas. Throws an `UnsatisfiableSchemaError` when they contradict each other. */
export function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const merged = { ...one }
  for (const [keyword, value] of Object.entries(other)) {
    const own = readField(one, keyword)
    const isSame = own === undefined || own === value || ANNOTATIONS.includes(keyword)
    writeField(merged, keyword, isSame ? (own ?? value) : combine(keyword, own, value))
  }
  const names = isJsonObject(merged.properties) ? Object.keys(merged.properties) : []
  const isOpen = ({ additionalProperties = true, properties = {} }: JsonObject) =>
    additionalProperties === true || names.every(name => Object.hasOwn(properties as JsonObject, name))
  if (isOpen(one) && isOpen(other)) return merged
  throw contradictionError()
}

function combine(keyword: string, one: unknown, other: unknown): unknown {
  if (typeof one === 'number' && typeof other === 'number') {
    if (/^min|^exclusiveMin/.test(keyword)) return Math.max(one, other)
    if (/^max|^exclusiveMax/.test(keyword)) return Math.min(one, other)
  }
  if (keyword === 'properties' && isJsonObject(one) && isJsonObject(other)) {
    const both = { ...one }
    for (const [name, schema] of Object.entries(other))
      writeField(both, name, Object.hasOwn(one, name) ? { allOf: [one[name], schema] } : schema)
    return both
  }
  if (keyword === 'type')
    return schemaTypesOf({ type: one }).filter(type => schemaTypesOf({ type: other }).includes(type))
  if (keyword === 'required') return [...new Set([...(optionalArray(one) ?? []), ...(optionalArray(other) ?? [])])]
  if (keyword === 'additionalProperties') return one === true ? other : other === true ? one : { allOf: [one, other] }
  throw new UnsatisfiableSchemaError('combines keywords that the sandbox cannot merge')
}

/** Returns undefined for a value that is not an array. */
export function optionalArray(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** Returns the types that a schema names, or else the type to which its keywords apply. */
export function schemaTypesOf(schema: JsonObject): unknown[] {
  if (schema.type !== undefined) return optionalArray(schema.type) ?? [schema.type]
  const has = (keywords: RegExp) => Object.keys(schema).some(keyword => keywords.test(keyword))
  if (has(/^(properties|required|propertyNames)$|Properties$/)) return ['object']
  if (has(/items$/i)) return ['array']
  return [has(/imum$|^multipleOf$/) ? 'number' : 'string']
}

/** Returns false when the schema, whose references are ignored, certainly excludes the value. */
export function canMatchSchema(value: unknown, schema: JsonObject): boolean {
  if (schema.type !== undefined && !schemaTypesOf(schema).some(type => isOfType(value, type))) return false
  if ('const' in schema && !Bun.deepEquals(schema.const, value)) return false
  if (optionalArray(schema.enum)?.some(member => Bun.deepEquals(member, value)) === false) return false
  if (typeof value === 'number') return isNumberAllowed(value, schema)
  if (typeof value === 'string') return isInRange([...value].length, schema.minLength, schema.maxLength)
  if (!isJsonObject(value)) return true
  const { properties, required, additionalProperties } = schema
  const declared = isJsonObject(properties) ? properties : {}
  const isAllowed = (name: string) => {
    const each = readField(declared, name) ?? additionalProperties ?? true
    return isJsonObject(each) ? canMatchSchema(value[name], each) : each !== false
  }
  return (
    Object.keys(value).every(isAllowed) &&
    (optionalArray(required) ?? []).every(name => Object.hasOwn(value, asString(name)))
  )
}

/** Returns true if the schema is known to allow the value: `canMatchSchema` checks every keyword that applies to it. */
export function mustMatchSchema(value: unknown, schema: JsonObject): boolean {
  const hasKeyword = (keywords: RegExp) => Object.keys(schema).some(keyword => keywords.test(keyword))
  if (typeof value === 'string' && hasKeyword(/^pattern$/)) return false
  if (Array.isArray(value) && hasKeyword(/items$/i)) return false
  if (isJsonObject(value) && hasKeyword(/propert|^required$/i)) return false
  return canMatchSchema(value, schema)
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  return type === 'object' ? isJsonObject(value) : type === 'null' ? value === null : typeof value === type
}

export function isInRange(size: number, min: unknown, max: unknown): boolean {
  return size >= asNumber(min, 0) && size <= asNumber(max, Infinity)
}

export function isNumberAllowed(value: number, schema: JsonObject): boolean {
  const step = asNumber(schema.multipleOf, 0)
  const isMultiple = step === 0 || Number.isInteger(Number((value / step).toPrecision(15)))
  const isInside =
    value > asNumber(schema.exclusiveMinimum, -Infinity) && value < asNumber(schema.exclusiveMaximum, Infinity)
  return (
    isMultiple &&
    isInside &&
    value >= asNumber(schema.minimum, -Infinity) &&
    isInRange(value, -Infinity, schema.maximum)
  )
}
