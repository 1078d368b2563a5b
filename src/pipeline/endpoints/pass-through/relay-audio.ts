/** Relays audio as it arrives, and reads it to its end for all subscribers, even if its own client leaves. */
import { ClientDisconnected } from '../../../errors/errors.ts'
import type { MemoryReservation } from '../../../event-loop/stream-memory.ts'
import { onAbort } from '../../../event-loop/timeouts.ts'
import { concatBytes } from '../../../formats/sse/split-events.ts'
import type { UpstreamResponse } from '../../../providers/upstream.ts'
import { MAX_CACHED_AUDIO_BYTES } from './cached-response.ts'

export interface AudioRelayOptions {
  /** Counts what is kept for the cache, and what its client has not read. */
  memory: MemoryReservation
  /** Aborted when this request's client leaves. */
  signal: AbortSignal
  /** Called when the client has left. */
  onDisconnected(): void
  /** Called when the audio is too long to store. From then on only its own client reads it, with backpressure. */
  onTooLong(): void
  /** Awaited before the end is relayed. `sound` is null when it was too long. */
  onComplete(sound: Uint8Array | null): Promise<void>
  onFailure(error: unknown): void
}

export function relayCacheableAudio(answer: UpstreamResponse, relay: AudioRelayOptions): ReadableStream<Uint8Array> {
  const reader = answer.body.getReader()
  let held: Uint8Array[] | null = []
  let length = 0
  let hasLeft = false
  let wake = () => {}

  function leave(): void {
    if (hasLeft) return
    hasLeft = true
    relay.onDisconnected()
    if (held === null) void reader.cancel().catch(() => {})
    wake()
  }

  function hold(bytes: Uint8Array): void {
    length += bytes.length
    if (held && length > MAX_CACHED_AUDIO_BYTES) {
      held = null
      relay.memory.set(0)
      relay.onTooLong()
    }
    if (!held) return
    held.push(bytes.slice())
    relay.memory.add(2 * bytes.length)
  }

  async function run(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (hasLeft && held === null) throw new ClientDisconnected()
        if (done) break
        hold(value)
        if (!hasLeft) controller.enqueue(value)
        while (held === null && !hasLeft && (controller.desiredSize ?? 0) < 0) {
          await new Promise<void>(resolve => {
            wake = resolve
          })
        }
      }
      await relay.onComplete(held && concatBytes(held))
      if (!hasLeft) controller.close()
    } catch (error) {
      relay.onFailure(error)
      if (!hasLeft) controller.error(error)
    }
  }

  onAbort(relay.signal, leave)
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
