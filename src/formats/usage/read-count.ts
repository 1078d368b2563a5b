/** Reads a count, or an amount of money, as providers write them: a number, or a number as text. */
import { isJsonObject, type JsonObject, readField } from '../json/canonical.ts'
import { USAGE_FIELDS, type UsageField } from './usage-fields.ts'

/** What a column of the request record holds. */
const MAX_COUNT = 2_000_000_000

/** Null for a value that is not a count: missing, negative, or of another type. */
export function readCount(value: unknown): number | null {
  const count = readNumber(value)
  return count === null || count > MAX_COUNT ? null : Math.round(count)
}

/** Null for a value that is not an amount, or more than `most`. */
export function readAmount(value: unknown, most: number): number | null {
  const amount = readNumber(value)
  return amount === null || amount > most ? null : amount
}

const DECIMAL = /^\d{1,20}(?:\.\d{1,20})?$/

/** Null for a value that is neither a number of zero or more, nor one as text. */
export function readNumber(value: unknown): number | null {
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? number : null
}

/** The largest count among a field's paths; null when none of them holds one. */
export function findCount(usage: JsonObject, field: UsageField): number | null {
  let largest: number | null = null
  for (const path of USAGE_FIELDS[field]) {
    const count = readCount(valueAt(usage, path))
    if (count !== null && (largest === null || count > largest)) largest = count
  }
  return largest
}

function valueAt(usage: JsonObject, path: string): unknown {
  if (!path.includes('.')) return readField(usage, path)
  return path
    .split('.')
    .reduce<unknown>((value, key) => (isJsonObject(value) ? readField(value, key) : undefined), usage)
}
