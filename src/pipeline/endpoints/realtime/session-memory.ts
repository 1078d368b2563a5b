/**
 * Counts in the memory budget what a session's client and its provider have not taken yet. Neither can be made to wait: whoever has much unread
 * in a full budget is cut off at once.
 */
import type { MemoryHolder, MemoryReservation, StreamMemory } from '../../../event-loop/stream-memory.ts'

/** Of one direction: more ends the session, however much is free. A minute of speech takes 4 MB. */
export const MAX_UNSENT_BYTES = 32 * 1024 * 1024
/** Of one direction, while the budget is full. */
const MOST_IN_FULL_BYTES = 1024 * 1024

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
  readonly #held: MemoryReservation
  #toClient = 0
  /** When the client last took something. */
  #takenMs = performance.now()

  constructor(memory: StreamMemory, session: SessionMemoryOptions) {
    this.#memory = memory
    this.#session = session
    this.#held = memory.reserve(this)
  }

  /** After something was sent or taken. */
  measure(): void {
    const { toClient, toProvider } = this.#count()
    const most = this.#memory.isFull ? MOST_IN_FULL_BYTES : MAX_UNSENT_BYTES
    if (toClient > most) this.disconnectSlowest()
    else if (toProvider > most) this.#session.onSlowProvider()
  }

  /** When both sides have ended. */
  close(): void {
    this.#held.release()
  }

  /** What was taken since it was last measured does not wait any more. */
  freeConsumed(): void {
    this.#count()
  }

  unreadSinceMs(): number {
    return this.#toClient > 0 ? this.#takenMs : Number.POSITIVE_INFINITY
  }

  disconnectSlowest(): void {
    if (this.#memory.isFull) this.#memory.recordDisconnect()
    this.#session.onSlowClient()
  }

  #count(): UnsentBytes {
    const waiting = this.#session.countUnsentBytes()
    if (waiting.toClient === 0 || waiting.toClient < this.#toClient) this.#takenMs = performance.now()
    this.#toClient = waiting.toClient
    this.#held.set(waiting.toClient + waiting.toProvider)
    return waiting
  }
}
