/** Follows another request's shared call: the same response, live or whole, at no cost. */
import { isAskersOwn } from '../cache/cache-query.ts'
import { cacheIdOf, type Match } from '../cache/entry.ts'
import { ClientGone, ProxyError } from '../errors/errors.ts'
import { rejectWhenGone, whenAborted } from '../event-loop/time-limit.ts'
import { NO_USAGE } from '../formats/token-usage.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import { passStored } from './checks/pass-answer.ts'
import type { CallFailure, Joined, Settlement, SharedCall } from './coalescing/shared-call.ts'
import { isFollowedLive } from './plan-request.ts'
import type { CompletionQuery } from './query.ts'
import type { ProxyResponse } from './request.ts'
import type { RoutedContext, Stages } from './request-context.ts'
import { followHeaders, SSE_TYPE } from './response-headers.ts'
import { type StreamEnd, streamEvents, streamOptions } from './stream-events.ts'

/** Returns the response, or the call's failure when its result is of use to the leader only. Throws ClientGone. */
export async function followCall(
  context: RoutedContext,
  { call, subscriber }: Joined,
  stages: Stages,
): Promise<{ response: ProxyResponse } | { failure: CallFailure | null }> {
  const gone = rejectWhenGone(context.request.signal)
  whenAborted(context.request.signal, subscriber.leave)
  try {
    if (isFollowedLive(context) && (await Promise.race([call.started, gone])) === 'stream') {
      return { response: followStream(context, { call, subscriber }) }
    }
    const settlement = await Promise.race([call.settled, gone])
    subscriber.leave()
    if (settlement.kind === 'notShareable') return { failure: settlement.failure }
    if (!mayFollow(settlement, context)) return { failure: null }
    const given = matchOf(settlement, context.cacheQuery?.requestHash ?? '')
    const match = context.check ? await passStored(context, given, stages) : given
    const response = match && context.operation.serveHit(context, match, stages)
    return response ? { response } : { failure: null }
  } catch (error) {
    subscriber.leave()
    throw error
  }
}

/** What the leader matched in other words may not be for this end user: the leader's own check says only whether it is for everybody else. */
function mayFollow(settlement: Settlement, { cacheQuery }: RoutedContext): boolean {
  const isReworded = settlement.kind === 'cached' && settlement.match.result === 'HIT-SEMANTIC'
  return !isReworded || cacheQuery === null || !isAskersOwn(cacheQuery)
}

/** A leader's cache match is passed on; a complete response becomes a coalesced hit. */
function matchOf(settlement: Exclude<Settlement, { kind: 'notShareable' }>, requestHash: string): Match {
  if (settlement.kind === 'cached') return settlement.match
  return { result: 'HIT', reason: 'coalesced', id: cacheIdOf(requestHash), entry: settlement.entry }
}

function followStream(
  context: RoutedContext<CompletionQuery>,
  { call, subscriber }: Pick<Joined, 'call' | 'subscriber'>,
): ProxyResponse {
  const { query, provider, recorder } = context
  const { body, ended } = streamEvents(subscriber, streamOptions(context))
  void ended.then(end => finishFollowed(context, call, end))
  recorder.recordHeadersReady()
  recorder.set({ cache_reason: 'coalesced' })
  const promptTokens = estimatePromptTokens(query.body, query.endpoint)
  return { status: 200, headers: { ...SSE_TYPE, ...followHeaders(provider.name, promptTokens) }, body }
}

/** Accounts for a followed stream that has ended for its client. */
async function finishFollowed({ recorder }: RoutedContext, call: SharedCall, end: StreamEnd): Promise<void> {
  const cacheResult = 'HIT' as const
  if (end.kind === 'gone') return recorder.finishFailed(new ClientGone(), { cacheResult })
  // A stream can report a failure in an event and still end normally.
  const failure = end.kind === 'failed' ? end.failure : failureOf(await call.settled)
  if (failure) return recorder.finishFailed(failure, { cacheResult })
  const settled = await call.settled
  if (settled.kind === 'complete') recorder.responseBody = settled.entry.body
  recorder.finish({ status: 200, counts: true, cacheResult, usage: usageOf(settled) })
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
