/** Admits or refuses a request: key, rate windows and monthly quota are checked, in that order. */

import { refuse } from '../errors.ts'
import type { Account, UnknownKey } from '../postgres/admit.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createKeyValidation, refuseInactive } from './key-validation.ts'
import type { Passed, RateWindows } from './rate-windows.ts'
import { rateLimitExceeded } from './refusals.ts'
import { createRequestsUnderWay } from './requests-under-way.ts'
import type { Reservations } from './reservations.ts'

export interface Admitted {
  /** Key, project and settings, as the database had them when the request was counted. */
  account: Account
  /** The exact entry, if one was asked for and found. */
  entry: Uint8Array | null
  /** Must be called when the request is over. Until then it counts as one of the key's concurrent requests. */
  leave(): void
}

export interface Admission {
  /** The key's account as last seen: a guess, never a verdict. Null when the key is not known to be active. */
  lastKnown(keyHash: string): Account | null
  /** Validates the key, and counts nothing. Throws 401, 403, 429 or 503. */
  identify(keyHash: string, address: string): Promise<Account>
  /** Validates the key and counts one request in its windows and as concurrent, but not in its month. Throws 401, 403, 429 or 503. */
  authenticate(keyHash: string, request: UncountedRequest): Promise<Account>
  /**
   * Validates the key and counts the request in its windows and its month. Otherwise throws 401, 403, 429 or 503, with nothing counted.
   * `exactKey` names an exact entry to read in the same round trip.
   */
  admit(keyHash: string, address: string, exactKey: string | null): Promise<Admitted>
}

/** A request that does not count against the month. */
export interface UncountedRequest {
  address: string
  /** Registers a callback for when the response was sent, or the client has left. */
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

  /** Counts one request in the account's windows. Throws 429 when one is full; returns null when the account's limits have changed. */
  async function countInWindows(
    keyHash: string,
    account: Account,
    address: string,
    exactKey: string | null,
  ): Promise<Passed | null> {
    const pass = await windows.pass({ account, address, entry: exactKey })
    if (pass.passed) return pass
    // The limits may have changed since the account was seen.
    if (sameLimits(account, await keys.validate(keyHash))) throw rateLimitExceeded(pass.fullWindow.limit, pass.waitMs)
    return null
  }

  /** Counts one request in its windows and its month, or throws with nothing counted. */
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
      // The next request is planned with the current account.
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
      // A key's id, by which its concurrent requests are counted, does not change with its plan.
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

/** Whether a count in one account's windows is valid for the other account. */
function sameLimits(guess: Account, account: Account | UnknownKey): boolean {
  if (guess === account) return true
  return (
    guess.verdict === account.verdict &&
    guess.requests_per_minute === account.requests_per_minute &&
    guess.requests_per_minute_per_address === account.requests_per_minute_per_address
  )
}
