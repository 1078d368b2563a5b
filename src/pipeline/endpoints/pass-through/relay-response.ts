/** Relays a response as it arrives, with backpressure, and accounts for it when it ends. */
import { ClientDisconnected, createError, ProxyError } from '../../../errors/errors.ts'
import { concatBytes, createEventSplitter } from '../../../formats/sse/split-events.ts'
import type { UpstreamResponse } from '../../../providers/upstream.ts'
import type { RequestRecorder } from '../../accounting/request-recorder.ts'
import type { AbandonedCalls } from '../../coalescing/abandoned-calls.ts'

export interface RelayOptions {
  /** Joined by a stream that is read on after its client has left. */
  abandonedCalls: AbandonedCalls
  /** Whether the response is a stream of server-sent events: a failure is then reported in an event. */
  isEventStream: boolean
  /** Called before the response's end is relayed. */
  onComplete(lastEvent: Uint8Array | null): void
}

const encoder = new TextEncoder()

/** Reads from the upstream only when the client reads; once it has left, to the end where that is wanted. */
export function relayResponse(
  recorder: RequestRecorder,
  answer: UpstreamResponse,
  { abandonedCalls, isEventStream, onComplete }: RelayOptions,
): ReadableStream<Uint8Array> {
  const reader = answer.body.getReader()
  const splitter = isEventStream ? createEventSplitter() : null
  let lastEvent: Uint8Array | null = null
  let hasLeft = false

  /** The bytes to relay now: whole events in an event stream. */
  function take(bytes: Uint8Array): Uint8Array {
    if (!splitter) return bytes
    const events = splitter.push(bytes)
    lastEvent = events.at(-1) ?? lastEvent
    return concatBytes(events)
  }

  /** What a stream has used stands in its last event. One that is given up ends without it. */
  async function readOn(): Promise<void> {
    const call = abandonedCalls.add(giveUp)
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        call.addBytes(read.value.length)
        take(read.value)
      }
      onComplete(lastEvent)
    } catch (error) {
      recorder.finishFailed(error)
    } finally {
      call.end()
    }
  }

  function giveUp(): void {
    recorder.finishFailed(new ClientDisconnected())
    void reader.cancel().catch(() => {})
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read()
            const bytes = done ? (splitter?.end() ?? EMPTY) : take(value)
            // What comes after that is read by readOn(), or not at all.
            if (hasLeft) return
            if (bytes.length > 0) controller.enqueue(bytes)
            if (done) {
              onComplete(lastEvent)
              return controller.close()
            }
            if (bytes.length > 0) return
          }
        } catch (error) {
          recorder.finishFailed(error)
          if (hasLeft || !isEventStream || error instanceof ClientDisconnected) return controller.error(error)
          const failure = error instanceof ProxyError ? error : createError('upstreamInterrupted', null, error)
          controller.enqueue(
            encoder.encode(`event: error\ndata: ${JSON.stringify({ type: 'error', ...failure.toBody() })}\n\n`),
          )
          controller.close()
        }
      },
      cancel() {
        hasLeft = true
        if (isEventStream && recorder.spending?.hasBudgets && recorder.isWorthReadingToEnd) return void readOn()
        giveUp()
      },
    },
    { highWaterMark: 0 },
  )
}

const EMPTY = new Uint8Array()
