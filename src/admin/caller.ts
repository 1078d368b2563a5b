/** Authenticates the admin API's caller: by an admin key, or by a browser session with its CSRF token. */
import { timingSafeEqual } from 'node:crypto'
import { createError } from '../errors/errors.ts'
import { sha256 } from '../formats/json/canonical.ts'
import type { Actor } from '../postgres/admin/call-as.ts'
import { callFunctionForRow } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { CredentialAttemptLimiter } from './credential-attempts.ts'
import { csrfTokenOf, readSessionToken } from './session-cookie.ts'

export interface Caller {
  actor: Actor
  email: string
  /** `owner` is an administrator whose admin key, if any, is not limited to one project. */
  role: 'owner' | 'reader'
  /** A browser's session; null for an admin key. */
  session: { id: number; csrfToken: string } | null
}

export interface CallerOptions {
  database: Database
  credentialAttempts: CredentialAttemptLimiter
}

const ADMIN_KEY = /^lgw_admin_[0-9A-Za-z]{32}$/
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Authenticates a request. Throws a 401 if the caller is unknown, and a 403 if a read-only key or another site sent a change. */
export async function readCaller(options: CallerOptions, request: Request, address: string): Promise<Caller> {
  const authorization = request.headers.get('authorization')
  if (authorization !== null) return readKeyHolder(options, request, authorization, address)
  const token = readSessionToken(request)
  const session = token === null ? null : await findSession(options, token, address)
  if (token === null || session === null) throw createError('missingAdminKey')
  const csrfToken = csrfTokenOf(token)
  if (!SAFE_METHODS.has(request.method)) checkCsrfToken(request, csrfToken)
  return {
    actor: { database: options.database, name: session.email, userId: session.user_id, adminKeyId: null, address },
    email: session.email,
    role: session.role,
    session: { id: session.session_id, csrfToken },
  }
}

function findSession({ database, credentialAttempts }: CallerOptions, token: string, address: string) {
  return credentialAttempts.lookUp(sha256(token), address, hash =>
    withOutageError(callFunctionForRow(database, 'authenticate_session', { token_hash: hash })),
  )
}

async function readKeyHolder(
  { database, credentialAttempts }: CallerOptions,
  request: Request,
  authorization: string,
  address: string,
): Promise<Caller> {
  const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
  const holder = ADMIN_KEY.test(key)
    ? await credentialAttempts.lookUp(sha256(key), address, hash =>
        withOutageError(callFunctionForRow(database, 'authenticate_admin_key', { hash })),
      )
    : null
  if (holder === null) throw createError('invalidAdminKey')
  if (holder.permissions === 'read_only' && !SAFE_METHODS.has(request.method)) throw createError('readOnlyAdminKey')
  return {
    actor: { database, name: holder.email, userId: holder.user_id, adminKeyId: holder.admin_key_id, address },
    email: holder.email,
    role: holder.project_id === null ? holder.role : 'reader',
    session: null,
  }
}

/** Converts a failed lookup to a 503, because it is an outage and not the caller's mistake. */
function withOutageError<Holder>(lookup: Promise<Holder>): Promise<Holder> {
  return lookup.catch(error => {
    throw createError('databaseUnavailable', null, error)
  })
}

/** Throws a 403 unless a change comes from the dashboard's pages. Another site's form sends the cookie, but has neither token nor origin. */
function checkCsrfToken(request: Request, csrfToken: string): void {
  const given = Buffer.from(request.headers.get('x-csrf-token') ?? '')
  const expected = Buffer.from(csrfToken)
  const isValid = given.length === expected.length && timingSafeEqual(given, expected)
  if (!isValid) throw createError('invalidCsrfToken')
  rejectCrossSiteRequest(request)
}

/** Throws a 403 if the browser reports that a page of another site sent the request. */
export function rejectCrossSiteRequest(request: Request): void {
  const origin = request.headers.get('origin')
  const host = request.headers.get('host')
  const isOtherOrigin = origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host)
  const site = request.headers.get('sec-fetch-site')
  if (isOtherOrigin || site === 'cross-site' || site === 'same-site') throw createError('crossOriginRequest')
}
