/** The cookie of a browser's session, and the CSRF token that goes with it. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { refuse } from '../errors.ts'

/** Browsers take a `__Host-` cookie from https alone, and from no other host or path: nobody else can set it. */
const SECURE_NAME = '__Host-model_proxy_session'
/** Over plain http on loopback, where there is no https to have and not every browser stores a `Secure` cookie. */
const LOOPBACK_NAME = 'model_proxy_session'
const MAX_AGE_SECONDS = 30 * 24 * 3600
const TOKEN = /^[A-Za-z0-9_-]{43}$/
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

export function makeSessionToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Hex SHA-256: what the database keeps of a token or a key. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Follows from the session, so it needs no place of its own, and does not give the session away. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url')
}

export function readSessionToken(request: Request): string | null {
  const cookies = request.headers.get('cookie')?.split(/; */) ?? []
  for (const name of [SECURE_NAME, LOOPBACK_NAME]) {
    const value = cookies.find(cookie => cookie.startsWith(`${name}=`))?.slice(name.length + 1)
    // The plain name proves nothing where a page elsewhere on the host could have set it.
    if (value !== undefined && TOKEN.test(value) && (name === SECURE_NAME || isLoopback(request))) return value
  }
  return null
}

/** `trustedProxies`: whether their word that the client came over https counts. Throws a 403 where no cookie would be safe. */
export function sessionCookie(request: Request, token: string | null, trustedProxies: number): string {
  const age = token === null ? 0 : MAX_AGE_SECONDS
  const rest = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}`
  if (isHttps(request, trustedProxies)) return `${SECURE_NAME}=${token ?? ''}; Secure; ${rest}`
  if (isLoopback(request)) return `${LOOPBACK_NAME}=${token ?? ''}; ${rest}`
  throw refuse('httpsRequired')
}

/** Whether the browser came over https, as far as is known. */
export function isHttps(request: Request, trustedProxies: number): boolean {
  if (request.url.startsWith('https:')) return true
  return trustedProxies > 0 && request.headers.get('x-forwarded-proto')?.split(',').at(-1)?.trim() === 'https'
}

function isLoopback(request: Request): boolean {
  return LOOPBACK_HOST.test(request.headers.get('host') ?? '')
}
