/** Implements the worker's job that decodes, checks, parses and hashes a large body. */
import { invalidRequestError } from '../../errors/errors.ts'
import type { JobResult } from '../../event-loop/worker-pool.ts'
import { readBodyFacts } from '../body-facts.ts'
import { canonicalizeBody, decodeUtf8, hasInexactNumber, parseRequestBody, sha256 } from '../json/canonical.ts'
import {
  checkJsonSize,
  estimateParsedBytes,
  hasTooManyFieldNames,
  type LargeBodyInput,
  MAX_FIELD_NAMES,
  type ParsedLargeBody,
} from './read-large-body.ts'

/** Reads a large body. Throws a 400, which never quotes the body, if it is not a valid request. */
export function readLargeBody({ bytes, irrelevant }: LargeBodyInput): JobResult<ParsedLargeBody> {
  const size = checkJsonSize(bytes)
  const text = decodeUtf8(bytes)
  const body = parseRequestBody(text)
  if (hasTooManyFieldNames(body))
    throw invalidRequestError(`The request has more than ${MAX_FIELD_NAMES} different field names. Send fewer.`)
  const output = {
    bytes,
    hasInexactNumber: hasInexactNumber(text),
    body,
    canonicalBody: `#${sha256(canonicalizeBody(body, irrelevant))}`,
    facts: readBodyFacts(body),
    heldBytes: estimateParsedBytes(bytes.length, size),
  }
  return { output, transfer: [bytes.buffer as ArrayBuffer] }
}
