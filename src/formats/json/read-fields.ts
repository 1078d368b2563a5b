/** Reads request fields that must have a certain type; `param` names the field in the 400. */

import { invalidRequest } from '../../errors/errors.ts'
import { isJsonObject, type JsonObject, readField } from './canonical.ts'

/** The field; undefined when it is absent or null, which OpenAI treats as absent. */
export function readGiven(object: JsonObject, field: string): unknown {
  return readField(object, field) ?? undefined
}

/** Those of these fields that are given. */
export function pickGiven(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap(field => {
      const value = readGiven(object, field)
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

export function readText(value: unknown, param: string): string {
  if (typeof value === 'string') return value
  throw invalidRequest(`${param} must be a string.`, param)
}

export function readName(value: unknown, param: string): string {
  const name = readText(value, param)
  if (name !== '') return name
  throw invalidRequest(`${param} must not be empty.`, param)
}

export function readObject(value: unknown, param: string): JsonObject {
  if (isJsonObject(value)) return value
  throw invalidRequest(`${param} must be an object.`, param)
}

export function readList(value: unknown, param: string): unknown[] {
  if (Array.isArray(value)) return value
  throw invalidRequest(`${param} must be an array.`, param)
}

export function readNumber(value: unknown, param: string, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value
  throw invalidRequest(
    `${param} must be a number ${max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`}.`,
    param,
  )
}

export function readPositiveInteger(value: unknown, param: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw invalidRequest(`${param} must be a whole number above 0.`, param)
}

/** Throws a 400 unless the value is one of these words. */
export function readChoice<Word extends string>(value: unknown, param: string, words: readonly Word[]): Word {
  const found = words.find(word => word === value)
  if (found !== undefined) return found
  throw invalidRequest(`${param} must be one of: ${words.join(', ')}.`, param)
}
