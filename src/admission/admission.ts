/** Admits or rejects a request by its key, its rate windows and its monthly quota. Sets the headers that report the remaining limits. */
import { formatUsd } from '../catalogue/catalogue.ts'
import { createError } from '../errors/errors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { FastStore } from '../stores/fast-store.ts'
import {
  createKeyValidator,
  hashBearerKey,
  type ImportedKeys,
  type KeyValidator,
  rejectInactiveKey,
} from './key-validator.ts'
import type { Quota } from './quota.ts'
import { createRateLimitError, type RateLimiter } from './rate-limiter.ts'
import { type AdmissionInput, type CountedRequest, createRequestCounter } from './request-counter.ts'

export interface AdmissionGrant extends CountedRequest {
  /** Must be called when the request has finished. Until then it counts as one of the key's concurrent requests. */
  release(): void
}

export interface Admission {
  /** Returns the hex SHA-256 of the Bearer key. Throws 401 if it is missing or its format is not accepted, without a database call. */
  hashKey(authorization: string | null): string
  /** Returns the cached key record, which may be outdated and decides nothing. Null when the key is not known to be active. */
  findCachedKey(keyHash: string): ResolvedKey | null
  /** Validates the key without counting a request. Throws 401, 403, 429 or 503. */
  resolveKey(keyHash: string, address: string): Promise<ResolvedKey>
  /** Validates the key. Counts one request in its rate windows and as concurrent, but not in its month. Throws 401, 403, 429 or 503. */
  admitWithoutQuota(keyHash: string, request: UnmeteredRequest): Promise<ResolvedKey>
  /** Validates the key and counts the request in its rate windows and its month. Throws 401, 403, 429 or 503, with nothing counted. */
  admit(request: AdmissionInput): Promise<AdmissionGrant>
  /**
   * Counts further requests in the key's month, all or none. A batch counts each request it contains. Resolves to a function that refunds
   * them. Throws 401, 403, 429 or 503, with nothing counted.
   */
  reserveQuota(keyHash: string, requests: number): Promise<() => void>
  /**
   * Checks that a request in flight would be admitted again, without counting it. Checks its key, its address and the key's concurrent
   * requests, and the monthly quota if the plan's quota is lower than before. Throws 401, 403, 429 or 503.
   */
  readmit(
    request: Pick<AdmissionInput, 'keyHash' | 'address'>,
    open: Pick<AdmissionGrant, 'resolvedKey' | 'release'>,
  ): Promise<ResolvedKey>
}

/** A request that does not count against the month. */
export interface UnmeteredRequest {
  address: string
  /** Registers a callback that runs when the response is sent or the client has disconnected. */
  onFinished(release: () => void): void
}

interface AdmissionOptions {
  store: FastStore
  windows: RateLimiter
  quota: Quota
  importedKeys: Pick<ImportedKeys, 'areAccepted'>
}

export function createAdmission({ store, windows, quota, importedKeys }: AdmissionOptions): Admission {
  const keys = createKeyValidator(store, quota)
  const concurrency = createConcurrencyLimiter()
  const count = createRequestCounter({ keys, windows, quota })

  return {
    hashKey: authorization => hashBearerKey(authorization, importedKeys.areAccepted()),
    findCachedKey: keys.findCached,
    resolveKey: keys.resolve,
    async admitWithoutQuota(keyHash, { address, onFinished }) {
      const resolvedKey = await keys.resolve(keyHash, address)
      onFinished(concurrency.acquire(resolvedKey))
      const counted = await windows.count({ resolvedKey, address, entry: null })
      if (!counted.isGranted) throw createRateLimitError(counted.fullWindow.limit, counted.waitMs)
      return resolvedKey
    },
    async admit(request) {
      const { keyHash, address } = request
      const known = keys.findCached(keyHash) ?? (await keys.validateUnknown(keyHash, address))
      // A key's id, by which its concurrent requests are counted, does not change with its plan.
      const release = concurrency.acquire(known)
      try {
        return { ...(await count(request, known)), release }
      } catch (error) {
        release()
        throw error
      }
    },
    reserveQuota: (keyHash, requests) => reserveMonthlyRequests({ keys, quota }, keyHash, requests),
    async readmit({ keyHash, address }, { resolvedKey: before, release }) {
      const resolvedKey = await keys.resolve(keyHash, address)
      if (resolvedKey.requests_per_month < before.requests_per_month)
        (await reserveMonthlyRequests({ keys, quota }, keyHash, 1))()
      if (concurrency.count(resolvedKey) > resolvedKey.concurrent_requests) {
        // The request no longer counts, so that only the excess requests end.
        release()
        throw createError('tooManyConcurrentRequests', { limit: resolvedKey.concurrent_requests })
      }
      return resolvedKey
    },
  }
}

async function reserveMonthlyRequests(
  { keys, quota }: { keys: Pick<KeyValidator, 'setCached'>; quota: Quota },
  keyHash: string,
  requests: number,
): Promise<() => void> {
  if (requests === 0) return () => {}
  const { resolvedKey, reserved } = await quota.reserve(keyHash, requests)
  keys.setCached(keyHash, resolvedKey)
  rejectInactiveKey(resolvedKey)
  if (!reserved) throw createError('monthlyQuotaExceeded')
  return () => quota.refund(resolvedKey, requests)
}

/** Limits each key's concurrent requests in this process, so that the slow requests of one key do not block other keys. */
function createConcurrencyLimiter() {
  const counts = new Map<number, number>()

  return {
    count: ({ key_id }: ResolvedKey) => counts.get(key_id) ?? 0,
    /** Throws a 429 when the key has as many requests in flight as its plan allows. Call the returned function when the request has finished. */
    acquire({ key_id, concurrent_requests }: ResolvedKey): () => void {
      const others = counts.get(key_id) ?? 0
      if (others >= concurrent_requests) throw createError('tooManyConcurrentRequests', { limit: concurrent_requests })
      counts.set(key_id, others + 1)
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        const remaining = (counts.get(key_id) ?? 1) - 1
        if (remaining > 0) counts.set(key_id, remaining)
        else counts.delete(key_id)
      }
    },
  }
}

/** The spending that the key has left. */
export interface RemainingSpending {
  /** US dollars left in the budget with the least left. Null without a budget in dollars. */
  remainingUsd: number | null
  /** The key's token limit per minute and what is left of it. Null without a token limit. */
  tokens: { limit: number; remaining: number } | null
}

export interface RemainingLimits {
  resolvedKey: Pick<ResolvedKey, 'requests_per_minute'>
  /** Requests that the key may still send in its window. Null when unknown. */
  remaining: number | null
  /** Null when the request spends nothing that is limited. */
  spending: RemainingSpending | null
}

/** Sets the rate limit headers under OpenAI's names, and the budget header. Replaces a provider's rate limit headers, which describe another key. */
export function applyRateLimitHeaders(
  { resolvedKey, remaining, spending }: RemainingLimits,
  headers: Record<string, string>,
): void {
  if (remaining !== null) setWindowHeaders('requests', { limit: resolvedKey.requests_per_minute, remaining }, headers)
  if (!spending) return
  const { remainingUsd, tokens } = spending
  if (remainingUsd !== null) headers['x-proxy-budget-remaining-usd'] ??= formatUsd(remainingUsd)
  if (tokens) setWindowHeaders('tokens', tokens, headers)
}

function setWindowHeaders(
  unit: 'requests' | 'tokens',
  { limit, remaining }: { limit: number; remaining: number },
  headers: Record<string, string>,
): void {
  headers[`x-ratelimit-limit-${unit}`] = `${limit}`
  headers[`x-ratelimit-remaining-${unit}`] = `${remaining}`
  // This request counts for one minute.
  headers[`x-ratelimit-reset-${unit}`] = '60s'
}
