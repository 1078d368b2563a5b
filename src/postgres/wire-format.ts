/** Encodes parameters as text, which the server parses as the type that the statement casts to, and decodes columns by type. */
import type { PostgresType } from 'postgres'

/**
 * Encodes a parameter as text. The driver would guess types from values, and a list's from its first item. Statements here cast each
 * parameter instead, and the server parses the text as that type.
 */
export function encodeValue(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return `{${value.map(encodeElement).join(',')}}`
  if (value instanceof Uint8Array) return formatBytea(value)
  if (value instanceof Date) return value.toISOString()
  return String(value)
}

function encodeElement(element: unknown): string {
  const text = encodeValue(element)
  if (text === null) return 'null'
  return typeof element === 'number' || Array.isArray(element) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`
}

const unchanged = (text: unknown) => text

/** OIDs of pg_type. */
const BOOLEAN = 16
const BYTEA = 17
const INT8 = 20
const JSON_TYPES = [114, 3802]
const DATE = 1082
const TIMESTAMPS = [1114, 1184]
const TEXT_LISTS = [1009, 1015]
const NUMBER_LISTS = [1005, 1007, 1016, 1021, 1022]

/** Types for the driver: parameters are sent unchanged, because `encodeValue` encodes them, and columns are decoded by type. */
export const WIRE_TYPES: Record<string, PostgresType> = {
  boolean: decoder([BOOLEAN], text => text === 't'),
  bytea: decoder([BYTEA], text => Buffer.from(text.slice(2), 'hex')),
  // Ids and counters stay far below 2^53.
  int8: decoder([INT8], Number),
  json: decoder(JSON_TYPES, text => JSON.parse(text)),
  // A date has no time zone. As text, it cannot shift.
  date: decoder([DATE], text => text),
  timestamp: decoder(TIMESTAMPS, text => new Date(text)),
  texts: decoder(TEXT_LISTS, text => parseList(text)),
  numbers: decoder(NUMBER_LISTS, text => parseList(text).map(item => (item === null ? null : Number(item)))),
}

function decoder(oids: number[], parse: (text: string) => unknown): PostgresType {
  return { to: oids[0] ?? 0, from: oids, serialize: unchanged, parse }
}

/** Parses the elements of a one-dimensional array, which are quoted, with backslash escapes, or bare. */
export function parseList(text: string): (string | null)[] {
  const elements = text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs)
  return Array.from(elements, ([, quoted, bare]) =>
    quoted !== undefined ? quoted.replace(/\\(.)/gs, '$1') : bare === undefined || bare === 'NULL' ? null : bare,
  )
}

/** Formats bytes, or their hex, as bytea. */
export function formatBytea(value: string | Uint8Array): string {
  return `\\x${typeof value === 'string' ? value : Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`
}

/** Formats hex hashes as a list of bytea. A missing hash becomes null. */
export function toByteaList(hashes: readonly (string | null | undefined)[]): (string | null)[] {
  return hashes.map(hash => (hash == null ? null : formatBytea(hash)))
}

/** Formats integers as the text of an array, for a list of arrays of unequal lengths. */
export function toIntegerArray(integers: readonly number[] | null | undefined): string | null {
  return integers ? `{${integers.join(',')}}` : null
}

/** Replaces lone surrogates, which PostgreSQL rejects in JSON. */
const wellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)

export function toJson(value: unknown): string | null {
  if (value === null || value === undefined) return null
  const text = JSON.stringify(value)
  // JSON.stringify escapes lone surrogates as \ud…. They are rare, and checking each value takes longer than writing the JSON.
  return text.includes('\\ud') ? JSON.stringify(value, wellFormed) : text
}
