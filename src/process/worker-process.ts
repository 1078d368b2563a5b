/** A worker of a supervisor: its process, its exit code, and the heartbeat with which it sends its metrics. */
import type { Subprocess } from 'bun'
import { SELF_COMMAND } from '../event-loop/self-command.ts'
import type { Log } from '../telemetry/log.ts'
import type { MetricsSnapshot } from '../telemetry/metrics.ts'

/** A worker sends this once when it serves. Heartbeats follow every second. */
const LISTENING_MESSAGE = 'listening'

const HEARTBEAT_EVERY_MS = 1_000
/** A worker that is silent for this long counts as stuck. */
const SILENCE_LIMIT_MS = 10_000
const CHECK_EVERY_MS = 500

export interface WorkerProcess {
  child: Subprocess
  /** Resolves to true once it serves, or to false if it ends before. */
  ready: Promise<boolean>
  /** Resolves to its exit code. */
  exited: Promise<number>
  /** Returns its metrics, which are at most a second old. */
  metrics(): MetricsSnapshot
}

/** Starts a worker. Kills it if its heartbeats stop. */
export function spawnWorker(log: Log): WorkerProcess {
  const { promise: ready, resolve: resolveReady } = Promise.withResolvers<boolean>()
  const child = Bun.spawn([...SELF_COMMAND, '--worker'], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    // Through IPC, a worker also learns that its supervisor has gone.
    ipc: message => {
      if (heartbeat.receive(message)) resolveReady(true)
    },
  })
  const heartbeat = monitorHeartbeat(() => {
    log.error({ pid: child.pid }, 'a worker has fallen silent; it is killed')
    child.kill('SIGKILL')
  })
  const ended = child.exited.then(code => {
    heartbeat.stop()
    resolveReady(false)
    return code
  })
  return { child, ready: ready, exited: ended, metrics: heartbeat.metrics }
}

interface Heartbeat {
  metrics: MetricsSnapshot
}

/** Reports that this worker serves, and sends heartbeats while its event loop runs. */
export function reportToSupervisor(readMetrics: () => MetricsSnapshot): void {
  const sendHeartbeat = () => process.send?.({ metrics: readMetrics() } satisfies Heartbeat)
  process.send?.(LISTENING_MESSAGE)
  setInterval(sendHeartbeat, HEARTBEAT_EVERY_MS).unref()
}

interface HeartbeatMonitor {
  /** Handles a worker's message. Returns true if the message reports that the worker serves. */
  receive(message: unknown): boolean
  /** Returns the worker's metrics at its last heartbeat. */
  metrics(): MetricsSnapshot
  stop(): void
}

/** Calls `onSilent` once when a serving worker stops sending heartbeats. Its start has no time limit. */
function monitorHeartbeat(onSilent: () => void): HeartbeatMonitor {
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
