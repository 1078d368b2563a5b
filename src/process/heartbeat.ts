/** The heartbeat of a worker, which sends its metrics to its supervisor, and the supervisor's check of it. */
import type { MetricsSnapshot } from '../telemetry/metrics.ts'

/** A worker sends this once when it serves. Heartbeats follow every second. */
export const LISTENING_MESSAGE = 'listening'

const HEARTBEAT_EVERY_MS = 1_000
/** A worker that is silent for this long counts as stuck. */
const SILENCE_LIMIT_MS = 10_000
const CHECK_EVERY_MS = 500

interface Heartbeat {
  metrics: MetricsSnapshot
}

/** Reports that this worker serves, and sends heartbeats while its event loop runs. */
export function reportToSupervisor(readMetrics: () => MetricsSnapshot): void {
  const sendHeartbeat = () => process.send?.({ metrics: readMetrics() } satisfies Heartbeat)
  process.send?.(LISTENING_MESSAGE)
  setInterval(sendHeartbeat, HEARTBEAT_EVERY_MS).unref()
}

export interface HeartbeatMonitor {
  /** Handles a worker's message. Returns true if the message reports that the worker serves. */
  receive(message: unknown): boolean
  /** Returns the worker's metrics at its last heartbeat. */
  metrics(): MetricsSnapshot
  stop(): void
}

/** Calls `onSilent` once when a serving worker stops sending heartbeats. Its start has no time limit. */
export function monitorHeartbeat(onSilent: () => void): HeartbeatMonitor {
  let lastHeartbeatAtMs: number | null = null
  let metrics: MetricsSnapshot = []
  let checkedAtMs = performance.now()

  const timer = setInterval(() => {
    const nowMs = performance.now()
    // If the supervisor itself was blocked, heartbeats of that time are still unread.
    const blockedMs = Math.max(0, nowMs - checkedAtMs - CHECK_EVERY_MS)
    checkedAtMs = nowMs
    if (lastHeartbeatAtMs === null) return
    lastHeartbeatAtMs += blockedMs
    if (nowMs - lastHeartbeatAtMs < SILENCE_LIMIT_MS) return
    clearInterval(timer)
    onSilent()
  }, CHECK_EVERY_MS)
  timer.unref()

  return {
    receive(message) {
      if (message !== LISTENING_MESSAGE && !isHeartbeat(message)) return false
      lastHeartbeatAtMs = performance.now()
      if (isHeartbeat(message)) metrics = message.metrics
      return message === LISTENING_MESSAGE
    },
    metrics: () => metrics,
    stop: () => clearInterval(timer),
  }
}

function isHeartbeat(message: unknown): message is Heartbeat {
  return typeof message === 'object' && message !== null && 'metrics' in message
}
