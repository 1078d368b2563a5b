/** Remembers rate windows in this process: Redis gets back what it lost, and limits hold while it is away. */
import { type CountBatch, type Counted, grantOf, WINDOW_SECONDS, type Window } from './fast-store.ts'

export interface SlidingWindow {
  total: number
  /** The second that the window was last moved to. */
  lastSecond: number
  /** A ring of counts, one per second. */
  counts: Uint32Array
}

export function createWindow(second: number): SlidingWindow {
  return { total: 0, lastSecond: second, counts: new Uint32Array(WINDOW_SECONDS) }
}

/** Forgets seconds that have left the window. */
export function moveWindow(window: SlidingWindow, second: number): void {
  const passed = Math.min(second - window.lastSecond, WINDOW_SECONDS)
  for (let i = 1; i <= passed; i++) {
    const at = (window.lastSecond + i) % WINDOW_SECONDS
    window.total -= window.counts[at] ?? 0
    window.counts[at] = 0
  }
  window.lastSecond = Math.max(second, window.lastSecond)
}

export function addToWindow(window: SlidingWindow, second: number, requests: number): void {
  const at = second % WINDOW_SECONDS
  window.counts[at] = (window.counts[at] ?? 0) + requests
  window.total += requests
}

/** Time until the window has room for so many more requests. */
export function waitForRoomMs(window: SlidingWindow | undefined, limit: number, nowMs: number, wanted = 1): number {
  if (!window) return 0
  let over = window.total + wanted - limit
  if (over <= 0) return 0
  const now = Math.floor(nowMs / 1000)
  for (let second = now - WINDOW_SECONDS + 1; second <= now; second++) {
    over -= window.counts[second % WINDOW_SECONDS] ?? 0
    if (over <= 0) return (second + WINDOW_SECONDS) * 1000 - nowMs
  }
  return WINDOW_SECONDS * 1000
}

/** Only that second's count may shrink. */
export function takeFromWindow(window: SlidingWindow | undefined, requests: number, second: number): void {
  if (!window || second > window.lastSecond || window.lastSecond - second >= WINDOW_SECONDS) return
  const at = second % WINDOW_SECONDS
  const taken = Math.min(window.counts[at] ?? 0, requests)
  window.counts[at] = (window.counts[at] ?? 0) - taken
  window.total -= taken
}

/** Total, last second and birth, four bytes each; then the counts. */
const LAST_SECOND_AT = 4
const BIRTH_AT = 8
const COUNTS_AT = 12

export function totalOf(bytes: Uint8Array): number {
  return readCount(bytes, 0)
}

/** Tells apart the successive windows of one name. */
export function birthOf(bytes: Uint8Array): number {
  return readCount(bytes, BIRTH_AT)
}

export function decodeWindow(bytes: Uint8Array): SlidingWindow {
  const counts = Uint32Array.from({ length: WINDOW_SECONDS }, (_, at) => readCount(bytes, COUNTS_AT + at * 4))
  return { total: readCount(bytes, 0), lastSecond: readCount(bytes, LAST_SECOND_AT), counts }
}

/** A window's counts, the oldest second first. */
export function countsOf(bytes: Uint8Array): number[] {
  const { lastSecond, counts } = decodeWindow(bytes)
  return Array.from({ length: WINDOW_SECONDS }, (_, i) => counts[(lastSecond + 1 + i) % WINDOW_SECONDS] ?? 0)
}

/** Byte by byte: a DataView of a small array makes the engine move its bytes out of line first. */
function readCount(bytes: Uint8Array, at: number): number {
  let count = 0
  for (let i = at; i < at + 4; i++) count = count * 256 + (bytes[i] ?? 0)
  return count
}

interface Remembered {
  /** As Redis last returned it. */
  seen: Uint8Array | null
  /** Requests that passed without Redis and that it does not know of yet. */
  alone: SlidingWindow | null
  /** How many of those are being reported now. */
  telling: number
  usedAtSecond: number
}

const SWEEP_EVERY_MS = 10_000

export class WindowMemory {
  readonly #processes: () => number
  readonly #now: () => number
  readonly #windows = new Map<string, Remembered>()
  readonly #sweep: ReturnType<typeof setInterval>
  /** Offset to Redis's clock, by which windows are counted. */
  #aheadSeconds = 0

  /** `processes`: how many share the limits. */
  constructor(processes: () => number, now: () => number = Date.now) {
    this.#processes = processes
    this.#now = now
    this.#sweep = setInterval(() => this.#forgetUnused(), SWEEP_EVERY_MS)
    this.#sweep.unref()
  }

  /** Adds to the batch what Redis may not know. Each result must end in `noteCounted` or `noteFailed`. */
  recall(batch: CountBatch): CountBatch {
    return { ...batch, windows: batch.windows.map(window => this.#recallWindow(window)) }
  }

  /** Redis has counted a batch that `recall` returned. */
  noteCounted(recalled: CountBatch, counted: Counted): void {
    this.#aheadSeconds = counted.countedAtSecond - Math.floor(this.#now() / 1000)
    for (const [i, { name, missed = 0 }] of recalled.windows.entries()) {
      const found = this.#find(name)
      this.#noteTold(found, missed)
      const seen = counted.windows?.[i]
      // A copy, because the bytes are a view of a larger buffer.
      if (seen) found.seen = new Uint8Array(seen)
    }
  }

  noteFailed(recalled: CountBatch): void {
    for (const { name, missed = 0 } of recalled.windows) this.#find(name).telling -= missed
  }

  /**
   * Passes a batch without Redis. Processes share equally what was left of a limit when this process last saw the window. Of an unseen
   * window, they share the whole limit.
   */
  countAlone(batch: CountBatch): Counted {
    const { requests, isWhole, windows, entries } = batch
    const second = this.#nowSecond()
    const nowMs = this.#now() + this.#aheadSeconds * 1000
    const opened = windows.map(({ name, limit }) => openAlone(this.#find(name), limit, this.#processes(), second))
    const granted = grantOf(
      batch,
      opened.map(({ room }) => room),
    )
    for (const { all, alone } of opened) {
      addToWindow(all, second, granted)
      addToWindow(alone, second, granted)
    }
    const wanted = isWhole ? requests : 1
    const waits = opened.map(({ all, alone, limit, share }) =>
      Math.max(waitForRoomMs(all, limit, nowMs, wanted), waitForRoomMs(alone, share, nowMs, wanted)),
    )
    return {
      granted,
      countedAtSecond: second,
      waitMs: granted < requests ? Math.max(0, ...waits) : 0,
      // A window whose share is used up is reported as full.
      totals: opened.map(({ all, alone, limit, share }) =>
        alone.total >= share ? Math.max(all.total, limit) : all.total,
      ),
      entries: entries.map(() => null),
    }
  }

  /** Takes back what `countAlone` counted. */
  uncountAlone(windowNames: readonly string[], requests: number, countedAtSecond: number): void {
    for (const name of windowNames)
      takeFromWindow(this.#windows.get(name)?.alone ?? undefined, requests, countedAtSecond)
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  #nowSecond(): number {
    return Math.floor(this.#now() / 1000) + this.#aheadSeconds
  }

  #find(name: string): Remembered {
    let found = this.#windows.get(name)
    if (!found) {
      found = { seen: null, alone: null, telling: 0, usedAtSecond: 0 }
      this.#windows.set(name, found)
    }
    found.usedAtSecond = this.#nowSecond()
    return found
  }

  #recallWindow(window: Window): Window {
    const found = this.#windows.get(window.name)
    if (!found) return window
    const isStale = this.#nowSecond() - found.usedAtSecond >= WINDOW_SECONDS
    if (found.alone) moveWindow(found.alone, this.#nowSecond())
    // Only one call at a time reports them; two would have them counted twice.
    const missed = found.telling === 0 ? (found.alone?.total ?? 0) : 0
    found.telling += missed
    return { ...window, remembered: isStale ? null : found.seen, missed }
  }

  /** Keeps what is left to be reported after `missed` of it was. */
  #noteTold(found: Remembered, missed: number): void {
    found.telling -= missed
    if (missed === 0 || !found.alone) return
    const left = found.alone.total - missed
    found.alone = left > 0 ? createWindow(this.#nowSecond()) : null
    if (found.alone) addToWindow(found.alone, this.#nowSecond(), left)
  }

  #forgetUnused(): void {
    const oldest = this.#nowSecond() - WINDOW_SECONDS
    for (const [name, { usedAtSecond, telling }] of this.#windows) {
      if (usedAtSecond < oldest && telling === 0) this.#windows.delete(name)
    }
  }
}

/** `all` is what was seen plus what passed without Redis. `share` is the most that may pass without Redis now. */
function openAlone(found: Remembered, limit: number, processes: number, second: number) {
  found.alone ??= createWindow(second)
  const { alone } = found
  moveWindow(alone, second)
  const all = found.seen ? decodeWindow(found.seen) : createWindow(second)
  moveWindow(all, second)
  // With a small limit, each process may still pass one request if the window is empty as far as it knows.
  const share = Math.max(all.total === 0 ? 1 : 0, Math.floor((limit - all.total) / processes))
  for (let back = 0; back < WINDOW_SECONDS; back++) {
    addToWindow(all, second - back, alone.counts[(second - back) % WINDOW_SECONDS] ?? 0)
  }
  return { all, alone, limit, share, room: Math.min(limit - all.total, share - alone.total) }
}
