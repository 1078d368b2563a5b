/** Calls the admin API with the session's cookie and CSRF token. */

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

export function throwUnreachable(): never {
  throw new ApiError(0, 'unreachable', 'The proxy cannot be reached. Check that it is running, and try again.')
}

export type QueryParameters = Record<string, string | number | boolean | readonly string[] | undefined>

let csrfToken = ''

/** Stores the session's CSRF token. Every request except GET sends it. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token ?? ''
}

/** Sends a request to the admin API. Throws an `ApiError` whose message can be shown to the user. */
export async function sendRequest<Result>(method: string, path: string, body?: unknown): Promise<Result> {
  const response = await send(method, path, body === undefined ? {} : { 'content-type': 'application/json' }, body)
  return response.json().catch(() => null)
}

async function send(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Response> {
  const response = await fetch(path, {
    method,
    headers: { ...headers, ...(method === 'GET' ? {} : { 'x-csrf-token': csrfToken }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(throwUnreachable)
  if (response.ok || response.status === 304) return response
  throw await parseError(response, `The proxy responded with status ${response.status}.`)
}

/** `fallback` is the message if the response has none. */
export async function parseError(response: Response, fallback: string): Promise<ApiError> {
  const error = (await response.json().catch(() => null))?.error
  return new ApiError(response.status, error?.code ?? 'unknown', error?.message ?? fallback)
}

/** Formats a query string with its question mark; '' without parameters. Empty values are omitted; a list repeats its parameter for each item. */
export function formatQueryString(query: QueryParameters): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined || value === '') return []
    return (Array.isArray(value) ? value : [value]).map(each => [name, String(each)])
  })
  const search = new URLSearchParams(pairs).toString()
  return search === '' ? '' : `?${search}`
}

const MAX_KNOWN_RESPONSES = 50
/** The last responses with their ETags. The server sends an equal response without its body. */
const knownResponses = new Map<string, { etag: string; value: unknown }>()

/** Fetches JSON. A response that equals the last one is the same object, so that nothing is rendered again. */
export async function fetchJson<Result>(path: string, query: QueryParameters = {}): Promise<Result> {
  // The end of a time range that ends now moves with each poll, whether or not anything happened.
  const name = `${path}${formatQueryString({ ...query, end_time: undefined })}`
  const known = knownResponses.get(name)
  const response = await send('GET', `${path}${formatQueryString(query)}`, known ? { 'if-none-match': known.etag } : {})
  if (known && response.status === 304) return known.value as Result
  const value = await response.json().catch(() => null)
  const etag = response.headers.get('etag')
  knownResponses.delete(name)
  if (etag !== null) knownResponses.set(name, { etag, value })
  const [oldest = ''] = knownResponses.keys()
  if (knownResponses.size > MAX_KNOWN_RESPONSES) knownResponses.delete(oldest)
  return value
}
