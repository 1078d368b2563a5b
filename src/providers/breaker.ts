/** A circuit breaker: opens after failures in a row that have gone on for a while, lets one request try after a time, longer each time. */

export interface BreakerOptions {
  /** So many failures in a row open it, once they have gone on for half of `openMs`. */
  failures: number
  /** How long it stays open at first; each time that a trial fails, twice as long, up to a minute. */
  openMs: number
  onOpen(waitMs: number): void
  onClose(): void
}

/** failed: it says that the provider is unwell. unknown: nobody waited for how it ends. */
export type Outcome = 'well' | 'failed' | 'unknown'

export interface Breaker {
  readonly isClosed: boolean
  /** Milliseconds to stay away for, or how to tell the outcome of a request that may be sent. */
  enter(): { waitMs: number } | { settle(outcome: Outcome): void }
}

const MAX_OPEN_MS = 60_000
/** While one request tries, and after one that has shown nothing. */
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

  /** What ends while the circuit is open was sent before, and shows nothing new. */
  function settleUsual(outcome: Outcome): void {
    if (state !== 'closed' || outcome === 'unknown') return
    if (outcome === 'well') {
      inARow = 0
      return
    }
    if (inARow++ === 0) firstFailedAtMs = Date.now()
    // Many at once may fail within a moment, before any of those that went well has its answer: no sign that it is down.
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
