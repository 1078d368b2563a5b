/**
 * Creates the HTTP response: X-Request-Id and X-Proxy-Latency-Ms on every one, CORS headers for browsers, errors in OpenAI's,
 * Anthropic's or Google's form.
 */

import type { ProxyError } from '../errors/errors.ts'
import { ResponseMemory } from '../event-loop/response-memory.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { writeGoogleError } from '../formats/gemini/gemini-errors.ts'
import { writeAnthropicError } from '../formats/messages/message-errors.ts'
import type { ProxyResponse } from '../pipeline/request/request.ts'
import { detectApiHeaders } from './detect-vendor.ts'
import { EXPOSED_HEADERS } from './exposed-headers.ts'
import { isGoogleUrl } from './gemini-api.ts'
import { HSTS } from './is-https.ts'
import { MAX_PIECE_BYTES, streamBody } from './stream-body.ts'

export type ApiForm = 'openai' | 'anthropic' | 'google'

export interface HttpRequestContext {
  requestId: string
  /** `performance.now()` when the request arrived. */
  arrivedAtMs: number
  /** CORS headers; empty unless a page sent the request. */
  corsHeaders: Record<string, string>
  /** The API whose form of errors the client expects. */
  apiForm: ApiForm
  /** Whether the connection is closed after the response, because the process is draining or few descriptors are free. */
  closesConnection: boolean
  /** Whether the request came over https. */
  isSecure: boolean
  /** The memory budget in which data that the client has not read is counted. */
  memory: StreamMemory
}

/** Paths of Anthropic's API. The lookbehind excludes a host of this name. */
const ANTHROPIC_PATH = /\/messages(?:\/|$)|(?<!\/)\/anthropic\//
/** Paths that only OpenAI's clients call, which may send Anthropic's headers for a Claude model. */
const OPENAI_PATH = /\/(?:completions|embeddings|responses|images|audio|moderations|rerank|realtime|cache)(?:\/|$)/

/** Returns the API whose form of errors, and of lists of models, the client expects. */
export function detectApiForm({ url, headers }: Pick<Request, 'url' | 'headers'>): ApiForm {
  if (isGoogleUrl(url)) return 'google'
  const [path = ''] = url.split('?')
  if (ANTHROPIC_PATH.test(path)) return 'anthropic'
  return (OPENAI_PATH.test(path) ? null : detectApiHeaders(headers)) ?? 'openai'
}

export function createResponse({ status, headers, body }: ProxyResponse, context: HttpRequestContext): Response {
  Object.assign(headers, context.corsHeaders)
  headers['x-request-id'] = context.requestId
  if (context.apiForm === 'anthropic') headers['request-id'] = context.requestId
  if (context.closesConnection) headers.connection = 'close'
  headers['x-content-type-options'] = 'nosniff'
  if (context.isSecure) headers['strict-transport-security'] = HSTS
  headers['x-proxy-latency-ms'] = (performance.now() - context.arrivedAtMs).toFixed(3)
  return new Response(toBoundedBody(body, context.memory), { status, headers })
}

/** Returns a long body as a stream of pieces that are counted until the client has read them; any other body unchanged. */
export function toBoundedBody(body: ProxyResponse['body'], memory: StreamMemory): ProxyResponse['body'] {
  if (body instanceof ReadableStream || !isLongBody(body)) return body
  const whole = typeof body === 'string' ? Buffer.from(body) : body
  return streamBody(whole, { hasEvents: false, memory: new ResponseMemory(memory), onEnd() {} })
}

export function isLongBody(body: Uint8Array | string): boolean {
  return body.length > MAX_PIECE_BYTES
}

export function respondWithJson(value: unknown, context: HttpRequestContext, status = 200): Response {
  return createResponse(
    { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) },
    context,
  )
}

export function respondWithError(error: ProxyError, context: HttpRequestContext): Response {
  const headers = { 'content-type': 'application/json', ...error.headers }
  return createResponse({ status: error.status, headers, body: JSON.stringify(writeError(error, context)) }, context)
}

function writeError(error: ProxyError, { apiForm, requestId }: HttpRequestContext): unknown {
  if (apiForm === 'anthropic') return writeAnthropicError(error, requestId)
  return apiForm === 'google' ? writeGoogleError(error) : error.toBody()
}

/** `*` for every origin; else the origins that may call, possibly none. */
export type AllowedOrigins = '*' | readonly string[]

/** The headers that pages may read besides the CORS-safelisted ones. */
const EXPOSED = EXPOSED_HEADERS.flatMap(([names]) => names).join(', ')

const ALLOWED_METHODS = 'GET, POST, DELETE'
/** How long a browser may cache a preflight. No browser caches longer. */
const PREFLIGHT_MAX_AGE_SECONDS = '7200'

/** Headers for cross-origin requests of browsers. https://fetch.spec.whatwg.org/#http-cors-protocol */
export interface Cors {
  /** Returns headers for the response to this request; none without an Origin header, or when the origin is not allowed. */
  headersFor(request: Request): Record<string, string>
  /** Returns headers for the response to a preflight; null when the request is no preflight. */
  preflight(request: Request): Record<string, string> | null
}

/** Creates the CORS policy. It never allows browser credentials, because pages send keys in a header that they set themselves. */
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
      headers['access-control-allow-methods'] = ALLOWED_METHODS
      headers['access-control-max-age'] = PREFLIGHT_MAX_AGE_SECONDS
      return headers
    },
  }
}

/** Returns the plain-text 400 of the other ports for a URL that cannot be parsed. The connection is closed. */
export function respondWithBadHost(): Response {
  return new Response('Host must be one host name, optionally with a port.\n', {
    status: 400,
    headers: { connection: 'close' },
  })
}
