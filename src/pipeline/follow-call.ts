/** Follows another request's call: the same response, heard live or taken whole, at no cost. */
import { cacheIdOf, type Match } from '../cache/match.ts'
import { NO_USAGE } from '../catalogue/cost.ts'
import type { CallFailure, Settlement } from '../coalescing/shared-call.ts'
import type { Joined } from '../coalescing/shared-calls.ts'
import { ClientGone, ProxyError } from '../errors.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import { CLIENT_GONE_STATUS, type ProxyResponse } from './exchange.ts'
import type { RequestContext } from './request-context.ts'
import { followHeaders, SSE_TYPE } from './response-headers.ts'
import { serveHit } from './serve-hit.ts'
import { type StreamEnd, streamEvents, streamOptions } from './stream-events.ts'

/** The response, or what the call came to where there is nothing in it for anybody but its leader. Throws ClientGone. */
export async function followCall(
  context: RequestContext,
  { call, subscriber }: Joined,
): Promise<{ response: ProxyResponse } | { failure: CallFailure | null }> {
  const gone = whenGone(context.request.signal)
  try {
    if (context.query.stream && (await Promise.race([call.started, gone])) === 'stream') {
      return { response: followStream(context, { call, subscriber }) }
    }
    const settlement = await Promise.race([call.settled, gone])
    subscriber.leave()
    if (settlement.kind === 'notShareable') return { failure: settlement.failure }
    return { response: serveHit(context, matchOf(settlement, context.cacheQuery.requestHash)) }
  } catch (error) {
    subscriber.leave()
    throw error
  }
}

/** The same for whoever waited. */
export function matchOf(settlement: Exclude<Settlement, { kind: 'notShareable' }>, requestHash: string): Match {
  if (settlement.kind === 'cached') return settlement.match
  return { result: 'HIT', reason: 'coalesced', id: cacheIdOf(requestHash), entry: settlement.entry }
}

function followStream(
  context: RequestContext,
  { call, subscriber }: Pick<Joined, 'call' | 'subscriber'>,
): ProxyResponse {
  const { query, provider, accounting } = context
  async function account(end: StreamEnd): Promise<void> {
    const heard = {
      cacheResult: 'HIT' as const,
      provider: provider.name,
      pricedAs: provider.pricedAs,
      model: query.model,
    }
    if (end.kind === 'gone')
      return accounting.finish({ ...heard, status: CLIENT_GONE_STATUS, counts: true, usage: NO_USAGE })
    // A stream may tell of a failure in its own words, and end as any other.
    const failure = end.kind === 'failed' ? end.failure : failureOf(await call.settled)
    if (failure)
      return accounting.finish({ ...heard, status: failure.status, counts: false, usage: NO_USAGE, cause: failure })
    accounting.finish({ ...heard, status: 200, counts: true, usage: usageOf(await call.settled) })
  }
  accounting.noteHeaders()
  const promptTokens = estimatePromptTokens(query.body, query.endpoint)
  return {
    status: 200,
    headers: { ...SSE_TYPE, ...followHeaders(provider.name, promptTokens) },
    body: streamEvents(subscriber, { ...streamOptions(context), onEnd: end => void account(end) }),
  }
}

function failureOf(settlement: Settlement): ProxyError | null {
  if (settlement.kind !== 'notShareable') return null
  return settlement.failure instanceof ProxyError ? settlement.failure : null
}

function usageOf(settlement: Settlement) {
  if (settlement.kind !== 'complete') return NO_USAGE
  const { promptTokens, completionTokens } = settlement.entry
  return { ...NO_USAGE, promptTokens, completionTokens }
}

/** Rejects when the client goes away. */
export function whenGone(signal: AbortSignal): Promise<never> {
  const gone = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(new ClientGone())
    else signal.addEventListener('abort', () => reject(new ClientGone()), { once: true })
  })
  // Heard only while somebody waits for it.
  gone.catch(() => {})
  return gone
}
