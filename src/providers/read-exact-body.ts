/** Reads a request's body for a translation, without rounding its numbers. */

import { hasInexactNumber, type JsonObject } from '../json/canonical.ts'
import { parseExactly } from '../json/exact-json.ts'
import type { UpstreamRequest } from './upstream.ts'

/** Parsed again when numbers would be rounded, for example a bound in a tool's schema. For short bodies. */
export function readExactBody({ body, bodyText }: UpstreamRequest): JsonObject {
  return hasInexactNumber(bodyText) ? (parseExactly(bodyText) as JsonObject) : body
}
