/** A rate window: the number of granted requests in each of the last 61 seconds, in memory or encoded as in windows.lua. */
import { WINDOW_SECONDS } from './fast-store.ts'

export interface SlidingWindow {
  total: number
  /** The second that the window was last advanced to. */
  lastSecond: number
  /** A ring buffer of counts, one per second. */
  counts: Uint32Array
}

export function createWindow(second: number): SlidingWindow {
  return { total: 0, lastSecond: second, counts: new Uint32Array(WINDOW_SECONDS) }
}

/** Removes the counts of seconds that have left the window. A window that ends in the future is shifted to end now, as its clock stepped back. */
export function advanceWindow(window: SlidingWindow, second: number): void {
  if (second < window.lastSecond) shiftWindowClock(window, second - window.lastSecond)
  const passed = Math.min(second - window.lastSecond, WINDOW_SECONDS)
  for (let i = 1; i <= passed; i++) {
    const at = (window.lastSecond + i) % WINDOW_SECONDS
    window.total -= window.counts[at] ?? 0
    window.counts[at] = 0
  }
  window.lastSecond = second
}

/** Shifts the window after a clock step, so that each count keeps its age. */
export function shiftWindowClock(window: SlidingWindow, bySeconds: number): void {
  const before = window.counts.slice()
  for (const [at, count] of before.entries()) window.counts[shiftIndex(at, bySeconds)] = count
  window.lastSecond += bySeconds
}

function shiftIndex(at: number, bySeconds: number): number {
  return (((at + bySeconds) % WINDOW_SECONDS) + WINDOW_SECONDS) % WINDOW_SECONDS
}

export function addToWindow(window: SlidingWindow, second: number, requests: number): void {
  const at = second % WINDOW_SECONDS
  window.counts[at] = (window.counts[at] ?? 0) + requests
  window.total += requests
}

/** Milliseconds until the window has capacity for the requested number of requests. */
export function timeUntilCapacityMs(
  window: SlidingWindow | undefined,
  limit: number,
  nowMs: number,
  requested = 1,
): number {
  if (!window) return 0
  let excess = window.total + requested - limit
  if (excess <= 0) return 0
  const now = Math.floor(nowMs / 1000)
  for (let second = now - WINDOW_SECONDS + 1; second <= now; second++) {
    excess -= window.counts[second % WINDOW_SECONDS] ?? 0
    if (excess <= 0) return (second + WINDOW_SECONDS) * 1000 - nowMs
  }
  return WINDOW_SECONDS * 1000
}

/** Removes requests from the count of that second, and from no other. */
export function removeFromWindow(window: SlidingWindow | undefined, requests: number, second: number): void {
  if (!window || second > window.lastSecond || window.lastSecond - second >= WINDOW_SECONDS) return
  const at = second % WINDOW_SECONDS
  const removed = Math.min(window.counts[at] ?? 0, requests)
  window.counts[at] = (window.counts[at] ?? 0) - removed
  window.total -= removed
}

/** Encoding: total, last second and birth, then the counts, four bytes each. */
const LAST_SECOND_AT = 4
const BIRTH_AT = 8
const COUNTS_AT = 12

export function readWindowTotal(bytes: Uint8Array): number {
  return readCount(bytes, 0)
}

/** Returns the birth, which distinguishes successive windows of one name. */
export function readWindowBirth(bytes: Uint8Array): number {
  return readCount(bytes, BIRTH_AT)
}

export function decodeWindow(bytes: Uint8Array): SlidingWindow {
  const counts = Uint32Array.from({ length: WINDOW_SECONDS }, (_, at) => readCount(bytes, COUNTS_AT + at * 4))
  return { total: readCount(bytes, 0), lastSecond: readCount(bytes, LAST_SECOND_AT), counts }
}

/** Like `shiftWindowClock`, for an encoded window. */
export function shiftEncodedWindow(bytes: Uint8Array, bySeconds: number): Uint8Array {
  const shifted = new Uint8Array(bytes)
  new DataView(shifted.buffer).setUint32(LAST_SECOND_AT, readCount(bytes, LAST_SECOND_AT) + bySeconds)
  for (let at = 0; at < WINDOW_SECONDS; at++) {
    const from = COUNTS_AT + at * 4
    shifted.set(bytes.subarray(from, from + 4), COUNTS_AT + shiftIndex(at, bySeconds) * 4)
  }
  return shifted
}

/** Returns the counts of an encoded window, oldest second first. */
export function readWindowCounts(bytes: Uint8Array): number[] {
  const { lastSecond, counts } = decodeWindow(bytes)
  return Array.from({ length: WINDOW_SECONDS }, (_, i) => counts[(lastSecond + 1 + i) % WINDOW_SECONDS] ?? 0)
}

/** Reads byte by byte, because a DataView of a small array makes the engine move its bytes first. */
function readCount(bytes: Uint8Array, at: number): number {
  let count = 0
  for (let i = at; i < at + 4; i++) count = count * 256 + (bytes[i] ?? 0)
  return count
}
