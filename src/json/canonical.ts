/** Writes the parts of a request's body that count in one canonical form, so that equal requests have equal text. */
import type { JsonObject } from './json-object.ts'

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
  const relevant = takeRelevant(body, irrelevant)
  return writeObject(Object.keys(relevant).sort(), field => canonicalize(relevant[field], ORDERED_FIELDS.has(field)))
}

/** The fields that can change a response. */
export function takeRelevant(body: JsonObject, irrelevant = IRRELEVANT_FIELDS): JsonObject {
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
  if (typeof value !== 'object' || value === null) return String(value)
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
