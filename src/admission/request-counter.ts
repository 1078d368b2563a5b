/** Counts a request in its windows and its month, in both or in neither. */
import { createError } from '../errors/errors.ts'
import type { ResolvedKey, UnknownKey } from '../postgres/admit-requests.ts'
import { isAddressAllowed, type KeyValidator, rejectInactiveKey } from './key-validator.ts'
import type { Quota, QuotaReservation } from './quota.ts'
import {
  createRateLimitError,
  isMinuteCountedInDatabase,
  type RateLimiter,
  type RateLimitGrant,
} from './rate-limiter.ts'

export interface AdmissionInput {
  keyHash: string
  address: string
  /** Names an exact entry to read in the same round trip; null for none. */
  exactKey: string | null
  /** Called if there is no such entry while the month is still being counted. */
  onEntryMissing?(): void
}

export interface CountedRequest {
  /** Key, project and settings, as the database had them when the request was counted. */
  resolvedKey: ResolvedKey
  /** The exact entry, if one was asked for and found. */
  entry: Uint8Array | null
  /** Requests that the key may still make in its window. */
  remaining: number
}

interface CountOptions {
  keys: KeyValidator
  windows: RateLimiter
  quota: Quota
}

/** Returns a function that counts a request of an account as last seen. It throws 401, 403, 429 or 503 with nothing counted. */
export function createRequestCounter(options: CountOptions) {
  const { keys, quota } = options
  const crowd = createCrowd()
  /** Accounts whose last request left more than half of its minute, and was within its month. */
  const farFromLimits = new WeakSet<ResolvedKey>()

  /**
   * Counts a request in its windows, and meanwhile in its month if it comes by itself, which saves it a round trip: far from its limits, it will
   * hardly have to be taken back there. Those that come together are counted there together afterwards, which costs less.
   */
  async function countEarly(asked: AdmissionInput, resolvedKey: ResolvedKey) {
    let early: Promise<QuotaReservation> | null = null
    let isCounted = false
    function onSingle(): void {
      if (crowd.isNear() || !farFromLimits.has(resolvedKey)) return
      early = quota.reserveImmediately(asked.keyHash)
      // It is awaited later.
      early.catch(() => {})
    }
    try {
      const counted = await countInWindows(asked, resolvedKey, options, onSingle)
      isCounted = counted !== null
      if (early && counted?.entry === null && asked.exactKey !== null) asked.onEntryMissing?.()
      return { counted, early: early as Promise<QuotaReservation> | null }
    } finally {
      if (!isCounted) await giveBack(resolvedKey, early)
    }
  }

  async function giveBack(guess: ResolvedKey, early: Promise<QuotaReservation> | null): Promise<void> {
    farFromLimits.delete(guess)
    const reservation = await early?.catch(() => null)
    if (reservation?.reserved) quota.refund(reservation.resolvedKey)
  }

  async function count(asked: AdmissionInput, known: ResolvedKey): Promise<CountedRequest> {
    const { keyHash, address } = asked
    for (let guess = known; ; guess = keys.findCached(keyHash) ?? (await keys.validateUnknown(keyHash, address))) {
      const { counted, early } = await countEarly(asked, guess)
      if (!counted) continue
      const { resolvedKey, reserved } = await (early ?? quota.reserve(keyHash)).catch(async error => {
        await counted.uncount()
        throw error
      })
      // The next request is planned with the current account.
      if (resolvedKey !== guess) keys.setCached(keyHash, resolvedKey)
      if (reserved && isCountedFor(counted, guess, resolvedKey)) {
        if (counted.remaining > resolvedKey.requests_per_minute / 2) farFromLimits.add(resolvedKey)
        return { resolvedKey, entry: counted.entry, remaining: counted.remaining }
      }
      farFromLimits.delete(guess)
      await counted.uncount()
      if (reserved) quota.refund(resolvedKey)
      rejectInactiveKey(resolvedKey)
      if (!reserved) throw createError('monthlyQuotaExceeded')
    }
  }

  return async (asked: AdmissionInput, known: ResolvedKey): Promise<CountedRequest> => {
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
  { keyHash, address, exactKey }: AdmissionInput,
  resolvedKey: ResolvedKey,
  { keys, windows }: Pick<CountOptions, 'keys' | 'windows'>,
  onSingle: () => void,
): Promise<RateLimitGrant | null> {
  if (!isAddressAllowed(address, resolvedKey)) {
    await keys.resolve(keyHash, address)
    return null
  }
  const counted = await windows.count({ resolvedKey, address, entry: exactKey, onSingle })
  if (counted.isGranted) return counted
  // The limits may have changed since the account was seen.
  if (sameLimits(resolvedKey, await keys.validate(keyHash)))
    throw createRateLimitError(counted.fullWindow.limit, counted.waitMs)
  return null
}

/** Whether a request that was counted for the guess is counted for the account. */
function isCountedFor(
  { isInDatabase }: RateLimitGrant,
  guess: ResolvedKey,
  resolvedKey: ResolvedKey | UnknownKey,
): boolean {
  return (
    sameLimits(guess, resolvedKey) &&
    (isInDatabase || resolvedKey.verdict === 'unknown' || !isMinuteCountedInDatabase(resolvedKey))
  )
}

/** Whether a count in one account's windows is valid for the other account. */
function sameLimits(guess: ResolvedKey, resolvedKey: ResolvedKey | UnknownKey): boolean {
  if (guess === resolvedKey) return true
  return (
    guess.verdict === resolvedKey.verdict &&
    guess.requests_per_minute === resolvedKey.requests_per_minute &&
    guess.requests_per_minute_per_address === resolvedKey.requests_per_minute_per_address &&
    guess.allowed_addresses?.join() === resolvedKey.allowed_addresses?.join()
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
