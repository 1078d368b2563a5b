/** Passes an answer on as it comes and as its client takes it; where it ends, it is accounted for. */
import { ClientGone, ProxyError, refuse } from '../../errors.ts'
import { joinBytes } from '../../openai-format/join-bytes.ts'
import { createEventSplitter } from '../../openai-format/split-events.ts'
import type { UpstreamAnswer } from '../../providers/upstream.ts'
import type { PassedContext } from './passed-context.ts'

export interface RelayOptions {
  /** Whether the answer consists of server-sent events: who follows them is told of a failure in one. */
  hasEvents: boolean
  /** Called before the answer's end is told. */
  onWhole(lastEvent: Uint8Array | null): void
}

const encoder = new TextEncoder()

/** Nothing is taken from upstream that nobody asked for. */
export function relayAnswer(
  { accounting }: Pick<PassedContext, 'accounting'>,
  answer: UpstreamAnswer,
  { hasEvents, onWhole }: RelayOptions,
): ReadableStream<Uint8Array> {
  const reader = answer.body.getReader()
  const splitter = hasEvents ? createEventSplitter() : null
  let lastEvent: Uint8Array | null = null

  /** What can be passed on of these bytes: whole events where there are events. */
  function take(bytes: Uint8Array): Uint8Array {
    if (!splitter) return bytes
    const events = splitter.push(bytes)
    lastEvent = events.at(-1) ?? lastEvent
    return joinBytes(events)
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read()
            const bytes = done ? (splitter?.end() ?? EMPTY) : take(value)
            if (bytes.length > 0) controller.enqueue(bytes)
            if (done) {
              onWhole(lastEvent)
              return controller.close()
            }
            if (bytes.length > 0) return
          }
        } catch (error) {
          accounting.finishFailed(error)
          if (!hasEvents || error instanceof ClientGone) return controller.error(error)
          const failure = error instanceof ProxyError ? error : refuse('upstreamBrokeOff', null, error)
          controller.enqueue(
            encoder.encode(`event: error\ndata: ${JSON.stringify({ type: 'error', ...failure.toBody() })}\n\n`),
          )
          controller.close()
        }
      },
      async cancel() {
        accounting.finishFailed(new ClientGone())
        await reader.cancel().catch(() => {})
      },
    },
    { highWaterMark: 0 },
  )
}

const EMPTY = new Uint8Array()
