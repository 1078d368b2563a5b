/** Serves a stored response: its body as it is, or replayed as the stream it would have been. */
import type { Match } from '../cache/match.ts'
import { NO_USAGE } from '../catalogue/cost.ts'
import type { ProxyResponse } from './exchange.ts'
import { formatOf } from './formats/format-of.ts'
import type { RequestQuery } from './parse-request.ts'
import type { RequestContext } from './request-context.ts'
import { hitHeaders, JSON_TYPE, SSE_TYPE } from './response-headers.ts'

const decoder = new TextDecoder()

/** `costUsd`: what it took to find out that the response may be served. */
export function serveHit(
  { query, cacheQuery, provider, accounting }: RequestContext,
  match: Match,
  costUsd = 0,
): ProxyResponse {
  const { entry, result } = match
  const headers = Object.assign(hitHeaders(match, costUsd), query.stream ? SSE_TYPE : JSON_TYPE)
  const body = query.stream ? replayStream(entry.body, query) : entry.body
  accounting.noteHeaders()
  if (match.result === 'HIT-SEMANTIC') accounting.noteSemanticMatch(match, cacheQuery)
  accounting.finish({
    status: 200,
    counts: true,
    cacheResult: result,
    provider: entry.provider,
    pricedAs: provider.pricedAs,
    model: query.model,
    usage: { ...NO_USAGE, promptTokens: entry.promptTokens, completionTokens: entry.completionTokens },
  })
  return { status: 200, headers, body }
}

/** With and without usage, for as long as anybody holds the plain response: all who share one call replay the same. */
const replays = { withUsage: new WeakMap<Uint8Array, Uint8Array>(), without: new WeakMap<Uint8Array, Uint8Array>() }

/** The plain response as an event stream. */
export function replayStream(
  body: Uint8Array,
  { endpoint, includeUsage }: Pick<RequestQuery, 'endpoint' | 'includeUsage'>,
): Uint8Array {
  const known = includeUsage ? replays.withUsage : replays.without
  let events = known.get(body)
  if (!events) {
    events = formatOf(endpoint).replay(JSON.parse(decoder.decode(body)), includeUsage)
    known.set(body, events)
  }
  return events
}
