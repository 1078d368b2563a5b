/** Remembers rate windows in this process: Redis gets back what it lost, and limits hold while it is away. */
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

interface Remembered {
  /** As Redis last returned it. */
  seen: Uint8Array | null
  /** Requests that passed without Redis and that it does not know of yet. */
  withoutRedis: SlidingWindow | null
  /** How many of those are being reported now. */
  reporting: number
  usedAtMs: number
}

const SWEEP_EVERY_MS = 10_000
const WINDOW_MS = WINDOW_SECONDS * 1_000
/** Two clocks that run alike may show neighbouring seconds. */
const SAME_CLOCK_SECONDS = 1

export class RateWindowMirror {
  readonly #processes: () => number
  readonly #now: () => number
  readonly #windows = new Map<string, Remembered>()
  readonly #sweep: ReturnType<typeof setInterval>
  /** Offset to Redis's clock, by which windows are counted. */
  #aheadSeconds = 0

  /** `processes`: how many share the limits. */
  constructor(processes: () => number, now: () => number = monotonicMs) {
    this.#processes = processes
    this.#now = now
    this.#sweep = setInterval(() => this.#forgetUnused(), SWEEP_EVERY_MS)
    this.#sweep.unref()
  }

  /** Adds to the batch what Redis may not know. Each result must end in `noteCounted` or `noteFailed`. */
  addUnreported(batch: CountBatch): CountBatch {
    return { ...batch, windows: batch.windows.map(window => this.#recallWindow(window)), second: this.#nowSecond() }
  }

  /** Redis has counted a batch that `recall` returned. */
  recordCounted(recalled: CountBatch, counted: CountResult): void {
    const { second } = counted.receipt
    this.#noteClock(recalled.second ?? second, second)
    for (const [i, { name, unreported = 0 }] of recalled.windows.entries()) {
      const found = this.#find(name)
      this.#noteReported(found, unreported)
      const seen = counted.windows?.[i]
      // A copy, because the bytes are a view of a larger buffer.
      if (seen) found.seen = new Uint8Array(seen)
    }
  }

  recordFailed(recalled: CountBatch): void {
    for (const { name, unreported = 0 } of recalled.windows) this.#find(name).reporting -= unreported
  }

  /**
   * Passes a batch without Redis. Processes share equally what was left of a limit when this process last saw the window. Of an unseen
   * window, they share the whole limit.
   */
  countWithoutRedis(batch: CountBatch): CountResult {
    const { requests, isAllOrNothing, windows, entries } = batch
    const second = this.#nowSecond()
    const nowMs = this.#now() + this.#aheadSeconds * 1000
    const opened = windows.map(({ name, limit }) =>
      openWithoutRedis(this.#find(name), limit, this.#processes(), second),
    )
    const granted = computeGranted(
      batch,
      opened.map(({ room }) => room),
    )
    for (const { all, withoutRedis } of opened) {
      addToWindow(all, second, granted)
      addToWindow(withoutRedis, second, granted)
    }
    const wanted = isAllOrNothing ? requests : 1
    const waits = opened.map(({ all, withoutRedis, limit, share }) =>
      Math.max(timeUntilCapacityMs(all, limit, nowMs, wanted), timeUntilCapacityMs(withoutRedis, share, nowMs, wanted)),
    )
    return {
      granted,
      receipt: { second, isInStore: false },
      waitMs: granted < requests ? Math.max(0, ...waits) : 0,
      // A window whose share is used up is reported as full.
      totals: opened.map(({ all, withoutRedis, limit, share }) =>
        withoutRedis.total >= share ? Math.max(all.total, limit) : all.total,
      ),
      entries: entries.map(() => null),
    }
  }

  /** Takes back what `countWithoutRedis` counted. */
  uncountWithoutRedis(windowNames: readonly string[], requests: number, second: number): void {
    for (const name of windowNames)
      removeFromWindow(this.#windows.get(name)?.withoutRedis ?? undefined, requests, second)
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  /** Redis counted after the call was sent and before its reply was read; if it shows another time, its clock has stepped. */
  #noteClock(sentAtSecond: number, countedAtSecond: number): void {
    const step = Math.max(0, countedAtSecond - this.#nowSecond()) + Math.min(0, countedAtSecond - sentAtSecond)
    if (Math.abs(step) <= SAME_CLOCK_SECONDS) return
    this.#aheadSeconds += step
    for (const found of this.#windows.values()) {
      if (found.seen) found.seen = shiftEncodedWindow(found.seen, step)
      if (found.withoutRedis) shiftWindowClock(found.withoutRedis, step)
    }
  }

  #nowSecond(): number {
    return Math.floor(this.#now() / 1000) + this.#aheadSeconds
  }

  #find(name: string): Remembered {
    let found = this.#windows.get(name)
    if (!found) {
      found = { seen: null, withoutRedis: null, reporting: 0, usedAtMs: 0 }
      this.#windows.set(name, found)
    }
    found.usedAtMs = this.#now()
    return found
  }

  #recallWindow(window: RateWindow): RateWindow {
    const found = this.#windows.get(window.name)
    if (!found) return window
    const isStale = this.#now() - found.usedAtMs >= WINDOW_MS
    if (found.withoutRedis) advanceWindow(found.withoutRedis, this.#nowSecond())
    // Only one call at a time reports them; two would have them counted twice.
    const missed = found.reporting === 0 ? (found.withoutRedis?.total ?? 0) : 0
    found.reporting += missed
    return { ...window, lastSeen: isStale ? null : found.seen, unreported: missed }
  }

  /** Keeps what is left to be reported after `missed` of it was. */
  #noteReported(found: Remembered, missed: number): void {
    found.reporting -= missed
    if (missed === 0 || !found.withoutRedis) return
    const left = found.withoutRedis.total - missed
    found.withoutRedis = left > 0 ? createWindow(this.#nowSecond()) : null
    if (found.withoutRedis) addToWindow(found.withoutRedis, this.#nowSecond(), left)
  }

  #forgetUnused(): void {
    const oldestMs = this.#now() - WINDOW_MS
    for (const [name, { usedAtMs, reporting }] of this.#windows) {
      if (usedAtMs < oldestMs && reporting === 0) this.#windows.delete(name)
    }
  }
}

/** `all` is what was seen plus what passed without Redis. `share` is the most that may pass without Redis now. */
function openWithoutRedis(found: Remembered, limit: number, processes: number, second: number) {
  found.withoutRedis ??= createWindow(second)
  const { withoutRedis } = found
  advanceWindow(withoutRedis, second)
  const all = found.seen ? decodeWindow(found.seen) : createWindow(second)
  advanceWindow(all, second)
  // With a small limit, each process may still pass one request if the window is empty as far as it knows.
  const share = Math.max(all.total === 0 ? 1 : 0, Math.floor((limit - all.total) / processes))
  for (let back = 0; back < WINDOW_SECONDS; back++) {
    addToWindow(all, second - back, withoutRedis.counts[(second - back) % WINDOW_SECONDS] ?? 0)
  }
  return { all, withoutRedis, limit, share, room: Math.min(limit - all.total, share - withoutRedis.total) }
}
