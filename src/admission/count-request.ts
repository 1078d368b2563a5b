/** Counts a request in its windows and its month, in both or in neither. */
import { refuse } from '../errors/errors.ts'
import type { Account, UnknownKey } from '../postgres/admit.ts'
import { type KeyValidation, mayComeFrom, refuseInactive } from './api-key.ts'
import type { Quota, Reservation } from './quota.ts'
import { countsInDatabase, type RateWindows, rateLimitExceeded, type WindowGrant } from './rate-windows.ts'

export interface AskedRequest {
  keyHash: string
  address: string
  /** Names an exact entry to read in the same round trip; null for none. */
  exactKey: string | null
  /** Called if there is no such entry while the month is still being counted. */
  onNone?(): void
}

export interface CountedRequest {
  /** Key, project and settings, as the database had them when the request was counted. */
  account: Account
  /** The exact entry, if one was asked for and found. */
  entry: Uint8Array | null
  /** Requests that the key may still make in its window. */
  remaining: number
}

interface CountOptions {
  keys: KeyValidation
  windows: RateWindows
  quota: Quota
}

/** Returns a function that counts a request of an account as last seen. It throws 401, 403, 429 or 503 with nothing counted. */
export function createCount(options: CountOptions) {
  const { keys, quota } = options
  const crowd = createCrowd()
  /** Accounts whose last request left more than half of its minute, and was within its month. */
  const farFromLimits = new WeakSet<Account>()

  /**
   * Counts a request in its windows, and meanwhile in its month if it comes by itself, which saves it a round trip: far from its limits, it will
   * hardly have to be taken back there. Those that come together are counted there together afterwards, which costs less.
   */
  async function countEarly(asked: AskedRequest, account: Account) {
    let early: Promise<Reservation> | null = null
    let isCounted = false
    function onSingle(): void {
      if (crowd.isNear() || !farFromLimits.has(account)) return
      early = quota.reserveSingle(asked.keyHash)
      // It is awaited later.
      early.catch(() => {})
    }
    try {
      const counted = await countInWindows(asked, account, options, onSingle)
      isCounted = counted !== null
      if (early && counted?.entry === null && asked.exactKey !== null) asked.onNone?.()
      return { counted, early: early as Promise<Reservation> | null }
    } finally {
      if (!isCounted) await giveBack(account, early)
    }
  }

  async function giveBack(guess: Account, early: Promise<Reservation> | null): Promise<void> {
    farFromLimits.delete(guess)
    const reservation = await early?.catch(() => null)
    if (reservation?.reserved) quota.refund(reservation.account)
  }

  async function count(asked: AskedRequest, known: Account): Promise<CountedRequest> {
    const { keyHash, address } = asked
    for (let guess = known; ; guess = keys.lastKnown(keyHash) ?? (await keys.validateUnknown(keyHash, address))) {
      const { counted, early } = await countEarly(asked, guess)
      if (!counted) continue
      const { account, reserved } = await (early ?? quota.reserve(keyHash)).catch(async error => {
        await counted.uncount()
        throw error
      })
      // The next request is planned with the current account.
      if (account !== guess) keys.note(keyHash, account)
      if (reserved && isCountedFor(counted, guess, account)) {
        if (counted.remaining > account.requests_per_minute / 2) farFromLimits.add(account)
        return { account, entry: counted.entry, remaining: counted.remaining }
      }
      farFromLimits.delete(guess)
      await counted.uncount()
      if (reserved) quota.refund(account)
      refuseInactive(account)
      if (!reserved) throw refuse('monthlyQuotaExceeded')
    }
  }

  return async (asked: AskedRequest, known: Account): Promise<CountedRequest> => {
    crowd.enter()
    try {
      return await count(asked, known)
    } finally {
      crowd.leave()
    }
  }
}

/**
 * Counts the request in the account's windows. Throws 403 for an address that the key may not be used from, 429 when a window is full;
 * returns null when the account's limits have changed.
 */
async function countInWindows(
  { keyHash, address, exactKey }: AskedRequest,
  account: Account,
  { keys, windows }: Pick<CountOptions, 'keys' | 'windows'>,
  onSingle: () => void,
): Promise<WindowGrant | null> {
  if (!mayComeFrom(address, account)) {
    await keys.identify(keyHash, address)
    return null
  }
  const counted = await windows.count({ account, address, entry: exactKey, onSingle })
  if (counted.isGranted) return counted
  // The limits may have changed since the account was seen.
  if (sameLimits(account, await keys.validate(keyHash)))
    throw rateLimitExceeded(counted.fullWindow.limit, counted.waitMs)
  return null
}

/** Whether a request that was counted for the guess is counted for the account. */
function isCountedFor({ isInDatabase }: WindowGrant, guess: Account, account: Account | UnknownKey): boolean {
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

/** After two requests were counted at the same time, others are expected for so long. */
const CROWDED_MS = 20

/** Tells whether several requests come at a time: then they are counted together. */
function createCrowd() {
  let present = 0
  let lastMs = -Infinity
  return {
    enter(): void {
      if (++present > 1) lastMs = performance.now()
    },
    leave(): void {
      present--
    },
    isNear: () => present > 1 || performance.now() - lastMs < CROWDED_MS,
  }
}
