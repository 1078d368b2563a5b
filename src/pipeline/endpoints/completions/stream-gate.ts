/** Holds a stream's events back until its answer has passed the hook; without a hook, or where streams are not held, they go on as they come. */
import { createError } from '../../../errors/errors.ts'
import type { MemoryReservation } from '../../../event-loop/stream-memory.ts'
import type { EventChunk } from '../../../formats/sse/event-chunk.ts'
import type { LeaderContext, PipelineServices } from '../../context/request-context.ts'

/** As much as a call keeps of a stream for those that join late. */
const MOST_HELD_BYTES = 16 * 1024 * 1024

export class StreamGate {
  readonly #call: LeaderContext['call']
  readonly #room: PipelineServices['sharedCalls']['memory']
  readonly #held: MemoryReservation | null = null
  #lumps: EventChunk[] = []
  #bytes = 0
  /** Nothing of the stream has gone to anybody. */
  isClosed: boolean

  constructor(
    { call, check }: Pick<LeaderContext, 'call' | 'check'>,
    { sharedCalls: { memory } }: Pick<PipelineServices, 'sharedCalls'>,
  ) {
    this.#call = call
    this.#room = memory
    this.isClosed = check?.holdsStreams ?? false
    if (this.isClosed) this.#held = memory.reserve({})
    else call.startStream()
  }

  /** Resolves when there is room for more. Throws where there is none to hold it back. */
  async push(lump: EventChunk): Promise<void> {
    if (!this.isClosed) return this.#call.push(lump)
    this.#bytes += lump.bytes.length
    if (this.#bytes > MOST_HELD_BYTES) throw createError('tooLargeForHook', { mostBytes: MOST_HELD_BYTES })
    if (this.#room.isFull) throw createError('tooManyUnreadStreams')
    this.#held?.add(lump.heldBytes)
    this.#lumps.push(lump)
  }

  /** It has passed. Resolves when all has gone on that was held back. */
  async release(): Promise<void> {
    if (!this.isClosed) return
    this.isClosed = false
    this.#call.startStream()
    for (const lump of this.#lumps) {
      await this.#call.push(lump)
      this.#held?.add(-lump.heldBytes)
    }
    this.discard()
  }

  /** Forgets what is held back. */
  discard(): void {
    this.#lumps = []
    this.#held?.release()
  }
}
