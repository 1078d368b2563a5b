/**
 * Limits tokens per minute. Before a provider is called, the maximum tokens of the request are counted in its key's window, or the request
 * is rejected. When the request has finished, the window keeps the tokens that it used. A cache hit uses none.
 */
import { createError } from '../errors/errors.ts'
import { BackgroundWork } from '../event-loop/background-work.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { type CountReceipt, type FastStore, tokenWindowName } from '../stores/fast-store.ts'
import { toRetryAfterSeconds } from './rate-limiter.ts'

type TokenLimitedKey = Pick<ResolvedKey, 'project_id' | 'key_id'> & { tokens_per_minute: number }

export interface TokenReservation {
  windowName: string
  tokens: number
  receipt: CountReceipt
  /** Tokens that the key may still use in its window. */
  remaining: number
}

export interface TokenRateLimiter {
  /** Counts the maximum tokens of a request. With null, which means unknown, it counts the whole limit. Throws 429, with nothing counted. */
  reserve(resolvedKey: TokenLimitedKey, tokens: number | null): Promise<TokenReservation>
  /** Tokens that the key may still use in its window. */
  remaining(resolvedKey: TokenLimitedKey): Promise<number>
  /** Replaces the reserved tokens of a finished request by those that it used, even if it used more. */
  settle(reservations: readonly TokenReservation[], used: number): void
  /** Resolves when every request is settled, or at the time limit. */
  drain(timeLimitMs: number): Promise<void>
}

/** The limit of a count that must not be rejected. */
const NO_LIMIT = 2 ** 31

export function createTokenRateLimiter(store: Pick<FastStore, 'count' | 'uncount'>): TokenRateLimiter {
  const count = (name: string, requests: number, limit: number) =>
    store.count({ requests, isAllOrNothing: true, windows: [{ name, limit }], entries: [] })
  const settling = new BackgroundWork()
  const uncount = (name: string, tokens: number, receipt: CountReceipt) =>
    store.uncount([name], tokens, receipt).catch(() => {})

  async function countExcess(name: string, tokens: number): Promise<void> {
    await count(name, tokens, NO_LIMIT).catch(() => {})
  }

  return {
    async reserve({ project_id, key_id, tokens_per_minute: limit }, tokens) {
      const requested = tokens ?? limit
      if (requested > limit) throw createError('tooManyTokens', { limit, tokens: requested })
      const name = tokenWindowName(project_id, key_id)
      const { granted, receipt, totals, waitMs } = await count(name, requested, limit)
      if (granted < requested)
        throw createError('tokenRateLimited', { limit, tokens: requested, seconds: toRetryAfterSeconds(waitMs) })
      return { windowName: name, tokens: requested, receipt, remaining: Math.max(0, limit - (totals[0] ?? 0)) }
    },
    async remaining({ project_id, key_id, tokens_per_minute: limit }) {
      const { totals } = await count(tokenWindowName(project_id, key_id), 0, limit)
      return Math.max(0, limit - (totals[0] ?? 0))
    },
    settle(reservations, used) {
      let left = used
      for (const { windowName, tokens, receipt } of reservations) {
        const settled = Math.min(left, tokens)
        left -= settled
        if (settled < tokens) void settling.add(uncount(windowName, tokens - settled, receipt))
      }
      const [first] = reservations
      if (first && left > 0) void settling.add(countExcess(first.windowName, left))
    },
    drain: timeLimitMs => settling.drain(timeLimitMs),
  }
}
