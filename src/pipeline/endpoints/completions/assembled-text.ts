/** The text that a stream is assembled to: kept as long as the response can be stored and there is memory, or somebody waits for the whole. */

import type { MemoryHolder, MemoryReservation, StreamMemory } from '../../../event-loop/stream-memory.ts'
import type { ResponseStream } from '../../../providers/response-stream.ts'
import type { SharedCall } from '../../coalescing/shared-call.ts'

export class AssembledText implements MemoryHolder {
  readonly #stream: Pick<ResponseStream, 'assembler' | 'bufferedChars'>
  readonly #call: SharedCall
  readonly #held: MemoryReservation

  constructor(stream: Pick<ResponseStream, 'assembler' | 'bufferedChars'>, call: SharedCall, room: StreamMemory) {
    this.#stream = stream
    this.#call = call
    this.#held = room.reserve(this)
  }

  /** After events were assembled. */
  updateMemory(): void {
    const { meter } = this.#stream.assembler
    meter.measure()
    if (meter.isTooLargeToStore && !meter.isDiscarded) this.freeReusable()
    else this.#held.set(this.#stream.bufferedChars)
  }

  freeReusable(): void {
    if (this.#call.discardFullResponse()) this.#stream.assembler.discardText()
    this.#held.set(this.#stream.bufferedChars)
  }

  /** When the response has been stored, or is not going to be. */
  close(): void {
    this.#held.release()
  }
}
