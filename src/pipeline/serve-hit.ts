/** Serves a stored response: its body unchanged, or replayed as the stream it would have been. */
import { isAskersOwn } from '../cache/cache-query.ts'
import { scopeOf } from '../cache/cache-scope.ts'
import { ageSeconds, type Match } from '../cache/entry.ts'
import { formatUsd } from '../catalogue/catalogue.ts'
import { nowMs } from '../event-loop/clock.ts'
import { inPieces } from '../event-loop/in-pieces.ts'
import { Job, LONGEST_ON_LOOP, offLoop } from '../event-loop/off-loop.ts'
import type { Held } from '../event-loop/stream-memory.ts'
import { formatOf } from '../formats/format-of.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'
import { NO_USAGE } from '../formats/token-usage.ts'
import type { Account } from '../postgres/admit.ts'
import type { Endpoint } from '../providers/upstream.ts'
import type { CompletionQuery } from './query.ts'
import type { ProxyResponse } from './request.ts'
import type { RequestContext, RoutedContext, Stages } from './request-context.ts'
import { JSON_TYPE, SSE_TYPE } from './response-headers.ts'
import { showsUsage } from './stream-events.ts'

export function serveHit(
  { request, query, account, cacheQuery, recorder }: RoutedContext<CompletionQuery>,
  match: Match,
  { parsedBodies }: Stages,
  judgeUsd = 0,
): ProxyResponse {
  const { entry, result } = match
  const headers = Object.assign(hitHeaders(match, judgeUsd), query.stream ? SSE_TYPE : JSON_TYPE)
  const body = query.stream
    ? replayStream(entry.body, replayOf({ request, query }), { account, held: request.held })
    : entry.body
  parsedBodies.keep(query)
  recorder.recordHeadersReady()
  recorder.recordHit(match)
  recorder.responseBody = entry.body
  if (match.result === 'HIT-SEMANTIC' && cacheQuery) recorder.recordSemanticMatch(match, cacheQuery)
  const usage = { ...NO_USAGE, promptTokens: entry.promptTokens, completionTokens: entry.completionTokens }
  recorder.finish({ status: 200, counts: true, cacheResult: result, usage })
  return { status: 200, headers, body }
}

export function hitHeaders(match: Match, costUsd: number): Record<string, string> {
  const now = nowMs()
  const age = `${ageSeconds(match.entry, now)}`
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

/** Who shares what was served from the cache: of a question about its asker, its user alone. */
export function tellScope(
  headers: Record<string, string>,
  { query, account, cacheQuery }: Pick<RequestContext, 'query' | 'account' | 'cacheQuery'>,
): void {
  const isAskers = headers['x-proxy-cache'] === 'HIT-SEMANTIC' && cacheQuery && isAskersOwn(cacheQuery)
  headers['x-proxy-cache-scope'] = isAskers ? 'user' : scopeOf(account, query.body)
}

export interface ReplayInput {
  endpoint: Endpoint
  includeUsage: boolean
  body: Uint8Array
}

const REPLAY = new Job<ReplayInput, Uint8Array>(new URL('./jobs.ts', import.meta.url), 'replay')

type Replays = WeakMap<Uint8Array, Uint8Array | Promise<Uint8Array>>

/** Replays by plain response, with and without usage. Requests that share one call replay the same bytes; both are freed together. */
const replays: { withUsage: Replays; without: Replays } = { withUsage: new WeakMap(), without: new WeakMap() }

/**
 * Returns the plain response as an event stream. A worker writes a long one, which counts in `held`, while the client waits for the first
 * events.
 */
export function replayStream(
  body: Uint8Array,
  { endpoint, includeUsage }: Omit<ReplayInput, 'body'>,
  { account: { project_id: owner }, held }: { account: Pick<Account, 'project_id'>; held: Held },
): Uint8Array | ReadableStream<Uint8Array> {
  const known = includeUsage ? replays.withUsage : replays.without
  const asked = { endpoint, includeUsage, body }
  const events =
    known.get(body) ?? (body.length <= LONGEST_ON_LOOP ? writeReplay(asked) : offLoop.run(REPLAY, asked, { owner }))
  known.set(body, events)
  if (events instanceof Uint8Array) return events
  const counted = events.then(bytes => {
    held.share(bytes)
    return bytes
  })
  return inPieces(counted)
}

/** How what a request asks for is replayed to its client. */
export function replayOf(asked: Pick<RoutedContext<CompletionQuery>, 'request' | 'query'>): Omit<ReplayInput, 'body'> {
  return { endpoint: asked.query.endpoint, includeUsage: showsUsage(asked) }
}

/** Writes a plain response as the events it would have been streamed in. */
export function writeReplay({ endpoint, includeUsage, body }: ReplayInput): Uint8Array {
  const response = parseJsonObject(new TextDecoder().decode(body))
  if (!response) throw new Error('A stored response is not a JSON object')
  return formatOf(endpoint).replay(response, includeUsage)
}
