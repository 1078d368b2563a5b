/** Mirrors rate windows in this process. Restores windows that Redis lost, and enforces limits while Redis is unavailable. */
import { monotonicMs } from '../event-loop/clock.ts'
import { type CountBatch, type CountResult, computeGranted, type RateWindow, WINDOW_SECONDS } from './fast-store.ts'
import {
  addToWindow,
  advanceWindow,
  createWindow,
  decodeWindow,
  removeFromWindow,
  type SlidingWindow,
  shiftEncodedWindow,
  shiftWindowClock,
  timeUntilCapacityMs,
} from './sliding-window.ts'

interface MirroredWindow {
  /** The window as Redis last returned it. */
  seen: Uint8Array | null
  /** Requests that were granted without Redis and are not reported to it yet. */
  withoutRedis: SlidingWindow | null
  /** Number of those requests that are being reported now. */
  reporting: number
  usedAtMs: number
}

const SWEEP_EVERY_MS = 10_000
const WINDOW_MS = WINDOW_SECONDS * 1_000
/** Synchronized clocks may differ by one second. */
const SAME_CLOCK_SECONDS = 1

export class RateWindowMirror {
  readonly #processCount: () => number
  readonly #now: () => number
  readonly #windows = new Map<string, MirroredWindow>()
  readonly #sweep: ReturnType<typeof setInterval>
  /** Offset to Redis's clock, which dates the counts. */
  #clockOffsetSeconds = 0

  /** `processCount` returns the number of processes that share the limits. */
  constructor(processCount: () => number, now: () => number = monotonicMs) {
    this.#processCount = processCount
    this.#now = now
    this.#sweep = setInterval(() => this.#deleteUnused(), SWEEP_EVERY_MS)
    this.#sweep.unref()
  }

  /**
   * Adds to a call the requests that were not reported to the store yet, and the last known value of each window. The result must be passed
   * to `recordCounted` or `recordFailed`.
   */
  addUnreported(batch: CountBatch): CountBatch {
    return { ...batch, windows: batch.windows.map(window => this.#addUnreportedTo(window)), second: this.#nowSecond() }
  }

  /** Records Redis's reply to a batch from `addUnreported`. */
  recordCounted(reported: CountBatch, counted: CountResult): void {
    const { second } = counted.receipt
    this.#adjustClock(reported.second ?? second, second)
    for (const [i, { name, unreported = 0 }] of reported.windows.entries()) {
      const found = this.#find(name)
      this.#removeReported(found, unreported)
      const seen = counted.windows?.[i]
      // A copy, because the bytes are a view of a larger buffer.
      if (seen) found.seen = new Uint8Array(seen)
    }
  }

  /** Records that a batch from `addUnreported` failed, so that its requests are reported again. */
  recordFailed(reported: CountBatch): void {
    for (const { name, unreported = 0 } of reported.windows) this.#find(name).reporting -= unreported
  }

  /**
   * Counts a batch without Redis. The processes share equally the capacity that the window had when this process last saw it. For a window
   * that it has not seen, they share the whole limit.
   */
  countWithoutRedis(batch: CountBatch): CountResult {
    const { requests, isAllOrNothing, windows, entries } = batch
    const second = this.#nowSecond()
    const nowMs = this.#now() + this.#clockOffsetSeconds * 1000
    const opened = windows.map(({ name, limit }) =>
      openWithoutRedis(this.#find(name), limit, this.#processCount(), second),
    )
    const granted = computeGranted(
      batch,
      opened.map(({ capacity }) => capacity),
    )
    for (const { all, withoutRedis } of opened) {
      addToWindow(all, second, granted)
      addToWindow(withoutRedis, second, granted)
    }
    const requested = isAllOrNothing ? requests : 1
    const waits = opened.map(({ all, withoutRedis, limit, share }) =>
      Math.max(
        timeUntilCapacityMs(all, limit, nowMs, requested),
        timeUntilCapacityMs(withoutRedis, share, nowMs, requested),
      ),
    )
    return {
      granted,
      receipt: { second, isInStore: false },
      waitMs: granted < requests ? Math.max(0, ...waits) : 0,
      // A window whose share is used up has the total of a full window.
      totals: opened.map(({ all, withoutRedis, limit, share }) =>
        withoutRedis.total >= share ? Math.max(all.total, limit) : all.total,
      ),
      entries: entries.map(() => null),
    }
  }

  /** Removes requests that `countWithoutRedis` counted. */
  uncountWithoutRedis(windowNames: readonly string[], requests: number, second: number): void {
    for (const name of windowNames)
      removeFromWindow(this.#windows.get(name)?.withoutRedis ?? undefined, requests, second)
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  /** Adjusts the offset if Redis's clock has stepped: its time is not between sending the call and reading the reply. */
  #adjustClock(sentAtSecond: number, countedAtSecond: number): void {
    const step = Math.max(0, countedAtSecond - this.#nowSecond()) + Math.min(0, countedAtSecond - sentAtSecond)
    if (Math.abs(step) <= SAME_CLOCK_SECONDS) return
    this.#clockOffsetSeconds += step
    for (const found of this.#windows.values()) {
      if (found.seen) found.seen = shiftEncodedWindow(found.seen, step)
      if (found.withoutRedis) shiftWindowClock(found.withoutRedis, step)
    }
  }

  #nowSecond(): number {
    return Math.floor(this.#now() / 1000) + this.#clockOffsetSeconds
  }

  #find(name: string): MirroredWindow {
    let found = this.#windows.get(name)
    if (!found) {
      found = { seen: null, withoutRedis: null, reporting: 0, usedAtMs: 0 }
      this.#windows.set(name, found)
    }
    found.usedAtMs = this.#now()
    return found
  }

  #addUnreportedTo(window: RateWindow): RateWindow {
    const found = this.#windows.get(window.name)
    if (!found) return window
    const isStale = this.#now() - found.usedAtMs >= WINDOW_MS
    if (found.withoutRedis) advanceWindow(found.withoutRedis, this.#nowSecond())
    // One call at a time reports them, so that they are not counted twice.
    const missed = found.reporting === 0 ? (found.withoutRedis?.total ?? 0) : 0
    found.reporting += missed
    return { ...window, lastSeen: isStale ? null : found.seen, unreported: missed }
  }

  /** Removes reported requests from the unreported ones. */
  #removeReported(found: MirroredWindow, missed: number): void {
    found.reporting -= missed
    if (missed === 0 || !found.withoutRedis) return
    const remaining = found.withoutRedis.total - missed
    found.withoutRedis = remaining > 0 ? createWindow(this.#nowSecond()) : null
    if (found.withoutRedis) addToWindow(found.withoutRedis, this.#nowSecond(), remaining)
  }

  #deleteUnused(): void {
    const oldestMs = this.#now() - WINDOW_MS
    for (const [name, { usedAtMs, reporting }] of this.#windows) {
      if (usedAtMs < oldestMs && reporting === 0) this.#windows.delete(name)
    }
  }
}

/** Returns the window with the unreported requests (`all`), this process's share of the limit and its remaining capacity. */
function openWithoutRedis(found: MirroredWindow, limit: number, processCount: number, second: number) {
  found.withoutRedis ??= createWindow(second)
  const { withoutRedis } = found
  advanceWindow(withoutRedis, second)
  const all = found.seen ? decodeWindow(found.seen) : createWindow(second)
  advanceWindow(all, second)
  // With a small limit, each process may still grant one request if its copy of the window is empty.
  const share = Math.max(all.total === 0 ? 1 : 0, Math.floor((limit - all.total) / processCount))
  for (let back = 0; back < WINDOW_SECONDS; back++) {
    addToWindow(all, second - back, withoutRedis.counts[(second - back) % WINDOW_SECONDS] ?? 0)
  }
  return { all, withoutRedis, limit, share, capacity: Math.min(limit - all.total, share - withoutRedis.total) }
}
