/** Which headers cross the proxy. */

/** Connection-bound: RFC 9110, section 7.6.1. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** The client's credentials, what the new connection sets by itself, and what is between client and proxy alone. */
const NOT_FORWARDED = new Set([
  ...HOP_BY_HOP,
  'authorization',
  'x-api-key',
  'api-key',
  'cookie',
  'host',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'expect',
  'cache-control',
  'pragma',
  'forwarded',
  'via',
  'x-real-ip',
  'x-request-id',
  // Accounts at the vendor that belong to the client's own key, not to the one that is used.
  'openai-organization',
  'openai-project',
])

/** The body arrives decoded and is framed anew; ids and cookies are upstream's business. */
const NOT_RETURNED = new Set([
  ...HOP_BY_HOP,
  'content-length',
  'content-encoding',
  'set-cookie',
  'alt-svc',
  'date',
  'server',
  'strict-transport-security',
  'age',
  'cache-status',
  'x-request-id',
])

/** The client's headers as upstream may see them. */
export function forwardRequestHeaders(headers: Headers): Headers {
  const forwarded = new Headers()
  const connectionBound = namedByConnection(headers)
  headers.forEach((value, name) => {
    if (NOT_FORWARDED.has(name) || connectionBound.has(name)) return
    if (name.startsWith('x-proxy-') || name.startsWith('x-forwarded-')) return
    forwarded.set(name, value)
  })
  return forwarded
}

/** Upstream's headers as the client may see them. */
export function returnResponseHeaders(headers: Headers): Headers {
  const returned = new Headers()
  const connectionBound = namedByConnection(headers)
  headers.forEach((value, name) => {
    if (NOT_RETURNED.has(name) || connectionBound.has(name) || name.startsWith('x-proxy-')) return
    returned.set(name, value)
  })
  const upstreamId = headers.get('x-request-id')
  if (upstreamId !== null) returned.set('x-upstream-request-id', upstreamId)
  return returned
}

function namedByConnection(headers: Headers): Set<string> {
  const named = headers.get('connection')?.split(',') ?? []
  return new Set(named.map(name => name.trim().toLowerCase()))
}
