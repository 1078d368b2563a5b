/** Serves a cached response: its body unchanged, or replayed as an event stream. */
import { isUserScoped } from '../../cache/cache-query.ts'
import { resolveCacheScope } from '../../cache/cache-scope.ts'
import { type CachedResponseMatch, entryAgeSeconds } from '../../cache/entry.ts'
import { formatUsd } from '../../catalogue/catalogue.ts'
import { streamInChunks } from '../../event-loop/chunks.ts'
import { nowMs } from '../../event-loop/clock.ts'
import type { MemoryReservation } from '../../event-loop/stream-memory.ts'
import { MAX_MAIN_THREAD_BYTES, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { recordedEndUserOf } from '../../formats/end-user.ts'
import type { Endpoint } from '../../formats/endpoint.ts'
import { apiFormatOf } from '../../formats/endpoint-formats.ts'
import { parseJsonObject } from '../../formats/json/canonical.ts'
import { readTurn } from '../../formats/read-turn.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import type { PipelineServices, RequestContext, RoutedContext } from '../context/request-context.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'
import { isUsageVisible } from './client-stream.ts'
import { JSON_HEADERS, SSE_HEADERS } from './response-headers.ts'

export function serveHit(
  context: RoutedContext<CompletionQuery>,
  match: CachedResponseMatch,
  services: PipelineServices,
  judgeUsd = 0,
): ProxyResponse {
  const { request, query, resolvedKey, cacheQuery, recorder } = context
  const { entry, result } = match
  const headers = Object.assign(createHitHeaders(match, judgeUsd), query.stream ? SSE_HEADERS : JSON_HEADERS)
  const body = query.stream
    ? replayStream(entry.body, createReplayOptions({ request, query }), {
        resolvedKey,
        held: request.responseMemory,
      })
    : entry.body
  services.parsedBodies.store(query)
  storeServedTurn(context, entry.body, services)
  recorder.recordHeadersSent()
  recorder.recordHit(match)
  recorder.responseBody = entry.body
  if (match.result === 'HIT-SEMANTIC' && cacheQuery) recorder.recordSemanticMatch(match, cacheQuery)
  const usage = { ...NO_USAGE, promptTokens: entry.promptTokens, completionTokens: entry.completionTokens }
  recorder.finish({ status: 200, isCounted: true, cacheResult: result, usage })
  return { status: 200, headers, body }
}

export function createHitHeaders(match: CachedResponseMatch, costUsd: number): Record<string, string> {
  const now = nowMs()
  const age = `${entryAgeSeconds(match.entry, now)}`
  const ttlSeconds = Math.max(0, Math.floor((match.entry.expiresAtMs - now) / 1000))
  const headers: Record<string, string> = {
    age,
    'cache-status': `model-proxy; hit; ttl=${ttlSeconds}`,
    'x-proxy-cache': match.result,
    'x-proxy-cache-age': age,
    'x-proxy-cache-id': match.id,
    'x-proxy-cache-reason': match.reason,
    'x-proxy-cost-usd': formatUsd(costUsd),
    'x-proxy-provider': match.entry.provider,
    'x-proxy-tokens-saved': `${match.entry.promptTokens}`,
  }
  if (match.result === 'HIT-SEMANTIC') {
    headers['x-proxy-cache-similarity'] = match.similarity.toFixed(4)
    headers['cache-status'] += '; detail=semantic'
  }
  return headers
}

/** Sets the sharing scope of a cached response. A semantic hit on a user-scoped query is shared only with its user. */
export function setCacheScopeHeader(
  headers: Record<string, string>,
  { query, resolvedKey, cacheQuery }: Pick<RequestContext, 'query' | 'resolvedKey' | 'cacheQuery'>,
): void {
  const isSharedWithUserOnly = headers['x-proxy-cache'] === 'HIT-SEMANTIC' && cacheQuery && isUserScoped(cacheQuery)
  headers['x-proxy-cache-scope'] = isSharedWithUserOnly ? 'user' : resolveCacheScope(resolvedKey, query.body)
}

export interface ReplayInput {
  endpoint: Endpoint
  includeUsage: boolean
  body: Uint8Array
}

const REPLAY = new WorkerJob<ReplayInput, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'replayStreamJob')

type Replays = WeakMap<Uint8Array, Uint8Array | Promise<Uint8Array>>

/** Replays by response body, with and without usage. Requests that share a body share its replay, and both are freed together. */
const replays: { withUsage: Replays; without: Replays } = { withUsage: new WeakMap(), without: new WeakMap() }

/**
 * Returns the response as an event stream. A worker encodes a long one, which is counted in `held`; the client waits until it is
 * complete.
 */
export function replayStream(
  body: Uint8Array,
  { endpoint, includeUsage }: Omit<ReplayInput, 'body'>,
  {
    resolvedKey: { project_id: owner },
    held,
  }: { resolvedKey: Pick<ResolvedKey, 'project_id'>; held: MemoryReservation },
): Uint8Array | ReadableStream<Uint8Array> {
  const memo = includeUsage ? replays.withUsage : replays.without
  const input = { endpoint, includeUsage, body }
  const events =
    memo.get(body) ??
    (body.length <= MAX_MAIN_THREAD_BYTES ? encodeReplay(input) : workerPool.run(REPLAY, input, { owner }))
  memo.set(body, events)
  if (events instanceof Uint8Array) return events
  const counted = events.then(bytes => {
    held.addShared(bytes)
    return bytes
  })
  return streamInChunks(counted)
}

/** Returns the replay options that follow from the request. */
export function createReplayOptions(
  input: Pick<RoutedContext<CompletionQuery>, 'request' | 'query'>,
): Omit<ReplayInput, 'body'> {
  return { endpoint: input.query.endpoint, includeUsage: isUsageVisible(input) }
}

/** Encodes a JSON response as the events of a stream. Throws if the body is not a JSON object. */
export function encodeReplay({ endpoint, includeUsage, body }: ReplayInput): Uint8Array {
  const response = parseJsonObject(new TextDecoder().decode(body))
  if (!response) throw new Error('cached response must be a JSON object')
  return apiFormatOf(endpoint).replay(response, includeUsage)
}

/**
 * Stores the turn of a response that its key did not request from a provider itself, so that its extras are restored for this key, too. Only responses to requests with tools are parsed, and no long ones.
 */
export function storeServedTurn(
  { query, resolvedKey, provider }: RequestContext<CompletionQuery>,
  body: Uint8Array,
  { storedTurns }: Pick<PipelineServices, 'storedTurns'>,
): void {
  const { endpoint, body: request, model } = query
  if (!Array.isArray(request.tools) || query.isLarge || body.length > MAX_MAIN_THREAD_BYTES || !provider) return
  const read = async () => readTurn({ endpoint, request, response: new TextDecoder().decode(body) })
  const madeBy = `${provider.name}/${provider.modelName ?? model}`
  storedTurns.open(resolvedKey, recordedEndUserOf(request)).store(read(), madeBy)
}
