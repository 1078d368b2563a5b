/** JSON: read strictly (valid UTF-8, an object, no key twice), and written in one canonical form, so that equal requests have equal text. */
import { invalidRequestError } from '../../errors/errors.ts'

export type JsonObject = Record<string, unknown>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is text, else none: `String()` would run what a client calls `toString`, and take the list `["a"]` for `a`. */
export function asString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value if it is a number, else `otherwise`: `Number()` would run what a client calls `valueOf`, and take the list `[1]` for 1. */
export function asNumber(value: unknown, otherwise = Number.NaN): number {
  return typeof value === 'number' ? value : otherwise
}

/** The objects of a list; none where it is no list. */
export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Whether a field's value says anything: null is as good as none. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** The object's own field; undefined for `constructor` and the like, unless the object itself has them. */
export function readField(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Whether a field says nothing: in a stream, such a value leaves the earlier one in place. */
export function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

/** Sets the object's own field, also for `__proto__`, where an assignment would set the prototype. */
export function writeField(object: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Undefined for invalid JSON: the parser's own message would quote the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses a JSON object; undefined for anything else, including invalid JSON. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isJsonObject(value) ? value : undefined
}

/** Throws a 400 for a body that cannot be a request; never quotes it. */
export function parseRequestBody(text: string): JsonObject {
  const body = parseJson(text)
  if (body === undefined)
    throw invalidRequestError(
      'We could not parse the JSON body of your request: the body must be one valid JSON object.',
    )
  if (!isJsonObject(body)) throw invalidRequestError('The body of your request must be a JSON object.')
  // The body is forwarded as it was sent. A provider that reads the other of two equal keys would answer another request than the one
  // looked up.
  if (hasDuplicateKeys(text, body))
    throw invalidRequestError('The body of your request has the same key twice in one object; keep one of them.')
  return body
}

/** Whether a pattern of ASCII text may match somewhere in JSON once it is parsed: it does not only where this returns false. */
export function canMatchInJson(jsonText: string, pattern: RegExp): boolean {
  // raw text: an escape counts as a match.
  return pattern.test(jsonText) || jsonText.includes('\\u00')
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws a 400 when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw invalidRequestError('The body of your request must be UTF-8 text.')
  }
}

/** Whether `value`, parsed from `text`, has fewer members than the text. Linear. */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return countColons(text) !== countMembers(value)
}

/** Counts colons outside of strings: one for each member. */
function countColons(text: string): number {
  let colons = 0
  let colon = text.indexOf(':')
  for (let at = 0; colon >= 0; ) {
    const quote = text.indexOf('"', at)
    const end = quote < 0 ? text.length : quote
    for (; colon >= 0 && colon < end; colon = text.indexOf(':', colon + 1)) colons++
    if (quote < 0) return colons
    at = findStringEnd(text, quote + 1)
    if (colon >= 0 && colon < at) colon = text.indexOf(':', at)
  }
  return colons
}

/** Position after the closing quote of the string that begins at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}

function countMembers(value: unknown): number {
  const waiting = [value]
  let members = 0
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object') waiting.push(item)
      continue
    }
    // A parsed object has own members only.
    for (const key in next) {
      members++
      const member = (next as JsonObject)[key]
      if (typeof member === 'object') waiting.push(member)
    }
  }
  return members
}

/**
 * Sixteen digits or more, or an exponent of three digits, which may exceed a double. It may also match inside a string, which is harmless
 * for its callers.
 */
const INEXACT_NUMBER = /[[:,]\s*-?\d(?:[\d.eE+-]{15,}|[\d.]*[eE][+-]?\d{3})/

/** Whether parsing this JSON text and writing it again could change a number. */
export function hasInexactNumber(jsonText: string): boolean {
  // raw text: numbers have no escapes.
  return INEXACT_NUMBER.test(jsonText)
}

/**
 * Fields that cannot change the response: delivery and the vendor's bookkeeping. A deny-list, never an allow-list, so that a new field
 * counts.
 */
const IRRELEVANT_FIELDS: ReadonlySet<string> = new Set([
  'stream',
  'stream_options',
  'user',
  'metadata',
  'store',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
])

/** Schemas: a model writes properties in their order. */
const ORDERED_FIELDS = new Set(['tools', 'functions', 'response_format', 'text', 'output_config', 'output_format'])

/** Longer strings (images, files) are represented by their own hash: they are read once and never copied. */
const LONG_STRING = 4_096

/** Canonical JSON of a body without its irrelevant top-level fields. */
export function canonicalizeBody(body: JsonObject, irrelevant = IRRELEVANT_FIELDS): string {
  const relevant = pickRelevantFields(body, irrelevant)
  return writeObject(Object.keys(relevant).sort(), field => canonicalize(relevant[field], ORDERED_FIELDS.has(field)))
}

/** The fields that can change a response. */
export function pickRelevantFields(body: JsonObject, irrelevant = IRRELEVANT_FIELDS): JsonObject {
  // Null prototype: a field called __proto__ counts like any other.
  const kept: JsonObject = Object.create(null)
  for (const field of Object.keys(body)) if (!irrelevant.has(field)) kept[field] = body[field]
  return kept
}

/** Hex. */
export function sha256(text: string): string {
  return Bun.SHA256.hash(text, 'hex')
}

/** Hashes are over UTF-8, which encodes all lone surrogates alike: a string with one is written out as JSON. */
function canonicalizeString(value: string): string {
  return value.length > LONG_STRING && value.isWellFormed() ? `#${sha256(value)}` : JSON.stringify(value)
}

/** JSON with sorted keys, or with keys in their own order if that has a meaning. */
function canonicalize(value: unknown, keepsOrder: boolean): string {
  if (typeof value === 'string') return canonicalizeString(value)
  if (typeof value !== 'object' || value === null) return `${value}`
  if (Array.isArray(value)) {
    let text = ''
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalize(item, keepsOrder)}`
    return `[${text}]`
  }
  const object = value as JsonObject
  const fields = Object.keys(object)
  return writeObject(keepsOrder ? fields : fields.sort(), field => canonicalize(object[field], keepsOrder))
}

function writeObject(fields: readonly string[], write: (field: string) => string): string {
  let text = ''
  for (const field of fields) text += `${text === '' ? '' : ','}${JSON.stringify(field)}:${write(field)}`
  return `{${text}}`
}
