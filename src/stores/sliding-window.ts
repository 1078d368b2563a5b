/** A rate window: how many requests passed in each of the last 61 seconds, in memory and in the bytes that windows.lua writes. */
import { WINDOW_SECONDS } from './fast-store.ts'

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

/** Forgets seconds that have left the window. One that ends in the future is taken to end now: its clock has stepped back. */
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

/** The clock has stepped: each count is as old by the new time as it was by the old one. */
export function shiftWindowClock(window: SlidingWindow, bySeconds: number): void {
  const before = window.counts.slice()
  for (const [at, count] of before.entries()) window.counts[placeAfter(at, bySeconds)] = count
  window.lastSecond += bySeconds
}

function placeAfter(at: number, bySeconds: number): number {
  return (((at + bySeconds) % WINDOW_SECONDS) + WINDOW_SECONDS) % WINDOW_SECONDS
}

export function addToWindow(window: SlidingWindow, second: number, requests: number): void {
  const at = second % WINDOW_SECONDS
  window.counts[at] = (window.counts[at] ?? 0) + requests
  window.total += requests
}

/** Time until the window has room for so many more requests. */
export function timeUntilCapacityMs(
  window: SlidingWindow | undefined,
  limit: number,
  nowMs: number,
  wanted = 1,
): number {
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
export function removeFromWindow(window: SlidingWindow | undefined, requests: number, second: number): void {
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

export function readWindowTotal(bytes: Uint8Array): number {
  return readCount(bytes, 0)
}

/** Tells apart the successive windows of one name. */
export function readWindowBirth(bytes: Uint8Array): number {
  return readCount(bytes, BIRTH_AT)
}

export function decodeWindow(bytes: Uint8Array): SlidingWindow {
  const counts = Uint32Array.from({ length: WINDOW_SECONDS }, (_, at) => readCount(bytes, COUNTS_AT + at * 4))
  return { total: readCount(bytes, 0), lastSecond: readCount(bytes, LAST_SECOND_AT), counts }
}

/** As `shiftWindowClock`, of bytes. */
export function shiftEncodedWindow(bytes: Uint8Array, bySeconds: number): Uint8Array {
  const shifted = new Uint8Array(bytes)
  new DataView(shifted.buffer).setUint32(LAST_SECOND_AT, readCount(bytes, LAST_SECOND_AT) + bySeconds)
  for (let at = 0; at < WINDOW_SECONDS; at++) {
    const from = COUNTS_AT + at * 4
    shifted.set(bytes.subarray(from, from + 4), COUNTS_AT + placeAfter(at, bySeconds) * 4)
  }
  return shifted
}

/** A window's counts, the oldest second first. */
export function readWindowCounts(bytes: Uint8Array): number[] {
  const { lastSecond, counts } = decodeWindow(bytes)
  return Array.from({ length: WINDOW_SECONDS }, (_, i) => counts[(lastSecond + 1 + i) % WINDOW_SECONDS] ?? 0)
}

/** Byte by byte: a DataView of a small array makes the engine move its bytes out of line first. */
function readCount(bytes: Uint8Array, at: number): number {
  let count = 0
  for (let i = at; i < at + 4; i++) count = count * 256 + (bytes[i] ?? 0)
  return count
}
