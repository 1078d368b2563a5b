/** Leads a shared call: asks the provider, and settles the call for every subscriber. */
import type { ErrorResponse } from '../coalescing/shared-call.ts'
import { isUpstreamFailure } from '../formats/chat/completeness.ts'
import { withLongBody } from '../providers/long-body.ts'
import type { UpstreamAnswer } from '../providers/upstream.ts'
import { entryOf, finishMiss, passedOn, priceOf, storeResponse } from './complete-call.ts'
import type { ProxyResponse } from './exchange.ts'
import { readAll, readAnswer, usageOf } from './read-answer.ts'
import { relayStream } from './relay-stream.ts'
import type { LeadingContext } from './request-context.ts'
import { JSON_TYPE, missHeaders, SSE_TYPE } from './response-headers.ts'
import { replayStream } from './serve-hit.ts'
import type { Stages } from './stages.ts'

/**
 * Returns the leader's own response. The call is settled before a plain response is returned; behind a streamed one it settles when the
 * stream ends. `failure` is the upstream's own error, ready to be passed on. Throws a ProxyError when the upstream could not be reached
 * or broke off before anything was sent; the caller must then settle the call.
 */
export async function askUpstream(
  context: LeadingContext,
  stages: Stages,
): Promise<{ response: ProxyResponse } | { failure: ErrorResponse }> {
  const { request, query, account, provider, accounting, call } = context
  await stages.checkReferences(query.references, account, provider)
  accounting.noteAsked()
  const { endpoint, body, bytes, stream } = query
  const asked = { endpoint, headers: request.headers, stream, signal: call.signal }
  const answer = await provider.ask(bytes ? withLongBody(asked, body, bytes) : { ...asked, body, bodyText: query.text })
  if (answer.status !== 200) return { failure: await passOnError(context, answer) }
  const isStream = answer.headers.get('content-type')?.includes('text/event-stream') ?? false
  if (isStream) return { response: relayStream(context, answer, stages) }
  return { response: await answerPlain(context, answer, stages) }
}

async function answerPlain(context: LeadingContext, answer: UpstreamAnswer, stages: Stages): Promise<ProxyResponse> {
  const { query, provider, call, subscriber, lookup } = context
  const read = await readAnswer(answer.body, provider.name, { endpoint: query.endpoint, request: query.body })
  const { bytes, completeness, callsTools } = read
  const usage = await usageOf(query.endpoint, query.body, read)
  const headers = {
    ...passedOn(answer),
    ...missHeaders(provider.name, priceOf(context, usage, stages), lookup.missReason),
  }
  const response: ProxyResponse = query.stream
    ? { status: 200, headers: { ...headers, ...SSE_TYPE }, body: replayStream(bytes, query) }
    : { status: 200, headers: { ...headers, ...JSON_TYPE }, body: bytes }
  const isComplete = completeness === 'whole'
  if (isComplete) await storeResponse(context, { bytes, callsTools }, usage, stages)
  call.settle(
    isComplete ? { kind: 'complete', entry: entryOf(context, bytes, usage) } : { kind: 'notShareable', failure: null },
  )
  subscriber.leave()
  finishMiss(context, usage, !isUpstreamFailure(completeness))
  return response
}

/** An upstream's error keeps its status, body and Retry-After. */
async function passOnError(
  { provider, call, subscriber }: LeadingContext,
  answer: UpstreamAnswer,
): Promise<ErrorResponse> {
  const body = await readAll(answer.body, provider.name)
  const failure = { status: answer.status, headers: { ...passedOn(answer), ...missHeaders(provider.name, 0) }, body }
  call.settle({ kind: 'notShareable', failure })
  subscriber.leave()
  return failure
}
