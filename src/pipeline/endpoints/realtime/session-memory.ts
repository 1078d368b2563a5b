/**
 * Counts a session's unread bytes, in both directions, against the stream memory. A WebSocket has no backpressure, so a side with many
 * unread bytes is disconnected at once if the memory is full.
 */
import type { MemoryHolder, MemoryReservation, StreamMemory } from '../../../event-loop/stream-memory.ts'

/** Limit of one direction. Exceeding it ends the session even if memory is free. A minute of speech takes 4 MB. */
export const MAX_UNSENT_BYTES = 32 * 1024 * 1024
/** Limit of one direction while the memory is full. */
const MAX_UNSENT_BYTES_WHEN_FULL = 1024 * 1024

export interface UnsentBytes {
  toClient: number
  toProvider: number
}

export interface SessionMemoryOptions {
  countUnsentBytes(): UnsentBytes
  onSlowClient(): void
  onSlowProvider(): void
}

export class SessionMemory implements MemoryHolder {
  readonly #memory: StreamMemory
  readonly #session: SessionMemoryOptions
  readonly #reservation: MemoryReservation
  #toClient = 0
  /** The time of the client's last read, in milliseconds of `performance.now`. */
  #lastReadMs = performance.now()

  constructor(memory: StreamMemory, session: SessionMemoryOptions) {
    this.#memory = memory
    this.#session = session
    this.#reservation = memory.reserve(this)
  }

  /** Updates the counts and disconnects a slow side. Called after bytes were sent or read. */
  measure(): void {
    const { toClient, toProvider } = this.#count()
    const max = this.#memory.isFull ? MAX_UNSENT_BYTES_WHEN_FULL : MAX_UNSENT_BYTES
    if (toClient > max) this.disconnectSlowest()
    else if (toProvider > max) this.#session.onSlowProvider()
  }

  /** Releases the memory. Called when both sides have ended. */
  close(): void {
    this.#reservation.release()
  }

  /** Releases the memory of bytes that were read since the last count. */
  freeConsumed(): void {
    this.#count()
  }

  unreadSinceMs(): number {
    return this.#toClient > 0 ? this.#lastReadMs : Number.POSITIVE_INFINITY
  }

  disconnectSlowest(): void {
    if (this.#memory.isFull) this.#memory.recordDisconnect()
    this.#session.onSlowClient()
  }

  #count(): UnsentBytes {
    const unsent = this.#session.countUnsentBytes()
    if (unsent.toClient === 0 || unsent.toClient < this.#toClient) this.#lastReadMs = performance.now()
    this.#toClient = unsent.toClient
    this.#reservation.set(unsent.toClient + unsent.toProvider)
    return unsent
  }
}
