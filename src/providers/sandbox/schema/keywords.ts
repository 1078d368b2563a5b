/** Owns reading a schema's keywords: each has the type JSON Schema gives it, or the schema is refused. */
import { isJsonObject, type JsonObject } from '../../../json/json-object.ts'
import { SchemaError } from './budget.ts'

/** `true` allows everything, `false` nothing. */
export type Schema = JsonObject | boolean

export function toSchema(value: unknown, place: string): Schema {
  if (typeof value === 'boolean' || isJsonObject(value)) return value
  throw new SchemaError(`has a '${place}' that is not a schema (an object, true or false)`)
}

export function numberOf(part: JsonObject, keyword: string): number | undefined {
  const value = part[keyword]
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
  throw new SchemaError(`has a '${keyword}' that is not a number`)
}

/** A length or a count. */
export function countOf(part: JsonObject, keyword: string): number | undefined {
  const value = numberOf(part, keyword)
  if (value === undefined || (value >= 0 && Number.isInteger(value))) return value
  throw new SchemaError(`has a '${keyword}' that is not a whole number of at least 0`)
}

export function textOf(part: JsonObject, keyword: string): string | undefined {
  const value = part[keyword]
  if (value === undefined || typeof value === 'string') return value
  throw new SchemaError(`has a '${keyword}' that is not a string`)
}

export function textsOf(part: JsonObject, keyword: string): string[] {
  return toTexts(part[keyword] ?? [], keyword)
}

export function listOf(part: JsonObject, keyword: string): unknown[] | undefined {
  const value = part[keyword]
  if (value === undefined || Array.isArray(value)) return value
  throw new SchemaError(`has a '${keyword}' that is not an array`)
}

export function schemaOf(part: JsonObject, keyword: string): Schema | undefined {
  const value = part[keyword]
  return value === undefined ? undefined : toSchema(value, keyword)
}

export function schemasOf(part: JsonObject, keyword: string): Schema[] | undefined {
  const list = listOf(part, keyword)
  if (list?.length === 0) throw new SchemaError(`has an empty '${keyword}'`)
  return list?.map(value => toSchema(value, keyword))
}

/** Schemas by property name or by pattern. */
export function schemaMapOf(part: JsonObject, keyword: string): JsonObject {
  const value = part[keyword] ?? {}
  if (isJsonObject(value)) return value
  throw new SchemaError(`has a '${keyword}' that is not an object`)
}

/** Lists of property names by property name. */
export function textsMapOf(part: JsonObject, keyword: string): [string, string[]][] {
  return Object.entries(schemaMapOf(part, keyword)).map(([key, value]) => [key, toTexts(value, keyword)])
}

function toTexts(value: unknown, place: string): string[] {
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value
  throw new SchemaError(`has a '${place}' that is not an array of strings`)
}
