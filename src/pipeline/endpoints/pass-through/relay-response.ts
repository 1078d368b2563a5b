/** Relays a response as it arrives, with backpressure, and records its usage when it ends. */
import { ClientDisconnected, createError, ProxyError } from '../../../errors/errors.ts'
import { concatBytes, createEventSplitter } from '../../../formats/sse/split-events.ts'
import type { UpstreamResponse } from '../../../providers/upstream.ts'
import type { RequestRecorder } from '../../accounting/request-recorder.ts'
import type { AbandonedCalls } from '../../coalescing/abandoned-calls.ts'

export interface RelayOptions {
  /** Limits streams that are read to their end after their clients have disconnected. */
  abandonedCalls: AbandonedCalls
  /** Whether the response is a stream of server-sent events. A failure is then reported in an event. */
  isEventStream: boolean
  /** Called before the end of the response is relayed. */
  onComplete(lastEvent: Uint8Array | null): void
}

const encoder = new TextEncoder()

/** Reads the upstream as the client reads. After the client has disconnected, it reads to the end if the usage is worth it. */
export function relayResponse(
  recorder: RequestRecorder,
  upstream: UpstreamResponse,
  { abandonedCalls, isEventStream, onComplete }: RelayOptions,
): ReadableStream<Uint8Array> {
  const reader = upstream.body.getReader()
  const splitter = isEventStream ? createEventSplitter() : null
  let lastEvent: Uint8Array | null = null
  let isDisconnected = false

  /** Returns the bytes to relay now: in an event stream, complete events. */
  function splitOff(bytes: Uint8Array): Uint8Array {
    if (!splitter) return bytes
    const events = splitter.push(bytes)
    lastEvent = events.at(-1) ?? lastEvent
    return concatBytes(events)
  }

  /** Reads the stream to its last event, which reports the usage. An aborted stream ends without it. */
  async function readToEnd(): Promise<void> {
    const call = abandonedCalls.add(abort)
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        call.addBytes(read.value.length)
        splitOff(read.value)
      }
      onComplete(lastEvent)
    } catch (error) {
      recorder.finishFailed(error)
    } finally {
      call.end()
    }
  }

  function abort(): void {
    recorder.finishFailed(new ClientDisconnected())
    void reader.cancel().catch(() => {})
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read()
            const bytes = done ? (splitter?.end() ?? NO_BYTES) : splitOff(value)
            // After a disconnect, readToEnd() reads the rest, or nobody does.
            if (isDisconnected) return
            if (bytes.length > 0) controller.enqueue(bytes)
            if (done) {
              onComplete(lastEvent)
              return controller.close()
            }
            if (bytes.length > 0) return
          }
        } catch (error) {
          recorder.finishFailed(error)
          if (isDisconnected || !isEventStream || error instanceof ClientDisconnected) return controller.error(error)
          const failure = error instanceof ProxyError ? error : createError('upstreamInterrupted', null, error)
          controller.enqueue(
            encoder.encode(`event: error\ndata: ${JSON.stringify({ type: 'error', ...failure.toBody() })}\n\n`),
          )
          controller.close()
        }
      },
      cancel() {
        isDisconnected = true
        if (isEventStream && recorder.spending?.hasBudgets && recorder.isWorthReadingToEnd) return void readToEnd()
        abort()
      },
    },
    { highWaterMark: 0 },
  )
}

const NO_BYTES = new Uint8Array()
