/** What schemas say of a value: two schemas as one, and whether a value can be meant. */
import {
  asNumber,
  asString,
  isJsonObject,
  type JsonObject,
  readField,
  writeField,
} from '../../formats/json/canonical.ts'

/** What is wrong with a schema, as the end of a sentence that begins with it. Never quotes the schema. */
export class UnsatisfiableSchemaError extends Error {}

export const instanceTooLargeError = () =>
  new UnsatisfiableSchemaError('asks for an instance too large for the sandbox')
export const contradictionError = () => new UnsatisfiableSchemaError('has no instance that the sandbox could find')

const ANNOTATIONS = ['title', 'description', 'default', 'examples', '$schema', '$id', '$comment', '$defs']

/** Both schemas as one. Throws an `Unsatisfiable` where they say different things of the same. */
export function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const united = { ...one }
  for (const [keyword, value] of Object.entries(other)) {
    const own = readField(one, keyword)
    const isSame = own === undefined || own === value || ANNOTATIONS.includes(keyword)
    writeField(united, keyword, isSame ? (own ?? value) : combine(keyword, own, value))
  }
  const names = isJsonObject(united.properties) ? Object.keys(united.properties) : []
  const isOpen = ({ additionalProperties = true, properties = {} }: JsonObject) =>
    additionalProperties === true || names.every(name => Object.hasOwn(properties as JsonObject, name))
  if (isOpen(one) && isOpen(other)) return united
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
  throw new UnsatisfiableSchemaError('demands more of one value than the sandbox can unite')
}

/** Undefined for what is no list. */
export function optionalArray(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** The types that a schema names, or the one that its keywords are about. */
export function schemaTypesOf(schema: JsonObject): unknown[] {
  if (schema.type !== undefined) return optionalArray(schema.type) ?? [schema.type]
  const has = (keywords: RegExp) => Object.keys(schema).some(keyword => keywords.test(keyword))
  if (has(/^(properties|required|propertyNames)$|Properties$/)) return ['object']
  if (has(/items$/i)) return ['array']
  return [has(/imum$|^multipleOf$/) ? 'number' : 'string']
}

/** False where the schema, without references, certainly excludes the value. */
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

/** True where the schema certainly allows the value: it says nothing of it that `canMatchSchema` does not check. */
export function mustMatchSchema(value: unknown, schema: JsonObject): boolean {
  const says = (keywords: RegExp) => Object.keys(schema).some(keyword => keywords.test(keyword))
  if (typeof value === 'string' && says(/^pattern$/)) return false
  if (Array.isArray(value) && says(/items$/i)) return false
  if (isJsonObject(value) && says(/propert|^required$/i)) return false
  return canMatchSchema(value, schema)
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  return type === 'object' ? isJsonObject(value) : type === 'null' ? value === null : typeof value === type
}

export function isInRange(size: number, least: unknown, most: unknown): boolean {
  return size >= asNumber(least, 0) && size <= asNumber(most, Infinity)
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
