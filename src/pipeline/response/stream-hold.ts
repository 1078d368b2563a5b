/** Holds a stream until it is complete, so that another response can replace it if it fails. A stream that is too large is delivered live. */
import { ClientDisconnected, createError, type ProxyError } from '../../errors/errors.ts'
import type { MemoryHolder, MemoryReservation, StreamMemory } from '../../event-loop/stream-memory.ts'
import type { EventChunk } from '../../formats/sse/event-chunk.ts'
import type { CallFailure, SharedCall, Subscriber } from '../coalescing/shared-call.ts'

/** Equal to the bytes that a shared call retains for late subscribers. */
export const MAX_HELD_BYTES = 16 * 1024 * 1024

/** A subscriber that delivers what it holds, and then what its own subscription delivers. */
export class StreamHold implements Subscriber, MemoryHolder {
  /** Whether nothing can have been delivered. */
  isHolding = true
  onDisconnected: () => void = () => {}
  readonly #subscriber: Subscriber
  readonly #memory: StreamMemory
  readonly #reservation: MemoryReservation
  readonly #maxBytes: number
  #chunks: EventChunk[] = []
  #next = 0
  #bytes = 0
  #lastReadMs = 0
  #disconnectError: ProxyError | null = null

  constructor(subscriber: Subscriber, memory: StreamMemory, maxBytes = MAX_HELD_BYTES) {
    this.#subscriber = subscriber
    this.#memory = memory
    this.#maxBytes = maxBytes
    this.#reservation = memory.reserve(this)
    subscriber.onDisconnected = () => this.onDisconnected()
  }

  /**
   * Reads the stream to its end. Returns its failure, or null when it can be delivered: when it is complete, or too large to be held. `signal` is
   * aborted when the client disconnects; the result then comes with the call's. Never throws.
   */
  async fill({ settled, signal: callSignal }: SharedCall, signal: AbortSignal): Promise<CallFailure | null> {
    const failure = await this.#readToEnd(signal)
    if (failure === 'too-large') return this.#endHolding()
    const settlement = await settled
    const reported = settlement.kind === 'notShareable' ? settlement.failure : null
    if (!failure && !reported && !signal.aborted) return this.#endHolding()
    this.leave()
    if (signal.aborted || callSignal.aborted) return new ClientDisconnected()
    return failure ?? reported
  }

  async read(): Promise<EventChunk | null> {
    if (this.#disconnectError) throw this.#disconnectError
    const chunk = this.#chunks[this.#next]
    if (!chunk) return this.#subscriber.read()
    this.#next++
    this.#lastReadMs = performance.now()
    this.#reservation.add(-chunk.heldBytes)
    return chunk
  }

  leave(): void {
    this.#chunks = []
    this.#reservation.release()
    this.#subscriber.leave()
  }

  unreadSinceMs(): number {
    return !this.isHolding && this.#next < this.#chunks.length ? this.#lastReadMs : Number.POSITIVE_INFINITY
  }

  disconnectSlowest(): void {
    this.#disconnectError = createError('slowReader')
    this.#memory.recordDisconnect()
    this.leave()
    this.onDisconnected()
  }

  async #readToEnd(signal: AbortSignal): Promise<CallFailure | 'too-large' | null> {
    try {
      for (;;) {
        const chunk = await this.#subscriber.read()
        if (chunk === null || signal.aborted) return null
        this.#chunks.push(chunk)
        this.#bytes += chunk.bytes.length
        this.#reservation.add(chunk.heldBytes)
        if (this.#bytes > this.#maxBytes || this.#memory.isFull) return 'too-large'
      }
    } catch (error) {
      return error as CallFailure
    }
  }

  #endHolding(): null {
    this.isHolding = false
    this.#lastReadMs = performance.now()
    return null
  }
}
