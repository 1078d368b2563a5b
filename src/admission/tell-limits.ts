/** The headers that tell what is left of limits and budgets, under OpenAI's names where it has some. */
import { formatUsd } from '../catalogue/catalogue.ts'
import type { Account } from '../postgres/admit.ts'

/** What may still be spent. */
export interface SpendingLeft {
  /** Of the narrowest budget in US dollars; null when there is none. */
  remainingUsd: number | null
  /** The key's tokens a minute; null where they are not limited. */
  tokens: { limit: number; remaining: number } | null
}

export interface LimitsLeft {
  account: Pick<Account, 'requests_per_minute'>
  /** Requests that the key may still make in its window; null where that was not told. */
  remaining: number | null
  /** Null where nothing that is limited is spent. */
  spending: SpendingLeft | null
}

/** A provider's own limits, which are those of another key, are replaced. */
export function tellLimits({ account, remaining, spending }: LimitsLeft, headers: Record<string, string>): void {
  if (remaining !== null) tellWindow('requests', { limit: account.requests_per_minute, remaining }, headers)
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
