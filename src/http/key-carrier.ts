/** Finds a request's key: in `Authorization`, or in the header that Azure's and Anthropic's clients use instead. */

/** Tried in this order when there is no Authorization header. */
const BARE_KEY_HEADERS = ['api-key', 'x-api-key']

/** Returns the Authorization header or its equivalent; null when the request has no key. */
export function readAuthorization(headers: Headers): string | null {
  const authorization = headers.get('authorization')
  if (authorization !== null) return authorization
  for (const name of BARE_KEY_HEADERS) {
    const key = headers.get(name)
    if (key !== null && key.trim() !== '') return `Bearer ${key.trim()}`
  }
  return null
}
