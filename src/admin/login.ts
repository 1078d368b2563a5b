/** Logs users in with a password. Limits attempts, so that passwords cannot be guessed. */

import { createError, type ProxyError } from '../errors/errors.ts'
import { callFunction, callFunctionForRow } from '../postgres/call.ts'
import { sqlStateOf } from '../postgres/database.ts'
import { addressPrefix } from '../stores/fast-store.ts'
import type { AdminOptions } from './controller.ts'
import { hashNewPassword, hashPassword, limitHashing } from './password-hashing.ts'
import { type BrowserClient, createSession, createSessionToken } from './session-cookie.ts'

export interface LoginService {
  /** Logs in. Returns the new session's token. Throws a 401 if the password is wrong, and a 429 after too many attempts. */
  logIn(email: string, password: string, browser: BrowserClient): Promise<string>
  /** Sets the password of the invited user, and logs in. Returns the new session's token. */
  acceptInvitation(invitation: string, password: string, browser: BrowserClient): Promise<string>
  /**
   * Mails a link to set a new password, if the address is that of a user with a password. Returns before that is known, so that nobody learns
   * whether it is. Throws a 429 after too many requests.
   */
  requestPasswordReset(email: string, address: string): Promise<void>
  /** Verifies a password. Returns its hash. Throws a 401 if it is wrong, and a 429 after too many attempts. */
  verify(email: string, password: string, address: string): Promise<string>
}

/** SQLSTATE: no_data_found. The password was changed, or the user was deleted, during the login. */
const NO_DATA_FOUND = 'P0002'

/**
 * The hash of a random password. It is verified if the account has no password, so that response times do not reveal which accounts
 * exist.
 */
let decoy: Promise<string> | null = null

export function createLoginService({
  database,
  accountMails,
  log,
}: Pick<AdminOptions, 'database' | 'accountMails' | 'log'>): LoginService {
  async function mailPasswordReset(email: string, address: string): Promise<void> {
    try {
      const reset = await callFunctionForRow(database, 'request_password_reset', {
        of_email: email,
        client_address: address,
      })
      if (reset !== null) await accountMails?.sendPasswordReset(reset.email, reset.token)
    } catch (error) {
      log.failures.report('mail', error, 'a password reset could not be created')
    }
  }

  async function verify(email: string, password: string, address: string): Promise<string> {
    const origin = addressPrefix(address)
    const known = await callFunction(database, 'find_password_hash', { of_email: email })
    decoy ??= hashPassword(createSessionToken())
    const hash = known ?? (await decoy)
    await limitHashing(async () => {
      // Checked after the wait for a hashing slot, because only failures count: of many concurrent attempts, few are verified.
      const waitSeconds = await callFunction(database, 'count_login_attempt', { email, address: origin, attempts: 0 })
      if (waitSeconds > 0) throw tooManyLoginsError(waitSeconds)
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
    async requestPasswordReset(email, address) {
      const counted = { email: `reset ${email}`, address: addressPrefix(address), attempts: 1 }
      const waitSeconds = await callFunction(database, 'count_login_attempt', counted)
      if (waitSeconds > 0) throw tooManyLoginsError(waitSeconds)
      void mailPasswordReset(email, address)
    },
    async acceptInvitation(invitation, password, browser) {
      const invited = await callFunctionForRow(database, 'find_invitation', { token: invitation })
      // Only failures count, because a whole office may share an address.
      const counted = { email: 'invitation', address: addressPrefix(browser.address), attempts: 1 }
      const waitSeconds = invited === null ? await callFunction(database, 'count_login_attempt', counted) : 0
      if (waitSeconds > 0) throw tooManyLoginsError(waitSeconds)
      const hash = invited === null ? '' : await hashNewPassword(password, invited.email ?? '')
      // Raises if the invitation was used or has expired meanwhile, or never existed.
      const accepted = { token: invitation, password_hash: hash, client_address: browser.address }
      await callFunction(database, 'accept_invitation', accepted)
      const { token, session } = createSession(browser)
      await callFunction(database, 'open_session', { of_email: invited?.email ?? '', ...session })
      return token
    },
  }
}

function tooManyLoginsError(waitSeconds: number): ProxyError {
  return createError('tooManyLogins', { minutes: Math.ceil(waitSeconds / 60), seconds: waitSeconds })
}
