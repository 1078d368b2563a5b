/** A worker's heartbeat to its supervisor, and the supervisor's check of it. */

/** Sent once, when a worker serves; heartbeats follow every second. */
export const LISTENING = 'listening'
const BEAT = 'beat'

const BEAT_EVERY_MS = 1_000
/** A worker that is silent for this long is stuck. */
const SILENCE_LIMIT_MS = 10_000
const CHECK_EVERY_MS = 500

/** For a worker that serves: reports it, and sends heartbeats while its event loop runs. */
export function reportToSupervisor(): void {
  process.send?.(LISTENING)
  setInterval(() => process.send?.(BEAT), BEAT_EVERY_MS).unref()
}

export interface Pulse {
  /** Handles a worker's message; returns true when it reports that it serves. */
  receive(message: unknown): boolean
  stop(): void
}

/** Calls back once when a serving worker has fallen silent. Its start has no time limit. */
export function watchPulse(onSilent: () => void): Pulse {
  let heardAtMs: number | null = null
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
      if (message !== LISTENING && message !== BEAT) return false
      heardAtMs = performance.now()
      return message === LISTENING
    },
    stop: () => clearInterval(timer),
  }
}
