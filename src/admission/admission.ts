/** Who may pass: key, rate windows, monthly quota, in that order of refusal. */

import { refuse } from '../errors.ts'
import type { Account, UnknownKey } from '../postgres/admit.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createKeyValidation, refuseInactive } from './key-validation.ts'
import type { Passed, RateWindows } from './rate-windows.ts'
import { rateLimitExceeded } from './refusals.ts'
import { createRequestsUnderWay } from './requests-under-way.ts'
import type { Reservations } from './reservations.ts'

export interface Admitted {
  /** Key, project, settings: as the database had them when the request was counted. */
  account: Account
  /** The exact entry, where one was asked for and found. */
  entry: Uint8Array | null
  /** To be called when the request is over: until then it is one of those that its key has under way. */
  leave(): void
}

export interface Admission {
  /** The key's account as last seen: a guess, never a verdict. Null where it was not seen to be good. */
  lastKnown(keyHash: string): Account | null
  /** Validates the key, and counts nothing. Throws 401, 403, 429 or 503. */
  identify(keyHash: string, address: string): Promise<Account>
  /**
   * Validates the key and counts one request in its windows and among those under way, but not in its month. Throws 401, 403, 429
   * or 503.
   */
  authenticate(keyHash: string, request: UncountedRequest): Promise<Account>
  /**
   * Validates the key and counts the request in its windows and its month, or throws 401, 403, 429 or 503 having counted nothing.
   * `exactKey`: an exact entry to read in the same round trip.
   */
  admit(keyHash: string, address: string, exactKey: string | null): Promise<Admitted>
}

/** A request that the month does not count. */
export interface UncountedRequest {
  address: string
  /** Has this called when its answer has been handed over, or nobody waits for it any more. */
  whenOver(leave: () => void): void
}

export interface AdmissionOptions {
  store: FastStore
  windows: RateWindows
  reservations: Reservations
}

export function createAdmission({ store, windows, reservations }: AdmissionOptions): Admission {
  const keys = createKeyValidation(store, reservations)
  const underWay = createRequestsUnderWay()

  /** Counts one request in the windows of the account. Throws 429 where one is full; null where its limits have changed. */
  async function countInWindows(
    keyHash: string,
    account: Account,
    address: string,
    exactKey: string | null,
  ): Promise<Passed | null> {
    const pass = await windows.pass({ account, address, entry: exactKey })
    if (pass.passed) return pass
    // The plan may have been changed since the account was seen.
    if (sameLimits(account, await keys.validate(keyHash))) throw rateLimitExceeded(pass.fullWindow.limit, pass.waitMs)
    return null
  }

  /** Counts one request in its windows and its month, or throws having counted nothing. */
  async function count(
    keyHash: string,
    address: string,
    exactKey: string | null,
    known: Account,
  ): Promise<Omit<Admitted, 'leave'>> {
    for (let guess = known; ; guess = keys.lastKnown(keyHash) ?? (await keys.validateUnknown(keyHash, address))) {
      const pass = await countInWindows(keyHash, guess, address, exactKey)
      if (!pass) continue
      const { account, reserved } = await reservations.reserve(keyHash).catch(async error => {
        await pass.uncount()
        throw error
      })
      // The next request is planned by what holds now.
      if (account !== guess) keys.note(keyHash, account)
      if (reserved && sameLimits(guess, account)) return { account, entry: pass.entry }
      await pass.uncount()
      if (reserved) reservations.refund(account)
      refuseInactive(account)
      if (!reserved) throw refuse('monthlyQuotaExceeded')
    }
  }

  function identify(keyHash: string, address: string): Promise<Account> {
    return keys.lastKnown(keyHash) ? keys.validate(keyHash) : keys.validateUnknown(keyHash, address)
  }

  return {
    lastKnown: keys.lastKnown,
    identify,
    async authenticate(keyHash, { address, whenOver }) {
      const account = await identify(keyHash, address)
      whenOver(underWay.enter(account))
      const pass = await windows.pass({ account, address, entry: null })
      if (!pass.passed) throw rateLimitExceeded(pass.fullWindow.limit, pass.waitMs)
      return account
    },
    async admit(keyHash, address, exactKey) {
      const known = keys.lastKnown(keyHash) ?? (await keys.validateUnknown(keyHash, address))
      // A key's id and its place among those under way never change with its plan.
      const leave = underWay.enter(known)
      try {
        return { ...(await count(keyHash, address, exactKey, known)), leave }
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}

/** Whether what was counted in the windows of the one was counted rightly for the other. */
function sameLimits(guess: Account, account: Account | UnknownKey): boolean {
  if (guess === account) return true
  return (
    guess.verdict === account.verdict &&
    guess.requests_per_minute === account.requests_per_minute &&
    guess.requests_per_minute_per_address === account.requests_per_minute_per_address
  )
}
