/** Passes an event stream on as it comes, reads along, and says how it ended. */
import { createUsageDropper } from '../answers/drop-usage.ts'
import { createSseParser } from '../answers/sse-parser.ts'
import { ProxyError } from '../errors.ts'

export interface RelayOptions {
  upstream: ReadableStream<Uint8Array>
  /** Keep the closing usage chunk from the client, who did not ask for it. */
  dropUsage: boolean
  /** Called for each event's data, and its type where it has one. */
  onEvent(data: string, event: string | null): void
  /** The stream ended; the client is told once this resolves. */
  onEnd(): Promise<void>
  /** Upstream broke off or fell silent; the client gets an error event. */
  onFailure(failure: ProxyError): Promise<void>
  /** The client went away. */
  onCancel(): Promise<void>
}

const encoder = new TextEncoder()

/** Nothing is read before it is asked for: a client that reads slowly slows upstream, and holds one chunk here. */
export function relayStream(options: RelayOptions): ReadableStream<Uint8Array> {
  const { onEvent, onEnd, onFailure, onCancel } = options
  const reader = options.upstream.getReader()
  const parser = createSseParser(({ data, event }) => onEvent(data, event))
  const dropper = options.dropUsage ? createUsageDropper() : null
  let over = false

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read()
            if (over) return
            if (done) break
            parser.push(value)
            const passed = dropper ? dropper.push(value) : value
            if (passed.length > 0) return controller.enqueue(passed)
          }
          over = true
          parser.end()
          const rest = dropper?.end()
          if (rest && rest.length > 0) controller.enqueue(rest)
          await onEnd()
          controller.close()
        } catch (error) {
          if (over) return
          over = true
          const failure = asFailure(error)
          await onFailure(failure)
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(failure.toBody())}\n\n`))
          controller.close()
        }
      },
      async cancel(reason) {
        if (over) return
        over = true
        await reader.cancel(reason).catch(() => {})
        await onCancel()
      },
    },
    { highWaterMark: 0 },
  )
}

function asFailure(error: unknown): ProxyError {
  if (error instanceof ProxyError) return error
  return new ProxyError({
    status: 502,
    code: 'upstream_error',
    message: 'The upstream broke off its answer.',
    cause: error,
  })
}
