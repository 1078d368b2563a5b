/** The memory of one response: from its provider's first byte until its client has taken the last, or has been cut off. */
import type { MemoryHolder, MemoryReservation, StreamMemory } from './stream-memory.ts'

/** Whoever gives the response to its client. */
export interface ResponseConsumer {
  /** Since when the client takes nothing, by `performance.now()`; infinite while it is not waited for. */
  unreadSinceMs(): number
  disconnect(): void
}

/** Opens its place in the budget when it first holds something: most responses are small. */
export class ResponseMemory implements MemoryReservation, MemoryHolder {
  readonly #memory: StreamMemory
  #held: MemoryReservation | null = null
  #isClosed = false
  #client: ResponseConsumer | null = null

  constructor(memory: StreamMemory) {
    this.#memory = memory
  }

  /** From now on this client may be cut off. */
  setConsumer(client: ResponseConsumer): void {
    this.#client = client
  }

  add(bytes: number): void {
    this.#open()?.add(bytes)
  }

  set(bytes: number): void {
    if (this.#held || bytes > 0) this.#open()?.set(bytes)
  }

  addShared(bytes: Uint8Array): void {
    this.#open()?.addShared(bytes)
  }

  waitForSpace(): Promise<void> | undefined {
    return this.#open()?.waitForSpace()
  }

  release(): void {
    this.#isClosed = true
    this.#held?.release()
  }

  unreadSinceMs(): number {
    return this.#client?.unreadSinceMs() ?? Number.POSITIVE_INFINITY
  }

  disconnectSlowest(): void {
    this.#memory.recordDisconnect()
    this.#client?.disconnect()
  }

  #open(): MemoryReservation | null {
    if (!this.#isClosed) this.#held ??= this.#memory.reserve(this)
    return this.#held
  }
}
