/** Stores, prices and records the upstream response of a leader's call. */

import { computeTtlSeconds } from '../../cache/cache-control.ts'
import type { CacheEntry } from '../../cache/entry.ts'
import { computeResponseCost } from '../../catalogue/catalogue.ts'
import { nowMs } from '../../event-loop/clock.ts'
import { NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import type { HookDecision } from '../../hooks/hook.ts'
import { canFallBackAfter } from '../../providers/classify-rejection.ts'
import { MAX_PLAIN_RESPONSE_BYTES, readAllBytes } from '../../providers/read-bytes.ts'
import type { UpstreamResponse } from '../../providers/upstream.ts'
import { isGenerationId } from '../accounting/usage-reconciler.ts'
import { NOT_SHAREABLE } from '../coalescing/shared-call.ts'
import type { AttemptResult, LeaderContext, PipelineServices, RoutedContext } from '../context/request-context.ts'
import { listAlternativeModels } from '../request/parse-request.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { CallUsage } from '../spending/call-usage.ts'
import { createMissHeaders } from './response-headers.ts'

/** Stores a complete response as plain JSON, streamed or not. Resolves when an identical request would find it. */
export async function storeResponse(
  { recorder, resolvedKey, cacheQuery, control, provider, lookup }: LeaderContext,
  { bytes, ...kind }: { bytes: Uint8Array; isSemantic: boolean; isStreamed: boolean; policy: string | null },
  usage: CallUsage,
  { cache }: PipelineServices,
): Promise<void> {
  const { promptTokens, completionTokens } = savedUsage(usage)
  recorder.responseBody = bytes
  if (!cacheQuery) return
  if (!control.lookup && computeTtlSeconds(control, resolvedKey) > 0) recorder.setDetails({ refreshed: true })
  const response = { body: bytes, provider: provider.name, promptTokens, completionTokens, ...kind }
  await cache.store(cacheQuery, response, lookup?.vector ?? null)
}

/** Creates the cache entry that is served to followers. */
function createSharedEntry(
  { provider }: LeaderContext,
  { bytes: body, decision }: { bytes: Uint8Array; decision: HookDecision | null },
  usage: CallUsage,
): CacheEntry {
  const now = nowMs()
  const { promptTokens, completionTokens } = savedUsage(usage)
  const policy = decision?.policy ?? null
  return { body, provider: provider.name, promptTokens, completionTokens, createdAtMs: now, expiresAtMs: now, policy }
}

/** Settles the call: followers get a complete response. Null stands for one that only the leader can use. */
export function settleCall(
  context: LeaderContext,
  complete: { bytes: Uint8Array; decision: HookDecision | null } | null,
  usage: CallUsage,
): void {
  const { call } = context
  if (complete) call.settle({ kind: 'complete', entry: createSharedEntry(context, complete, usage) })
  else call.settle(NOT_SHAREABLE)
}

/** Returns the usage that a hit saves. Estimated usage counts as none. */
function savedUsage(usage: CallUsage): TokenUsage {
  return usage.estimate ? NO_USAGE : usage
}

/** The recorded status of a failure that an upstream reports inside a 200. */
const UPSTREAM_FAILED_STATUS = 502

/** Records a request that got a response from upstream. */
export function recordMiss({ recorder }: RoutedContext, usage: CallUsage, isCounted = true): void {
  recorder.recordHeadersSent()
  recorder.finish({ status: isCounted ? 200 : UPSTREAM_FAILED_STATUS, isCounted, cacheResult: 'MISS', usage })
}

/** Records the id of a response whose usage can be requested from its provider later. */
export function setStoredResponseId({ query, provider, recorder }: LeaderContext<CompletionQuery>, id: unknown): void {
  const { endpoint, body } = query
  const isStored =
    (endpoint === 'responses' && body.store !== false) ||
    (endpoint === 'chat' && body.store === true && provider.pricedAs === 'openai')
  const isKept = isStored && provider.sendStored !== undefined
  if (typeof id === 'string' && (isKept || isGenerationId({ provider, id }))) recorder.storedResponseId = id
}

/** Returns the cost in US dollars, by the catalogue's prices or as the provider reports it; null if it is not known. */
export function calculateCost(
  { provider, query }: RoutedContext<CompletionQuery>,
  usage: TokenUsage,
  { catalogue }: PipelineServices,
): number | null {
  if (usage === NO_USAGE) return 0
  const modelRequest = { model: query.model, hasOthers: listAlternativeModels(query.body).length > 0 }
  return computeResponseCost(catalogue, provider, modelRequest, usage)
}

/** Returns the upstream's headers that clients get, and the proxy's own. */
export function createResponseHeaders(
  context: RoutedContext & Partial<Pick<LeaderContext, 'lookup'>>,
  upstreamResponse: UpstreamResponse,
  usage: TokenUsage,
  services: PipelineServices,
): Record<string, string> {
  const cost = context.operation.price(context, usage, services)
  return { ...toResponseHeaders(upstreamResponse), ...createMissHeaders(context.provider.name, cost, context.lookup) }
}

/** Settles the call with an upstream error. The error keeps its body, its Retry-After and, unless it means something else to clients, its status. */
export async function forwardUpstreamError(
  { request, provider, call, subscriber }: LeaderContext,
  upstreamResponse: UpstreamResponse,
): Promise<AttemptResult> {
  const body = await readAllBytes(
    upstreamResponse.body,
    provider.name,
    MAX_PLAIN_RESPONSE_BYTES,
    request.responseMemory,
  )
  const { status: upstreamStatus, clientStatus: status = upstreamStatus } = upstreamResponse
  const headers = { ...toResponseHeaders(upstreamResponse), ...createMissHeaders(provider.name, 0) }
  const failure = { status, upstreamStatus, headers, body }
  call.settle({ kind: 'notShareable', failure, canFallBack: canFallBackAfter(failure) })
  subscriber.leave()
  return { failure }
}

/** Returns the upstream's headers that clients get. */
export function toResponseHeaders(upstreamResponse: UpstreamResponse): Record<string, string> {
  return Object.fromEntries(upstreamResponse.headers)
}
