/** Parses JSON strictly (valid UTF-8, an object, no duplicate keys), and writes it in a canonical form, so that equal requests have equal text. */
import { invalidRequestError } from '../../errors/errors.ts'

export type JsonObject = Record<string, unknown>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value if it is text, else ''. Safer than `String()`, which would call a client's `toString` and convert the list `["a"]` to `a`. */
export function asString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the value if it is a number, else `otherwise`. Safer than `Number()`, which would call a client's `valueOf` and convert the list `[1]` to 1. */
export function asNumber(value: unknown, otherwise = Number.NaN): number {
  return typeof value === 'number' ? value : otherwise
}

/** Returns the objects in a list; an empty list for any other value. */
export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Whether a field has a value. Null counts as absent. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Returns the object's own field; undefined for inherited ones such as `constructor`. */
export function readField(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Whether a field is absent, null or ''. In a stream, such a value does not replace an earlier one. */
export function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

/** Whether a field is blank or an empty list. */
export function isEmpty(value: unknown): boolean {
  return isBlank(value) || (Array.isArray(value) && value.length === 0)
}

/** Sets the object's own field. For `__proto__`, an assignment would set the prototype instead. */
export function writeField(object: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Returns undefined for invalid JSON. It does not throw, because the parser's message would quote the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses a JSON object. Returns undefined for anything else, including invalid JSON. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isJsonObject(value) ? value : undefined
}

/** Parses a request's body. Throws a 400, which never quotes the body, unless it is a JSON object without duplicate keys. */
export function parseRequestBody(text: string): JsonObject {
  const body = parseJson(text)
  if (body === undefined)
    throw invalidRequestError(
      'We could not parse the JSON body of your request: the body must be one valid JSON object.',
    )
  if (!isJsonObject(body)) throw invalidRequestError('The body of your request must be a JSON object.')
  // The body is forwarded unchanged. A provider that reads the other of two equal keys would process another request than the one
  // looked up.
  if (hasDuplicateKeys(text, body))
    throw invalidRequestError('The body of your request has the same key twice in one object; keep one of them.')
  return body
}

/** Returns false if a pattern of ASCII text cannot match anywhere in the parsed JSON, and true if it may match. */
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

/** Whether `text` has duplicate keys: `value`, which was parsed from it, then has fewer members. Takes linear time. */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return countColons(text) !== countMembers(value)
}

/** Counts colons outside of strings. Each member has one. */
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

/** Returns the position after the closing quote of the string that begins at `start`. */
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
 * Matches numbers of sixteen digits or more, or with an exponent of three digits, which a double may not represent exactly. It may also match
 * inside a string, which is harmless for its callers.
 */
const INEXACT_NUMBER = /[[:,]\s*-?\d(?:[\d.eE+-]{15,}|[\d.]*[eE][+-]?\d{3})/

/** Whether parsing this JSON text and writing it again could change a number. */
export function hasInexactNumber(jsonText: string): boolean {
  // raw text: numbers have no escapes.
  return INEXACT_NUMBER.test(jsonText)
}

/**
 * Fields that cannot change the response, such as those for delivery and the vendor's bookkeeping. The list is a deny-list, so that a new
 * field counts as relevant.
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

/** Fields with schemas, whose key order matters: a model writes properties in the order of the schema. */
const ORDERED_FIELDS = new Set(['tools', 'functions', 'response_format', 'text', 'output_config', 'output_format'])

/** Longer strings, such as images and files, are represented by their hash, so that they are read once and never copied. */
const MAX_INLINE_CHARS = 4_096

/** Returns the canonical JSON of a body without its irrelevant top-level fields. */
export function canonicalizeBody(body: JsonObject, irrelevant = IRRELEVANT_FIELDS): string {
  const relevant = pickRelevantFields(body, irrelevant)
  return writeObject(Object.keys(relevant).sort(), field => canonicalize(relevant[field], ORDERED_FIELDS.has(field)))
}

/** Returns the fields that can change a response. */
export function pickRelevantFields(body: JsonObject, irrelevant = IRRELEVANT_FIELDS): JsonObject {
  // With a null prototype, a field called __proto__ counts like any other.
  const relevant: JsonObject = Object.create(null)
  for (const field of Object.keys(body)) if (!irrelevant.has(field)) relevant[field] = body[field]
  return relevant
}

/** Returns the hash in hex. */
export function sha256(text: string): string {
  return Bun.SHA256.hash(text, 'hex')
}

/** Replaces a long string by its hash. A string with a lone surrogate is written as JSON, because UTF-8 encodes all of them alike. */
function canonicalizeString(value: string): string {
  return value.length > MAX_INLINE_CHARS && value.isWellFormed() ? `#${sha256(value)}` : JSON.stringify(value)
}

/** Returns JSON with sorted keys, or with keys in their original order if `keepsOrder`. */
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
