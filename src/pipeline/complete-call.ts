/** What a leader does with the upstream's response: stores it, prices it, accounts for it. */

import type { CacheEntry } from '../cache/entry.ts'
import { costUsd, NO_USAGE, type TokenUsage } from '../catalogue/cost.ts'
import type { UpstreamAnswer } from '../providers/upstream.ts'
import { CLIENT_GONE_STATUS } from './exchange.ts'
import type { LeadingContext, RequestContext } from './request-context.ts'
import type { Stages } from './stages.ts'

/** Stores a complete response as plain JSON, streamed or not. */
export async function storeResponse(
  { cacheQuery, provider, lookup }: LeadingContext,
  { bytes, callsTools }: { bytes: Uint8Array; callsTools: boolean },
  { promptTokens, completionTokens }: TokenUsage,
  { cache }: Stages,
): Promise<void> {
  const response = {
    body: bytes,
    provider: provider.name,
    promptTokens,
    completionTokens,
    isSemantic: !callsTools,
  }
  await cache.store(cacheQuery, response, lookup.vector)
}

/** The cache entry that followers are served. */
export function entryOf(
  { provider }: Pick<RequestContext, 'provider'>,
  body: Uint8Array,
  { promptTokens, completionTokens }: TokenUsage,
): CacheEntry {
  const now = Date.now()
  return { body, provider: provider.name, promptTokens, completionTokens, createdAtMs: now, expiresAtMs: now }
}

/** Recorded when an upstream reports a failure inside a 200: only answered requests may be recorded as answered. */
const UPSTREAM_FAILED_STATUS = 502

/** Accounts for a request that upstream answered. */
export function finishMiss(
  { request, query, provider, accounting }: RequestContext,
  usage: TokenUsage,
  counts: boolean,
): void {
  accounting.noteHeaders()
  accounting.finish({
    status: request.signal.aborted ? CLIENT_GONE_STATUS : counts ? 200 : UPSTREAM_FAILED_STATUS,
    counts,
    cacheResult: 'MISS',
    provider: provider.name,
    pricedAs: provider.pricedAs,
    model: query.model,
    usage,
  })
}

/** In US dollars; null when the price is unknown. */
export function priceOf({ provider, query }: RequestContext, usage: TokenUsage, { catalogue }: Stages): number | null {
  if (provider.pricedAs === null || usage === NO_USAGE) return 0
  return costUsd(catalogue.find(provider.pricedAs, query.model), usage)
}

/** The upstream's headers that clients see too. */
export function passedOn(answer: UpstreamAnswer): Record<string, string> {
  return Object.fromEntries(answer.headers)
}
