/** Follows another request's shared call: the same response, live or whole, at no cost. */
import { cacheIdOf, type Match } from '../cache/match.ts'
import { NO_USAGE } from '../catalogue/cost.ts'
import type { CallFailure, Settlement, SharedCall } from '../coalescing/shared-call.ts'
import type { Joined } from '../coalescing/shared-calls.ts'
import { ClientGone, ProxyError } from '../errors.ts'
import { whenAborted } from '../event-loop/when-aborted.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import { CLIENT_GONE_STATUS, type ProxyResponse } from './exchange.ts'
import { isPassed, type RequestContext, type SharingContext } from './request-context.ts'
import { followHeaders, SSE_TYPE } from './response-headers.ts'
import { serveMatch } from './serve-hit.ts'
import type { Stages } from './stages.ts'
import { type StreamEnd, streamEvents, streamOptions } from './stream-events.ts'

/** Returns the response, or the call's failure when its result is of use to the leader only. Throws ClientGone. */
export async function followCall(
  context: SharingContext,
  { call, subscriber }: Joined,
  stages: Stages,
): Promise<{ response: ProxyResponse } | { failure: CallFailure | null }> {
  const gone = rejectWhenGone(context.request.signal)
  try {
    if (!isPassed(context) && context.query.stream && (await Promise.race([call.started, gone])) === 'stream') {
      return { response: followStream(context, { call, subscriber }) }
    }
    const settlement = await Promise.race([call.settled, gone])
    subscriber.leave()
    if (settlement.kind === 'notShareable') return { failure: settlement.failure }
    const response = serveMatch(context, matchOf(settlement, context.cacheQuery.requestHash), stages)
    return response ? { response } : { failure: null }
  } catch (error) {
    subscriber.leave()
    throw error
  }
}

/** A leader's cache match is passed on; a complete response becomes a coalesced hit. */
function matchOf(settlement: Exclude<Settlement, { kind: 'notShareable' }>, requestHash: string): Match {
  if (settlement.kind === 'cached') return settlement.match
  return { result: 'HIT', reason: 'coalesced', id: cacheIdOf(requestHash), entry: settlement.entry }
}

function followStream(
  context: RequestContext,
  { call, subscriber }: Pick<Joined, 'call' | 'subscriber'>,
): ProxyResponse {
  const { query, provider, accounting } = context
  const { body, ended } = streamEvents(subscriber, streamOptions(context))
  void ended.then(end => finishFollowed(context, call, end))
  accounting.noteHeaders()
  const promptTokens = estimatePromptTokens(query.body, query.endpoint)
  return { status: 200, headers: { ...SSE_TYPE, ...followHeaders(provider.name, promptTokens) }, body }
}

/** Accounts for a followed stream that has ended for its client. */
async function finishFollowed(
  { query, provider, accounting }: RequestContext,
  call: SharedCall,
  end: StreamEnd,
): Promise<void> {
  const outcome = {
    cacheResult: 'HIT' as const,
    provider: provider.name,
    pricedAs: provider.pricedAs,
    model: query.model,
  }
  if (end.kind === 'gone')
    return accounting.finish({ ...outcome, status: CLIENT_GONE_STATUS, counts: true, usage: NO_USAGE })
  // A stream can report a failure in an event and still end normally.
  const failure = end.kind === 'failed' ? end.failure : failureOf(await call.settled)
  if (failure)
    return accounting.finish({ ...outcome, status: failure.status, counts: false, usage: NO_USAGE, cause: failure })
  accounting.finish({ ...outcome, status: 200, counts: true, usage: usageOf(await call.settled) })
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

/** Returns a promise that rejects when the client leaves. */
export function rejectWhenGone(signal: AbortSignal): Promise<never> {
  const gone = new Promise<never>((_, reject) => {
    whenAborted(signal, () => reject(new ClientGone()))
  })
  // Prevents an unhandled rejection when nothing awaits it any more.
  gone.catch(() => {})
  return gone
}
