/** Owns equality of JSON values: key order does not matter, and numbers are compared by value. */
import { isJsonObject } from '../../../json/json-object.ts'

export function jsonEquals(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => jsonEquals(item, other[at]))
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every(key => Object.hasOwn(other, key) && jsonEquals(one[key], other[key]))
  )
}

/** Steps a value costs to write or to read: one a value, and one for every eight characters. */
export function sizeOfValue(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 8
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOfValue(item), 1)
  if (!isJsonObject(value)) return 1
  return Object.entries(value).reduce((sum, [key, item]) => sum + 1 + key.length / 8 + sizeOfValue(item), 1)
}
