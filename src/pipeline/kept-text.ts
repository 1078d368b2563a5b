/** The text that a stream is assembled to: kept as long as the response can be stored and there is memory, or somebody waits for the whole. */

import type { Held, StreamHolder, StreamRoom } from '../event-loop/stream-room.ts'
import type { StreamAssembler } from '../formats/answer-format.ts'
import type { SharedCall } from './coalescing/shared-call.ts'

export class KeptText implements StreamHolder {
  readonly #assembler: StreamAssembler
  readonly #call: SharedCall
  readonly #held: Held

  constructor(assembler: StreamAssembler, call: SharedCall, room: StreamRoom) {
    this.#assembler = assembler
    this.#call = call
    this.#held = room.open(this)
  }

  /** After events were assembled. */
  note(): void {
    const { meter } = this.#assembler
    meter.measure()
    if (meter.isUnstorable && !meter.isGivenUp) this.drop()
    else this.#held.set(meter.keptChars)
  }

  drop(): void {
    if (this.#call.giveUpWhole()) this.#assembler.giveUp()
    this.#held.set(this.#assembler.meter.keptChars)
  }

  /** When the response has been stored, or is not going to be. */
  close(): void {
    this.#held.close()
  }
}
