/** Lists the headers that the proxy forwards to providers and returns to clients. No other header is forwarded. */
import type { UpstreamRequest } from './upstream.ts'

/** A lower-case name and a value. */
export type HeaderPair = [name: string, value: string]

/**
 * The headers that are forwarded to an aggregator. Every aggregator is assumed to support OpenRouter's. One that supports the Messages API needs
 * Anthropic's.
 */
export const AGGREGATOR_HEADERS: readonly string[] = [
  'anthropic-beta',
  'anthropic-version',
  'http-referer',
  'idempotency-key',
  'x-anthropic-beta',
  'x-openrouter-categories',
  'x-openrouter-title',
  'x-title',
]

/** W3C Trace Context. It is forwarded unchanged, or with the proxy's own span as the parent when requests are traced. */
const TRACE_CONTEXT = ['traceparent', 'tracestate']

const RETURNED = new Set([
  'content-disposition',
  'content-type',
  'openai-model',
  'openai-processing-ms',
  'openai-version',
  'retry-after',
  'retry-after-ms',
  'x-generation-id',
  'x-should-retry',
])
/** Headers that report a key's remaining limits. */
const RETURNED_PREFIXES = ['anthropic-ratelimit-', 'x-ratelimit-']
/** The vendors' names for their request id. */
const REQUEST_IDS = ['x-request-id', 'request-id']

/**
 * Forwarded headers that do not change the response. An idempotency key differs in every request, and only prevents a provider from running
 * the same request twice. The others tell an aggregator which app to credit. Any other header counts as part of the request until it is shown
 * to have no effect. The client's user agent is never forwarded.
 */
const WITHOUT_EFFECT = new Set([
  'http-referer',
  'idempotency-key',
  'x-openrouter-categories',
  'x-openrouter-title',
  'x-title',
])

/** Returns the client's headers that may change the response of a provider with these `clientHeaders`, sorted by name. They are part of the cache key. */
export function pickCacheKeyHeaders(headers: Headers, clientHeaders: readonly string[] = []): HeaderPair[] {
  const pairs: HeaderPair[] = []
  for (const name of clientHeaders) {
    if (WITHOUT_EFFECT.has(name)) continue
    const value = headers.get(name)
    if (value !== null) pairs.push([name, value])
  }
  return pairs
}

/**
 * Returns the client's headers that are forwarded to a provider, sorted by name. Idempotency keys get the project's id as a prefix, because
 * projects may share a provider key.
 */
export function pickForwardedHeaders(
  headers: Headers,
  clientHeaders: readonly string[],
  projectId: number,
): HeaderPair[] {
  return [...clientHeaders, ...TRACE_CONTEXT].flatMap((name): HeaderPair[] => {
    const value = headers.get(name)
    if (value === null) return []
    return [[name, name === 'idempotency-key' ? `project-${projectId}-${value}` : value]]
  })
}

/** Returns the upstream's headers that are returned to the client. */
export function pickReturnedHeaders(headers: Headers): Headers {
  const returned = new Headers()
  headers.forEach((value, name) => {
    if (RETURNED.has(name) || RETURNED_PREFIXES.some(prefix => name.startsWith(prefix))) returned.set(name, value)
  })
  const upstreamId = REQUEST_IDS.map(name => headers.get(name)).find(id => id !== null)
  if (upstreamId !== undefined) returned.set('x-upstream-request-id', upstreamId)
  return returned
}

/** Returns whether the response must not be stored (RFC 9111, 5.2.2.5). `private` is ignored, because a cached response is the project's own. */
export function hasNoStore(headers: Headers): boolean {
  return /(?:^|,)\s*no-store\s*(?:,|$)/i.test(headers.get('cache-control') ?? '')
}

const USER_AGENT = 'model-proxy'

/** Returns the headers of an upstream request without the credential, which each provider adds in its own way. */
export function createRequestHeaders(
  { headers, stream }: Pick<UpstreamRequest, 'headers' | 'stream'>,
  clientHeaders: readonly string[],
  projectId: number,
): Headers {
  const forwarded = new Headers(pickForwardedHeaders(headers, clientHeaders, projectId))
  forwarded.set('user-agent', USER_AGENT)
  forwarded.set('content-type', 'application/json')
  forwarded.set('accept', stream ? 'text/event-stream' : 'application/json')
  // A compressed stream arrives in bursts.
  forwarded.set('accept-encoding', 'identity')
  return forwarded
}
