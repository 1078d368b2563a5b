/** Serves a stored response: its body unchanged, or replayed as the stream it would have been. */
import type { Match } from '../cache/match.ts'
import { NO_USAGE } from '../catalogue/cost.ts'
import { inPieces } from '../event-loop/in-pieces.ts'
import { Job, LONGEST_ON_LOOP, offLoop } from '../event-loop/off-loop.ts'
import type { ProxyResponse } from './exchange.ts'
import type { RequestQuery } from './parse-request.ts'
import { serveStored } from './pass-through/serve-stored.ts'
import { isPassed, type RequestContext, type SharingContext } from './request-context.ts'
import { hitHeaders, JSON_TYPE, SSE_TYPE } from './response-headers.ts'
import type { Stages } from './stages.ts'
import { type ReplayInput, writeReplay } from './write-replay.ts'

const REPLAY = new Job<ReplayInput, Uint8Array>(new URL('./replay-job.ts', import.meta.url))

/** Returns null when the match cannot be served after all. `costUsd` is the price of deciding that it may be. */
export function serveMatch(
  context: SharingContext,
  match: Match,
  { catalogue }: Stages,
  costUsd?: number,
): ProxyResponse | null {
  return isPassed(context) ? serveStored(context, match, catalogue) : serveHit(context, match, costUsd)
}

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

type Replays = WeakMap<Uint8Array, Uint8Array | Promise<Uint8Array>>

/** Replays by plain response, with and without usage. Requests that share one call replay the same bytes; both are freed together. */
const replays: { withUsage: Replays; without: Replays } = { withUsage: new WeakMap(), without: new WeakMap() }

/** Returns the plain response as an event stream. A worker writes a long one while the client waits for the first events. */
export function replayStream(
  body: Uint8Array,
  { endpoint, includeUsage }: Pick<RequestQuery, 'endpoint' | 'includeUsage'>,
): Uint8Array | ReadableStream<Uint8Array> {
  const known = includeUsage ? replays.withUsage : replays.without
  const asked = { endpoint, includeUsage, body }
  const events = known.get(body) ?? (body.length <= LONGEST_ON_LOOP ? writeReplay(asked) : offLoop.run(REPLAY, asked))
  known.set(body, events)
  return events instanceof Uint8Array ? events : inPieces(events)
}
