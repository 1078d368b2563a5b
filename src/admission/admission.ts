/** Admits or refuses a request: key, rate windows and monthly quota are checked, in that order. */

import { refuse } from '../errors.ts'
import type { Account, UnknownKey } from '../postgres/admit.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createKeyValidation, mayComeFrom, refuseInactive } from './api-key.ts'
import type { Quota } from './quota.ts'
import { countsInDatabase, type Passed, type RateWindows, rateLimitExceeded } from './rate-windows.ts'

export interface Admitted {
  /** Key, project and settings, as the database had them when the request was counted. */
  account: Account
  /** The exact entry, if one was asked for and found. */
  entry: Uint8Array | null
  /** Requests that the key may still make in its window. */
  remaining: number
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
  /**
   * Counts further requests in the month of an admitted request's key, all or none: a batch counts as many as it holds. Resolves to a
   * function that gives them back. Otherwise throws 401, 403, 429 or 503, with nothing counted.
   */
  admitMore(keyHash: string, requests: number): Promise<() => void>
}

/** A request that does not count against the month. */
export interface UncountedRequest {
  address: string
  /** Registers a callback for when the response was sent, or the client has left. */
  whenOver(leave: () => void): void
}

interface AdmissionOptions {
  store: FastStore
  windows: RateWindows
  quota: Quota
}

export function createAdmission({ store, windows, quota }: AdmissionOptions): Admission {
  const keys = createKeyValidation(store, quota)
  const underWay = createRequestsUnderWay()

  /**
   * Counts one request in the account's windows. Throws 403 for an address that the key may not be used from, 429 when a window is full;
   * returns null when the account's limits have changed.
   */
  async function countInWindows(
    keyHash: string,
    account: Account,
    address: string,
    exactKey: string | null,
  ): Promise<Passed | null> {
    if (!mayComeFrom(address, account)) {
      await keys.identify(keyHash, address)
      return null
    }
    const counted = await windows.count({ account, address, entry: exactKey })
    if (counted.passed) return counted
    // The limits may have changed since the account was seen.
    if (sameLimits(account, await keys.validate(keyHash)))
      throw rateLimitExceeded(counted.fullWindow.limit, counted.waitMs)
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
      const counted = await countInWindows(keyHash, guess, address, exactKey)
      if (!counted) continue
      const { account, reserved } = await quota.reserve(keyHash).catch(async error => {
        await counted.uncount()
        throw error
      })
      // The next request is planned with the current account.
      if (account !== guess) keys.note(keyHash, account)
      if (reserved && isCountedFor(counted, guess, account))
        return { account, entry: counted.entry, remaining: counted.remaining }
      await counted.uncount()
      if (reserved) quota.refund(account)
      refuseInactive(account)
      if (!reserved) throw refuse('monthlyQuotaExceeded')
    }
  }

  return {
    lastKnown: keys.lastKnown,
    identify: keys.identify,
    async authenticate(keyHash, { address, whenOver }) {
      const account = await keys.identify(keyHash, address)
      whenOver(underWay.enter(account))
      const counted = await windows.count({ account, address, entry: null })
      if (!counted.passed) throw rateLimitExceeded(counted.fullWindow.limit, counted.waitMs)
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
    admitMore: (keyHash, requests) => admitMore(quota, keyHash, requests),
  }
}

async function admitMore(quota: Quota, keyHash: string, requests: number): Promise<() => void> {
  if (requests === 0) return () => {}
  const { account, reserved } = await quota.reserve(keyHash, requests)
  refuseInactive(account)
  if (!reserved) throw refuse('monthlyQuotaExceeded')
  return () => quota.refund(account, requests)
}

/** Whether a request that was counted for the guess is counted for the account. */
function isCountedFor({ isInDatabase }: Passed, guess: Account, account: Account | UnknownKey): boolean {
  return sameLimits(guess, account) && (isInDatabase || account.verdict === 'unknown' || !countsInDatabase(account))
}

/** Whether a count in one account's windows is valid for the other account. */
function sameLimits(guess: Account, account: Account | UnknownKey): boolean {
  if (guess === account) return true
  return (
    guess.verdict === account.verdict &&
    guess.requests_per_minute === account.requests_per_minute &&
    guess.requests_per_minute_per_address === account.requests_per_minute_per_address &&
    guess.allowed_addresses?.join() === account.allowed_addresses?.join()
  )
}

/** Limits each key's concurrent requests in this process, so that one key's slow requests leave room for other keys. */
function createRequestsUnderWay() {
  const counts = new Map<number, number>()

  return {
    /** Throws a 429 when the key has as many requests in flight as its plan allows. Call the returned function when the request is over. */
    enter({ key_id, concurrent_requests }: Account): () => void {
      const others = counts.get(key_id) ?? 0
      if (others >= concurrent_requests) throw refuse('tooManyAtOnce', { limit: concurrent_requests })
      counts.set(key_id, others + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        const left = (counts.get(key_id) ?? 1) - 1
        if (left > 0) counts.set(key_id, left)
        else counts.delete(key_id)
      }
    },
  }
}
