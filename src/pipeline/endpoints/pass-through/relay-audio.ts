/** Relays audio as it arrives, and reads it to its end for all subscribers, even if its own client disconnects. */
import { ClientDisconnected } from '../../../errors/errors.ts'
import type { MemoryReservation } from '../../../event-loop/stream-memory.ts'
import { onAbort } from '../../../event-loop/timeouts.ts'
import { concatBytes } from '../../../formats/sse/split-events.ts'
import type { UpstreamResponse } from '../../../providers/upstream.ts'
import { MAX_CACHED_AUDIO_BYTES } from './cached-response.ts'

export interface AudioRelayOptions {
  /** Counts the bytes that are held for the cache, and those that the client has not read. */
  memory: MemoryReservation
  /** Aborted when this request's client disconnects. */
  signal: AbortSignal
  /** Called when the client has disconnected. */
  onDisconnected(): void
  /** Called when the audio is too long to store. From then on only this request's client reads it, with backpressure. */
  onTooLong(): void
  /** Awaited before the end is relayed. `audio` is null if it was too long to store. */
  onComplete(audio: Uint8Array | null): Promise<void>
  onFailure(error: unknown): void
}

export function relayCacheableAudio(
  upstream: UpstreamResponse,
  options: AudioRelayOptions,
): ReadableStream<Uint8Array> {
  const reader = upstream.body.getReader()
  let held: Uint8Array[] | null = []
  let length = 0
  let isDisconnected = false
  let wake = () => {}

  function disconnect(): void {
    if (isDisconnected) return
    isDisconnected = true
    options.onDisconnected()
    if (held === null) void reader.cancel().catch(() => {})
    wake()
  }

  function append(bytes: Uint8Array): void {
    length += bytes.length
    if (held && length > MAX_CACHED_AUDIO_BYTES) {
      held = null
      options.memory.set(0)
      options.onTooLong()
    }
    if (!held) return
    held.push(bytes.slice())
    options.memory.add(2 * bytes.length)
  }

  async function run(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (isDisconnected && held === null) throw new ClientDisconnected()
        if (done) break
        append(value)
        if (!isDisconnected) controller.enqueue(value)
        while (held === null && !isDisconnected && (controller.desiredSize ?? 0) < 0) {
          await new Promise<void>(resolve => {
            wake = resolve
          })
        }
      }
      await options.onComplete(held && concatBytes(held))
      if (!isDisconnected) controller.close()
    } catch (error) {
      options.onFailure(error)
      if (!isDisconnected) controller.error(error)
    }
  }

  onAbort(options.signal, disconnect)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void run(controller)
      },
      pull: () => wake(),
      cancel: disconnect,
    },
    { highWaterMark: 0 },
  )
}
