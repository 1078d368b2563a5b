/** What a leader does with the upstream's response: stores it, prices it, accounts for it. */

import { computeTtlSeconds } from '../../cache/cache-control.ts'
import type { CacheEntry } from '../../cache/entry.ts'
import { computeResponseCost } from '../../catalogue/catalogue.ts'
import { nowMs } from '../../event-loop/clock.ts'
import { NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import type { HookDecision } from '../../hooks/hook.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { UpstreamResponse } from '../../providers/upstream.ts'
import { isGenerationId } from '../accounting/openrouter-generation.ts'
import type { AttemptResult, LeaderContext, PipelineServices, RoutedContext } from '../context/request-context.ts'
import { listAlternativeModels } from '../request/parse-request.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { CallUsage } from '../spending/call-usage.ts'
import { createMissHeaders } from './response-headers.ts'

/** Stores a complete response as plain JSON, streamed or not. Resolves when an immediate repeat finds it. */
export async function storeResponse(
  { recorder, resolvedKey, cacheQuery, control, provider, lookup }: LeaderContext,
  { bytes, ...kind }: { bytes: Uint8Array; isSemantic: boolean; isStreamed: boolean; policy: string | null },
  usage: CallUsage,
  { cache }: PipelineServices,
): Promise<void> {
  const { promptTokens, completionTokens } = savedBy(usage)
  recorder.responseBody = bytes
  if (!cacheQuery) return
  if (!control.lookup && computeTtlSeconds(control, resolvedKey) > 0) recorder.setDetails({ refreshed: true })
  const response = { body: bytes, provider: provider.name, promptTokens, completionTokens, ...kind }
  await cache.store(cacheQuery, response, lookup?.vector ?? null)
}

/** The cache entry that followers are served. */
export function createSharedEntry(
  { provider }: Pick<RoutedContext, 'provider'>,
  body: Uint8Array,
  usage: CallUsage,
  passed: HookDecision | null,
): CacheEntry {
  const now = nowMs()
  const { promptTokens, completionTokens } = savedBy(usage)
  const policy = passed?.policy ?? null
  return { body, provider: provider.name, promptTokens, completionTokens, createdAtMs: now, expiresAtMs: now, policy }
}

/** What a hit saves is never estimated. */
function savedBy(usage: CallUsage): TokenUsage {
  return usage.estimate ? NO_USAGE : usage
}

/** Recorded when an upstream reports a failure inside a 200: only answered requests may be recorded as answered. */
const UPSTREAM_FAILED_STATUS = 502

/** Accounts for a request that upstream answered. */
export function recordMiss({ recorder }: RoutedContext, usage: CallUsage, counts = true): void {
  recorder.recordHeadersSent()
  recorder.finish({ status: counts ? 200 : UPSTREAM_FAILED_STATUS, isCounted: counts, cacheResult: 'MISS', usage })
}

/** Of a response that its provider can be asked for later. */
export function setStoredResponseId({ query, provider, recorder }: LeaderContext<CompletionQuery>, id: unknown): void {
  const { endpoint, body } = query
  const isStored =
    (endpoint === 'responses' && body.store !== false) ||
    (endpoint === 'chat' && body.store === true && provider.pricedAs === 'openai')
  const isKept = isStored && provider.sendStored !== undefined
  if (typeof id === 'string' && (isKept || isGenerationId({ provider, id }))) recorder.storedResponseId = id
}

/** By the catalogue's prices, or the provider's own figure. */
export function calculateCost(
  { provider, query }: RoutedContext<CompletionQuery>,
  usage: TokenUsage,
  { catalogue }: PipelineServices,
): number | null {
  if (provider.pricedAs === null || usage === NO_USAGE) return 0
  const asked = { model: query.model, hasOthers: listAlternativeModels(query.body).length > 0 }
  return computeResponseCost(catalogue, provider.pricedAs, asked, usage)
}

/** The upstream's headers that clients see too, and ours. */
export function createResponseHeaders(
  context: RoutedContext & Partial<Pick<LeaderContext, 'lookup'>>,
  answer: UpstreamResponse,
  usage: TokenUsage,
  stages: PipelineServices,
): Record<string, string> {
  const cost = context.operation.price(context, usage, stages)
  return { ...toResponseHeaders(answer), ...createMissHeaders(context.provider.name, cost, context.lookup) }
}

/** An upstream's error keeps its body, its Retry-After and, unless its meaning asks for another, its status. */
export async function forwardUpstreamError(
  { request, provider, call, subscriber }: LeaderContext,
  answer: UpstreamResponse,
): Promise<AttemptResult> {
  const body = await readAllBytes(answer.body, provider.name, MAX_PLAIN_RESPONSE_BYTES, request.responseMemory)
  const { status: upstreamStatus, clientStatus: status = upstreamStatus } = answer
  const headers = { ...toResponseHeaders(answer), ...createMissHeaders(provider.name, 0) }
  const failure = { status, upstreamStatus, headers, body }
  call.settle({ kind: 'notShareable', failure })
  subscriber.leave()
  return { failure }
}

/** The upstream's headers that clients see too. */
export function toResponseHeaders(answer: UpstreamResponse): Record<string, string> {
  return Object.fromEntries(answer.headers)
}
