/** Decides which requests are identical: hashes over the whole request, without the fields that cannot change the response. */
import { canonicalizeBody, sha256 } from '../json/canonical.ts'
import type { JsonObject } from '../json/json-object.ts'

/** Delivery and bookkeeping. Unlike elsewhere, `metadata` and `store` count: they appear in the response, and clients rely on them. */
const RESPONSES_FIELDS: ReadonlySet<string> = new Set([
  'stream',
  'stream_options',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'client_metadata',
])

/** Fields that cannot change an operation's response; undefined for the default list. */
export function irrelevantTo(endpoint: string): ReadonlySet<string> | undefined {
  return endpoint === 'responses' ? RESPONSES_FIELDS : undefined
}

export interface RequestIdentity {
  namespace: string
  endpoint: string
  /** The provider and model that would answer: the same model name may mean another model elsewhere. */
  route: string
  /** The client's headers that may change the response, as name and value, sorted by name. */
  headers: readonly (readonly [name: string, value: string])[]
  body: JsonObject
  /** From `canonicalizeBody`. */
  canonicalBody: string
  /** The body as it was sent. */
  source: { readonly text: string; hasInexactNumber: boolean; isLarge: boolean }
}

/** Hex SHA-256. Two requests share it only if any right response to one is a right response to the other. */
export function hashRequest({ namespace, endpoint, route, headers, canonicalBody, source }: RequestIdentity): string {
  const parts = ['request', namespace, endpoint, route, canonicalBody, ...writeHeaders(headers)]
  // Two numbers that JavaScript rounds to the same one must stay different.
  if (source.hasInexactNumber) parts.push(sha256(source.text))
  return sha256(parts.join('\n'))
}

/** Hex SHA-256 over everything but the asked text, which `contextBody` lacks. */
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

/** Adds nothing for a request without such headers, as nearly all are. */
function writeHeaders(headers: RequestIdentity['headers']): string[] {
  return headers.length === 0 ? [] : [JSON.stringify(headers)]
}
