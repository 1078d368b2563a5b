/** Leads a streamed call: relays events as they arrive, stores the response if it is complete, and accounts for it either way. */

import { ClientGone, ProxyError, refuse } from '../errors/errors.ts'
import { takeBeginningTurn } from '../event-loop/turns.ts'
import type { AssembledStream, StreamAssembler } from '../formats/answer-format.ts'
import { isUpstreamFailure } from '../formats/chat/completeness.ts'
import { formatOf } from '../formats/format-of.ts'
import { EventLump } from '../formats/sse/event-lump.ts'
import { createEventSplitter } from '../formats/sse/split-events.ts'
import { createSseParser } from '../formats/sse/sse.ts'
import { NO_USAGE } from '../formats/token-usage.ts'
import { estimatePromptTokens } from '../formats/tokens/count-tokens.ts'
import type { UpstreamAnswer } from '../providers/upstream.ts'
import { broken, UpstreamFailure } from '../providers/upstream-failure.ts'
import { passAnswer } from './checks/pass-answer.ts'
import { StreamGate } from './checks/stream-gate.ts'
import type { CallFailure } from './coalescing/shared-call.ts'
import { answeredHeaders, entryOf, finishMiss, noteKept, storeResponse } from './complete-call.ts'
import { KeptText } from './kept-text.ts'
import { askedCall } from './presumed-usage.ts'
import type { CompletionQuery } from './query.ts'
import { isWholeUsage, mayHaveBegun, usageOf } from './read-answer.ts'
import type { Attempt, LeadingContext, Stages } from './request-context.ts'
import { SSE_TYPE } from './response-headers.ts'
import type { SpentUsage } from './spent-usage.ts'
import { streamEvents, streamOptions } from './stream-events.ts'

const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)

type StreamContext = LeadingContext<CompletionQuery>

/** Resolves when the stream begins: at once, unless it is held back. */
export async function relayStream(context: StreamContext, answer: UpstreamAnswer, stages: Stages): Promise<Attempt> {
  const { query, accounting, call, subscriber } = context
  const expected = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  const gate = new StreamGate(context, stages)
  // Not awaited: the leader's client may leave while followers still read.
  void relay(context, answer, gate, stages)
  if (gate.isShut && (await call.started) === 'settled') return { failure: await failureOf(call) }
  accounting.noteHeaders()
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
  const { query, call } = context
  const format = formatOf(query.endpoint)
  const assembler = format.createAssembler(format.wantedOf(query.body))
  const text = new KeptText(assembler, call, stages.calls.room)
  // Between being asked and beginning, others may have taken the room. What has come of it waits in the runtime, and goes at once.
  call.refuseWithoutRoom()
  await takeBeginningTurn()
  call.refuseWithoutRoom()
  const { held, brokenBy } = await readEvents(context, answer, { assembler, text, gate })
  const assembled = { ...assembler.finish(), lostChars: assembler.meter.lostChars }
  await settle(context, answer, stages, { assembled, held, brokenBy, gate })
  gate.close()
  text.close()
}

async function settle(
  context: StreamContext,
  answer: UpstreamAnswer,
  stages: Stages,
  { assembled, held, brokenBy, gate }: ReadStream & { gate: StreamGate },
): Promise<void> {
  const { query, call, check } = context
  if (brokenBy !== undefined) return await endBroken(context, assembled, { failure: brokenBy, gate }, stages)
  const usage = await usageOfStream(context, assembled, stages)
  const isWhole = assembled.completeness === 'whole' && answer.mayStore()
  const bytes = isWhole || check ? encoder.encode(JSON.stringify(assembled.body)) : NOTHING
  // A credential may come in parts, each in an event of its own.
  const hasCredentials = answer.credentials?.areIn(bytes) ?? false
  const shown = hasCredentials ? hide(bytes, answer) : bytes
  const passed = await passAnswer(context, assembled.lostChars > 0 ? null : shown, usage).catch(asRefused)
  if (passed && 'refusal' in passed) return call.settle(...passed.refusal)
  await gate.open()
  const isComplete = isWhole && !hasCredentials && passed?.mayStore !== false
  const callsTools = isComplete && formatOf(query.endpoint).callsTools(assembled.body)
  const kind = { isSemantic: !callsTools, isStreamed: true, policy: passed?.policy ?? null }
  if (isComplete) await storeResponse(context, { bytes, ...kind }, usage, stages)
  if (held) void call.push(held)
  const failure = isUpstreamFailure(assembled.completeness) ? broken(context.provider.name, 'reported a failure') : null
  call.settle(
    isComplete
      ? { kind: 'complete', entry: entryOf(context, bytes, usage, passed) }
      : { kind: 'notShareable', failure },
  )
  finishMiss(context, usage, failure === null)
}

/** How a call ends whose answer may not pass: those that read a part of it learn so, too. */
function asRefused(failure: ProxyError): { refusal: Parameters<StreamContext['call']['settle']> } {
  return { refusal: [{ kind: 'notShareable', failure }, failure] }
}

function hide(bytes: Uint8Array, { credentials }: UpstreamAnswer): Uint8Array {
  const text = new TextDecoder().decode(bytes)
  return encoder.encode(credentials?.hide(text) ?? text)
}

/** Whether the provider ended its response with this. Whatever else breaks one off, the provider may have gone on. */
function isInPlaceOfResponse(failure: unknown): boolean {
  return failure instanceof ProxyError && failure.isInPlaceOfResponse
}

/** `isInterrupted`: it may have used more than what it sent shows. */
async function usageOfStream(
  context: StreamContext,
  { usage, body, completeness, lostChars }: AssembledText,
  { catalogue }: Stages,
  isInterrupted = false,
): Promise<SpentUsage> {
  const { query, account, provider } = context
  const format = formatOf(query.endpoint)
  noteKept(context, body.id)
  const hasEnded = format.hasEnded(body)
  const reported = format.readUsage(usage, body)
  const report = {
    usage: reported,
    hasBegun: format.hasBegun(body),
    mayHaveBegun: isInterrupted || mayHaveBegun(format, body, completeness),
    cut: hasEnded ? undefined : { answer: body, lostChars },
    model: body.model,
    text: hasEnded && isWholeUsage(reported) ? '' : format.textOf(body),
    lostChars,
  }
  return usageOf(askedCall(query, provider, catalogue), report, account.project_id)
}

interface ReadEvents {
  /** The closing event. Clients stop reading there, so it is held back until an immediate repeat finds the response stored. */
  held: EventLump | null
  /** The error that broke the stream off; undefined when it ended normally. */
  brokenBy: unknown
}

interface AssembledText extends AssembledStream {
  /** Of the text, beyond what the body has: it was given up. */
  lostChars: number
}

interface ReadStream extends ReadEvents {
  assembled: AssembledText
}

async function readEvents(
  { query }: StreamContext,
  answer: UpstreamAnswer,
  { assembler, text, gate }: { assembler: StreamAssembler; text: KeptText; gate: StreamGate },
): Promise<ReadEvents> {
  const format = formatOf(query.endpoint)
  const parser = createSseParser(({ data, event }) => assembler.push(data, event))
  const splitter = createEventSplitter()
  const reader = answer.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const events = done ? [splitter.end()].filter(rest => rest.length > 0) : splitter.push(value)
      if (done) parser.end()
      else parser.push(value)
      text.note()
      const doneAt = events.findIndex(format.isLastEvent)
      const passed = doneAt < 0 ? events : events.slice(0, doneAt)
      if (passed.length > 0) await gate.push(new EventLump(passed))
      if (doneAt >= 0) {
        void drain(reader)
        return { held: new EventLump(events.slice(doneAt)), brokenBy: undefined }
      }
      if (done) return { held: null, brokenBy: undefined }
    }
  } catch (brokenBy) {
    return { held: null, brokenBy }
  }
}

/** Subscribers that received a part get the error; others may try again themselves. */
async function endBroken(
  context: StreamContext,
  assembled: AssembledText,
  { failure, gate }: { failure: unknown; gate: StreamGate },
  stages: Stages,
): Promise<void> {
  const { provider, accounting, call } = context
  // Counted first: when a client learns of the end, the request is accounted for.
  const usage = await usageOfStream(context, assembled, stages, !isInPlaceOfResponse(failure))
  const reported =
    failure instanceof ProxyError ? failure : broken(provider.name, 'broke off its answer', undefined, failure)
  call.settle({ kind: 'notShareable', failure: reported }, reported)
  // Nothing of it has gone to anybody, and another model may be asked.
  if (gate.isShut && reported instanceof UpstreamFailure && !(failure instanceof ClientGone)) return
  accounting.finishFailed(failure instanceof ClientGone ? failure : reported, { usage })
}

/** Reads past the closing event, so that the connection can be reused. */
async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The response is already complete.
  }
}
