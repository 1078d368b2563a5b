/** Circuits: a provider or model that keeps failing is left alone for a while. */

import { LRUCache } from 'lru-cache'
import type { Log } from '../telemetry/log.ts'
import { type Provider, type UpstreamResponse, wrapProvider } from './upstream.ts'
import { canFallBack, circuitOpenError, isTemporaryStatus, UpstreamFailure } from './upstream-failure.ts'

export interface CircuitBreakerOptions {
  /** Consecutive failures that open it, once they have lasted for half of `openMs`. */
  failures: number
  /** How long it stays open at first; doubled with each failed trial, up to a minute. */
  openMs: number
  onOpen(waitMs: number): void
  onClose(): void
}

/** failed: the provider is unhealthy. unknown: the request was abandoned before its end. */
export type BreakerOutcome = 'well' | 'failed' | 'unknown'

export interface CircuitBreaker {
  readonly isClosed: boolean
  /** Returns how long to stay away in milliseconds, or a function that takes the outcome of the request. */
  tryEnter(): { waitMs: number } | { settle(outcome: BreakerOutcome): void }
}

const MAX_OPEN_MS = 60_000
/** Wait while a trial is in flight, and after one with an unknown outcome. */
const TRIAL_WAIT_MS = 1_000

export function createCircuitBreaker({ failures, openMs, onOpen, onClose }: CircuitBreakerOptions): CircuitBreaker {
  let state: 'closed' | 'open' | 'trial' = 'closed'
  let openUntilMs = 0
  let lengthMs = openMs
  let inARow = 0
  let firstFailedAtMs = 0

  function open(forMs: number): void {
    state = 'open'
    openUntilMs = performance.now() + forMs
    onOpen(forMs)
  }

  /** Requests that end while the circuit is open were sent before, and show nothing new. */
  function settleUsual(outcome: BreakerOutcome): void {
    if (state !== 'closed' || outcome === 'unknown') return
    if (outcome === 'well') {
      inARow = 0
      return
    }
    if (inARow++ === 0) firstFailedAtMs = performance.now()
    // Many concurrent requests may fail at once before a successful one has its response: that alone does not open the circuit.
    if (inARow >= failures && performance.now() - firstFailedAtMs >= openMs / 2) open(openMs)
  }

  function settleTrial(outcome: BreakerOutcome): void {
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
    tryEnter() {
      if (state === 'closed') return { settle: settleUsual }
      if (state === 'trial') return { waitMs: TRIAL_WAIT_MS }
      const waitMs = openUntilMs - performance.now()
      if (waitMs > 0) return { waitMs }
      state = 'trial'
      return { settle: settleTrial }
    },
  }
}

export interface CircuitBreakersOptions extends Pick<CircuitBreakerOptions, 'failures' | 'openMs'> {
  log: Pick<Log, 'warn' | 'info'>
  /** A circuit has opened, or opened again after a trial. */
  onOpen?(provider: string, projectId: number, waitMs: number): void
}

/** Summary of a provider's circuits in this process. */
export interface CircuitSummary {
  /** up: none is open; partial: some are; down: all are. */
  status: 'up' | 'partial' | 'down'
  openCircuits: number
}

export interface CircuitBreakers {
  /**
   * Puts the provider behind a new circuit, which replaces an earlier one of the same owner: the project, or one of its named keys.
   */
  protect(provider: Provider, projectId: number, key?: string): Provider
  /** By provider. */
  summarize(): Record<string, CircuitSummary>
}

/** Beyond this, the oldest circuits still work but are not summarized. */
const MAX_SUMMARIZED = 10_000

interface Circuit {
  provider: string
  breaker: CircuitBreaker
}

export function createCircuitBreakers({ failures, openMs, log, onOpen }: CircuitBreakersOptions): CircuitBreakers {
  const circuits = new LRUCache<string, Circuit>({ max: MAX_SUMMARIZED })

  return {
    protect(provider, projectId, key = '') {
      const about = { provider: provider.name, owner: `project ${projectId}`, ...(key !== '' && { key }) }
      const breaker = createCircuitBreaker({
        failures,
        openMs,
        onOpen(waitMs) {
          log.warn({ ...about, waitMs }, 'circuit opened')
          onOpen?.(provider.name, projectId, waitMs)
        },
        onClose: () => log.info(about, 'circuit closed'),
      })
      circuits.set(`${provider.name} ${projectId} ${key}`, { provider: provider.name, breaker })
      return wrapProvider(provider, ask => askThrough(breaker, provider.name, ask))
    },
    summarize: () => summarize(circuits.values()),
  }
}

async function askThrough(
  breaker: CircuitBreaker,
  provider: string,
  ask: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const entered = breaker.tryEnter()
  if ('waitMs' in entered) throw circuitOpenError(provider, entered.waitMs)
  try {
    const answer = await ask()
    entered.settle(outcomeOf(answer))
    return answer
  } catch (error) {
    entered.settle(error instanceof UpstreamFailure && canFallBack(error) ? 'failed' : 'unknown')
    throw error
  }
}

/** Whether the response shows that the provider is unhealthy. A rate limit does not. */
function outcomeOf({ status }: UpstreamResponse): BreakerOutcome {
  return isTemporaryStatus(status) && status !== 429 ? 'failed' : 'well'
}

function summarize(circuits: Iterable<Circuit>): Record<string, CircuitSummary> {
  const counts = new Map<string, { open: number; all: number }>()
  for (const { provider, breaker } of circuits) {
    const count = counts.get(provider) ?? { open: 0, all: 0 }
    counts.set(provider, count)
    count.all++
    if (!breaker.isClosed) count.open++
  }
  return Object.fromEntries(
    Array.from(counts, ([provider, { open, all }]) => {
      const status = open === 0 ? 'up' : open < all ? 'partial' : 'down'
      return [provider, { status, openCircuits: open }]
    }),
  )
}
