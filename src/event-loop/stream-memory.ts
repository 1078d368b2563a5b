/**
 * The memory budget for bytes that wait for clients: one for all of a process. When it is full, whatever can be freed is freed first; providers
 * are not read further; then the readers that have taken nothing for longest are cut off, and new streams are rejected until there is space.
 */
import { createError } from '../errors/errors.ts'
import { TimeoutError, withTimeout } from './timeouts.ts'

/** Holds bytes of the budget. */
export interface MemoryHolder {
  /** Frees what no reader waits for. */
  freeConsumed?(): void
  /** Frees what a later request would have been glad of. */
  freeReusable?(): void
  /** Since when its slowest reader takes nothing of what waits for it, by `performance.now()`; infinite while nothing waits. */
  unreadSinceMs?(): number
  /** Cuts off that reader, and all that stand where it stands and have taken nothing since. */
  disconnectSlowest?(beforeMs: number): void
  /** There is room again. */
  resume?(): void
}

/** The bytes that one holder has in the budget. */
export interface MemoryReservation {
  add(bytes: number): void
  /** In place of what it held. */
  set(bytes: number): void
  /** Holds these bytes until it closes. Holders of the same buffer count it once. */
  addShared(bytes: Uint8Array): void
  /**
   * For one who reads on: undefined while there is space. In a full budget, one holder at a time may go on beyond it; the promise resolves for
   * the others when it is their turn, and rejects with a 503 when that takes too long.
   */
  waitForSpace(): Promise<void> | undefined
  /** Gives all of it back, for good. */
  release(): void
}

/** A reader that has taken something this recently is not cut off, however full the room is. */
const RECENTLY_MS = 1_000
const RELIEVE_EVERY_MS = 100
/** A full room is one until so much of it is free: else it would be full and not full in turn with every chunk. */
const FREE_SHARE = 1 / 8
/** How long a response may wait for space while it is read from its provider. */
export const MAX_SPACE_WAIT_MS = 20_000
/** What is only nice to have leaves so much of the room to what has to be held. */
const SPARE_SHARE = 1 / 2

export class StreamMemory {
  /** In bytes. */
  readonly #size: number
  #held = 0
  readonly #holders = new Map<MemoryHolder, HeldBytes>()
  #isFull = false
  #relieving: ReturnType<typeof setInterval> | null = null
  #cuts = 0
  readonly #shared = new Map<ArrayBufferLike, { holders: number; bytes: number }>()
  readonly #waiting = new Map<MemoryReservation, () => void>()
  /** The one that reads on beyond a full budget. */
  #beyond: MemoryReservation | null = null
  readonly #spaceLimitMs: number

  constructor(size: number, spaceLimitMs = MAX_SPACE_WAIT_MS) {
    this.#size = size
    this.#spaceLimitMs = spaceLimitMs
  }

  /** Whether no new stream can be taken. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Whether there is room for what could be spared. */
  get hasSpareSpace(): boolean {
    return this.#held < this.#size * SPARE_SHARE
  }

  get heldBytes(): number {
    return this.#held
  }

  get maxBytes(): number {
    return this.#size
  }

  /** Readers that were cut off so that others have room. */
  get disconnects(): number {
    return this.#cuts
  }

  recordDisconnect(): void {
    this.#cuts++
  }

  reserve(holder: MemoryHolder): MemoryReservation {
    const held: HeldBytes = new HeldBytes({
      change: bytes => this.#change(bytes),
      share: bytes => this.#share(bytes),
      space: () => this.#findSpace(held),
      onClose: () => {
        this.#holders.delete(holder)
        this.#waiting.get(held)?.()
        this.#waiting.delete(held)
        if (this.#beyond === held) this.#letNextGoOn()
      },
    })
    this.#holders.set(holder, held)
    return held
  }

  /** Returns the function that gives the bytes back. */
  #share({ buffer, length }: Uint8Array): () => void {
    const shared = this.#shared.get(buffer) ?? { holders: 0, bytes: length }
    this.#shared.set(buffer, shared)
    if (++shared.holders === 1) this.#change(shared.bytes)
    return () => {
      if (--shared.holders > 0) return
      this.#shared.delete(buffer)
      this.#change(-shared.bytes)
    }
  }

  #findSpace(held: MemoryReservation): Promise<void> | undefined {
    if (!this.#isFull) return undefined
    this.#beyond ??= held
    if (this.#beyond === held) return undefined
    const waiting = new Promise<void>(resolve => this.#waiting.set(held, resolve))
    return withTimeout(this.#spaceLimitMs, waiting).catch(error => {
      this.#waiting.delete(held)
      throw error instanceof TimeoutError ? createError('tooManyUnreadStreams') : error
    })
  }

  #letNextGoOn(): void {
    const [next] = this.#waiting
    this.#beyond = next?.[0] ?? null
    next?.[1]()
  }

  #letAllGoOn(): void {
    this.#beyond = null
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const goOn of waiting) goOn()
  }

  #change(bytes: number): void {
    this.#held += bytes
    if (this.#isFull ? this.#held <= this.#size * (1 - FREE_SHARE) : this.#held > this.#size) this.#turn()
  }

  #turn(): void {
    this.#isFull = !this.#isFull
    if (this.#isFull) {
      this.#spare()
      // Sparing may have made room already.
      if (this.#isFull) this.#relieving ??= setInterval(() => this.#relieve(), RELIEVE_EVERY_MS)
    } else {
      if (this.#relieving) clearInterval(this.#relieving)
      this.#relieving = null
      this.#letAllGoOn()
      for (const holder of this.#holders.keys()) holder.resume?.()
    }
  }

  #spare(): void {
    for (const holder of this.#holders.keys()) holder.freeConsumed?.()
    const largestFirst = [...this.#holders]
      .filter(([{ freeReusable }]) => freeReusable)
      .sort(([, a], [, b]) => b.bytes - a.bytes)
    for (const [holder] of largestFirst) {
      if (!this.#isFull) return
      holder.freeReusable?.()
    }
  }

  #relieve(): void {
    this.#spare()
    const beforeMs = performance.now() - RECENTLY_MS
    const unread = Array.from(this.#holders.keys(), holder => ({ holder, sinceMs: unreadSinceMs(holder) }))
      .filter(({ sinceMs }) => sinceMs < beforeMs)
      .sort((a, b) => a.sinceMs - b.sinceMs)
    for (const { holder } of unread) {
      if (!this.#isFull) return
      holder.disconnectSlowest?.(beforeMs)
    }
  }
}

function unreadSinceMs(holder: MemoryHolder): number {
  return holder.unreadSinceMs?.() ?? Number.POSITIVE_INFINITY
}

interface HeldOptions {
  change(bytes: number): void
  share(bytes: Uint8Array): () => void
  space(): Promise<void> | undefined
  onClose(): void
}

class HeldBytes implements MemoryReservation {
  readonly #options: HeldOptions
  #isOpen = true
  #release: (() => void) | null = null
  bytes = 0

  constructor(options: HeldOptions) {
    this.#options = options
  }

  add(bytes: number): void {
    if (!this.#isOpen || bytes === 0) return
    this.bytes += bytes
    this.#options.change(bytes)
  }

  set(bytes: number): void {
    this.add(bytes - this.bytes)
  }

  addShared(bytes: Uint8Array): void {
    if (this.#isOpen) this.#release ??= this.#options.share(bytes)
  }

  waitForSpace(): Promise<void> | undefined {
    return this.#isOpen ? this.#options.space() : undefined
  }

  release(): void {
    if (!this.#isOpen) return
    this.set(0)
    this.#isOpen = false
    this.#release?.()
    this.#options.onClose()
  }
}
