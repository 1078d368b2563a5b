/** The kinds of failure of an attempt: in usage records, spans, a metric and the header Proxy-Status. */
import type { ErrorCategory } from '../formats/errors/error-category.ts'
import { readProviderError } from '../formats/errors/provider-error.ts'

/** Each kind, and RFC 9209's type of proxy error that fits it; null if the provider responded with an error, for which there is no type. */
export const FAILURE_KINDS = {
  connection_refused: 'connection_refused',
  connect_timeout: 'connection_timeout',
  dns_error: 'dns_error',
  tls_error: 'tls_protocol_error',
  unreachable: 'destination_ip_unroutable',
  connection_reset: 'connection_terminated',
  first_token_timeout: 'http_response_timeout',
  idle_timeout: 'connection_read_timeout',
  response_timeout: 'http_response_timeout',
  truncated: 'http_response_incomplete',
  malformed: null,
  empty: null,
  circuit_open: 'destination_unavailable',
  resting: 'destination_unavailable',
  rate_limited: null,
  insufficient_quota: null,
  overloaded: null,
  server_error: null,
  authentication: null,
  permission_denied: null,
  not_found: null,
  request_too_large: null,
  context_length: null,
  content_filter: null,
  invalid_request: null,
} as const satisfies Record<string, string | null>

export type FailureKind = keyof typeof FAILURE_KINDS

/** The provider was not called: it kept failing, or asked to wait. */
export const UNSENT_KINDS: ReadonlySet<FailureKind | null> = new Set<FailureKind>(['circuit_open', 'resting'])

const BY_CATEGORY: Record<ErrorCategory, FailureKind> = {
  fullContext: 'context_length',
  moderated: 'content_filter',
  quotaExhausted: 'insufficient_quota',
  rateLimited: 'rate_limited',
  unknownModel: 'not_found',
  overloaded: 'overloaded',
  invalidKey: 'authentication',
}

const BY_STATUS: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'authentication'],
  [402, 'insufficient_quota'],
  [403, 'permission_denied'],
  [404, 'not_found'],
  [408, 'response_timeout'],
  [413, 'request_too_large'],
  [429, 'rate_limited'],
  [503, 'overloaded'],
  [529, 'overloaded'],
])

export function kindOfStatus(status: number): FailureKind {
  return BY_STATUS.get(status) ?? (status >= 500 ? 'server_error' : 'invalid_request')
}

/** `awaited` is the part of a response that did not arrive in time. */
export function kindOfTimeout(awaited: string): FailureKind {
  if (awaited.startsWith('first')) return 'first_token_timeout'
  return awaited.startsWith('next') ? 'idle_timeout' : 'response_timeout'
}

/** Returns the kind of an error response. `body` is its text, or the error object of a response with status 200. */
export function kindOfError(status: number, body: unknown): FailureKind {
  const { category } = readProviderError(body, status)
  return category === null ? kindOfStatus(status) : BY_CATEGORY[category]
}
