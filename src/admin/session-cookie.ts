/** The browser's session cookie, and the CSRF token that belongs to it. */
import { createHmac, randomBytes } from 'node:crypto'
import { createError } from '../errors/errors.ts'
import { sha256 } from '../formats/json/canonical.ts'
import { isHttps } from '../http/is-https.ts'
import { addressPrefix } from '../stores/fast-store.ts'

/** The name over https. Browsers accept a `__Host-` cookie only over https and from this host, so no other site can set it. */
const SECURE_NAME = '__Host-model_proxy_session'
/** The name over http on loopback, where some browsers do not store a `Secure` cookie. */
const LOOPBACK_NAME = 'model_proxy_session'
const MAX_AGE_SECONDS = 30 * 24 * 3600
const TOKEN = /^[A-Za-z0-9_-]{43}$/
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

export function createSessionToken(): string {
  return randomBytes(32).toString('base64url')
}

export interface BrowserClient {
  address: string
  userAgent: string
}

/** Creates a token, and the session to open in the database. */
export function createSession({ address, userAgent }: BrowserClient) {
  const token = createSessionToken()
  const session = {
    // The database stores only this form.
    token_hash: sha256(token),
    client_address: address,
    client_agent: userAgent,
    origin: addressPrefix(address),
  }
  return { token, session }
}

/** Derives the CSRF token from the session token by a one-way function, so that it needs no storage and does not reveal the session token. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url')
}

/** Returns the value of a cookie; undefined if there is none. */
export function readCookie({ headers }: Request, name: string): string | undefined {
  const cookies = headers.get('cookie')?.split(/; */) ?? []
  return cookies.find(cookie => cookie.startsWith(`${name}=`))?.slice(name.length + 1)
}

export function readSessionToken(request: Request): string | null {
  for (const name of [SECURE_NAME, LOOPBACK_NAME]) {
    const value = readCookie(request, name)
    // Outside of loopback, the loopback name is not trusted, because a page on another host name could have set it.
    if (value !== undefined && TOKEN.test(value) && (name === SECURE_NAME || isLoopback(request))) return value
  }
  return null
}

/** Formats the cookie; `token` is null to delete it. Trusted proxies report whether the client used https. Throws a 403 if the cookie would not be safe. */
export function formatSessionCookie(request: Request, token: string | null, trustedProxies: number): string {
  const age = token === null ? 0 : MAX_AGE_SECONDS
  const rest = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}`
  if (isHttps(request, trustedProxies)) return `${SECURE_NAME}=${token ?? ''}; Secure; ${rest}`
  if (isLoopback(request)) return `${LOOPBACK_NAME}=${token ?? ''}; ${rest}`
  throw createError('httpsRequired')
}

function isLoopback(request: Request): boolean {
  return LOOPBACK_HOST.test(request.headers.get('host') ?? '')
}
