/**
 * Tokens a minute: the most that a request may take is counted in a window of its key before a provider is asked, or the request is
 * refused. When it is over, the window keeps what it took. What the cache answers takes nothing.
 */
import { createError } from '../errors/errors.ts'
import { BackgroundWork } from '../event-loop/background-work.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import type { ResolvedKey } from '../postgres/admit-requests.ts'
import { type CountReceipt, type FastStore, tokenWindowName } from '../stores/fast-store.ts'
import { toRetryAfterSeconds } from './rate-limiter.ts'

type Limited = Pick<ResolvedKey, 'project_id' | 'key_id'> & { tokens_per_minute: number }

export interface TokenReservation {
  /** The window's name. */
  windowName: string
  tokens: number
  receipt: CountReceipt
  /** Tokens that the key may still take. */
  remaining: number
}

export interface TokenRateLimiter {
  /** Counts the most tokens that a request may take; null: not known, so it may be all that the limit allows. Throws 429, with nothing counted. */
  reserve(account: Limited, tokens: number | null): Promise<TokenReservation>
  /** Tokens that the key may still take. */
  remaining(account: Limited): Promise<number>
  /** The request is over: of what was counted for it, the window keeps what it used, even if that is more. */
  settle(taken: readonly TokenReservation[], used: number): void
  /** Resolves when all is settled, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

/** Of a window that takes whatever is counted in it. */
const NO_LIMIT = 2 ** 31

export function createTokenRateLimiter(store: Pick<FastStore, 'count' | 'uncount'>): TokenRateLimiter {
  const count = (name: string, requests: number, limit: number) =>
    store.count({ requests, isAllOrNothing: true, windows: [{ name, limit }], entries: [] })
  const settling = new BackgroundWork()
  const giveBack = (name: string, tokens: number, countedAt: CountReceipt) =>
    store.uncount([name], tokens, countedAt).catch(() => {})

  async function countAlso(name: string, tokens: number): Promise<void> {
    await count(name, tokens, NO_LIMIT).catch(() => {})
  }

  return {
    async reserve({ project_id, key_id, tokens_per_minute: limit }, tokens) {
      const wanted = tokens ?? limit
      if (wanted > limit) throw createError('tooManyTokens', { limit, tokens: wanted })
      const name = tokenWindowName(project_id, key_id)
      const { granted, receipt, totals, waitMs } = await count(name, wanted, limit)
      if (granted < wanted)
        throw createError('tokenRateLimited', { limit, tokens: wanted, seconds: toRetryAfterSeconds(waitMs) })
      return { windowName: name, tokens: wanted, receipt, remaining: Math.max(0, limit - (totals[0] ?? 0)) }
    },
    async remaining({ project_id, key_id, tokens_per_minute: limit }) {
      const { totals } = await count(tokenWindowName(project_id, key_id), 0, limit)
      return Math.max(0, limit - (totals[0] ?? 0))
    },
    settle(taken, used) {
      let left = used
      for (const { windowName, tokens, receipt } of taken) {
        const kept = Math.min(left, tokens)
        left -= kept
        if (kept < tokens) void settling.add(giveBack(windowName, tokens - kept, receipt))
      }
      const [first] = taken
      if (first && left > 0) void settling.add(countAlso(first.windowName, left))
    },
    async drain(timeLimitMs) {
      await withTimeout(timeLimitMs, settling.settled()).catch(() => {})
    },
  }
}
