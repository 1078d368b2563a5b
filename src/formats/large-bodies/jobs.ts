/** The worker's job that decodes, checks, parses and hashes a large body. */
import { invalidRequest } from '../../errors/errors.ts'
import type { JobDone } from '../../event-loop/off-loop.ts'
import { readTop } from '../bounds/read-content.ts'
import { canonicalizeBody, decodeUtf8, hasInexactNumber, parseObject, sha256 } from '../json/canonical.ts'
import { findKeptReferences } from '../kept-references.ts'
import {
  checkJsonSize,
  hasTooManyNames,
  type LargeBodyInput,
  MOST_NAMES,
  type ParsedLargeBody,
  parsedBytes,
} from './read-large-body.ts'

/** Throws a 400 for a body that cannot be a request; never quotes it. */
export function readLargeBody({ bytes, irrelevant, endpoint }: LargeBodyInput): JobDone<ParsedLargeBody> {
  const size = checkJsonSize(bytes)
  const text = decodeUtf8(bytes)
  const body = parseObject(text)
  if (hasTooManyNames(body)) throw invalidRequest(`The request has more than ${MOST_NAMES} different field names.`)
  const canonical = canonicalizeBody(body, irrelevant)
  const output = {
    bytes,
    hasInexactNumber: hasInexactNumber(text),
    body,
    canonicalBody: `#${sha256(canonical)}`,
    references: findKeptReferences(body, canonical),
    ...(endpoint !== undefined && { top: readTop(endpoint, body) }),
    heldBytes: parsedBytes(bytes.length, size),
  }
  return { output, transfer: [bytes.buffer as ArrayBuffer] }
}
