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
  throw new ApiError(0, 'unreachable', 'The proxy cannot be reached. Check that it runs, and try again.')
}

export type QueryParameters = Record<string, string | number | boolean | readonly string[] | undefined>

let csrfToken = ''

/** Stores the CSRF token that the session returns. Every request but GET sends it. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token ?? ''
}

/** Throws an ApiError. Its message says what to change. */
export async function sendRequest<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'x-csrf-token': csrfToken }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(throwUnreachable)
  if (!response.ok) throw await parseError(response, `The proxy answered with status ${response.status}.`)
  return response.json().catch(() => null)
}

/** `unsaid`: the message, where the answer has none. */
export async function parseError(response: Response, unsaid: string): Promise<ApiError> {
  const reported = (await response.json().catch(() => null))?.error
  return new ApiError(response.status, reported?.code ?? 'unknown', reported?.message ?? unsaid)
}

/** With its question mark; '' for no parameters. Empty ones are left out; a list is written once for each of its items. */
export function formatQueryString(query: QueryParameters): string {
  const given = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined || value === '') return []
    return (Array.isArray(value) ? value : [value]).map(each => [name, String(each)])
  })
  const search = new URLSearchParams(given).toString()
  return search === '' ? '' : `?${search}`
}

export function fetchJson<Answer>(path: string, query: QueryParameters = {}): Promise<Answer> {
  return sendRequest('GET', `${path}${formatQueryString(query)}`)
}
