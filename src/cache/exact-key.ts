/** What makes two requests the same: hashes over the whole request, less what cannot change the answer. */

import { invalidRequest } from '../errors.ts'
import { hasInexactNumber } from '../json/inexact-number.ts'
import type { JsonObject } from '../json/json-object.ts'

/**
 * Fields that cannot change the answer: how it travels, and what the vendor books it under. A deny-list, never an allow-list:
 * a field that is invented tomorrow counts.
 */
const IRRELEVANT_FIELDS = new Set([
  'stream',
  'stream_options',
  'user',
  'metadata',
  'store',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
])

/** Deeper than any real request; a bound for the recursion. */
const MAX_DEPTH = 128
/** Longer strings (images, files) enter as their own hash: they are read once and never copied. */
const LONG_STRING = 4_096

export interface RequestIdentity {
  namespace: string
  endpoint: string
  /** Who would answer, and as what: the same name may mean another model elsewhere. */
  route: string
  body: JsonObject
  /** `canonicalizeBody` of it. */
  canonicalBody: string
  /** The body as it was sent. */
  bodyText: string
}

/** Hex SHA-256 that two requests share only if any right answer to one is a right answer to the other. */
export function hashRequest({ namespace, endpoint, route, canonicalBody, bodyText }: RequestIdentity): string {
  const parts = ['request', namespace, endpoint, route, canonicalBody]
  // Two numbers that round to the same one are still two numbers.
  if (hasInexactNumber(bodyText)) parts.push(sha256(bodyText))
  return sha256(parts.join('\n'))
}

/** Hex SHA-256 over everything but the asked text, which `contextBody` has been relieved of, and over what of the text must be equal. */
export function hashContext(
  { namespace, endpoint, route }: RequestIdentity,
  contextBody: JsonObject,
  textKey: string,
): string {
  return sha256(['context', namespace, endpoint, route, textKey, canonicalizeBody(contextBody)].join('\n'))
}

/** Canonical JSON of what counts in a body. Throws a 400 where it is nested too deeply. */
export function canonicalizeBody(body: JsonObject): string {
  return canonicalize(takeRelevant(body), 0)
}

export function sha256(text: string): string {
  return Bun.SHA256.hash(text, 'hex')
}

/** The fields that can change an answer. */
export function takeRelevant(body: JsonObject): JsonObject {
  // Null prototype: a field called __proto__ counts like any other.
  const kept: JsonObject = Object.create(null)
  for (const field of Object.keys(body)) if (!IRRELEVANT_FIELDS.has(field)) kept[field] = body[field]
  return kept
}

/** Hashing takes UTF-8, in which all lone surrogates are the same: a string that has one is written out. */
function canonicalizeString(value: string): string {
  return value.length > LONG_STRING && value.isWellFormed() ? `#${sha256(value)}` : JSON.stringify(value)
}

/** JSON with sorted keys. */
function canonicalize(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw invalidRequest(`The request is nested more than ${MAX_DEPTH} levels deep.`)
  if (typeof value === 'string') return canonicalizeString(value)
  if (typeof value !== 'object' || value === null) return String(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalize(item, depth + 1)}`
    return `[${text}]`
  }
  const object = value as JsonObject
  for (const field of Object.keys(object).sort()) {
    text += `${text === '' ? '' : ','}${JSON.stringify(field)}:${canonicalize(object[field], depth + 1)}`
  }
  return `{${text}}`
}
