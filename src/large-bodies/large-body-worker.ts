/** Worker: decodes, checks, parses and hashes large bodies. */
import { canonicalizeBody, sha256 } from '../json/canonical.ts'
import { hasDuplicateKeys } from '../json/duplicate-keys.ts'
import { hasInexactNumber } from '../json/inexact-number.ts'
import { parseJsonObject } from '../json/json-object.ts'
import { findKeptReferences } from '../openai-format/kept-references.ts'
import { hasTooManyNames, MOST, MOST_NAMES, measureJson } from './json-size.ts'
import type { LargeBodyReply, LargeBodyRequest } from './protocol.ts'

declare const self: Worker

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

self.onmessage = ({ data }: MessageEvent<LargeBodyRequest>) => {
  const reply = read(data)
  if ('refusal' in reply) self.postMessage(reply)
  else self.postMessage(reply, [reply.bytes.buffer as ArrayBuffer])
}

function read({ id, bytes, irrelevant }: LargeBodyRequest): LargeBodyReply {
  const size = measureJson(bytes)
  if (size.fields > MOST.fields) return { id, refusal: `The request has more than ${MOST.fields} fields.` }
  if (size.items > MOST.items) return { id, refusal: `The request has more than ${MOST.items} array items.` }
  let text: string
  try {
    text = strictUtf8.decode(bytes)
  } catch {
    return { id, refusal: 'The body of your request must be UTF-8 text.' }
  }
  const body = parseJsonObject(text)
  if (body === undefined)
    return { id, refusal: 'We could not parse the JSON body of your request: the body must be one valid JSON object.' }
  if (hasDuplicateKeys(text, body))
    return { id, refusal: 'The body of your request has the same key twice in one object; keep one of them.' }
  if (hasTooManyNames(body)) return { id, refusal: `The request has more than ${MOST_NAMES} different field names.` }
  try {
    const canonical = canonicalizeBody(body, irrelevant)
    const references = findKeptReferences(body, canonical)
    return {
      id,
      bytes,
      hasInexactNumber: hasInexactNumber(text),
      body,
      canonicalBody: `#${sha256(canonical)}`,
      references,
    }
  } catch (error) {
    return { id, refusal: error instanceof Error ? error.message : 'The request is nested too deeply.' }
  }
}
