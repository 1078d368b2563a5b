/** The text that a stream is assembled to: kept as long as the response can be stored and there is memory, or somebody waits for the whole. */

import type { Held, StreamHolder, StreamMemory } from '../event-loop/stream-memory.ts'
import type { ResponseStream } from '../providers/response-stream.ts'
import type { SharedCall } from './coalescing/shared-call.ts'

export class KeptText implements StreamHolder {
  readonly #stream: Pick<ResponseStream, 'assembler' | 'keptChars'>
  readonly #call: SharedCall
  readonly #held: Held

  constructor(stream: Pick<ResponseStream, 'assembler' | 'keptChars'>, call: SharedCall, room: StreamMemory) {
    this.#stream = stream
    this.#call = call
    this.#held = room.open(this)
  }

  /** After events were assembled. */
  note(): void {
    const { meter } = this.#stream.assembler
    meter.measure()
    if (meter.isUnstorable && !meter.isGivenUp) this.drop()
    else this.#held.set(this.#stream.keptChars)
  }

  drop(): void {
    if (this.#call.giveUpWhole()) this.#stream.assembler.giveUp()
    this.#held.set(this.#stream.keptChars)
  }

  /** When the response has been stored, or is not going to be. */
  close(): void {
    this.#held.close()
  }
}
