/** Leads a streamed call: relays events as they arrive, stores the response if it is complete, and accounts for it either way. */

import { ClientDisconnected, createError, ProxyError } from '../../../errors/errors.ts'
import { yieldBeforeFirstRead } from '../../../event-loop/work-scheduler.ts'
import { apiFormatOf } from '../../../formats/endpoint-formats.ts'
import { EventChunk } from '../../../formats/sse/event-chunk.ts'
import { NO_USAGE } from '../../../formats/token-usage.ts'
import { estimatePromptTokens } from '../../../formats/tokens/count-tokens.ts'
import { encodeJson } from '../../../providers/analyze-response.ts'
import { ResponseStream, type StreamAnalysis } from '../../../providers/response-stream.ts'
import type { UpstreamResponse } from '../../../providers/upstream.ts'
import { brokenResponseError, failedResponseError, UpstreamFailure } from '../../../providers/upstream-failure.ts'
import type { CallFailure } from '../../coalescing/shared-call.ts'
import type { AttemptResult, LeaderContext, PipelineServices } from '../../context/request-context.ts'
import { resetEchoedFields, resetEchoedFieldsInEvent } from '../../conversations/echoed-fields.ts'
import { checkResponse } from '../../hook-checks/check-response.ts'
import type { CompletionQuery } from '../../request/query.ts'
import { createClientStream, createClientStreamOptions } from '../../response/client-stream.ts'
import {
  createResponseHeaders,
  createSharedEntry,
  recordMiss,
  setStoredResponseId,
  storeResponse,
} from '../../response/complete-call.ts'
import { SSE_HEADERS } from '../../response/response-headers.ts'
import type { CallUsage, EstimateReason } from '../../spending/call-usage.ts'
import { describePricedCall } from '../../spending/estimate-usage.ts'
import { resolveCallUsage } from '../../spending/resolve-usage.ts'
import { estimateReasonOf } from '../../spending/upstream-calls.ts'
import { AssembledText } from './assembled-text.ts'
import { StreamGate } from './stream-gate.ts'

const NOTHING = new Uint8Array(0)

type StreamContext = LeaderContext<CompletionQuery>

/** Resolves when the stream begins: at once, unless it is held back. */
export async function relayStream(
  context: StreamContext,
  answer: UpstreamResponse,
  stages: PipelineServices,
): Promise<AttemptResult> {
  const { query, recorder, call, subscriber } = context
  const expected = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  const gate = new StreamGate(context, stages)
  // Not awaited: the leader's client may leave while followers still read.
  void relay(context, answer, gate, stages)
  if (gate.isClosed && (await call.started) === 'settled') return { failure: await failureOf(call) }
  recorder.recordHeadersSent()
  const headers = { ...createResponseHeaders(context, answer, expected, stages), ...SSE_HEADERS }
  return {
    response: { status: 200, headers, body: createClientStream(subscriber, createClientStreamOptions(context)).body },
  }
}

/** Of a call that ended before its stream began. */
async function failureOf({ signal, settled }: StreamContext['call']): Promise<CallFailure> {
  if (signal.aborted) return signal.reason
  const settlement = await settled
  return (settlement.kind === 'notShareable' && settlement.failure) || createError('upstreamInterrupted')
}

/** Reads the stream to its end, settles the call, accounts for it. Never throws. */
async function relay(
  context: StreamContext,
  answer: UpstreamResponse,
  gate: StreamGate,
  stages: PipelineServices,
): Promise<void> {
  const { query, resolvedKey, call } = context
  const wanted = apiFormatOf(query.endpoint).readExpectedOutput(query.body)
  const stream = answer.stream ?? new ResponseStream(answer.body, { endpoint: query.endpoint, expected: wanted }, null)
  const text = new AssembledText(stream, call, stages.sharedCalls.memory)
  // Between being asked and beginning, others may have taken the room. What has come of it waits in the runtime, and goes at once.
  call.rejectIfMemoryFull()
  await yieldBeforeFirstRead()
  call.rejectIfMemoryFull()
  const share = query.echoedFields ? (event: Uint8Array) => resetEchoedFieldsInEvent(event, resolvedKey) : null
  const read = { ...(await readEvents(context, stream, { text, gate, share })), stream }
  await settle(context, answer, stages, { ...read, gate })
  gate.discard()
  text.close()
}

async function settle(
  context: StreamContext,
  answer: UpstreamResponse,
  stages: PipelineServices,
  { stream, held, brokenBy, gate }: ReadStream & { gate: StreamGate },
): Promise<void> {
  const { query, resolvedKey, call, check } = context
  if (brokenBy !== undefined) return await endBroken(context, stream, { failure: brokenBy, gate }, stages)
  const reading = stream.analyze()
  // A stream may also end without its closing event.
  const isProviderFailure = reading.failure !== null || (held === null && !reading.isFinished)
  const end: StreamEnd = isProviderFailure ? { reason: 'provider_failed' } : {}
  const usage = await usageOfStream(context, stream, reading, end, stages)
  if (reading.failure) {
    const failure = failedResponseError(reading.failure, reading.completeness, reading.usage)
    return endFailed(context, stream, { failure, usage, gate, held })
  }
  const isWhole = reading.completeness === 'whole' && answer.isStorable()
  const assembled = isWhole || check ? encodeJson(stream.finish().body) : NOTHING
  const bytes =
    query.echoedFields && assembled !== NOTHING ? await resetEchoedFields(assembled, resolvedKey) : assembled
  const isKept = stream.assembler.meter.discardedChars === 0
  const passed = await checkResponse(context, isKept ? bytes : null, usage).catch(asRefused)
  if (passed && 'refusal' in passed) return call.settle(...passed.refusal)
  await gate.release()
  const isComplete = isWhole && passed?.mayStore !== false
  const kind = { isSemantic: !reading.callsTools, isStreamed: true, policy: passed?.policy ?? null }
  if (isComplete) await storeResponse(context, { bytes, ...kind }, usage, stages)
  const { lastEvent } = apiFormatOf(query.endpoint)
  const last = held ?? (lastEvent && new EventChunk([lastEvent]))
  if (last) void call.push(last)
  call.settle(
    isComplete
      ? { kind: 'complete', entry: createSharedEntry(context, bytes, usage, passed) }
      : { kind: 'notShareable', failure: null },
  )
  recordMiss(context, usage)
}

/** A response that turned out to be a failure. Its clients learn so by an event: the provider's own, where it sent one. */
function endFailed(
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
  // Where the closing event holds the response, it says that it failed. Any other would say that it is whole.
  const tellsFailure = stream.hasReportedFailure && apiFormatOf(query.endpoint).lastEvent === null
  if (held && tellsFailure && !gate.isClosed) void call.push(held)
  call.settle({ kind: 'notShareable', failure: reported }, stream.hasReportedFailure ? undefined : reported)
  // Nothing of it has gone to anybody, and another model may be asked.
  if (!gate.isClosed) recorder.finishFailed(reported, { usage })
}

/** How a call ends whose answer may not pass: those that read a part of it learn so, too. */
function asRefused(failure: ProxyError): { refusal: Parameters<StreamContext['call']['settle']> } {
  return { refusal: [{ kind: 'notShareable', failure }, failure] }
}

/** Whether the provider ended its response with this. Whatever else breaks one off, the provider may have gone on. */
function isInPlaceOfResponse(failure: unknown): boolean {
  return failure instanceof ProxyError && failure.replacesResponse
}

interface StreamEnd {
  /** Why it ended early; by default it did not. */
  reason?: EstimateReason
  /** Whether it may have used something without having begun to respond. */
  isInterrupted?: boolean
}

async function usageOfStream(
  context: StreamContext,
  stream: ResponseStream,
  reading: StreamAnalysis,
  { reason, isInterrupted = false }: StreamEnd,
  { catalogue }: PipelineServices,
): Promise<CallUsage> {
  const { query, resolvedKey, provider } = context
  const { usage, hasOutput, isFinished, canHaveUsedTokens, model, tier, id, text, body } = reading
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
  /** The closing event. Clients stop reading there, so it is held back until an immediate repeat finds the response stored. */
  held: EventChunk | null
  /** The error that broke the stream off; undefined when it ended normally. */
  brokenBy: unknown
}

interface ReadStream extends ReadEvents {
  stream: ResponseStream
}

interface Relaying {
  text: AssembledText
  gate: StreamGate
  /** Gives an event the fields that all who share it get; null where it has none. */
  share: ((event: Uint8Array) => Uint8Array | Promise<Uint8Array>) | null
}

async function readEvents(
  { query }: StreamContext,
  stream: ResponseStream,
  { text, gate, share }: Relaying,
): Promise<ReadEvents> {
  const format = apiFormatOf(query.endpoint)
  try {
    for (;;) {
      const read = await stream.read()
      if (read === null) return { held: null, brokenBy: undefined }
      text.updateMemory()
      const events = share ? await Promise.all(read.map(share)) : read
      const doneAt = events.findIndex(format.isLastEvent)
      const passed = doneAt < 0 ? events : events.slice(0, doneAt)
      if (passed.length > 0) await gate.push(new EventChunk(passed))
      if (doneAt >= 0) {
        void stream.drain()
        return { held: new EventChunk(events.slice(doneAt, doneAt + 1)), brokenBy: undefined }
      }
    }
  } catch (brokenBy) {
    return { held: null, brokenBy }
  }
}

/** Subscribers that received a part get the error; others may try again themselves. */
async function endBroken(
  context: StreamContext,
  stream: ResponseStream,
  { failure, gate }: { failure: unknown; gate: StreamGate },
  stages: PipelineServices,
): Promise<void> {
  const { provider, recorder, call } = context
  // Counted first: when a client learns of the end, the request is accounted for.
  const end = { reason: estimateReasonOf(failure), isInterrupted: !isInPlaceOfResponse(failure) }
  const usage = await usageOfStream(context, stream, stream.analyze(), end, stages)
  const reported =
    failure instanceof ProxyError
      ? failure
      : brokenResponseError(provider.name, 'broke off its answer', undefined, failure)
  call.settle({ kind: 'notShareable', failure: reported }, reported)
  // Nothing of it has gone to anybody, and another model may be asked.
  if (gate.isClosed && reported instanceof UpstreamFailure && !(failure instanceof ClientDisconnected)) return
  recorder.finishFailed(failure instanceof ClientDisconnected ? failure : reported, { usage })
}
