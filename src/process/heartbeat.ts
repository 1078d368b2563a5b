/** A worker's heartbeat to its supervisor, which carries what it measured, and the supervisor's check of it. */
import type { MetricsSnapshot } from '../telemetry/metrics.ts'

/** Sent once, when a worker serves; heartbeats follow every second. */
export const LISTENING_MESSAGE = 'listening'

const BEAT_EVERY_MS = 1_000
/** A worker that is silent for this long is stuck. */
const SILENCE_LIMIT_MS = 10_000
const CHECK_EVERY_MS = 500

interface Beat {
  metrics: MetricsSnapshot
}

/** For a worker that serves: reports it, and sends heartbeats while its event loop runs. */
export function reportToSupervisor(readMetrics: () => MetricsSnapshot): void {
  const beat = () => process.send?.({ metrics: readMetrics() } satisfies Beat)
  process.send?.(LISTENING_MESSAGE)
  setInterval(beat, BEAT_EVERY_MS).unref()
}

export interface HeartbeatMonitor {
  /** Handles a worker's message; returns true when it reports that it serves. */
  receive(message: unknown): boolean
  /** What the worker had measured at its last heartbeat. */
  metrics(): MetricsSnapshot
  stop(): void
}

/** Calls back once when a serving worker has fallen silent. Its start has no time limit. */
export function monitorHeartbeat(onSilent: () => void): HeartbeatMonitor {
  let heardAtMs: number | null = null
  let metrics: MetricsSnapshot = []
  let checkedAtMs = performance.now()

  const timer = setInterval(() => {
    const nowMs = performance.now()
    // If the supervisor itself was stuck, heartbeats of that time are still unread.
    const stoodStillMs = Math.max(0, nowMs - checkedAtMs - CHECK_EVERY_MS)
    checkedAtMs = nowMs
    if (heardAtMs === null) return
    heardAtMs += stoodStillMs
    if (nowMs - heardAtMs < SILENCE_LIMIT_MS) return
    clearInterval(timer)
    onSilent()
  }, CHECK_EVERY_MS)
  timer.unref()

  return {
    receive(message) {
      if (message !== LISTENING_MESSAGE && !isBeat(message)) return false
      heardAtMs = performance.now()
      if (isBeat(message)) metrics = message.metrics
      return message === LISTENING_MESSAGE
    },
    metrics: () => metrics,
    stop: () => clearInterval(timer),
  }
}

function isBeat(message: unknown): message is Beat {
  return typeof message === 'object' && message !== null && 'metrics' in message
}
