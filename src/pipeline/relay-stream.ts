/** Leads a streamed call: relays events as they arrive, stores the response if it is complete, and accounts for it either way. */
import { NO_USAGE } from '../catalogue/catalogue.ts'
import type { Subscriber } from '../coalescing/shared-call.ts'
import { ClientGone, ProxyError, refuse } from '../errors.ts'
import type { AssembledStream } from '../formats/answer-format.ts'
import { isUpstreamFailure } from '../formats/chat/completeness.ts'
import { formatOf } from '../formats/format-of.ts'
import { EventLump } from '../formats/sse/event-lump.ts'
import { createEventSplitter } from '../formats/sse/split-events.ts'
import { createSseParser } from '../formats/sse/sse.ts'
import type { UpstreamAnswer } from '../providers/upstream.ts'
import { broken } from '../providers/upstream-failure.ts'
import { estimatePromptTokens } from '../tokens/count-tokens.ts'
import { answeredHeaders, entryOf, finishMiss, noteKept, storeResponse } from './complete-call.ts'
import { askedCall } from './presumed-usage.ts'
import type { CompletionQuery } from './query.ts'
import { usageOf } from './read-answer.ts'
import type { ProxyResponse } from './request.ts'
import type { RequestAccounting } from './request-accounting.ts'
import type { LeadingContext, RoutedContext, Stages } from './request-context.ts'
import { SSE_TYPE } from './response-headers.ts'
import type { SpentUsage } from './spent-usage.ts'

/** How a stream ended for one client. */
export type StreamEnd = { kind: 'complete' } | { kind: 'failed'; failure: ProxyError } | { kind: 'gone' }

export interface StreamOptions {
  /** Whether the client asked for the closing usage chunk. */
  includeUsage: boolean
  /** Returns the events that report a broken stream. `last` is the last event that was sent, if any was. */
  writeFailure(error: ProxyError, last: Uint8Array | null): Uint8Array
  accounting: Pick<RequestAccounting, 'noteChunk'>
}

export interface ClientStream {
  body: ReadableStream<Uint8Array>
  /** Never rejects. */
  ended: Promise<StreamEnd>
}

/** The options that a request's own fields imply. */
export function streamOptions({ request, query, accounting }: RoutedContext<CompletionQuery>): StreamOptions {
  const { writeFailure } = formatOf(query.endpoint)
  const { includeUsage } = query
  return { includeUsage, writeFailure: (error, last) => writeFailure(error, request.id, last), accounting }
}

/**
 * Reads from the subscriber only when the client reads. A broken stream ends with an error event, so that no client takes it for
 * complete.
 */
export function streamEvents(
  subscriber: Subscriber,
  { includeUsage, writeFailure, accounting }: StreamOptions,
): ClientStream {
  const { promise: ended, resolve } = Promise.withResolvers<StreamEnd>()
  let isOver = false
  let last: Uint8Array | null = null

  function end(how: StreamEnd): void {
    if (isOver) return
    isOver = true
    subscriber.leave()
    resolve(how)
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const lump = await subscriber.read()
            if (isOver) return
            if (lump === null) break
            last = lump.events.at(-1) ?? last
            const bytes = includeUsage ? lump.bytes : lump.withoutUsage
            if (bytes.length === 0) continue
            accounting.noteChunk()
            return controller.enqueue(bytes)
          }
          end({ kind: 'complete' })
        } catch (error) {
          if (isOver) return
          const failure = error instanceof ProxyError ? error : refuse('upstreamBrokeOff', null, error)
          controller.enqueue(writeFailure(failure, last))
          end({ kind: 'failed', failure })
        }
        controller.close()
      },
      cancel() {
        end({ kind: 'gone' })
      },
    },
    { highWaterMark: 0 },
  )
  return { body, ended }
}

const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)

type StreamContext = LeadingContext<CompletionQuery>

export function relayStream(context: StreamContext, answer: UpstreamAnswer, stages: Stages): ProxyResponse {
  const { query, accounting, call, subscriber } = context
  const expected = { ...NO_USAGE, promptTokens: estimatePromptTokens(query.body, query.endpoint) }
  call.startStream()
  // Not awaited: the leader's client may leave while followers still read.
  void relay(context, answer, stages)
  accounting.noteHeaders()
  return {
    status: 200,
    headers: { ...answeredHeaders(context, answer, expected, stages), ...SSE_TYPE },
    body: streamEvents(subscriber, streamOptions(context)).body,
  }
}

/** Reads the stream to its end, settles the call, accounts for it. Never throws. */
async function relay(context: StreamContext, answer: UpstreamAnswer, stages: Stages): Promise<void> {
  const { query, call } = context
  const { assembled, held, brokenBy } = await readEvents(context, answer)
  if (brokenBy !== undefined) return await endBroken(context, assembled, brokenBy, stages)
  const usage = await usageOfStream(context, assembled, stages)
  const mayStore = assembled.completeness === 'whole' && answer.mayStore()
  const bytes = mayStore ? encoder.encode(JSON.stringify(assembled.body)) : NOTHING
  // A credential may come in parts, each in an event of its own.
  const isComplete = mayStore && !answer.credentials?.areIn(bytes)
  const callsTools = isComplete && formatOf(query.endpoint).callsTools(assembled.body)
  if (isComplete) await storeResponse(context, { bytes, isSemantic: !callsTools, isStreamed: true }, usage, stages)
  if (held) void call.push(held)
  const failure = isUpstreamFailure(assembled.completeness) ? broken(context.provider.name, 'reported a failure') : null
  call.settle(
    isComplete ? { kind: 'complete', entry: entryOf(context, bytes, usage) } : { kind: 'notShareable', failure },
  )
  finishMiss(context, usage, failure === null)
}

function usageOfStream(
  context: StreamContext,
  { usage, body, completeness }: AssembledStream,
  { catalogue }: Stages,
): Promise<SpentUsage> {
  const { query, account, provider } = context
  const format = formatOf(query.endpoint)
  noteKept(context, body.id)
  const hasEnded = format.hasEnded(body)
  const call = askedCall(query, provider, catalogue)
  const reported = format.readUsage(usage, body)
  return usageOf(call, {
    usage: reported,
    id: body.id ?? null,
    hasFailed: isUpstreamFailure(completeness),
    ...(!hasEnded && { cut: body }),
    model: body.model,
    owner: account.project_id,
    text: reported && hasEnded ? '' : format.textOf(body),
  })
}

interface ReadEvents {
  assembled: AssembledStream
  /** The closing event. Clients stop reading there, so it is held back until an immediate repeat finds the response stored. */
  held: EventLump | null
  /** The error that broke the stream off; undefined when it ended normally. */
  brokenBy: unknown
}

async function readEvents({ query, call }: StreamContext, answer: UpstreamAnswer): Promise<ReadEvents> {
  const format = formatOf(query.endpoint)
  const assembler = format.createAssembler(format.wantedOf(query.body))
  const parser = createSseParser(({ data, event }) => assembler.push(data, event))
  const splitter = createEventSplitter()
  const reader = answer.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const events = done ? [splitter.end()].filter(rest => rest.length > 0) : splitter.push(value)
      if (done) parser.end()
      else parser.push(value)
      const doneAt = events.findIndex(format.isLastEvent)
      const passed = doneAt < 0 ? events : events.slice(0, doneAt)
      if (passed.length > 0) await call.push(new EventLump(passed))
      if (doneAt >= 0) {
        void drain(reader)
        return { assembled: assembler.finish(), held: new EventLump(events.slice(doneAt)), brokenBy: undefined }
      }
      if (done) return { assembled: assembler.finish(), held: null, brokenBy: undefined }
    }
  } catch (brokenBy) {
    return { assembled: assembler.finish(), held: null, brokenBy }
  }
}

/** Subscribers that received a part get the error; others may try again themselves. */
async function endBroken(
  context: StreamContext,
  assembled: AssembledStream,
  failure: unknown,
  stages: Stages,
): Promise<void> {
  const { provider, accounting, call } = context
  // Counted first: when a client learns of the end, the request is accounted for.
  const usage = await usageOfStream(context, assembled, stages)
  const reported =
    failure instanceof ProxyError ? failure : broken(provider.name, 'broke off its answer', undefined, failure)
  call.settle({ kind: 'notShareable', failure: reported }, reported)
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
