/** Reads request fields that must have a certain type; `param` names the field in the 400. */

import { invalidRequestError } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject, readField } from './canonical.ts'

/** Returns the field; undefined when it is absent or null, which OpenAI treats as absent. */
export function readOptional(object: JsonObject, field: string): unknown {
  return readField(object, field) ?? undefined
}

/** Returns the listed fields that are present in the object. */
export function pickPresent(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap(field => {
      const value = readOptional(object, field)
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

export function readString(value: unknown, param: string): string {
  if (typeof value === 'string') return value
  throw invalidRequestError(`${param} must be a string.`, param)
}

export function readNonEmptyString(value: unknown, param: string): string {
  const name = readString(value, param)
  if (name !== '') return name
  throw invalidRequestError(`${param} must not be empty.`, param)
}

export function readObject(value: unknown, param: string): JsonObject {
  if (isJsonObject(value)) return value
  throw invalidRequestError(`${param} must be an object.`, param)
}

export function readArray(value: unknown, param: string): unknown[] {
  if (Array.isArray(value)) return value
  throw invalidRequestError(`${param} must be an array.`, param)
}

export function readNumber(value: unknown, param: string, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value
  throw invalidRequestError(
    `${param} must be a number ${max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`}.`,
    param,
  )
}

export function readPositiveInteger(value: unknown, param: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw invalidRequestError(`${param} must be a whole number above 0.`, param)
}

/** Throws a 400 unless the value is one of these words. */
export function readEnum<Word extends string>(value: unknown, param: string, words: readonly Word[]): Word {
  const found = words.find(word => word === value)
  if (found !== undefined) return found
  throw invalidRequestError(`${param} must be one of: ${words.join(', ')}.`, param)
}
