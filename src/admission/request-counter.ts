/** Counts a request in both its rate windows and its month, or in neither. */
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
  /** Name of the exact entry to read in the same round trip; null for none. */
  exactKey: string | null
  /** Called if that entry does not exist, while the month is still being counted. */
  onEntryMissing?(): void
}

export interface CountedRequest {
  /** The key, project and settings, as in the database when the request was counted. */
  resolvedKey: ResolvedKey
  /** The exact entry; null when it was not requested or does not exist. */
  entry: Uint8Array | null
  /** Requests that the key may still send in its window. */
  remaining: number
}

interface CountOptions {
  keys: KeyValidator
  windows: RateLimiter
  quota: Quota
}

/** Returns a function that counts a request, given its cached key record. It throws 401, 403, 429 or 503, with nothing counted. */
export function createRequestCounter(options: CountOptions) {
  const { keys, quota } = options
  const burst = createBurstDetector()
  /** Keys whose last request left more than half of the minute's limit and was within the monthly quota. */
  const farFromLimits = new WeakSet<ResolvedKey>()

  /**
   * Counts a request in its windows. A single request of a key far from its limits is counted in its month at the same time, which saves a
   * round trip and rarely needs a refund. Concurrent requests are counted in their month together afterwards, which costs less.
   */
  async function countEarly(input: AdmissionInput, resolvedKey: ResolvedKey) {
    let early: Promise<QuotaReservation> | null = null
    let isCounted = false
    function onSingle(): void {
      if (burst.isExpected() || !farFromLimits.has(resolvedKey)) return
      early = quota.reserveImmediately(input.keyHash)
      // The promise is awaited later.
      early.catch(() => {})
    }
    try {
      const counted = await countInWindows(input, resolvedKey, options, onSingle)
      isCounted = counted !== null
      if (early && counted?.entry === null && input.exactKey !== null) input.onEntryMissing?.()
      return { counted, early: early as Promise<QuotaReservation> | null }
    } finally {
      if (!isCounted) await refundEarly(resolvedKey, early)
    }
  }

  async function refundEarly(cached: ResolvedKey, early: Promise<QuotaReservation> | null): Promise<void> {
    farFromLimits.delete(cached)
    const reservation = await early?.catch(() => null)
    if (reservation?.reserved) quota.refund(reservation.resolvedKey)
  }

  async function count(input: AdmissionInput, known: ResolvedKey): Promise<CountedRequest> {
    const { keyHash, address } = input
    for (let cached = known; ; cached = keys.findCached(keyHash) ?? (await keys.validateUnknown(keyHash, address))) {
      const { counted, early } = await countEarly(input, cached)
      if (!counted) continue
      const { resolvedKey, reserved } = await (early ?? quota.reserve(keyHash)).catch(async error => {
        await counted.uncount()
        throw error
      })
      // The next request uses the current record.
      if (resolvedKey !== cached) keys.setCached(keyHash, resolvedKey)
      if (reserved && isCountedFor(counted, cached, resolvedKey)) {
        if (counted.remaining > resolvedKey.requests_per_minute / 2) farFromLimits.add(resolvedKey)
        return { resolvedKey, entry: counted.entry, remaining: counted.remaining }
      }
      farFromLimits.delete(cached)
      await counted.uncount()
      if (reserved) quota.refund(resolvedKey)
      rejectInactiveKey(resolvedKey)
      if (!reserved) throw createError('monthlyQuotaExceeded')
    }
  }

  return async (input: AdmissionInput, known: ResolvedKey): Promise<CountedRequest> => {
    burst.enter()
    try {
      return await count(input, known)
    } finally {
      burst.leave()
    }
  }
}

/**
 * Counts the request in the key's windows. Throws 403 for an address that the key may not be used from, and 429 when a window is full.
 * Returns null when the key's limits have changed.
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
  // The limits may have changed since the record was cached.
  if (haveSameLimits(resolvedKey, await keys.validate(keyHash)))
    throw createRateLimitError(counted.fullWindow.limit, counted.waitMs)
  return null
}

/** Returns whether a request counted by the cached record is correctly counted by the current one. */
function isCountedFor(
  { isInDatabase }: RateLimitGrant,
  cached: ResolvedKey,
  resolvedKey: ResolvedKey | UnknownKey,
): boolean {
  return (
    haveSameLimits(cached, resolvedKey) &&
    (isInDatabase || resolvedKey.verdict === 'unknown' || !isMinuteCountedInDatabase(resolvedKey))
  )
}

/** Returns whether both records have the same limits and allowed addresses. */
function haveSameLimits(cached: ResolvedKey, resolvedKey: ResolvedKey | UnknownKey): boolean {
  if (cached === resolvedKey) return true
  return (
    cached.verdict === resolvedKey.verdict &&
    cached.requests_per_minute === resolvedKey.requests_per_minute &&
    cached.requests_per_minute_per_address === resolvedKey.requests_per_minute_per_address &&
    cached.allowed_addresses?.join() === resolvedKey.allowed_addresses?.join()
  )
}

/** After two concurrent requests, more are expected for this long. */
const BURST_MS = 20

/** Detects concurrent requests, which are counted together. */
function createBurstDetector() {
  let inFlight = 0
  let lastMs = -Infinity
  return {
    enter(): void {
      if (++inFlight > 1) lastMs = performance.now()
    },
    leave(): void {
      inFlight--
    },
    isExpected: () => inFlight > 1 || performance.now() - lastMs < BURST_MS,
  }
}
