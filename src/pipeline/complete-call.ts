/** What a leader does with the upstream's response: stores it, prices it, accounts for it. */

import { keptForSeconds } from '../cache/cache-control.ts'
import type { CacheEntry } from '../cache/entry.ts'
import { costOfAnswer } from '../catalogue/catalogue.ts'
import { nowMs } from '../event-loop/clock.ts'
import { NO_USAGE, type TokenUsage } from '../formats/token-usage.ts'
import type { Passed } from '../hooks/hook.ts'
import { MAX_PLAIN_BYTES, readAll } from '../providers/read-bytes.ts'
import type { UpstreamAnswer } from '../providers/upstream.ts'
import { isGeneration } from './kept-objects/generation.ts'
import { alternativesOf } from './parse-request.ts'
import type { CompletionQuery } from './query.ts'
import type { Attempt, LeadingContext, RoutedContext, Stages } from './request-context.ts'
import { missHeaders } from './response-headers.ts'
import type { SpentUsage } from './spending/spent-usage.ts'

/** Stores a complete response as plain JSON, streamed or not. Resolves when an immediate repeat finds it. */
export async function storeResponse(
  { recorder, account, cacheQuery, control, provider, lookup }: LeadingContext,
  { bytes, ...kind }: { bytes: Uint8Array; isSemantic: boolean; isStreamed: boolean; policy: string | null },
  usage: SpentUsage,
  { cache }: Stages,
): Promise<void> {
  const { promptTokens, completionTokens } = savedBy(usage)
  recorder.responseBody = bytes
  if (!cacheQuery) return
  if (!control.lookup && keptForSeconds(control, account) > 0) recorder.set({ refreshed: true })
  const response = { body: bytes, provider: provider.name, promptTokens, completionTokens, ...kind }
  await cache.store(cacheQuery, response, lookup?.vector ?? null)
}

/** The cache entry that followers are served. */
export function entryOf(
  { provider }: Pick<RoutedContext, 'provider'>,
  body: Uint8Array,
  usage: SpentUsage,
  passed: Passed | null,
): CacheEntry {
  const now = nowMs()
  const { promptTokens, completionTokens } = savedBy(usage)
  const policy = passed?.policy ?? null
  return { body, provider: provider.name, promptTokens, completionTokens, createdAtMs: now, expiresAtMs: now, policy }
}

/** What a hit saves is never estimated. */
function savedBy(usage: SpentUsage): TokenUsage {
  return usage.estimate ? NO_USAGE : usage
}

/** Recorded when an upstream reports a failure inside a 200: only answered requests may be recorded as answered. */
const UPSTREAM_FAILED_STATUS = 502

/** Accounts for a request that upstream answered. */
export function finishMiss({ recorder }: RoutedContext, usage: SpentUsage, counts = true): void {
  recorder.recordHeadersReady()
  recorder.finish({ status: counts ? 200 : UPSTREAM_FAILED_STATUS, counts, cacheResult: 'MISS', usage })
}

/** Of a response that its provider can be asked for later. */
export function setStoredId({ query, provider, recorder }: LeadingContext<CompletionQuery>, id: unknown): void {
  const { endpoint, body } = query
  const isStored =
    (endpoint === 'responses' && body.store !== false) ||
    (endpoint === 'chat' && body.store === true && provider.pricedAs === 'openai')
  const isKept = isStored && provider.askStored !== undefined
  if (typeof id === 'string' && (isKept || isGeneration({ provider, id }))) recorder.storedId = id
}

/** By the catalogue's prices, or the provider's own figure. */
export function priceOf(
  { provider, query }: RoutedContext<CompletionQuery>,
  usage: TokenUsage,
  { catalogue }: Stages,
): number | null {
  if (provider.pricedAs === null || usage === NO_USAGE) return 0
  const asked = { model: query.model, hasOthers: alternativesOf(query.body).length > 0 }
  return costOfAnswer(catalogue, provider.pricedAs, asked, usage)
}

/** The upstream's headers that clients see too, and ours. */
export function answeredHeaders(
  context: RoutedContext & Partial<Pick<LeadingContext, 'lookup'>>,
  answer: UpstreamAnswer,
  usage: TokenUsage,
  stages: Stages,
): Record<string, string> {
  const cost = context.operation.price(context, usage, stages)
  return { ...passedOn(answer), ...missHeaders(context.provider.name, cost, context.lookup) }
}

/** An upstream's error keeps its body, its Retry-After and, unless its meaning asks for another, its status. */
export async function passOnError(
  { request, provider, call, subscriber }: LeadingContext,
  answer: UpstreamAnswer,
): Promise<Attempt> {
  const body = await readAll(answer.body, provider.name, MAX_PLAIN_BYTES, request.held)
  const { status: upstreamStatus, clientStatus: status = upstreamStatus } = answer
  const headers = { ...passedOn(answer), ...missHeaders(provider.name, 0) }
  const failure = { status, upstreamStatus, headers, body }
  call.settle({ kind: 'notShareable', failure })
  subscriber.leave()
  return { failure }
}

/** The upstream's headers that clients see too. */
export function passedOn(answer: UpstreamAnswer): Record<string, string> {
  return Object.fromEntries(answer.headers)
}
