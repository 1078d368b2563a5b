/** Holds a stream's events back until its answer has passed the hook; without a hook, or where streams are not held, they go on as they come. */
import { refuse } from '../../errors/errors.ts'
import type { Held } from '../../event-loop/stream-memory.ts'
import type { EventLump } from '../../formats/sse/event-lump.ts'
import type { LeadingContext, Stages } from '../request-context.ts'

/** As much as a call keeps of a stream for those that join late. */
const MOST_HELD_BYTES = 16 * 1024 * 1024

export class StreamGate {
  readonly #call: LeadingContext['call']
  readonly #room: Stages['calls']['room']
  readonly #held: Held | null = null
  #lumps: EventLump[] = []
  #bytes = 0
  /** Nothing of the stream has gone to anybody. */
  isShut: boolean

  constructor({ call, check }: Pick<LeadingContext, 'call' | 'check'>, { calls: { room } }: Pick<Stages, 'calls'>) {
    this.#call = call
    this.#room = room
    this.isShut = check?.holdsStreams ?? false
    if (this.isShut) this.#held = room.open({})
    else call.startStream()
  }

  /** Resolves when there is room for more. Throws where there is none to hold it back. */
  async push(lump: EventLump): Promise<void> {
    if (!this.isShut) return this.#call.push(lump)
    this.#bytes += lump.bytes.length
    if (this.#bytes > MOST_HELD_BYTES) throw refuse('tooLongToCheck', { mostBytes: MOST_HELD_BYTES })
    if (this.#room.isFull) throw refuse('tooManyUnreadStreams')
    this.#held?.add(lump.heldBytes)
    this.#lumps.push(lump)
  }

  /** It has passed. Resolves when all has gone on that was held back. */
  async open(): Promise<void> {
    if (!this.isShut) return
    this.isShut = false
    this.#call.startStream()
    for (const lump of this.#lumps) {
      await this.#call.push(lump)
      this.#held?.add(-lump.heldBytes)
    }
    this.close()
  }

  /** Forgets what is held back. */
  close(): void {
    this.#lumps = []
    this.#held?.close()
  }
}
