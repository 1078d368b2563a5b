/** A circuit breaker. It opens after consecutive failures over some time, then lets one trial request through, after growing waits. */

export interface BreakerOptions {
  /** Consecutive failures that open it, once they have lasted for half of `openMs`. */
  failures: number
  /** How long it stays open at first; doubled with each failed trial, up to a minute. */
  openMs: number
  onOpen(waitMs: number): void
  onClose(): void
}

/** failed: the provider is unhealthy. unknown: the request was abandoned before its end. */
export type Outcome = 'well' | 'failed' | 'unknown'

export interface Breaker {
  readonly isClosed: boolean
  /** Returns how long to stay away in milliseconds, or a function that takes the outcome of the request. */
  enter(): { waitMs: number } | { settle(outcome: Outcome): void }
}

const MAX_OPEN_MS = 60_000
/** Wait while a trial is in flight, and after one with an unknown outcome. */
const TRIAL_WAIT_MS = 1_000

export function createBreaker({ failures, openMs, onOpen, onClose }: BreakerOptions): Breaker {
  let state: 'closed' | 'open' | 'trial' = 'closed'
  let openUntilMs = 0
  let lengthMs = openMs
  let inARow = 0
  let firstFailedAtMs = 0

  function open(forMs: number): void {
    state = 'open'
    openUntilMs = Date.now() + forMs
    onOpen(forMs)
  }

  /** Requests that end while the circuit is open were sent before, and show nothing new. */
  function settleUsual(outcome: Outcome): void {
    if (state !== 'closed' || outcome === 'unknown') return
    if (outcome === 'well') {
      inARow = 0
      return
    }
    if (inARow++ === 0) firstFailedAtMs = Date.now()
    // Many concurrent requests may fail at once before a successful one has its response: that alone does not open the circuit.
    if (inARow >= failures && Date.now() - firstFailedAtMs >= openMs / 2) open(openMs)
  }

  function settleTrial(outcome: Outcome): void {
    if (outcome === 'well') {
      state = 'closed'
      inARow = 0
      lengthMs = openMs
      onClose()
    } else {
      if (outcome === 'failed') lengthMs = Math.min(MAX_OPEN_MS, lengthMs * 2)
      open(outcome === 'failed' ? lengthMs : TRIAL_WAIT_MS)
    }
  }

  return {
    get isClosed() {
      return state === 'closed'
    },
    enter() {
      if (state === 'closed') return { settle: settleUsual }
      if (state === 'trial') return { waitMs: TRIAL_WAIT_MS }
      const waitMs = openUntilMs - Date.now()
      if (waitMs > 0) return { waitMs }
      state = 'trial'
      return { settle: settleTrial }
    },
  }
}
