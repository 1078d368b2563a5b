/** The X-Proxy headers that say what happened and what it cost. */
import type { Match } from '../cache/cache.ts'
import { ageSeconds } from '../cache/entry.ts'
import { formatUsd } from '../pricing/cost.ts'

export function missHeaders(provider: string, cost: number): Record<string, string> {
  return {
    'x-proxy-cache': 'MISS',
    'x-proxy-cache-age': '0',
    'x-proxy-cost-usd': formatUsd(cost),
    'x-proxy-provider': provider,
    'x-proxy-tokens-saved': '0',
  }
}

export function hitHeaders(match: Match): Record<string, string> {
  const headers: Record<string, string> = {
    'x-proxy-cache': match.result,
    'x-proxy-cache-age': String(ageSeconds(match.entry, Date.now())),
    'x-proxy-cost-usd': '0',
    'x-proxy-provider': match.entry.provider,
    'x-proxy-tokens-saved': String(match.entry.promptTokens),
  }
  if (match.result === 'HIT-SEMANTIC') headers['x-proxy-cache-similarity'] = match.similarity.toFixed(4)
  return headers
}

export const JSON_TYPE = { 'content-type': 'application/json' }
export const SSE_TYPE = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
