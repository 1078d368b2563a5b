/** Measures the event loop's delay: a histogram, and a log line when something blocked it. */
import type { Log } from '../telemetry/log.ts'

const BEAT_EVERY_MS = 20
/** A delay above this is logged: it kept every request waiting. */
const TOLD_DELAY_MS = 100
const TELL_EVERY_MS = 1_000
/** Upper bounds of the histogram's buckets, in milliseconds; a last bucket has everything above. */
export const DELAY_BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] as const

export interface LoopDelay {
  /** One count per bound and one above; the sum and the maximum of all delays. */
  read(): { counts: readonly number[]; sumMs: number; maxMs: number }
  stop(): void
}

/** Measured by a timer of its own: it sees what requests see, timers and input together. */
export function watchLoopDelay(log: Pick<Log, 'warn'>): LoopDelay {
  const counts = new Array<number>(DELAY_BOUNDS_MS.length + 1).fill(0)
  let sumMs = 0
  let maxMs = 0
  let dueMs = performance.now() + BEAT_EVERY_MS
  let worstUntoldMs = 0
  let toldAtMs = Number.NEGATIVE_INFINITY

  function beat(): void {
    const nowMs = performance.now()
    const lateMs = Math.max(0, nowMs - dueMs)
    dueMs = nowMs + BEAT_EVERY_MS
    const bound = DELAY_BOUNDS_MS.findIndex(most => lateMs <= most)
    const at = bound < 0 ? DELAY_BOUNDS_MS.length : bound
    counts[at] = (counts[at] ?? 0) + 1
    sumMs += lateMs
    maxMs = Math.max(maxMs, lateMs)
    if (lateMs > TOLD_DELAY_MS) worstUntoldMs = Math.max(worstUntoldMs, lateMs)
    if (worstUntoldMs === 0 || nowMs - toldAtMs < TELL_EVERY_MS) return
    log.warn({ delayMs: Math.round(worstUntoldMs) }, 'the event loop was held up')
    toldAtMs = nowMs
    worstUntoldMs = 0
  }
  const timer = setInterval(beat, BEAT_EVERY_MS)
  timer.unref()

  return {
    read: () => ({ counts: [...counts], sumMs, maxMs }),
    stop: () => clearInterval(timer),
  }
}
