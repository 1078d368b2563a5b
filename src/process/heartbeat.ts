/** A worker's sign of life to its supervisor, and how the supervisor hears of it. */

/** What a worker tells its supervisor once it serves, and every second from then on. */
export const LISTENING = 'listening'
const BEAT = 'beat'

const BEAT_EVERY_MS = 1_000
/** A worker that is silent for so long answers nobody. */
const SILENCE_LIMIT_MS = 10_000
const CHECK_EVERY_MS = 500

/** For a worker that serves: says so, and beats as long as its event loop turns. */
export function tellSupervisor(): void {
  process.send?.(LISTENING)
  setInterval(() => process.send?.(BEAT), BEAT_EVERY_MS).unref()
}

export interface Pulse {
  /** Takes what the worker said; true where it now serves. */
  hear(message: unknown): boolean
  stop(): void
}

/** Calls back once when a worker that serves has fallen silent; before it serves, its start may take as long as it takes. */
export function watchPulse(onSilent: () => void): Pulse {
  let heardAtMs: number | null = null
  let checkedAtMs = performance.now()

  const timer = setInterval(() => {
    const nowMs = performance.now()
    // Where the supervisor itself stood still, what was said meanwhile is yet to be heard.
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
