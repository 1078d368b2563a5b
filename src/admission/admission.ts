/** Admits or refuses a request, by its key, then by rate windows and monthly quota; and tells what is left, of budgets too. */
import { formatUsd } from '../catalogue/catalogue.ts'
import { createError } from '../errors/errors.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createKeyValidator, type KeyValidator, rejectInactiveKey } from './key-validator.ts'
import type { Quota } from './quota.ts'
import { createRateLimitError, type RateLimiter } from './rate-limiter.ts'
import { type AdmissionInput, type CountedRequest, createRequestCounter } from './request-counter.ts'

export interface AdmissionGrant extends CountedRequest {
  /** Must be called when the request is over. Until then it counts as one of the key's concurrent requests. */
  release(): void
}

export interface Admission {
  /** The key's account as last seen: a guess, never a verdict. Null when the key is not known to be active. */
  findCachedKey(keyHash: string): ResolvedKey | null
  /** Validates the key, and counts nothing. Throws 401, 403, 429 or 503. */
  resolveKey(keyHash: string, address: string): Promise<ResolvedKey>
  /** Validates the key and counts one request in its windows and as concurrent, but not in its month. Throws 401, 403, 429 or 503. */
  admitWithoutQuota(keyHash: string, request: UnmeteredRequest): Promise<ResolvedKey>
  /** Validates the key and counts the request in its windows and its month. Otherwise throws 401, 403, 429 or 503, with nothing counted. */
  admit(request: AdmissionInput): Promise<AdmissionGrant>
  /**
   * Counts further requests in the month of an admitted request's key, all or none: a batch counts as many as it holds. Resolves to a
   * function that gives them back. Otherwise throws 401, 403, 429 or 503, with nothing counted.
   */
  reserveQuota(keyHash: string, requests: number): Promise<() => void>
  /**
   * Checks that a request that is still open would be admitted again, and counts nothing: its key and address, its place among the key's
   * concurrent requests, and the month where the plan's quota is lower than before. Throws 401, 403, 429 or 503.
   */
  readmit(
    request: Pick<AdmissionInput, 'keyHash' | 'address'>,
    open: Pick<AdmissionGrant, 'resolvedKey' | 'release'>,
  ): Promise<ResolvedKey>
}

/** A request that does not count against the month. */
export interface UnmeteredRequest {
  address: string
  /** Registers a callback for when the response was sent, or the client has left. */
  onFinished(leave: () => void): void
}

interface AdmissionOptions {
  store: FastStore
  windows: RateLimiter
  quota: Quota
}

export function createAdmission({ store, windows, quota }: AdmissionOptions): Admission {
  const keys = createKeyValidator(store, quota)
  const underWay = createRequestsUnderWay()
  const count = createRequestCounter({ keys, windows, quota })

  return {
    findCachedKey: keys.findCached,
    resolveKey: keys.resolve,
    async admitWithoutQuota(keyHash, { address, onFinished }) {
      const account = await keys.resolve(keyHash, address)
      onFinished(underWay.enter(account))
      const counted = await windows.count({ resolvedKey: account, address, entry: null })
      if (!counted.isGranted) throw createRateLimitError(counted.fullWindow.limit, counted.waitMs)
      return account
    },
    async admit(request) {
      const { keyHash, address } = request
      const known = keys.findCached(keyHash) ?? (await keys.validateUnknown(keyHash, address))
      // A key's id, by which its concurrent requests are counted, does not change with its plan.
      const leave = underWay.enter(known)
      try {
        return { ...(await count(request, known)), release: leave }
      } catch (error) {
        leave()
        throw error
      }
    },
    reserveQuota: (keyHash, requests) => admitMore({ keys, quota }, keyHash, requests),
    async readmit({ keyHash, address }, { resolvedKey: before, release }) {
      const account = await keys.resolve(keyHash, address)
      if (account.requests_per_month < before.requests_per_month) (await admitMore({ keys, quota }, keyHash, 1))()
      if (underWay.count(account) > account.concurrent_requests) {
        // It counts no more, so that as many end as are too many.
        release()
        throw createError('tooManyConcurrentRequests', { limit: account.concurrent_requests })
      }
      return account
    },
  }
}

async function admitMore(
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

/** Limits each key's concurrent requests in this process, so that one key's slow requests leave room for other keys. */
function createRequestsUnderWay() {
  const counts = new Map<number, number>()

  return {
    count: ({ key_id }: ResolvedKey) => counts.get(key_id) ?? 0,
    /** Throws a 429 when the key has as many requests in flight as its plan allows. Call the returned function when the request is over. */
    enter({ key_id, concurrent_requests }: ResolvedKey): () => void {
      const others = counts.get(key_id) ?? 0
      if (others >= concurrent_requests) throw createError('tooManyConcurrentRequests', { limit: concurrent_requests })
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

/** What may still be spent. */
export interface RemainingSpending {
  /** Of the narrowest budget in US dollars; null when there is none. */
  remainingUsd: number | null
  /** The key's tokens a minute; null where they are not limited. */
  tokens: { limit: number; remaining: number } | null
}

export interface RemainingLimits {
  resolvedKey: Pick<ResolvedKey, 'requests_per_minute'>
  /** Requests that the key may still make in its window; null where that was not told. */
  remaining: number | null
  /** Null where nothing that is limited is spent. */
  spending: RemainingSpending | null
}

/** In headers, under OpenAI's names where it has some. A provider's own limits, which are those of another key, are replaced. */
export function applyRateLimitHeaders(
  { resolvedKey, remaining, spending }: RemainingLimits,
  headers: Record<string, string>,
): void {
  if (remaining !== null) tellWindow('requests', { limit: resolvedKey.requests_per_minute, remaining }, headers)
  if (!spending) return
  const { remainingUsd, tokens } = spending
  if (remainingUsd !== null) headers['x-proxy-budget-remaining-usd'] ??= formatUsd(remainingUsd)
  if (tokens) tellWindow('tokens', tokens, headers)
}

function tellWindow(
  of: 'requests' | 'tokens',
  { limit, remaining }: { limit: number; remaining: number },
  headers: Record<string, string>,
): void {
  headers[`x-ratelimit-limit-${of}`] = `${limit}`
  headers[`x-ratelimit-remaining-${of}`] = `${remaining}`
  // This request, at least, counts for a minute.
  headers[`x-ratelimit-reset-${of}`] = '60s'
}
