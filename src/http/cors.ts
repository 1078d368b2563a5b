/**
 * Cross-origin requests of browsers: which origins may call, and which response headers a page may read.
 * https://fetch.spec.whatwg.org/#http-cors-protocol
 */

/** `*` for every origin; else the origins that may call, possibly none. */
export type AllowedOrigins = '*' | readonly string[]

/** Headers that a page may read besides the CORS-safelisted ones. */
const EXPOSED = [
  'X-Request-Id',
  'X-Proxy-Cache',
  'X-Proxy-Cache-Age',
  'X-Proxy-Cache-Similarity',
  'X-Proxy-Cache-Id',
  'X-Proxy-Cache-Reason',
  'X-Proxy-Cost-USD',
  'X-Proxy-Cost-Unknown',
  'X-Proxy-Latency-Ms',
  'X-Proxy-Provider',
  'X-Proxy-Tokens-Saved',
  'Retry-After',
  'X-Should-Retry',
  'X-RateLimit-Limit-Requests',
  'X-RateLimit-Remaining-Requests',
  'X-RateLimit-Reset-Requests',
].join(', ')

const METHODS = 'GET, POST, DELETE'
/** How long a browser may cache a preflight: the longest that any browser does. */
const REMEMBERED_SECONDS = '7200'

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
