/** Measures the event loop's delay: a histogram, and a log line when something blocked it. */
import type { Log } from '../telemetry/log.ts'
import { createHistogramFamily } from '../telemetry/metric-definitions.ts'
import { type Metrics, observe } from '../telemetry/metrics.ts'

const BEAT_EVERY_MS = 20
/** Delays above this are logged, because all requests waited meanwhile. */
const LOGGED_DELAY_MS = 100
const LOG_EVERY_MS = 1_000

/** Measures the delay with a timer, which waits for the event loop as requests do. Returns a function that stops it. */
export function monitorEventLoopDelay(metrics: Metrics, log: Pick<Log, 'warn'>): () => void {
  const delays = createHistogramFamily(metrics, 'model_proxy_event_loop_delay_seconds').with()
  let dueMs = performance.now() + BEAT_EVERY_MS
  let worstUnloggedMs = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY

  function beat(): void {
    const nowMs = performance.now()
    const lateMs = Math.max(0, nowMs - dueMs)
    dueMs = nowMs + BEAT_EVERY_MS
    observe(delays, lateMs / 1000)
    if (lateMs > LOGGED_DELAY_MS) worstUnloggedMs = Math.max(worstUnloggedMs, lateMs)
    if (worstUnloggedMs === 0 || nowMs - loggedAtMs < LOG_EVERY_MS) return
    log.warn({ delayMs: Math.round(worstUnloggedMs) }, 'the event loop was blocked')
    loggedAtMs = nowMs
    worstUnloggedMs = 0
  }
  const timer = setInterval(beat, BEAT_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
