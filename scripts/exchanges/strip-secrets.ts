/** Takes out of a recording what tells whose it was: keys, accounts, and every header that is not known to tell nothing. */

/** Of requests, what changes an answer. */
const REQUEST_HEADERS = ['accept', 'anthropic-beta', 'anthropic-version', 'content-type', 'openai-beta']
/** Of answers, what clients read. */
const RESPONSE_HEADERS = ['content-type', 'openai-version', 'retry-after', 'retry-after-ms', 'x-should-retry']

const STRIPPED = 'stripped'
/** Vendors' ids of organizations, projects and users, and keys that stand in a body; words have no digits. */
const TELLING: readonly [RegExp, string][] = [
  [/\b(org|proj|user|acct)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{8,}\b/g, `$1-${STRIPPED}`],
  [/\b(sk|gsk|pk|rk)[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{8,}/g, `$1-${STRIPPED}`],
]

/** `secrets`: what the request was authorized with. */
export function stripText(text: string, secrets: readonly string[]): string {
  let stripped = text
  for (const secret of secrets) if (secret !== '') stripped = stripped.replaceAll(secret, STRIPPED)
  for (const [pattern, instead] of TELLING) stripped = stripped.replace(pattern, instead)
  return stripped
}

export const stripRequestHeaders = (headers: Headers) => pick(headers, REQUEST_HEADERS)
export const stripResponseHeaders = (headers: Headers) => pick(headers, RESPONSE_HEADERS)

/** The keys that a request carries, wherever clients put them. */
export function secretsOf(headers: Headers): string[] {
  const bearer = headers.get('authorization')?.replace(/^bearer\s+/i, '') ?? ''
  return [bearer, headers.get('x-api-key') ?? '', headers.get('api-key') ?? ''].filter(secret => secret !== '')
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap(name => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])))
}
