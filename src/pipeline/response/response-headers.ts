/** Headers that report the cache result and the cost: X-Proxy headers and RFC 9211's Cache-Status. `serve-hit.ts` has those of a cache hit. */
import { cacheIdOf } from '../../cache/entry.ts'
import type { LookupResult } from '../../cache/lookup.ts'
import { formatUsd } from '../../catalogue/catalogue.ts'
import { nowMs } from '../../event-loop/clock.ts'
import { OMITTED_HEADER } from '../../providers/translations/with-translations.ts'
import type { ProxyResponse } from '../request/request.ts'

/** `cost` is in US dollars; null if it is not known. `lookup` is the cache's lookup result, if there was a lookup. */
export function createMissHeaders(
  provider: string,
  cost: number | null,
  lookup?: Pick<LookupResult, 'missReason' | 'nearMiss'> | null,
): Record<string, string> {
  return {
    ...(lookup && { 'x-proxy-cache-reason': lookup.missReason }),
    ...(lookup?.nearMiss && { 'x-proxy-cache-near-miss': cacheIdOf(lookup.nearMiss.entryHash) }),
    'cache-status': 'model-proxy; fwd=miss',
    'x-proxy-cache': 'MISS',
    'x-proxy-cache-age': '0',
    'x-proxy-cost-usd': formatUsd(cost ?? 0),
    ...(cost === null && { 'x-proxy-cost-unknown': 'true' }),
    'x-proxy-provider': provider,
    'x-proxy-tokens-saved': '0',
  }
}

/** Creates the headers of an embeddings request whose vectors were all cached. The age is that of the oldest vector. */
export function createEmbeddingsHitHeaders(
  provider: string,
  createdAtMs: number,
  savedPromptTokens: number,
): Record<string, string> {
  const age = `${Math.max(0, Math.floor((nowMs() - createdAtMs) / 1000))}`
  return {
    ...createMissHeaders(provider, 0),
    age,
    'cache-status': 'model-proxy; hit',
    'x-proxy-cache': 'HIT',
    'x-proxy-cache-age': age,
    'x-proxy-tokens-saved': `${savedPromptTokens}`,
  }
}

/** Creates the headers of a request that follows another request's stream. */
export function createCoalescedHeaders(provider: string, estimatedPromptTokens: number): Record<string, string> {
  return {
    ...createMissHeaders(provider, 0),
    age: '0',
    'cache-status': 'model-proxy; fwd=miss; collapsed',
    'x-proxy-cache': 'HIT',
    'x-proxy-cache-reason': 'coalesced',
    // The exact count arrives at the end of the stream, too late for a header.
    'x-proxy-tokens-saved': `${estimatedPromptTokens}`,
  }
}

/** Adds the kinds of output that the client's format cannot represent. */
export function addOmittedHeader(headers: Record<string, string>, omitted: readonly string[]): void {
  const { [OMITTED_HEADER]: known } = headers
  if (omitted.length > 0) headers[OMITTED_HEADER] = [...(known ? [known] : []), ...omitted].join(', ')
}

export const JSON_HEADERS = { 'content-type': 'application/json' }

/** Returns a response of the proxy's own. */
export function createJsonResponse(value: unknown): ProxyResponse {
  return { status: 200, headers: { ...JSON_HEADERS }, body: JSON.stringify(value) }
}

export const SSE_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
