/** The text assembled from a stream. It is retained while it can be stored and memory allows, or while a subscriber waits for all of it. */

import type { MemoryHolder, MemoryReservation, StreamMemory } from '../../../event-loop/stream-memory.ts'
import type { ResponseStream } from '../../../providers/response-stream.ts'
import type { SharedCall } from '../../coalescing/shared-call.ts'

export class AssembledText implements MemoryHolder {
  readonly #stream: Pick<ResponseStream, 'assembler' | 'bufferedChars'>
  readonly #call: SharedCall
  readonly #reservation: MemoryReservation

  constructor(stream: Pick<ResponseStream, 'assembler' | 'bufferedChars'>, call: SharedCall, memory: StreamMemory) {
    this.#stream = stream
    this.#call = call
    this.#reservation = memory.reserve(this)
  }

  /** Updates the reserved memory after events were assembled. */
  updateMemory(): void {
    const { meter } = this.#stream.assembler
    meter.measure()
    if (meter.isTooLargeToStore && !meter.isDiscarded) this.freeReusable()
    else this.#reservation.set(this.#stream.bufferedChars)
  }

  freeReusable(): void {
    if (this.#call.discardFullResponse()) this.#stream.assembler.discardText()
    this.#reservation.set(this.#stream.bufferedChars)
  }

  /** Releases the memory. Called when the response is stored, or will not be. */
  close(): void {
    this.#reservation.release()
  }
}
