/** Logs users in with a password. Attempts are limited so that a password cannot be guessed. */

import { createError, type ProxyError } from '../errors/errors.ts'
import { callFunction, callFunctionForRow } from '../postgres/call.ts'
import { type Database, sqlStateOf } from '../postgres/database.ts'
import { addressPrefix } from '../stores/fast-store.ts'
import { hashNewPassword, hashPassword, limitHashing } from './password-hashing.ts'
import { type BrowserClient, createSession, createSessionToken } from './session-cookie.ts'

export interface LoginService {
  /** Returns the new session's token. Throws a 401 when the password is wrong, a 429 after too many attempts. */
  logIn(email: string, password: string, browser: BrowserClient): Promise<string>
  /** Sets the password of the invited user, and logs in. */
  acceptInvitation(invitation: string, password: string, browser: BrowserClient): Promise<string>
  /** Returns the password's hash. Throws a 401 when it is not the account's password, and a 429 after too many attempts. */
  verify(email: string, password: string, address: string): Promise<string>
}

/** The password was changed, or the user deleted, while it was checked. */
const NO_DATA_FOUND = 'P0002'

/**
 * Hash of a random password. It is verified when the account has no password, so that response times do not tell which
 * accounts exist.
 */
let decoy: Promise<string> | null = null

export function createLoginService(database: Database): LoginService {
  async function verify(email: string, password: string, address: string): Promise<string> {
    const origin = addressPrefix(address)
    const known = await callFunction(database, 'find_password_hash', { of_email: email })
    decoy ??= hashPassword(createSessionToken())
    const hash = known ?? (await decoy)
    await limitHashing(async () => {
      // Only failures count, so it is asked when the password's turn has come: of many at once, few are tried.
      const waitSeconds = await callFunction(database, 'count_login_attempt', { email, address: origin, attempts: 0 })
      if (waitSeconds > 0) throw tooMany(waitSeconds)
      if ((await Bun.password.verify(password, hash)) && known !== null) return
      await callFunction(database, 'record_failed_login', { of_email: email, client_address: origin })
      throw createError('wrongPassword')
    })
    return hash
  }

  return {
    verify,
    async logIn(email, password, browser) {
      const hash = await verify(email, password, browser.address)
      const { token, session } = createSession(browser)
      const checked = { of_email: email, verified_hash: hash, ...session }
      await callFunction(database, 'log_in_by_password', checked).catch(error => {
        throw sqlStateOf(error) === NO_DATA_FOUND ? createError('wrongPassword') : error
      })
      return token
    },
    async acceptInvitation(invitation, password, browser) {
      const invited = await callFunctionForRow(database, 'find_invitation', { token: invitation })
      // Only failures count: a whole office may come from one address.
      const guess = { email: 'invitation', address: addressPrefix(browser.address), attempts: 1 }
      const waitSeconds = invited === null ? await callFunction(database, 'count_login_attempt', guess) : 0
      if (waitSeconds > 0) throw tooMany(waitSeconds)
      const hash = invited === null ? '' : await hashNewPassword(password, invited.email ?? '')
      // Raises when the invitation was used or has expired meanwhile, or never existed.
      await callFunction(database, 'accept_invitation', { token: invitation, password_hash: hash })
      const { token, session } = createSession(browser)
      await callFunction(database, 'open_session', { of_email: invited?.email ?? '', ...session })
      return token
    },
  }
}

function tooMany(waitSeconds: number): ProxyError {
  return createError('tooManyLogins', { minutes: Math.ceil(waitSeconds / 60), seconds: waitSeconds })
}
