/** Removes from a recording what identifies its owner: keys, accounts, and every header that is not known to be harmless. */

/** Request headers that change a response. */
const REQUEST_HEADERS = ['accept', 'anthropic-beta', 'anthropic-version', 'content-type', 'openai-beta']
/** Response headers that clients read. */
const RESPONSE_HEADERS = ['content-type', 'openai-version', 'retry-after', 'retry-after-ms', 'x-should-retry']

const STRIPPED = 'stripped'
/** Vendors' ids of organizations, projects and users, and keys in a body; ordinary words have no digits. */
const TELLING: readonly [RegExp, string][] = [
  [/\b(org|proj|user|acct)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{8,}\b/g, `$1-${STRIPPED}`],
  [/\b(sk|gsk|pk|rk)[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{8,}/g, `$1-${STRIPPED}`],
]

/** `secrets` are the request's credentials. */
export function stripText(text: string, secrets: readonly string[]): string {
  let stripped = text
  for (const secret of secrets) if (secret !== '') stripped = stripped.replaceAll(secret, STRIPPED)
  for (const [pattern, instead] of TELLING) stripped = stripped.replace(pattern, instead)
  return stripped
}

export const stripRequestHeaders = (headers: Headers) => pick(headers, REQUEST_HEADERS)
export const stripResponseHeaders = (headers: Headers) => pick(headers, RESPONSE_HEADERS)

/** The keys in a request, wherever clients put them. */
export function secretsOf(headers: Headers): string[] {
  const bearer = headers.get('authorization')?.replace(/^bearer\s+/i, '') ?? ''
  return [bearer, headers.get('x-api-key') ?? '', headers.get('api-key') ?? ''].filter(secret => secret !== '')
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap(name => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])))
}
