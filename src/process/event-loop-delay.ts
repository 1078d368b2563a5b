/** Measures the event loop's delay: a histogram, and a log line when something blocked it. */
import type { Log } from '../telemetry/log.ts'
import { createHistogramFamily } from '../telemetry/metric-definitions.ts'
import { type Metrics, observe } from '../telemetry/metrics.ts'

const BEAT_EVERY_MS = 20
/** A delay above this is logged: it kept every request waiting. */
const TOLD_DELAY_MS = 100
const TELL_EVERY_MS = 1_000

/** Measured by a timer of its own: it sees what requests see, timers and input together. Returns what stops it. */
export function monitorEventLoopDelay(metrics: Metrics, log: Pick<Log, 'warn'>): () => void {
  const delays = createHistogramFamily(metrics, 'model_proxy_event_loop_delay_seconds').with()
  let dueMs = performance.now() + BEAT_EVERY_MS
  let worstUntoldMs = 0
  let toldAtMs = Number.NEGATIVE_INFINITY

  function beat(): void {
    const nowMs = performance.now()
    const lateMs = Math.max(0, nowMs - dueMs)
    dueMs = nowMs + BEAT_EVERY_MS
    observe(delays, lateMs / 1000)
    if (lateMs > TOLD_DELAY_MS) worstUntoldMs = Math.max(worstUntoldMs, lateMs)
    if (worstUntoldMs === 0 || nowMs - toldAtMs < TELL_EVERY_MS) return
    log.warn({ delayMs: Math.round(worstUntoldMs) }, 'the event loop was held up')
    toldAtMs = nowMs
    worstUntoldMs = 0
  }
  const timer = setInterval(beat, BEAT_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
