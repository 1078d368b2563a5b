/** The heartbeat from a worker to its supervisor: both ends of it. */

/** Sent once, when the worker starts to serve. A beat follows every second. */
export const LISTENING = 'listening'
const BEAT = 'beat'

const BEAT_EVERY_MS = 1_000
/** A worker that is silent for this long serves no requests. */
const SILENCE_LIMIT_MS = 10_000
const CHECK_EVERY_MS = 500

/** Called by a worker when it starts to serve. Beats stop when its event loop is blocked. */
export function tellSupervisor(): void {
  process.send?.(LISTENING)
  setInterval(() => process.send?.(BEAT), BEAT_EVERY_MS).unref()
}

export interface Pulse {
  /** Takes a message from the worker. Returns true when it says that the worker now serves. */
  hear(message: unknown): boolean
  stop(): void
}

/** Calls `onSilent` once, when a serving worker stops beating. Start-up time is not limited. */
export function watchPulse(onSilent: () => void): Pulse {
  let heardAtMs: number | null = null
  let checkedAtMs = performance.now()

  const timer = setInterval(() => {
    const nowMs = performance.now()
    // If the supervisor itself was blocked, beats sent meanwhile are still unread: that time does not count.
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
    hear(message) {
      if (message !== LISTENING && message !== BEAT) return false
      heardAtMs = performance.now()
      return message === LISTENING
    },
    stop: () => clearInterval(timer),
  }
}
