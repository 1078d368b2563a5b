/**
 * The memory budget of a process for bytes that wait for clients. When it is full:
 *
 * 1. Holders free what they can.
 * 2. Providers are not read further.
 * 3. The readers that have read nothing for longest are disconnected.
 * 4. New streams are rejected until there is space.
 */
import { createError } from '../errors/errors.ts'
import { TimeoutError, withTimeout } from './timeouts.ts'

/** Holds bytes of the budget. */
export interface MemoryHolder {
  /** Frees bytes that no reader waits for. */
  freeConsumed?(): void
  /** Frees bytes that only a later request could reuse. */
  freeReusable?(): void
  /** Time since which the slowest reader reads nothing, by `performance.now()`. Infinity while no data waits for it. */
  unreadSinceMs?(): number
  /** Disconnects the slowest reader, and all readers at the same position that have read nothing since `beforeMs`. */
  disconnectSlowest?(beforeMs: number): void
  /** Called when there is space again. */
  resume?(): void
}

/** The bytes that one holder has reserved in the budget. */
export interface MemoryReservation {
  add(bytes: number): void
  /** Replaces the number of reserved bytes. */
  set(bytes: number): void
  /** Reserves these bytes until release. A buffer that several holders share is counted once. */
  addShared(bytes: Uint8Array): void
  /**
   * Must be called before reading more. Returns undefined while there is space. When the budget is full, one holder at a time may exceed it.
   * For the others, the promise resolves at their turn, or rejects with 503 after the wait limit.
   */
  waitForSpace(): Promise<void> | undefined
  /** Releases all bytes. Later calls have no effect. */
  release(): void
}

/** A reader that has read this recently is not disconnected. */
const RECENTLY_MS = 1_000
const RELIEVE_EVERY_MS = 100
/** A full budget stays full until this share is free, so that it does not alternate with every chunk. */
const FREE_SHARE = 1 / 8
/** Longest time a response waits for space while it is read from its provider. */
export const MAX_SPACE_WAIT_MS = 20_000
/** Optional data is held only below this share of the budget. */
const SPARE_SHARE = 1 / 2

export class StreamMemory {
  readonly #maxBytes: number
  #heldBytes = 0
  readonly #holders = new Map<MemoryHolder, StreamReservation>()
  #isFull = false
  #relieving: ReturnType<typeof setInterval> | null = null
  #disconnects = 0
  readonly #shared = new Map<ArrayBufferLike, { holders: number; bytes: number }>()
  readonly #waiting = new Map<MemoryReservation, () => void>()
  /** The reservation that may exceed the full budget. */
  #overdrawn: MemoryReservation | null = null
  readonly #maxWaitMs: number

  constructor(maxBytes: number, maxWaitMs = MAX_SPACE_WAIT_MS) {
    this.#maxBytes = maxBytes
    this.#maxWaitMs = maxWaitMs
  }

  /** True when new streams must be rejected. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** True when there is space for optional data. */
  get hasSpareSpace(): boolean {
    return this.#heldBytes < this.#maxBytes * SPARE_SHARE
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  /** Number of readers disconnected for lack of memory. */
  get disconnects(): number {
    return this.#disconnects
  }

  recordDisconnect(): void {
    this.#disconnects++
  }

  reserve(holder: MemoryHolder): MemoryReservation {
    const reservation: StreamReservation = new StreamReservation({
      change: bytes => this.#change(bytes),
      share: bytes => this.#share(bytes),
      space: () => this.#findSpace(reservation),
      onClose: () => {
        this.#holders.delete(holder)
        this.#waiting.get(reservation)?.()
        this.#waiting.delete(reservation)
        if (this.#overdrawn === reservation) this.#resumeNext()
      },
    })
    this.#holders.set(holder, reservation)
    return reservation
  }

  /** Returns the function that releases the bytes. */
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

  #findSpace(reservation: MemoryReservation): Promise<void> | undefined {
    if (!this.#isFull) return undefined
    this.#overdrawn ??= reservation
    if (this.#overdrawn === reservation) return undefined
    const waiting = new Promise<void>(resolve => this.#waiting.set(reservation, resolve))
    return withTimeout(this.#maxWaitMs, waiting).catch(error => {
      this.#waiting.delete(reservation)
      throw error instanceof TimeoutError ? createError('tooManyUnreadStreams') : error
    })
  }

  #resumeNext(): void {
    const [next] = this.#waiting
    this.#overdrawn = next?.[0] ?? null
    next?.[1]()
  }

  #resumeAll(): void {
    this.#overdrawn = null
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const resume of waiting) resume()
  }

  #change(bytes: number): void {
    this.#heldBytes += bytes
    if (this.#isFull ? this.#heldBytes <= this.#maxBytes * (1 - FREE_SHARE) : this.#heldBytes > this.#maxBytes)
      this.#toggleFull()
  }

  #toggleFull(): void {
    this.#isFull = !this.#isFull
    if (this.#isFull) {
      this.#freeMemory()
      // Freeing memory may have made space already.
      if (this.#isFull) this.#relieving ??= setInterval(() => this.#relieve(), RELIEVE_EVERY_MS)
    } else {
      if (this.#relieving) clearInterval(this.#relieving)
      this.#relieving = null
      this.#resumeAll()
      for (const holder of this.#holders.keys()) holder.resume?.()
    }
  }

  #freeMemory(): void {
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
    this.#freeMemory()
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

interface ReservationOptions {
  change(bytes: number): void
  share(bytes: Uint8Array): () => void
  space(): Promise<void> | undefined
  onClose(): void
}

class StreamReservation implements MemoryReservation {
  readonly #options: ReservationOptions
  #isOpen = true
  #release: (() => void) | null = null
  bytes = 0

  constructor(options: ReservationOptions) {
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
