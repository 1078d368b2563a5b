/** Where a request carries its key: `Authorization`, or the header that Azure's and Anthropic's clients use instead. */

/** Tried in turn, where there is no Authorization header. */
const BARE_KEY_HEADERS = ['api-key', 'x-api-key']

/** The Authorization header, or what stands for it; null where the request carries no key. */
export function readAuthorization(headers: Headers): string | null {
  const authorization = headers.get('authorization')
  if (authorization !== null) return authorization
  for (const name of BARE_KEY_HEADERS) {
    const key = headers.get(name)
    if (key !== null && key.trim() !== '') return `Bearer ${key.trim()}`
  }
  return null
}
