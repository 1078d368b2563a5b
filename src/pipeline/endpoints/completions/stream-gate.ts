/** Holds a stream's events until the hook accepts the response. Without a hook that holds streams, events are forwarded as they arrive. */
import { createError } from '../../../errors/errors.ts'
import type { MemoryReservation } from '../../../event-loop/stream-memory.ts'
import type { EventChunk } from '../../../formats/sse/event-chunk.ts'
import type { CallFailure } from '../../coalescing/shared-call.ts'
import type { LeaderContext, PipelineServices } from '../../context/request-context.ts'
import { MAX_HELD_BYTES, type StreamHold } from '../../response/stream-hold.ts'

export class StreamGate {
  readonly #call: LeaderContext['call']
  readonly #memory: PipelineServices['sharedCalls']['memory']
  readonly #reservation: MemoryReservation | null = null
  #chunks: EventChunk[] = []
  #bytes = 0
  readonly #hold: Pick<StreamHold, 'isHolding'> | null
  /** Whether events are held for all subscribers. */
  isClosed: boolean

  /** `hold` is the leader's own hold; null if its client gets events as they arrive. */
  constructor(
    { call, check }: Pick<LeaderContext, 'call' | 'check'>,
    { sharedCalls: { memory } }: Pick<PipelineServices, 'sharedCalls'>,
    hold: Pick<StreamHold, 'isHolding'> | null = null,
  ) {
    this.#call = call
    this.#hold = hold
    this.#memory = memory
    this.isClosed = check?.holdsStreams ?? false
    if (this.isClosed) this.#reservation = memory.reserve({})
    else call.startStream()
  }

  /** Whether nothing was delivered to the leader's client, so that a fallback may be called. */
  get isUndelivered(): boolean {
    return this.isClosed || (this.#hold?.isHolding ?? false)
  }

  /** Adds events. Resolves when the writer may continue. Throws if the limit or the memory does not allow to hold them. */
  async push(chunk: EventChunk): Promise<void> {
    if (!this.isClosed) return this.#call.push(chunk)
    this.#bytes += chunk.bytes.length
    if (this.#bytes > MAX_HELD_BYTES) throw createError('tooLargeForHook', { mostBytes: MAX_HELD_BYTES })
    if (this.#memory.isFull) throw createError('tooManyUnreadStreams')
    this.#reservation?.add(chunk.heldBytes)
    this.#chunks.push(chunk)
  }

  /** Resolves to null when events are forwarded, or to the failure of the call if it settled before. */
  async waitUntilOpen(): Promise<CallFailure | null> {
    const { started, signal, settled } = this.#call
    if (!this.isClosed || (await started) === 'stream') return null
    if (signal.aborted) return signal.reason
    const settlement = await settled
    return (settlement.kind === 'notShareable' && settlement.failure) || createError('upstreamInterrupted')
  }

  /** Opens the gate. Resolves when all held events are forwarded. */
  async release(): Promise<void> {
    if (!this.isClosed) return
    this.isClosed = false
    this.#call.startStream()
    for (const chunk of this.#chunks) {
      await this.#call.push(chunk)
      this.#reservation?.add(-chunk.heldBytes)
    }
    this.discard()
  }

  /** Drops all held events. */
  discard(): void {
    this.#chunks = []
    this.#reservation?.release()
  }
}
