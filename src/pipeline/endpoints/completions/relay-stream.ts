/** Leads a streamed call: relays events as they arrive, stores the response if it is complete, and records its usage in any case. */

import { ClientDisconnected, ProxyError } from '../../../errors/errors.ts'
import { yieldBeforeFirstRead } from '../../../event-loop/work-scheduler.ts'
import { apiFormatOf } from '../../../formats/endpoint-formats.ts'
import { EventChunk } from '../../../formats/sse/event-chunk.ts'
import { NO_USAGE } from '../../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../../formats/tokens/count-tokens.ts'
import { encodeJson } from '../../../providers/analyze-response.ts'
import { ResponseStream, type StreamAnalysis } from '../../../providers/response-stream.ts'
import type { UpstreamResponse } from '../../../providers/upstream.ts'
import { brokenResponseError, failedResponseError, UpstreamFailure } from '../../../providers/upstream-failure.ts'
import { isHeldWhole } from '../../context/plan-request.ts'
import type { AttemptResult, LeaderContext, PipelineServices } from '../../context/request-context.ts'
import { resetEchoedFields, resetEchoedFieldsInEvent } from '../../conversations/echoed-fields.ts'
import { checkResponse } from '../../hook-checks/check-with-hook.ts'
import type { CompletionQuery } from '../../request/query.ts'
import { createClientStream, createClientStreamOptions } from '../../response/client-stream.ts'
import {
  createResponseHeaders,
  recordMiss,
  setStoredResponseId,
  settleCall,
  storeResponse,
} from '../../response/complete-call.ts'
import { SSE_HEADERS } from '../../response/response-headers.ts'
import { StreamHold } from '../../response/stream-hold.ts'
import type { CallUsage, EstimateReason } from '../../spending/call-usage.ts'
import { describePricedCall } from '../../spending/estimate-usage.ts'
import { resolveCallUsage } from '../../spending/resolve-usage.ts'
import { estimateReasonOf } from '../../spending/upstream-calls.ts'
import { AssembledText } from './assembled-text.ts'
import { StreamGate } from './stream-gate.ts'

const NO_BYTES = new Uint8Array(0)

type StreamContext = LeaderContext<CompletionQuery>

/** Resolves when the stream begins: at once, unless a hook holds the stream, or the client gets it whole. */
export async function relayStream(
  context: StreamContext,
  upstream: UpstreamResponse,
  stages: PipelineServices,
): Promise<AttemptResult> {
  const { request, query, recorder, call, subscriber } = context
  const expected = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  const hold = isHeldWhole(context) ? new StreamHold(subscriber, stages.sharedCalls.memory) : null
  const gate = new StreamGate(context, stages, hold)
  // The relay is not awaited: the leader's client may disconnect while followers still read.
  void relay(context, upstream, gate, stages)
  const failure = (await gate.waitUntilOpen()) ?? (await hold?.fill(call, request.signal))
  if (failure) return { failure }
  recorder.recordHeadersSent()
  const headers = { ...createResponseHeaders(context, upstream, expected, stages), ...SSE_HEADERS }
  return {
    response: {
      status: 200,
      headers,
      body: createClientStream(hold ?? subscriber, createClientStreamOptions(context)).body,
    },
  }
}

/** Reads the stream to its end, settles the call and records its usage. Never throws. */
async function relay(
  context: StreamContext,
  upstream: UpstreamResponse,
  gate: StreamGate,
  stages: PipelineServices,
): Promise<void> {
  const { query, resolvedKey, call } = context
  const expected = apiFormatOf(query.endpoint).readExpectedOutput(query.body)
  const stream = upstream.stream ?? new ResponseStream(upstream.body, { endpoint: query.endpoint, expected }, null)
  const text = new AssembledText(stream, call, stages.sharedCalls.memory)
  // Other streams may have filled the memory since the request was sent. Bytes received so far are buffered by the runtime.
  call.rejectIfMemoryFull()
  await yieldBeforeFirstRead()
  call.rejectIfMemoryFull()
  const resetFields = query.echoedFields ? (event: Uint8Array) => resetEchoedFieldsInEvent(event, resolvedKey) : null
  const read = { ...(await readEvents(context, stream, { text, gate, resetFields })), stream }
  await settleStream(context, upstream, stages, { ...read, gate })
  gate.discard()
  text.close()
}

async function settleStream(
  context: StreamContext,
  upstream: UpstreamResponse,
  stages: PipelineServices,
  { stream, held, interruption, gate }: ReadEvents & { stream: ResponseStream; gate: StreamGate },
): Promise<void> {
  const { query, resolvedKey, call, check } = context
  if (interruption !== undefined)
    return await settleInterrupted(context, stream, { failure: interruption, gate }, stages)
  const analysis = stream.analyze()
  // A stream may also end without its last event.
  const isProviderFailure = analysis.failure !== null || (held === null && !analysis.isFinished)
  const end: StreamEnd = isProviderFailure ? { reason: 'provider_failed' } : {}
  const usage = await resolveStreamUsage(context, stream, analysis, end, stages)
  if (analysis.failure) {
    const failure = failedResponseError(analysis.failure, analysis.completeness, analysis.usage)
    if (stream.hasTimedOut) failure.failureKind = 'idle_timeout'
    return settleFailed(context, stream, { failure, usage, gate, held })
  }
  const isStorable = analysis.completeness === 'whole' && upstream.isStorable()
  const assembled = isStorable || check ? encodeJson(stream.finish().body) : NO_BYTES
  const bytes =
    query.echoedFields && assembled !== NO_BYTES ? await resetEchoedFields(assembled, resolvedKey) : assembled
  const isTextComplete = stream.assembler.meter.discardedChars === 0
  const decision = await checkResponse(context, isTextComplete ? bytes : null, usage).catch(asRejection)
  if (decision && 'rejection' in decision) return call.settle(...decision.rejection)
  upstream.storeTurns?.(analysis.turns)
  await gate.release()
  const isComplete = isStorable && decision?.mayStore !== false
  const kind = { isSemantic: !analysis.callsTools, isStreamed: true, policy: decision?.policy ?? null }
  if (isComplete) await storeResponse(context, { bytes, ...kind }, usage, stages)
  const { lastEvent } = apiFormatOf(query.endpoint)
  const lastChunk = held ?? (lastEvent && new EventChunk([lastEvent]))
  if (lastChunk) void call.push(lastChunk)
  settleCall(context, isComplete ? { bytes, decision } : null, usage)
  recordMiss(context, usage)
}

/** Settles a call whose stream reports a failure. Clients receive an error event: the provider's own, if it sent one. */
function settleFailed(
  { query, call, recorder }: StreamContext,
  stream: ResponseStream,
  {
    failure,
    usage,
    gate,
    held,
  }: Pick<ReadEvents, 'held'> & { failure: UpstreamFailure; usage: CallUsage; gate: StreamGate },
): void {
  const reported = Object.assign(failure, { usage })
  // A last event that holds the response carries the failure. Any other last event would mark the response as complete.
  const carriesFailure = stream.hasReportedFailure && apiFormatOf(query.endpoint).lastEvent === null
  if (held && carriesFailure && !gate.isClosed) void call.push(held)
  call.settle({ kind: 'notShareable', failure: reported }, stream.hasReportedFailure ? undefined : reported)
  // The client may still get the response of a fallback model.
  if (!gate.isUndelivered) recorder.finishFailed(reported, { usage })
}

/** Returns the arguments that settle a call whose response the hook rejects. Readers of a part of it receive the failure, too. */
function asRejection(failure: ProxyError): { rejection: Parameters<StreamContext['call']['settle']> } {
  return { rejection: [{ kind: 'notShareable', failure }, failure] }
}

interface StreamEnd {
  /** Why the stream ended early, if it did. */
  reason?: EstimateReason
  /** Whether the provider may have used tokens before it began to respond. */
  isInterrupted?: boolean
}

async function resolveStreamUsage(
  context: StreamContext,
  stream: ResponseStream,
  analysis: StreamAnalysis,
  { reason, isInterrupted = false }: StreamEnd,
  { catalogue }: PipelineServices,
): Promise<CallUsage> {
  const { query, resolvedKey, provider } = context
  const { usage, hasOutput, isFinished, canHaveUsedTokens, model, tier, id, text, body } = analysis
  const { discardedChars } = stream.assembler.meter
  setStoredResponseId(context, id)
  const report = {
    ...{ usage, hasOutput, model, tier, text, discardedChars, ...(reason && { reason }) },
    canHaveUsedTokens: isInterrupted || canHaveUsedTokens,
    partialResponse: isFinished ? undefined : body,
  }
  return resolveCallUsage(describePricedCall(query, provider, catalogue), report, resolvedKey.project_id)
}

interface ReadEvents {
  /** The last event. Clients stop reading at it, so it is held until the response is stored and an immediate repeat hits the cache. */
  held: EventChunk | null
  /** The error that interrupted the stream; undefined if it ended normally. */
  interruption: unknown
}

interface RelayOptions {
  text: AssembledText
  gate: StreamGate
  /** Resets an event's echoed fields for all requests that share the call; null if the response has none. */
  resetFields: ((event: Uint8Array) => Uint8Array | Promise<Uint8Array>) | null
}

async function readEvents(
  { query }: StreamContext,
  stream: ResponseStream,
  { text, gate, resetFields }: RelayOptions,
): Promise<ReadEvents> {
  const format = apiFormatOf(query.endpoint)
  try {
    for (;;) {
      const read = await stream.read()
      if (read === null) return { held: null, interruption: undefined }
      text.updateMemory()
      const events = resetFields ? await Promise.all(read.map(resetFields)) : read
      const lastIndex = events.findIndex(format.isLastEvent)
      const forwarded = lastIndex < 0 ? events : events.slice(0, lastIndex)
      if (forwarded.length > 0) await gate.push(new EventChunk(forwarded))
      if (lastIndex >= 0) {
        void stream.drain()
        return { held: new EventChunk(events.slice(lastIndex, lastIndex + 1)), interruption: undefined }
      }
    }
  } catch (interruption) {
    return { held: null, interruption }
  }
}

/** Settles an interrupted call. Subscribers that received a part get the error; others may retry. */
async function settleInterrupted(
  context: StreamContext,
  stream: ResponseStream,
  { failure, gate }: { failure: unknown; gate: StreamGate },
  stages: PipelineServices,
): Promise<void> {
  const { provider, recorder, call } = context
  // Usage is resolved first, so that it is recorded when the client receives the end.
  // After a failure that does not end the response, the provider may have continued.
  const isInterrupted = !(failure instanceof ProxyError && failure.replacesResponse)
  const end = { reason: estimateReasonOf(failure), isInterrupted }
  const usage = await resolveStreamUsage(context, stream, stream.analyze(), end, stages)
  const reported =
    failure instanceof ProxyError
      ? failure
      : brokenResponseError(provider.name, 'broke off its answer', undefined, failure)
  const isReplaceable =
    gate.isUndelivered && reported instanceof UpstreamFailure && !(failure instanceof ClientDisconnected)
  // The client may still get the response of a fallback model.
  if (isReplaceable) Object.assign(reported, { usage })
  call.settle({ kind: 'notShareable', failure: reported }, reported)
  if (!isReplaceable) recorder.finishFailed(failure instanceof ClientDisconnected ? failure : reported, { usage })
}
