/**
 * Tokens a minute: the most that a request may take is counted in a window of its key before a provider is asked, or the request is
 * refused. When it is over, the window keeps what it took. What the cache answers takes nothing.
 */
import { refuse } from '../errors/errors.ts'
import { BackgroundWork } from '../event-loop/background-work.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Account } from '../postgres/admit.ts'
import { type CountedAt, type FastStore, tokenWindowName } from '../stores/fast-store.ts'
import { retryAfterSeconds } from './rate-windows.ts'

type Limited = Pick<Account, 'project_id' | 'key_id'> & { tokens_per_minute: number }

export interface TakenTokens {
  /** The window's name. */
  window: string
  tokens: number
  countedAt: CountedAt
  /** Tokens that the key may still take. */
  remaining: number
}

export interface TokenWindows {
  /** Counts the most tokens that a request may take; null: not known, so it may be all that the limit allows. Throws 429, with nothing counted. */
  take(account: Limited, tokens: number | null): Promise<TakenTokens>
  /** Tokens that the key may still take. */
  remaining(account: Limited): Promise<number>
  /** The request is over: of what was counted for it, the window keeps what it used, even if that is more. */
  settle(taken: readonly TakenTokens[], used: number): void
  /** Resolves when all is settled, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

/** Of a window that takes whatever is counted in it. */
const NO_LIMIT = 2 ** 31

export function createTokenWindows(store: Pick<FastStore, 'count' | 'uncount'>): TokenWindows {
  const count = (name: string, requests: number, limit: number) =>
    store.count({ requests, isWhole: true, windows: [{ name, limit }], entries: [] })
  const settling = new BackgroundWork()
  const giveBack = (name: string, tokens: number, countedAt: CountedAt) =>
    store.uncount([name], tokens, countedAt).catch(() => {})

  async function countAlso(name: string, tokens: number): Promise<void> {
    await count(name, tokens, NO_LIMIT).catch(() => {})
  }

  return {
    async take({ project_id, key_id, tokens_per_minute: limit }, tokens) {
      const wanted = tokens ?? limit
      if (wanted > limit) throw refuse('tooManyTokens', { limit, tokens: wanted })
      const name = tokenWindowName(project_id, key_id)
      const { granted, countedAt, totals, waitMs } = await count(name, wanted, limit)
      if (granted < wanted) throw refuse('tokensLimited', { limit, tokens: wanted, seconds: retryAfterSeconds(waitMs) })
      return { window: name, tokens: wanted, countedAt, remaining: Math.max(0, limit - (totals[0] ?? 0)) }
    },
    async remaining({ project_id, key_id, tokens_per_minute: limit }) {
      const { totals } = await count(tokenWindowName(project_id, key_id), 0, limit)
      return Math.max(0, limit - (totals[0] ?? 0))
    },
    settle(taken, used) {
      let left = used
      for (const { window, tokens, countedAt } of taken) {
        const kept = Math.min(left, tokens)
        left -= kept
        if (kept < tokens) void settling.add(giveBack(window, tokens - kept, countedAt))
      }
      const [first] = taken
      if (first && left > 0) void settling.add(countAlso(first.window, left))
    },
    async drain(timeLimitMs) {
      await withinTimeLimit(timeLimitMs, settling.settled()).catch(() => {})
    },
  }
}
