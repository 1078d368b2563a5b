/**
 * Creates the HTTP response: X-Request-Id and X-Proxy-Latency-Ms on every one, CORS headers for browsers, errors in OpenAI's or
 * Anthropic's envelope.
 */

import type { ProxyError } from '../errors/errors.ts'
import { ResponseMemory } from '../event-loop/response-memory.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { writeAnthropicError } from '../formats/messages/message-errors.ts'
import type { ProxyResponse } from '../pipeline/request/request.ts'
import { detectVendor } from './detect-vendor.ts'
import { EXPOSED_HEADERS } from './exposed-headers.ts'
import { HSTS } from './is-https.ts'
import { MAX_PIECE_BYTES, streamBody } from './stream-body.ts'

export interface HttpRequestContext {
  requestId: string
  /** `performance.now()` when the request arrived. */
  arrivedAtMs: number
  /** CORS headers; empty unless a page sent the request. */
  corsHeaders: Record<string, string>
  /** Whether the client expects Anthropic's envelope. */
  isAnthropic: boolean
  /** Whether its connection is closed after the answer: the process is about to stop. */
  closesConnection: boolean
  /** Whether the request came over https. */
  isSecure: boolean
  /** Counts what its client has not read. */
  memory: StreamMemory
}

/** A host may be called so, too. */
const ANTHROPICS_PATH = /\/messages(?:\/|$)|(?<!\/)\/anthropic\//
/** Asked by OpenAI's clients alone, which may pass headers on to a Claude model. */
const OPENAIS_PATH = /\/(?:completions|embeddings|responses|images|audio|moderations|rerank|realtime|cache)(?:\/|$)/

/** Whether errors are in Anthropic's envelope. */
export function expectsAnthropicErrors({ url, headers }: Pick<Request, 'url' | 'headers'>): boolean {
  const [path = ''] = url.split('?')
  return ANTHROPICS_PATH.test(path) || (!OPENAIS_PATH.test(path) && detectVendor(headers) === 'anthropic')
}

export function createResponse({ status, headers, body }: ProxyResponse, arrival: HttpRequestContext): Response {
  Object.assign(headers, arrival.corsHeaders)
  headers['x-request-id'] = arrival.requestId
  if (arrival.isAnthropic) headers['request-id'] = arrival.requestId
  if (arrival.closesConnection) headers.connection = 'close'
  headers['x-content-type-options'] = 'nosniff'
  if (arrival.isSecure) headers['strict-transport-security'] = HSTS
  headers['x-proxy-latency-ms'] = (performance.now() - arrival.arrivedAtMs).toFixed(3)
  return new Response(toBoundedBody(body, arrival.memory), { status, headers })
}

/** A long body, in pieces that are counted until they are read; any other as it is. */
export function toBoundedBody(body: ProxyResponse['body'], memory: StreamMemory): ProxyResponse['body'] {
  if (body instanceof ReadableStream || !isLongBody(body)) return body
  const whole = typeof body === 'string' ? Buffer.from(body) : body
  return streamBody(whole, { hasEvents: false, memory: new ResponseMemory(memory), onEnd() {} })
}

export function isLongBody(body: Uint8Array | string): boolean {
  return body.length > MAX_PIECE_BYTES
}

export function respondWithJson(value: unknown, arrival: HttpRequestContext, status = 200): Response {
  return createResponse(
    { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) },
    arrival,
  )
}

export function respondWithError(error: ProxyError, arrival: HttpRequestContext): Response {
  const headers = { 'content-type': 'application/json', ...error.headers }
  const body = arrival.isAnthropic ? writeAnthropicError(error, arrival.requestId) : error.toBody()
  return createResponse({ status: error.status, headers, body: JSON.stringify(body) }, arrival)
}

/** `*` for every origin; else the origins that may call, possibly none. */
export type AllowedOrigins = '*' | readonly string[]

/** Besides the CORS-safelisted ones. */
const EXPOSED = EXPOSED_HEADERS.flatMap(([names]) => names).join(', ')

const METHODS = 'GET, POST, DELETE'
/** How long a browser may cache a preflight: the longest that any browser does. */
const REMEMBERED_SECONDS = '7200'

/** Cross-origin requests of browsers. https://fetch.spec.whatwg.org/#http-cors-protocol */
export interface Cors {
  /** Headers for the response to this request; none without an Origin header, or when the origin may not call. */
  headersFor(request: Request): Record<string, string>
  /** Headers for the response to a preflight; null when the request is none. */
  preflight(request: Request): Record<string, string> | null
}

/** Keys travel in a header that the page sets itself, so browser credentials are never allowed. */
export function createCors(allowed: AllowedOrigins): Cors {
  function allow(request: Request): Record<string, string> {
    const origin = request.headers.get('origin')
    if (origin === null || allowed.length === 0) return {}
    if (allowed === '*') return { 'access-control-allow-origin': '*' }
    return allowed.includes(origin) ? { 'access-control-allow-origin': origin, vary: 'Origin' } : { vary: 'Origin' }
  }

  return {
    headersFor(request) {
      const headers = allow(request)
      if ('access-control-allow-origin' in headers) headers['access-control-expose-headers'] = EXPOSED
      return headers
    },
    preflight(request) {
      if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null
      const headers = allow(request)
      if (!('access-control-allow-origin' in headers)) return Object.keys(headers).length === 0 ? null : headers
      // `*` would not cover Authorization, so the requested headers are echoed.
      headers['access-control-allow-headers'] =
        request.headers.get('access-control-request-headers') ?? 'Authorization, Content-Type'
      headers['access-control-allow-methods'] = METHODS
      headers['access-control-max-age'] = REMEMBERED_SECONDS
      return headers
    },
  }
}

/** For the ports that answer in plain text: a request whose address cannot be read. Nothing more is taken from its connection. */
export function respondWithBadHost(): Response {
  return new Response('Host must be one host name.\n', { status: 400, headers: { connection: 'close' } })
}
