/** Leads a streamed call: relays events as they arrive, stores the response if it is complete, and accounts for it either way. */

import { ClientGone, ProxyError, refuse } from '../errors/errors.ts'
import { takeBeginningTurn } from '../event-loop/turns.ts'
import { formatOf } from '../formats/format-of.ts'
import { EventLump } from '../formats/sse/event-lump.ts'
import { NO_USAGE } from '../formats/token-usage.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import { encode } from '../providers/read-response.ts'
import { ResponseStream, type StreamReading } from '../providers/response-stream.ts'
import type { UpstreamAnswer } from '../providers/upstream.ts'
import { broken, failedResponse, UpstreamFailure } from '../providers/upstream-failure.ts'
import { passAnswer } from './checks/pass-answer.ts'
import { StreamGate } from './checks/stream-gate.ts'
import type { CallFailure } from './coalescing/shared-call.ts'
import { answeredHeaders, entryOf, finishMiss, setStoredId, storeResponse } from './complete-call.ts'
import { KeptText } from './kept-text.ts'
import { shareBytes, shareEvent } from './own-fields.ts'
import type { CompletionQuery } from './query.ts'
import type { Attempt, LeadingContext, Stages } from './request-context.ts'
import { SSE_TYPE } from './response-headers.ts'
import { describePricedCall } from './spending/estimate-usage.ts'
import type { EstimateReason, SpentUsage } from './spending/spent-usage.ts'
import { reasonOf } from './spending/upstream-calls.ts'
import { usageOf } from './spending/usage-of-call.ts'
import { streamEvents, streamOptions } from './stream-events.ts'

const NOTHING = new Uint8Array(0)

type StreamContext = LeadingContext<CompletionQuery>

/** Resolves when the stream begins: at once, unless it is held back. */
export async function relayStream(context: StreamContext, answer: UpstreamAnswer, stages: Stages): Promise<Attempt> {
  const { query, recorder, call, subscriber } = context
  const expected = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  const gate = new StreamGate(context, stages)
  // Not awaited: the leader's client may leave while followers still read.
  void relay(context, answer, gate, stages)
  if (gate.isShut && (await call.started) === 'settled') return { failure: await failureOf(call) }
  recorder.recordHeadersReady()
  const headers = { ...answeredHeaders(context, answer, expected, stages), ...SSE_TYPE }
  return { response: { status: 200, headers, body: streamEvents(subscriber, streamOptions(context)).body } }
}

/** Of a call that ended before its stream began. */
async function failureOf({ signal, settled }: StreamContext['call']): Promise<CallFailure> {
  if (signal.aborted) return signal.reason
  const settlement = await settled
  return (settlement.kind === 'notShareable' && settlement.failure) || refuse('upstreamBrokeOff')
}

/** Reads the stream to its end, settles the call, accounts for it. Never throws. */
async function relay(context: StreamContext, answer: UpstreamAnswer, gate: StreamGate, stages: Stages): Promise<void> {
  const { query, account, call } = context
  const wanted = formatOf(query.endpoint).wantedOf(query.body)
  const stream = answer.stream ?? new ResponseStream(answer.body, { endpoint: query.endpoint, wanted }, null)
  const text = new KeptText(stream, call, stages.calls.room)
  // Between being asked and beginning, others may have taken the room. What has come of it waits in the runtime, and goes at once.
  call.refuseWithoutRoom()
  await takeBeginningTurn()
  call.refuseWithoutRoom()
  const share = query.ownFields ? (event: Uint8Array) => shareEvent(event, account) : null
  const read = { ...(await readEvents(context, stream, { text, gate, share })), stream }
  await settle(context, answer, stages, { ...read, gate })
  gate.close()
  text.close()
}

async function settle(
  context: StreamContext,
  answer: UpstreamAnswer,
  stages: Stages,
  { stream, held, brokenBy, gate }: ReadStream & { gate: StreamGate },
): Promise<void> {
  const { query, account, call, check } = context
  if (brokenBy !== undefined) return await endBroken(context, stream, { failure: brokenBy, gate }, stages)
  const reading = stream.judge()
  // A stream may also end without its closing event.
  const isProviderFailure = reading.failure !== null || (held === null && !reading.hasEnded)
  const end: StreamEnd = isProviderFailure ? { reason: 'provider_failed' } : {}
  const usage = await usageOfStream(context, stream, reading, end, stages)
  if (reading.failure) {
    const failure = failedResponse(reading.failure, reading.completeness, reading.usage)
    return endFailed(context, stream, { failure, usage, gate, held })
  }
  const isWhole = reading.completeness === 'whole' && answer.mayStore()
  const assembled = isWhole || check ? encode(stream.finish().body) : NOTHING
  const bytes = query.ownFields && assembled !== NOTHING ? await shareBytes(assembled, account) : assembled
  const isKept = stream.assembler.meter.lostChars === 0
  const passed = await passAnswer(context, isKept ? bytes : null, usage).catch(asRefused)
  if (passed && 'refusal' in passed) return call.settle(...passed.refusal)
  await gate.open()
  const isComplete = isWhole && passed?.mayStore !== false
  const kind = { isSemantic: !reading.callsTools, isStreamed: true, policy: passed?.policy ?? null }
  if (isComplete) await storeResponse(context, { bytes, ...kind }, usage, stages)
  const { lastEvent } = formatOf(query.endpoint)
  const last = held ?? (lastEvent && new EventLump([lastEvent]))
  if (last) void call.push(last)
  call.settle(
    isComplete
      ? { kind: 'complete', entry: entryOf(context, bytes, usage, passed) }
      : { kind: 'notShareable', failure: null },
  )
  finishMiss(context, usage)
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
  }: Pick<ReadEvents, 'held'> & { failure: UpstreamFailure; usage: SpentUsage; gate: StreamGate },
): void {
  const reported = Object.assign(failure, { usage })
  // Where the closing event holds the response, it says that it failed. Any other would say that it is whole.
  const tellsFailure = stream.hasToldFailure && formatOf(query.endpoint).lastEvent === null
  if (held && tellsFailure && !gate.isShut) void call.push(held)
  call.settle({ kind: 'notShareable', failure: reported }, stream.hasToldFailure ? undefined : reported)
  // Nothing of it has gone to anybody, and another model may be asked.
  if (!gate.isShut) recorder.finishFailed(reported, { usage })
}

/** How a call ends whose answer may not pass: those that read a part of it learn so, too. */
function asRefused(failure: ProxyError): { refusal: Parameters<StreamContext['call']['settle']> } {
  return { refusal: [{ kind: 'notShareable', failure }, failure] }
}

/** Whether the provider ended its response with this. Whatever else breaks one off, the provider may have gone on. */
function isInPlaceOfResponse(failure: unknown): boolean {
  return failure instanceof ProxyError && failure.isInPlaceOfResponse
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
  reading: StreamReading,
  { reason, isInterrupted = false }: StreamEnd,
  { catalogue }: Stages,
): Promise<SpentUsage> {
  const { query, account, provider } = context
  const { usage, hasBegun, hasEnded, mayHaveBegun, model, tier, id, text, body } = reading
  const { lostChars } = stream.assembler.meter
  setStoredId(context, id)
  const report = {
    ...{ usage, hasBegun, model, tier, text, lostChars, ...(reason && { reason }) },
    mayHaveBegun: isInterrupted || mayHaveBegun,
    cut: hasEnded ? undefined : body,
  }
  return usageOf(describePricedCall(query, provider, catalogue), report, account.project_id)
}

interface ReadEvents {
  /** The closing event. Clients stop reading there, so it is held back until an immediate repeat finds the response stored. */
  held: EventLump | null
  /** The error that broke the stream off; undefined when it ended normally. */
  brokenBy: unknown
}

interface ReadStream extends ReadEvents {
  stream: ResponseStream
}

interface Relaying {
  text: KeptText
  gate: StreamGate
  /** Gives an event the fields that all who share it get; null where it has none. */
  share: ((event: Uint8Array) => Uint8Array | Promise<Uint8Array>) | null
}

async function readEvents(
  { query }: StreamContext,
  stream: ResponseStream,
  { text, gate, share }: Relaying,
): Promise<ReadEvents> {
  const format = formatOf(query.endpoint)
  try {
    for (;;) {
      const read = await stream.read()
      if (read === null) return { held: null, brokenBy: undefined }
      text.note()
      const events = share ? await Promise.all(read.map(share)) : read
      const doneAt = events.findIndex(format.isLastEvent)
      const passed = doneAt < 0 ? events : events.slice(0, doneAt)
      if (passed.length > 0) await gate.push(new EventLump(passed))
      if (doneAt >= 0) {
        void stream.drain()
        return { held: new EventLump(events.slice(doneAt, doneAt + 1)), brokenBy: undefined }
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
  stages: Stages,
): Promise<void> {
  const { provider, recorder, call } = context
  // Counted first: when a client learns of the end, the request is accounted for.
  const end = { reason: reasonOf(failure), isInterrupted: !isInPlaceOfResponse(failure) }
  const usage = await usageOfStream(context, stream, stream.judge(), end, stages)
  const reported =
    failure instanceof ProxyError ? failure : broken(provider.name, 'broke off its answer', undefined, failure)
  call.settle({ kind: 'notShareable', failure: reported }, reported)
  // Nothing of it has gone to anybody, and another model may be asked.
  if (gate.isShut && reported instanceof UpstreamFailure && !(failure instanceof ClientGone)) return
  recorder.finishFailed(failure instanceof ClientGone ? failure : reported, { usage })
}
