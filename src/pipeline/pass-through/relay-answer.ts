/** Relays a response as it arrives, with backpressure, and accounts for it when it ends. */
import { ClientGone, ProxyError, refuse } from '../../errors/errors.ts'
import { createEventSplitter, joinBytes } from '../../formats/sse/split-events.ts'
import type { UpstreamAnswer } from '../../providers/upstream.ts'
import type { RequestRecorder } from '../accounting/request-recorder.ts'
import type { AbandonedCalls } from '../coalescing/abandoned-calls.ts'

export interface RelayOptions {
  /** Joined by a stream that is read on after its client has left. */
  abandoned: AbandonedCalls
  /** Whether the response is a stream of server-sent events: a failure is then reported in an event. */
  hasEvents: boolean
  /** Called before the response's end is relayed. */
  onWhole(lastEvent: Uint8Array | null): void
}

const encoder = new TextEncoder()

/** Reads from the upstream only when the client reads; once it has left, to the end where that is wanted. */
export function relayAnswer(
  recorder: RequestRecorder,
  answer: UpstreamAnswer,
  { abandoned, hasEvents, onWhole }: RelayOptions,
): ReadableStream<Uint8Array> {
  const reader = answer.body.getReader()
  const splitter = hasEvents ? createEventSplitter() : null
  let lastEvent: Uint8Array | null = null
  let hasLeft = false

  /** The bytes to relay now: whole events in an event stream. */
  function take(bytes: Uint8Array): Uint8Array {
    if (!splitter) return bytes
    const events = splitter.push(bytes)
    lastEvent = events.at(-1) ?? lastEvent
    return joinBytes(events)
  }

  /** What a stream has used stands in its last event. One that is given up ends without it. */
  async function readOn(): Promise<void> {
    const call = abandoned.add(giveUp)
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        call.count(read.value.length)
        take(read.value)
      }
      onWhole(lastEvent)
    } catch (error) {
      recorder.finishFailed(error)
    } finally {
      call.end()
    }
  }

  function giveUp(): void {
    recorder.finishFailed(new ClientGone())
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
              onWhole(lastEvent)
              return controller.close()
            }
            if (bytes.length > 0) return
          }
        } catch (error) {
          recorder.finishFailed(error)
          if (hasLeft || !hasEvents || error instanceof ClientGone) return controller.error(error)
          const failure = error instanceof ProxyError ? error : refuse('upstreamBrokeOff', null, error)
          controller.enqueue(
            encoder.encode(`event: error\ndata: ${JSON.stringify({ type: 'error', ...failure.toBody() })}\n\n`),
          )
          controller.close()
        }
      },
      cancel() {
        hasLeft = true
        if (hasEvents && recorder.spending?.hasBudgets && recorder.isReadToEnd) return void readOn()
        giveUp()
      },
    },
    { highWaterMark: 0 },
  )
}

const EMPTY = new Uint8Array()
