/** The memory of one response: from its provider's first byte until its client has taken the last, or has been cut off. */
import type { Held, StreamHolder, StreamMemory } from './stream-memory.ts'

/** Whoever gives the response to its client. */
export interface ClientReader {
  /** Since when the client takes nothing, by `performance.now()`; infinite while it is not waited for. */
  unreadSinceMs(): number
  cutOff(): void
}

/** Opens its place in the budget when it first holds something: most responses are small. */
export class ResponseMemory implements Held, StreamHolder {
  readonly #memory: StreamMemory
  #held: Held | null = null
  #isClosed = false
  #client: ClientReader | null = null

  constructor(memory: StreamMemory) {
    this.#memory = memory
  }

  /** From now on this client may be cut off. */
  serve(client: ClientReader): void {
    this.#client = client
  }

  add(bytes: number): void {
    this.#open()?.add(bytes)
  }

  set(bytes: number): void {
    if (this.#held || bytes > 0) this.#open()?.set(bytes)
  }

  share(bytes: Uint8Array): void {
    this.#open()?.share(bytes)
  }

  space(): Promise<void> | undefined {
    return this.#open()?.space()
  }

  close(): void {
    this.#isClosed = true
    this.#held?.close()
  }

  unreadSinceMs(): number {
    return this.#client?.unreadSinceMs() ?? Number.POSITIVE_INFINITY
  }

  cutSlowest(): void {
    this.#memory.noteCut()
    this.#client?.cutOff()
  }

  #open(): Held | null {
    if (!this.#isClosed) this.#held ??= this.#memory.open(this)
    return this.#held
  }
}
