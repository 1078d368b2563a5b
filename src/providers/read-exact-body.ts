/** Reads a request's body for a translation, without rounding its numbers. */
import { parseExactly } from '../json/exact-json.ts'
import { hasInexactNumber, type JsonObject } from '../json/json-object.ts'
import type { UpstreamRequest } from './upstream.ts'

/** Parsed again when numbers would be rounded, for example a bound in a tool's schema. For short bodies. */
export function readExactBody({ body, bodyText }: UpstreamRequest): JsonObject {
  return hasInexactNumber(bodyText) ? (parseExactly(bodyText) as JsonObject) : body
}
