/** Follows another request's shared call. The follower gets the same response, live or complete, at no cost. */
import { isUserScoped } from '../../cache/cache-query.ts'
import { type CachedResponseMatch, cacheIdOf } from '../../cache/entry.ts'
import { ClientDisconnected, createErrorOptions, ProxyError } from '../../errors/errors.ts'
import { onAbort, rejectOnDisconnect, TimeoutError, withTimeout } from '../../event-loop/timeouts.ts'
import { NO_USAGE } from '../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../formats/tokens/count-tokens.ts'
import { responseTimeoutError, UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { CallFailure, JoinedCall, SharedCall, SharedCallResult } from '../coalescing/shared-call.ts'
import { isHeldWhole, isStreamed } from '../context/plan-request.ts'
import type { PipelineServices, RoutedContext } from '../context/request-context.ts'
import { resolveTimeLimits } from '../context/time-limits.ts'
import { checkCachedResponse } from '../hook-checks/check-with-hook.ts'
import type { CompletionQuery } from '../request/query.ts'
import type { ProxyResponse } from '../request/request.ts'
import { type ClientStreamEnd, createClientStream, createClientStreamOptions } from '../response/client-stream.ts'
import { createCoalescedHeaders, SSE_HEADERS } from '../response/response-headers.ts'
import { storeServedTurn } from '../response/serve-hit.ts'
import { StreamHold } from '../response/stream-hold.ts'

/** Returns the response, or the call's failure if only the leader can use its result. Throws ClientDisconnected. */
export async function followCall(
  context: RoutedContext,
  { call, subscriber }: JoinedCall,
  services: PipelineServices,
): Promise<{ response: ProxyResponse } | { failure: CallFailure | null }> {
  const disconnected = rejectOnDisconnect(context.request.signal)
  onAbort(context.request.signal, subscriber.leave)
  const waiting = isStreamed(context) ? 'first token' : 'complete response'
  const limitMs = limitOf(context)
  const wait = <T>(result: Promise<T>) => withTimeout(limitMs, Promise.race([result, disconnected]))
  try {
    if (isStreamed(context) && (await wait(call.started)) === 'stream') {
      const hold = isHeldWhole(context) ? new StreamHold(subscriber, services.sharedCalls.memory) : null
      const failure = hold && (await Promise.race([hold.fill(call, context.request.signal), disconnected]))
      return failure
        ? { failure }
        : { response: followStream(context, { call, subscriber: hold ?? subscriber }, services) }
    }
    const settlement = await wait(call.settled)
    subscriber.leave()
    if (settlement.kind === 'notShareable') return { failure: toFailure(settlement) }
    if (!isUsable(settlement, context)) return { failure: null }
    const found = toCachedMatch(settlement, context.cacheQuery?.requestHash ?? '')
    const match = context.check ? await checkCachedResponse(context, found, services) : found
    const response = match && context.operation.serveHit(context, match, services)
    return response ? { response } : { failure: null }
  } catch (error) {
    subscriber.leave()
    if (error instanceof TimeoutError)
      return { failure: responseTimeoutError(context.provider.name, waiting, limitMs, true) }
    throw error
  }
}

/** Returns the longest time that the request waits for the call, in milliseconds. The leader's provider has the limits of the process. */
function limitOf(context: RoutedContext): number {
  if (context.query.kind !== 'completion') return Number.POSITIVE_INFINITY
  const { firstTokenMs, responseMs } = resolveTimeLimits(context as RoutedContext<CompletionQuery>)
  return context.query.stream ? firstTokenMs : responseMs
}

/** Whether a shared call failed because its provider took as long as this request may wait, or longer. */
export function isTooSlow(failure: UpstreamFailure, context: RoutedContext): boolean {
  return failure.timeoutMs !== null && failure.timeoutMs >= limitOf(context)
}

/** Returns the failure. That of a leader in another process is known only as one of the provider. */
function toFailure({ failure, canFallBack }: Extract<SharedCallResult, { kind: 'notShareable' }>): CallFailure | null {
  const isRemote = canFallBack && failure instanceof ProxyError && !(failure instanceof UpstreamFailure)
  return isRemote ? new UpstreamFailure('broken', createErrorOptions('upstreamInterrupted')) : failure
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
  services: PipelineServices,
): ProxyResponse {
  const { query, provider, recorder } = context
  const { body, ended } = createClientStream(subscriber, createClientStreamOptions(context))
  void ended.then(end => finishFollowed(context, { call, end }, services))
  recorder.recordHeadersSent()
  recorder.setDetails({ cache_reason: 'coalesced' })
  const promptTokens = estimatePromptTokens(query.body, query.endpoint)
  return { status: 200, headers: { ...SSE_HEADERS, ...createCoalescedHeaders(provider.name, promptTokens) }, body }
}

/** Records a followed stream that has ended for its client. */
async function finishFollowed(
  context: RoutedContext<CompletionQuery>,
  { call, end }: { call: SharedCall; end: ClientStreamEnd },
  services: PipelineServices,
): Promise<void> {
  const { recorder } = context
  const cacheResult = 'HIT' as const
  if (end.kind === 'gone') return recorder.finishFailed(new ClientDisconnected(), { cacheResult })
  // A stream can report a failure in an event and still end normally.
  const failure = end.kind === 'failed' ? end.failure : failureOf(await call.settled)
  if (failure) return recorder.finishFailed(failure, { cacheResult })
  const settled = await call.settled
  if (settled.kind === 'complete') {
    recorder.responseBody = settled.entry.body
    storeServedTurn(context, settled.entry.body, services)
  }
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
