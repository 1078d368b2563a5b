/** Relays audio as it arrives, and reads it to its end for all subscribers, even if its own client leaves. */
import { ClientGone } from '../../errors/errors.ts'
import type { Held } from '../../event-loop/stream-memory.ts'
import { whenAborted } from '../../event-loop/time-limit.ts'
import { joinBytes } from '../../formats/sse/split-events.ts'
import type { UpstreamAnswer } from '../../providers/upstream.ts'
import { MAX_SOUND_BYTES } from './stored-passed.ts'

export interface KeptRelay {
  /** Counts what is kept for the cache, and what its client has not read. */
  held: Held
  /** Aborted when this request's client leaves. */
  signal: AbortSignal
  /** Called when the client has left. */
  onLeft(): void
  /** Called when the audio is too long to store. From then on only its own client reads it, with backpressure. */
  onTooLong(): void
  /** Awaited before the end is relayed. `sound` is null when it was too long. */
  onWhole(sound: Uint8Array | null): Promise<void>
  onFailure(error: unknown): void
}

export function relayKept(answer: UpstreamAnswer, relay: KeptRelay): ReadableStream<Uint8Array> {
  const reader = answer.body.getReader()
  let held: Uint8Array[] | null = []
  let length = 0
  let hasLeft = false
  let wake = () => {}

  function leave(): void {
    if (hasLeft) return
    hasLeft = true
    relay.onLeft()
    if (held === null) void reader.cancel().catch(() => {})
    wake()
  }

  function hold(bytes: Uint8Array): void {
    length += bytes.length
    if (held && length > MAX_SOUND_BYTES) {
      held = null
      relay.held.set(0)
      relay.onTooLong()
    }
    if (!held) return
    held.push(bytes.slice())
    relay.held.add(2 * bytes.length)
  }

  async function run(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (hasLeft && held === null) throw new ClientGone()
        if (done) break
        hold(value)
        if (!hasLeft) controller.enqueue(value)
        while (held === null && !hasLeft && (controller.desiredSize ?? 0) < 0) {
          await new Promise<void>(resolve => {
            wake = resolve
          })
        }
      }
      await relay.onWhole(held && joinBytes(held))
      if (!hasLeft) controller.close()
    } catch (error) {
      relay.onFailure(error)
      if (!hasLeft) controller.error(error)
    }
  }

  whenAborted(relay.signal, leave)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void run(controller)
      },
      pull: () => wake(),
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}
