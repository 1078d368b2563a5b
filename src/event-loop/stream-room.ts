/**
 * The memory for what waits in streams: one bound for all of a process. When it is full, what can be spared goes first; upstreams wait; then
 * the readers that have taken nothing for longest are cut off, and new streams are refused until there is room again.
 */

/** What holds bytes in the room. */
export interface StreamHolder {
  /** Frees what no reader waits for. */
  spare?(): void
  /** Frees what a later request would have been glad of. */
  drop?(): void
  /** Since when its slowest reader takes nothing of what waits for it, by `performance.now()`; infinite while nothing waits. */
  unreadSinceMs?(): number
  /** Cuts off that reader, and all that stand where it stands and have taken nothing since. */
  cutSlowest?(beforeMs: number): void
  /** There is room again. */
  resume?(): void
}

/** What one holder has in the room. */
export interface Held {
  add(bytes: number): void
  /** In place of what it held. */
  set(bytes: number): void
  /** Gives all of it back, for good. */
  close(): void
}

/** A reader that has taken something this recently is not cut off, however full the room is. */
const RECENTLY_MS = 1_000
const RELIEVE_EVERY_MS = 100
/** A full room is one until so much of it is free: else it would be full and not full in turn with every chunk. */
const FREE_SHARE = 1 / 8
/** What is only nice to have leaves so much of the room to what has to be held. */
const SPARE_SHARE = 1 / 2

export class StreamRoom {
  /** In bytes. */
  readonly #size: number
  #held = 0
  readonly #holders = new Map<StreamHolder, HeldBytes>()
  #isFull = false
  #relieving: ReturnType<typeof setInterval> | null = null
  #cuts = 0

  constructor(size: number) {
    this.#size = size
  }

  /** Whether no new stream can be taken. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Whether there is room for what could be spared. */
  get isSpacious(): boolean {
    return this.#held < this.#size * SPARE_SHARE
  }

  get heldBytes(): number {
    return this.#held
  }

  get mostBytes(): number {
    return this.#size
  }

  /** Readers that were cut off so that others have room. */
  get cuts(): number {
    return this.#cuts
  }

  noteCut(): void {
    this.#cuts++
  }

  open(holder: StreamHolder): Held {
    const held = new HeldBytes(
      bytes => this.#change(bytes),
      () => this.#holders.delete(holder),
    )
    this.#holders.set(holder, held)
    return held
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
      for (const holder of this.#holders.keys()) holder.resume?.()
    }
  }

  #spare(): void {
    for (const holder of this.#holders.keys()) holder.spare?.()
    const largestFirst = [...this.#holders].filter(([{ drop }]) => drop).sort(([, a], [, b]) => b.bytes - a.bytes)
    for (const [holder] of largestFirst) {
      if (!this.#isFull) return
      holder.drop?.()
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
      holder.cutSlowest?.(beforeMs)
    }
  }
}

function unreadSinceMs(holder: StreamHolder): number {
  return holder.unreadSinceMs?.() ?? Number.POSITIVE_INFINITY
}

class HeldBytes implements Held {
  readonly #change: (bytes: number) => void
  readonly #onClose: () => void
  #isOpen = true
  bytes = 0

  constructor(change: (bytes: number) => void, onClose: () => void) {
    this.#change = change
    this.#onClose = onClose
  }

  add(bytes: number): void {
    if (!this.#isOpen || bytes === 0) return
    this.bytes += bytes
    this.#change(bytes)
  }

  set(bytes: number): void {
    this.add(bytes - this.bytes)
  }

  close(): void {
    this.set(0)
    this.#isOpen = false
    this.#onClose()
  }
}
