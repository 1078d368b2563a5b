/** What makes two requests the same: hashes over the whole request, less what cannot change the answer. */
import { canonicalizeBody, sha256 } from '../json/canonical.ts'
import type { JsonObject } from '../json/json-object.ts'

/** How a response travels, and what it is booked under; `metadata` and `store` it tells its client, who relies on them. */
const RESPONSES_FIELDS: ReadonlySet<string> = new Set([
  'stream',
  'stream_options',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'client_metadata',
])

/** Fields that cannot change an operation's answer; undefined where the usual ones cannot. */
export function irrelevantTo(endpoint: string): ReadonlySet<string> | undefined {
  return endpoint === 'responses' ? RESPONSES_FIELDS : undefined
}

export interface RequestIdentity {
  namespace: string
  endpoint: string
  /** Who would answer, and as what: the same name may mean another model elsewhere. */
  route: string
  /** The client's headers that may change the answer, as name and value, sorted by name. */
  headers: readonly (readonly [name: string, value: string])[]
  body: JsonObject
  /** `canonicalizeBody` of it. */
  canonicalBody: string
  /** The body as it was sent. */
  source: { readonly text: string; hasInexactNumber: boolean; isLarge: boolean }
}

/** Hex SHA-256 that two requests share only if any right answer to one is a right answer to the other. */
export function hashRequest({ namespace, endpoint, route, headers, canonicalBody, source }: RequestIdentity): string {
  const parts = ['request', namespace, endpoint, route, canonicalBody, ...writeHeaders(headers)]
  // Two numbers that round to the same one are still two numbers.
  if (source.hasInexactNumber) parts.push(sha256(source.text))
  return sha256(parts.join('\n'))
}

/** Hex SHA-256 over everything but the asked text, which `contextBody` has been relieved of. */
export function hashContext({ namespace, endpoint, route, headers }: RequestIdentity, contextBody: JsonObject): string {
  const parts = [
    'context',
    namespace,
    endpoint,
    route,
    canonicalizeBody(contextBody, irrelevantTo(endpoint)),
    ...writeHeaders(headers),
  ]
  return sha256(parts.join('\n'))
}

/** Nothing for a request without such headers: nearly all have none. */
function writeHeaders(headers: RequestIdentity['headers']): string[] {
  return headers.length === 0 ? [] : [JSON.stringify(headers)]
}
