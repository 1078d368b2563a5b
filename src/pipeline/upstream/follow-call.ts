/** Follows another request's shared call. The follower gets the same response, live or complete, at no cost. */
import { isUserScoped } from '../../cache/cache-query.ts'
import { type CachedResponseMatch, cacheIdOf } from '../../cache/entry.ts'
import { ClientDisconnected, ProxyError } from '../../errors/errors.ts'
import { onAbort, rejectOnDisconnect } from '../../event-loop/timeouts.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import type { CallFailure, JoinedCall, SharedCall, SharedCallResult } from '../coalescing/shared-call.ts'
import { isStreamedLive } from '../context/plan-request.ts'
import type { PipelineServices, RoutedContext } from '../context/request-context.ts'
import { checkCachedResponse } from '../hook-checks/check-response.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'
import { type ClientStreamEnd, createClientStream, createClientStreamOptions } from '../response/client-stream.ts'
import { createCoalescedHeaders, SSE_HEADERS } from '../response/response-headers.ts'

/** Returns the response, or the call's failure if only the leader can use its result. Throws ClientDisconnected. */
export async function followCall(
  context: RoutedContext,
  { call, subscriber }: JoinedCall,
  services: PipelineServices,
): Promise<{ response: ProxyResponse } | { failure: CallFailure | null }> {
  const disconnected = rejectOnDisconnect(context.request.signal)
  onAbort(context.request.signal, subscriber.leave)
  try {
    if (isStreamedLive(context) && (await Promise.race([call.started, disconnected])) === 'stream') {
      return { response: followStream(context, { call, subscriber }) }
    }
    const settlement = await Promise.race([call.settled, disconnected])
    subscriber.leave()
    if (settlement.kind === 'notShareable') return { failure: settlement.failure }
    if (!isUsable(settlement, context)) return { failure: null }
    const found = toCachedMatch(settlement, context.cacheQuery?.requestHash ?? '')
    const match = context.check ? await checkCachedResponse(context, found, services) : found
    const response = match && context.operation.serveHit(context, match, services)
    return response ? { response } : { failure: null }
  } catch (error) {
    subscriber.leave()
    throw error
  }
}

/** Whether this request may use the result. A leader's semantic match is not for followers whose query is scoped to their end user. */
function isUsable(settlement: SharedCallResult, { cacheQuery }: RoutedContext): boolean {
  const isSemantic = settlement.kind === 'cached' && settlement.match.result === 'HIT-SEMANTIC'
  return !isSemantic || cacheQuery === null || !isUserScoped(cacheQuery)
}

/** Returns the leader's cache match, or its complete response as a coalesced hit. */
function toCachedMatch(
  settlement: Exclude<SharedCallResult, { kind: 'notShareable' }>,
  requestHash: string,
): CachedResponseMatch {
  if (settlement.kind === 'cached') return settlement.match
  return { result: 'HIT', reason: 'coalesced', id: cacheIdOf(requestHash), entry: settlement.entry }
}

function followStream(
  context: RoutedContext<CompletionQuery>,
  { call, subscriber }: Pick<JoinedCall, 'call' | 'subscriber'>,
): ProxyResponse {
  const { query, provider, recorder } = context
  const { body, ended } = createClientStream(subscriber, createClientStreamOptions(context))
  void ended.then(end => finishFollowed(context, call, end))
  recorder.recordHeadersSent()
  recorder.setDetails({ cache_reason: 'coalesced' })
  const promptTokens = estimatePromptTokens(query.body, query.endpoint)
  return { status: 200, headers: { ...SSE_HEADERS, ...createCoalescedHeaders(provider.name, promptTokens) }, body }
}

/** Records a followed stream that has ended for its client. */
async function finishFollowed({ recorder }: RoutedContext, call: SharedCall, end: ClientStreamEnd): Promise<void> {
  const cacheResult = 'HIT' as const
  if (end.kind === 'gone') return recorder.finishFailed(new ClientDisconnected(), { cacheResult })
  // A stream can report a failure in an event and still end normally.
  const failure = end.kind === 'failed' ? end.failure : failureOf(await call.settled)
  if (failure) return recorder.finishFailed(failure, { cacheResult })
  const settled = await call.settled
  if (settled.kind === 'complete') recorder.responseBody = settled.entry.body
  recorder.finish({ status: 200, isCounted: true, cacheResult, usage: usageOf(settled) })
}

function failureOf(settlement: SharedCallResult): ProxyError | null {
  if (settlement.kind !== 'notShareable') return null
  return settlement.failure instanceof ProxyError ? settlement.failure : null
}

function usageOf(settlement: SharedCallResult) {
  if (settlement.kind !== 'complete') return NO_USAGE
  const { promptTokens, completionTokens } = settlement.entry
  return { ...NO_USAGE, promptTokens, completionTokens }
}
