/** The memory reservation of one response, from the provider's first byte until the client has read the last or is disconnected. */
import type { MemoryHolder, MemoryReservation, StreamMemory } from './stream-memory.ts'

/** Delivers the response to its client. */
export interface ResponseConsumer {
  /** Time since which the client reads nothing, by `performance.now()`. Infinity while no data waits for it. */
  unreadSinceMs(): number
  disconnect(): void
}

/** Creates the reservation when it first holds bytes, because most responses are small. */
export class ResponseMemory implements MemoryReservation, MemoryHolder {
  readonly #memory: StreamMemory
  #reservation: MemoryReservation | null = null
  #isClosed = false
  #consumer: ResponseConsumer | null = null

  constructor(memory: StreamMemory) {
    this.#memory = memory
  }

  /** Sets the client that is disconnected when memory is full. */
  setConsumer(consumer: ResponseConsumer): void {
    this.#consumer = consumer
  }

  add(bytes: number): void {
    this.#open()?.add(bytes)
  }

  set(bytes: number): void {
    if (this.#reservation || bytes > 0) this.#open()?.set(bytes)
  }

  addShared(bytes: Uint8Array): void {
    this.#open()?.addShared(bytes)
  }

  waitForSpace(): Promise<void> | undefined {
    return this.#open()?.waitForSpace()
  }

  release(): void {
    this.#isClosed = true
    this.#reservation?.release()
  }

  unreadSinceMs(): number {
    return this.#consumer?.unreadSinceMs() ?? Number.POSITIVE_INFINITY
  }

  disconnectSlowest(): void {
    this.#memory.recordDisconnect()
    this.#consumer?.disconnect()
  }

  #open(): MemoryReservation | null {
    if (!this.#isClosed) this.#reservation ??= this.#memory.reserve(this)
    return this.#reservation
  }
}
