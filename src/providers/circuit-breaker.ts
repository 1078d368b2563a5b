/** A circuit breaker: a service that keeps failing is not called for a while. */

export interface CircuitBreakerOptions {
  /** Failures that open the circuit, in a row or as most of the recent outcomes, once they have lasted for half of `openMs`. */
  failures: number
  /** Milliseconds that the circuit stays open at first. Each failed trial doubles them, up to a minute. */
  openMs: number
  onOpen(waitMs: number): void
  onClose(): void
}

/** failed: the service is unhealthy. unknown: the request was abandoned before its end. */
export type BreakerOutcome = 'well' | 'failed' | 'unknown'

/** One request that the circuit let through. */
export interface CircuitEntry {
  /** The response has begun. A trial then closes the circuit, but the next failure before a success opens it again. */
  begin(): void
  /** Further calls have no effect. */
  settle(outcome: BreakerOutcome): void
}

const MAX_OPEN_MS = 60_000
/** The wait while a trial is in flight, and after a trial with an unknown outcome. */
const TRIAL_WAIT_MS = 1_000
/** Failures further apart than this are not in a row. */
const MAX_GAP_MS = 60_000
/** The share of the recent outcomes that must be failures. */
const FAILED_SHARE = 0.6

/** Failures without a success between them. */
const NO_RUN = { failures: 0, sinceMs: 0, lastMs: 0 }

export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions
  readonly #recent: OutcomeWindow
  #state: 'closed' | 'open' | 'trial' = 'closed'
  #openedAtMs = 0
  #openForMs = 0
  #nextOpenMs: number
  /** Whether the response of a trial has begun, and none has been complete since. */
  #isOnProbation = false
  #run = NO_RUN

  constructor(options: CircuitBreakerOptions) {
    this.#options = options
    this.#nextOpenMs = options.openMs
    this.#recent = new OutcomeWindow(2 * options.openMs)
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** Returns the milliseconds until a request may enter. `maxOpenMs` shortens the time after which a trial is due. */
  waitMs(maxOpenMs = MAX_OPEN_MS): number {
    if (this.#state === 'closed') return 0
    if (this.#state === 'trial') return TRIAL_WAIT_MS
    return Math.max(0, this.#openedAtMs + Math.min(this.#openForMs, maxOpenMs) - performance.now())
  }

  /**
   * Lets a request in that was sent at `sinceMs`. Call it only when `waitMs` is 0. In an open circuit, the request is the trial. Its outcome is
   * ignored if the circuit has opened since.
   */
  enter(sinceMs = performance.now()): CircuitEntry {
    let isTrial = this.#state === 'open'
    if (isTrial) this.#state = 'trial'
    let isSettled = false
    return {
      begin: () => {
        if (!isTrial || isSettled) return
        isTrial = false
        this.#close()
      },
      settle: outcome => {
        if (isSettled) return
        isSettled = true
        if (isTrial) this.#settleTrial(outcome)
        else if (this.#state === 'closed' && sinceMs >= this.#openedAtMs) this.#record(outcome)
      },
    }
  }

  /** Opens a closed circuit. */
  open(): void {
    if (this.#state === 'closed') this.#openFor(this.#nextOpenMs)
  }

  #openFor(ms: number): void {
    this.#state = 'open'
    this.#openedAtMs = performance.now()
    this.#openForMs = ms
    this.#options.onOpen(ms)
  }

  #reopen(): void {
    this.#nextOpenMs = Math.min(MAX_OPEN_MS, this.#nextOpenMs * 2)
    this.#openFor(this.#nextOpenMs)
  }

  #close(): void {
    this.#state = 'closed'
    this.#isOnProbation = true
    this.#run = NO_RUN
    this.#recent.clear()
    this.#options.onClose()
  }

  #settleTrial(outcome: BreakerOutcome): void {
    if (outcome === 'failed') this.#reopen()
    else if (outcome === 'unknown') this.#openFor(TRIAL_WAIT_MS)
    else {
      this.#close()
      this.#record(outcome)
    }
  }

  #record(outcome: BreakerOutcome): void {
    if (outcome === 'unknown') return
    const now = performance.now()
    this.#recent.add(outcome, now)
    if (outcome === 'failed') {
      if (this.#isOnProbation) this.#reopen()
      else if (this.#isFailing(now)) this.open()
      return
    }
    this.#run = NO_RUN
    if (this.#isOnProbation) this.#nextOpenMs = this.#options.openMs
    this.#isOnProbation = false
  }

  /** Counts a failure. Returns whether the circuit should open. */
  #isFailing(now: number): boolean {
    const { failures, openMs } = this.#options
    const { failures: before, sinceMs, lastMs } = this.#run
    const isInRow = before > 0 && now - lastMs <= MAX_GAP_MS
    const run = isInRow ? { failures: before + 1, sinceMs, lastMs: now } : { failures: 1, sinceMs: now, lastMs: now }
    this.#run = run
    // Many concurrent requests may fail at once before a successful one has its response. That alone does not open the circuit.
    const hasLasted = (fromMs: number) => now - fromMs >= openMs / 2
    if (run.failures >= failures && hasLasted(run.sinceMs)) return true
    const { failed, well, failedSinceMs } = this.#recent.sum()
    return failed >= failures && failed >= FAILED_SHARE * (failed + well) && hasLasted(failedSinceMs)
  }
}

const BUCKETS = 10

/** Counts outcomes in a sliding window of time. */
class OutcomeWindow {
  readonly #bucketMs: number
  #buckets: { number: number; failed: number; well: number }[] = []

  constructor(windowMs: number) {
    this.#bucketMs = windowMs / BUCKETS
  }

  add(outcome: 'well' | 'failed', nowMs: number): void {
    const number = Math.floor(nowMs / this.#bucketMs)
    let last = this.#buckets.at(-1)
    if (last?.number !== number) {
      last = { number, failed: 0, well: 0 }
      this.#buckets = [...this.#buckets.filter(bucket => bucket.number > number - BUCKETS), last]
    }
    last[outcome]++
  }

  /** Returns the counts as of the last outcome. `failedSinceMs` is the end of the bucket with the earliest failure. */
  sum(): { failed: number; well: number; failedSinceMs: number } {
    const sums = { failed: 0, well: 0, failedSinceMs: Number.POSITIVE_INFINITY }
    for (const { number, failed, well } of this.#buckets) {
      if (failed > 0) sums.failedSinceMs = Math.min(sums.failedSinceMs, (number + 1) * this.#bucketMs)
      sums.failed += failed
      sums.well += well
    }
    return sums
  }

  clear(): void {
    this.#buckets = []
  }
}
