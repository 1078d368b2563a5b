/** Identifies the caller: the functions for sessions and admin keys, which run without a known user. */
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

/** `tokenHash` is the cookie's hex SHA-256. Returns null when the session does not exist any more. */
export async function admitSession(database: Database, tokenHash: string): Promise<SessionRow | null> {
  return (await database.call<SessionRow>('select * from model_proxy.admit_session($1::text)', [tokenHash]))[0] ?? null
}

/** `keyHash` is the key's hex SHA-256. Returns null when the key is unknown or expired. */
export async function admitAdminKey(database: Database, keyHash: string): Promise<AdminKeyHolder | null> {
  return (
    (await database.call<AdminKeyHolder>('select * from model_proxy.admit_admin_key($1::text)', [keyHash]))[0] ?? null
  )
}

/** Seconds until this account, or this address, may try to log in again; 0 for now. `attempts` are counted first, if any. */
export async function countLoginAttempt(
  database: Database,
  email: string,
  origin: string,
  attempts: 0 | 1,
): Promise<number> {
  const text = 'select model_proxy.count_login_attempt($1::text, $2::text, $3::integer) as seconds'
  return (await database.call<{ seconds: number }>(text, [email, origin, attempts]))[0]?.seconds ?? 0
}

export async function findPasswordHash(database: Database, email: string): Promise<string | null> {
  const text = 'select model_proxy.find_password_hash($1::text) as hash'
  return (await database.call<{ hash: string | null }>(text, [email]))[0]?.hash ?? null
}

export interface NewSession {
  tokenHash: string
  address: string
  /** The address that limits count by. */
  origin: string
  userAgent: string
}

export async function openSession(
  database: Database,
  email: string,
  { tokenHash, address, userAgent, origin }: NewSession,
): Promise<void> {
  const values = [email, tokenHash, address, userAgent, origin]
  await database.call('select model_proxy.open_session($1::text, $2::text, $3::text, $4::text, $5::text)', values)
}

/** Rejects with no_data_found when `passwordHash`, which was checked, is not the user's any more. */
export async function logInByPassword(
  database: Database,
  email: string,
  passwordHash: string,
  { tokenHash, address, userAgent, origin }: NewSession,
): Promise<void> {
  const values = [email, passwordHash, tokenHash, address, userAgent, origin]
  await database.call(
    'select model_proxy.log_in_by_password($1::text, $2::text, $3::text, $4::text, $5::text, $6::text)',
    values,
  )
}

/** A person whom an identity provider has authenticated. */
export interface Identity {
  issuer: string
  subject: string
  /** Verified by the provider. */
  email: string
  /** From the person's groups; null to leave it. */
  role: 'owner' | 'reader' | null
}

export async function logInByIdentity(
  database: Database,
  { issuer, subject, email, role }: Identity,
  { tokenHash, address, userAgent, origin }: NewSession,
): Promise<void> {
  const values = [issuer, subject, email, role, tokenHash, address, userAgent, origin]
  const text =
    'select model_proxy.log_in_by_identity($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text)'
  await database.call(text, values)
}

/** Ends the person's sessions: the provider has told that they may not log in. */
export async function shutOutIdentity(
  database: Database,
  { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>,
): Promise<void> {
  await database.call('select model_proxy.shut_out_identity($1::text, $2::text)', [issuer, subject])
}

export async function noteFailedLogin(database: Database, email: string, address: string): Promise<void> {
  await database.call('select model_proxy.note_failed_login($1::text, $2::text)', [email, address])
}

/** The invited person's address; null when the invitation is unknown, used or expired. */
export async function findInvitation(database: Database, token: string): Promise<{ email: string } | null> {
  return (
    (await database.call<{ email: string }>('select email from model_proxy.find_invitation($1::text)', [token]))[0] ??
    null
  )
}

export async function acceptInvitation(database: Database, token: string, passwordHash: string): Promise<void> {
  await database.call('select model_proxy.accept_invitation($1::text, $2::text)', [token, passwordHash])
}

/** Creates the first administrator of a new installation; false when there is one already. */
export async function createFirstAdministrator(
  database: Database,
  email: string,
  passwordHash: string,
): Promise<boolean> {
  const text = `select model_proxy.create_user($1::text, 'owner', $2::text) where not exists (select 1 from model_proxy.users u where u.role = 'owner')`
  return (await database.call(text, [email, passwordHash])).length > 0
}
