/** A seat's chunks as a response body. */

import { ProxyError } from '../errors.ts'
import { withoutUsage } from '../openai-format/drop-usage.ts'
import { createEventPasser } from '../openai-format/pass-events.ts'
import type { Seat } from './flight.ts'

export interface ListenOptions {
  /** Keep the closing usage chunk from a client who did not ask for it. */
  dropUsage: boolean
  /** Called once: how the stream ended for this listener. */
  onOver(ending: { kind: 'whole' } | { kind: 'failed'; failure: ProxyError } | { kind: 'gone' }): void
}

const encoder = new TextEncoder()

/**
 * Nothing is taken before it is asked for. A stream that breaks off ends with an error event, after the last event that was
 * complete, so that no client takes it for whole.
 */
export function listen(seat: Seat, { dropUsage, onOver }: ListenOptions): ReadableStream<Uint8Array> {
  const passer = createEventPasser(dropUsage ? withoutUsage : null)
  let over = false

  function end(ending: Parameters<ListenOptions['onOver']>[0]): void {
    if (over) return
    over = true
    seat.leave()
    onOver(ending)
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const chunk = await seat.read()
            if (over) return
            if (chunk === null) break
            const passed = passer.push(chunk)
            if (passed.length > 0) return controller.enqueue(passed)
          }
          const rest = passer.end()
          if (rest.length > 0) controller.enqueue(rest)
          end({ kind: 'whole' })
        } catch (error) {
          if (over) return
          const failure = asFailure(error)
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(failure.toBody())}\n\n`))
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
