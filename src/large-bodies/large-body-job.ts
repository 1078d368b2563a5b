/** The worker's job that decodes, checks, parses and hashes a large body. */
import { invalidRequest } from '../errors.ts'
import type { JobDone } from '../event-loop/off-loop.ts'
import { findKeptReferences } from '../formats/kept-references.ts'
import { canonicalizeBody, sha256 } from '../json/canonical.ts'
import { hasDuplicateKeys } from '../json/duplicate-keys.ts'
import { hasInexactNumber } from '../json/inexact-number.ts'
import { parseJsonObject } from '../json/json-object.ts'
import { hasTooManyNames, MOST, MOST_NAMES, measureJson, parsedBytes } from './json-size.ts'
import type { LargeBodyInput, ParsedLargeBody } from './read-large-body.ts'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws a 400 for a body that cannot be a request; never quotes it. */
export function run({ bytes, irrelevant }: LargeBodyInput): JobDone<ParsedLargeBody> {
  const size = measureJson(bytes)
  if (size.fields > MOST.fields) throw invalidRequest(`The request has more than ${MOST.fields} fields.`)
  if (size.items > MOST.items) throw invalidRequest(`The request has more than ${MOST.items} array items.`)
  const text = decode(bytes)
  const body = parseJsonObject(text)
  if (body === undefined)
    throw invalidRequest('We could not parse the JSON body of your request: the body must be one valid JSON object.')
  if (hasDuplicateKeys(text, body))
    throw invalidRequest('The body of your request has the same key twice in one object; keep one of them.')
  if (hasTooManyNames(body)) throw invalidRequest(`The request has more than ${MOST_NAMES} different field names.`)
  const canonical = canonicalizeBody(body, irrelevant)
  const output = {
    bytes,
    hasInexactNumber: hasInexactNumber(text),
    body,
    canonicalBody: `#${sha256(canonical)}`,
    references: findKeptReferences(body, canonical),
    heldBytes: parsedBytes(bytes.length, size),
  }
  return { output, transfer: [bytes.buffer as ArrayBuffer] }
}

function decode(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw invalidRequest('The body of your request must be UTF-8 text.')
  }
}
