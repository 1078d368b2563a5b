/** Identifies the admin API's caller: the holder of an admin key, or a logged-in browser with its CSRF token. */
import { timingSafeEqual } from 'node:crypto'
import { createError } from '../errors/errors.ts'
import type { Actor } from '../postgres/admin/call-as.ts'
import { callFunctionForRow } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { CredentialAttemptLimiter } from './credential-attempts.ts'
import { csrfTokenOf, hashToken, readSessionToken } from './session-cookie.ts'

export interface Caller {
  actor: Actor
  email: string
  /** `owner` is an administrator. */
  role: 'owner' | 'reader'
  /** A browser's session token; null for an admin key. */
  sessionToken: string | null
}

export interface CallerOptions {
  database: Database
  credentialAttempts: CredentialAttemptLimiter
}

const ADMIN_KEY = /^lgw_admin_[0-9A-Za-z]{32}$/
const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Throws a 401 when the caller is unknown, and a 403 when another site caused the request. */
export async function readCaller(options: CallerOptions, request: Request, address: string): Promise<Caller> {
  const authorization = request.headers.get('authorization')
  if (authorization !== null) return readKeyHolder(options, authorization, address)
  const token = readSessionToken(request)
  const session = token === null ? null : await findSession(options, token, address)
  if (token === null || session === null) throw createError('missingAdminKey')
  if (!READING.has(request.method)) checkIntent(request, token)
  return {
    actor: { database: options.database, name: session.email, userId: session.user_id, adminKeyId: null, address },
    email: session.email,
    role: session.role,
    sessionToken: token,
  }
}

function findSession({ database, credentialAttempts }: CallerOptions, token: string, address: string) {
  return credentialAttempts.lookUp(hashToken(token), address, hash =>
    checked(callFunctionForRow(database, 'authenticate_session', { token_hash: hash })),
  )
}

async function readKeyHolder(
  { database, credentialAttempts }: CallerOptions,
  authorization: string,
  address: string,
): Promise<Caller> {
  const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
  const holder = ADMIN_KEY.test(key)
    ? await credentialAttempts.lookUp(hashToken(key), address, hash =>
        checked(callFunctionForRow(database, 'authenticate_admin_key', { hash })),
      )
    : null
  if (holder === null) throw createError('invalidAdminKey')
  return {
    actor: { database, name: holder.email, userId: holder.user_id, adminKeyId: holder.admin_key_id, address },
    email: holder.email,
    role: holder.role,
    sessionToken: null,
  }
}

/** What could not be checked is our outage, not the caller's mistake. */
function checked<Holder>(checking: Promise<Holder>): Promise<Holder> {
  return checking.catch(error => {
    throw createError('databaseUnavailable', null, error)
  })
}

/** A change must come from the dashboard's own pages. Another site's form sends the cookie, but has neither token nor origin. */
function checkIntent(request: Request, token: string): void {
  const given = Buffer.from(request.headers.get('x-csrf-token') ?? '')
  const expected = Buffer.from(csrfTokenOf(token))
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected)
  if (!isOurs) throw createError('invalidCsrfToken')
  rejectCrossSiteRequest(request)
}

/** Throws a 403 when the browser reports that another site's page sent the request. */
export function rejectCrossSiteRequest(request: Request): void {
  const origin = request.headers.get('origin')
  const host = request.headers.get('host')
  const isOther = origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host)
  const site = request.headers.get('sec-fetch-site')
  if (isOther || site === 'cross-site' || site === 'same-site') throw createError('crossOriginRequest')
}
