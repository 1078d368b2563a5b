/** Who asks: calls the functions that know sessions and admin keys, before anybody is known. */
import type { Database } from '../database.ts'

export interface SessionRow {
  session_id: number
  user_id: number
  email: string
  role: 'owner' | 'reader'
}

export interface AdminKeyHolder {
  admin_key_id: number
  user_id: number
  email: string
  role: 'owner' | 'reader'
}

/** `tokenHash`: hex SHA-256 of the cookie. Null where there is no such session any more. */
export async function admitSession(database: Database, tokenHash: string): Promise<SessionRow | null> {
  return (await database.call<SessionRow>('select * from admit_session($1::text)', [tokenHash]))[0] ?? null
}

/** `keyHash`: hex SHA-256 of the key. Null where it is unknown or has expired. */
export async function admitAdminKey(database: Database, keyHash: string): Promise<AdminKeyHolder | null> {
  return (await database.call<AdminKeyHolder>('select * from admit_admin_key($1::text)', [keyHash]))[0] ?? null
}

/** Seconds to wait before this account, or this address, may try to log in; 0: now. */
export async function countLoginAttempt(database: Database, email: string, address: string): Promise<number> {
  const text = 'select count_login_attempt($1::text, $2::text) as seconds'
  return (await database.call<{ seconds: number }>(text, [email, address]))[0]?.seconds ?? 0
}

export async function findPasswordHash(database: Database, email: string): Promise<string | null> {
  const text = 'select find_password_hash($1::text) as hash'
  return (await database.call<{ hash: string | null }>(text, [email]))[0]?.hash ?? null
}

export interface NewSession {
  email: string
  tokenHash: string
  address: string
  userAgent: string
}

export async function openSession(
  database: Database,
  { email, tokenHash, address, userAgent }: NewSession,
): Promise<void> {
  await database.call('select open_session($1::text, $2::text, $3::text, $4::text)', [
    email,
    tokenHash,
    address,
    userAgent,
  ])
}

/** For whom an identity provider vouched for. */
export async function logInByEmail(
  database: Database,
  { email, tokenHash, address, userAgent }: NewSession,
): Promise<void> {
  await database.call('select log_in_by_email($1::text, $2::text, $3::text, $4::text)', [
    email,
    tokenHash,
    address,
    userAgent,
  ])
}

export async function noteFailedLogin(database: Database, email: string, address: string): Promise<void> {
  await database.call('select note_failed_login($1::text, $2::text)', [email, address])
}

/** For whom an invitation is; null where it is unknown, used or expired. */
export async function findInvitation(database: Database, token: string): Promise<{ email: string } | null> {
  return (await database.call<{ email: string }>('select email from find_invitation($1::text)', [token]))[0] ?? null
}

export async function acceptInvitation(database: Database, token: string, passwordHash: string): Promise<void> {
  await database.call('select accept_invitation($1::text, $2::text)', [token, passwordHash])
}

/** Makes the first administrator of a new installation; false where there is one already. */
export async function createFirstAdministrator(
  database: Database,
  email: string,
  passwordHash: string,
): Promise<boolean> {
  const text = `select create_user($1::text, 'owner', $2::text) where not exists (select 1 from users u where u.role = 'owner')`
  return (await database.call(text, [email, passwordHash])).length > 0
}
