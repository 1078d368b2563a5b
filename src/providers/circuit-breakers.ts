/** Circuit breakers: a provider that keeps failing is not called for a while. */

import { LRUCache } from 'lru-cache'
import type { Log } from '../telemetry/log.ts'
import { type Provider, type UpstreamResponse, wrapProvider } from './upstream.ts'
import { circuitOpenError, isTemporary, isTemporaryStatus, UpstreamFailure } from './upstream-failure.ts'

export interface CircuitBreakerOptions {
  /** Consecutive failures that open the circuit, once they have lasted for half of `openMs`. */
  failures: number
  /** Milliseconds that the circuit stays open at first. Each failed trial doubles them, up to a minute. */
  openMs: number
  onOpen(waitMs: number): void
  onClose(): void
}

/** failed: the provider is unhealthy. unknown: the request was abandoned before its end. */
export type BreakerOutcome = 'well' | 'failed' | 'unknown'

export interface CircuitBreaker {
  readonly isClosed: boolean
  /** Returns the milliseconds to wait while the circuit is open; otherwise a function to call with the outcome of the request. */
  tryEnter(): { waitMs: number } | { settle(outcome: BreakerOutcome): void }
}

const MAX_OPEN_MS = 60_000
/** The wait while a trial is in flight, and after a trial with an unknown outcome. */
const TRIAL_WAIT_MS = 1_000

export function createCircuitBreaker({ failures, openMs, onOpen, onClose }: CircuitBreakerOptions): CircuitBreaker {
  let state: 'closed' | 'open' | 'trial' = 'closed'
  let openUntilMs = 0
  let nextOpenMs = openMs
  let consecutiveFailures = 0
  let firstFailedAtMs = 0

  function open(forMs: number): void {
    state = 'open'
    openUntilMs = performance.now() + forMs
    onOpen(forMs)
  }

  /** Ignores requests that end while the circuit is open: they were sent before it opened. */
  function settleRequest(outcome: BreakerOutcome): void {
    if (state !== 'closed' || outcome === 'unknown') return
    if (outcome === 'well') {
      consecutiveFailures = 0
      return
    }
    if (consecutiveFailures++ === 0) firstFailedAtMs = performance.now()
    // Many concurrent requests may fail at once before a successful one has its response. That alone does not open the circuit.
    if (consecutiveFailures >= failures && performance.now() - firstFailedAtMs >= openMs / 2) open(openMs)
  }

  function settleTrial(outcome: BreakerOutcome): void {
    if (outcome === 'well') {
      state = 'closed'
      consecutiveFailures = 0
      nextOpenMs = openMs
      onClose()
    } else {
      if (outcome === 'failed') nextOpenMs = Math.min(MAX_OPEN_MS, nextOpenMs * 2)
      open(outcome === 'failed' ? nextOpenMs : TRIAL_WAIT_MS)
    }
  }

  return {
    get isClosed() {
      return state === 'closed'
    },
    tryEnter() {
      if (state === 'closed') return { settle: settleRequest }
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
  /** Called when a circuit opens, and when it opens again after a trial. */
  onOpen?(provider: string, projectId: number, waitMs: number): void
}

/** A summary of a provider's circuits in this process. */
export interface CircuitSummary {
  /** up: no circuit is open; partial: some are; down: all are. */
  status: 'up' | 'partial' | 'down'
  openCircuits: number
}

export interface CircuitBreakers {
  /** Returns the provider behind a new circuit. It replaces the earlier circuit of the same owner: the project, or one of its named keys. */
  protect(provider: Provider, projectId: number, key?: string): Provider
  /** Returns a summary for each provider. */
  summarize(): Record<string, CircuitSummary>
}

/** With more circuits than this, the least recently created still work but are not summarized. */
const MAX_SUMMARIZED = 10_000

interface Circuit {
  provider: string
  breaker: CircuitBreaker
}

export function createCircuitBreakers({ failures, openMs, log, onOpen }: CircuitBreakersOptions): CircuitBreakers {
  const circuits = new LRUCache<string, Circuit>({ max: MAX_SUMMARIZED })

  return {
    protect(provider, projectId, key = '') {
      const fields = { provider: provider.name, owner: `project ${projectId}`, ...(key !== '' && { key }) }
      const breaker = createCircuitBreaker({
        failures,
        openMs,
        onOpen(waitMs) {
          log.warn({ ...fields, waitMs }, 'circuit opened')
          onOpen?.(provider.name, projectId, waitMs)
        },
        onClose: () => log.info(fields, 'circuit closed'),
      })
      circuits.set(`${provider.name} ${projectId} ${key}`, { provider: provider.name, breaker })
      return wrapProvider(provider, send => sendThroughBreaker(breaker, provider.name, send))
    },
    summarize: () => summarize(circuits.values()),
  }
}

async function sendThroughBreaker(
  breaker: CircuitBreaker,
  provider: string,
  send: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const entered = breaker.tryEnter()
  if ('waitMs' in entered) throw circuitOpenError(provider, entered.waitMs)
  try {
    const response = await send()
    entered.settle(outcomeOf(response))
    return response
  } catch (error) {
    entered.settle(error instanceof UpstreamFailure && isTemporary(error) ? 'failed' : 'unknown')
    throw error
  }
}

/** Returns `failed` when the response shows that the provider is unhealthy. A rate limit does not. */
function outcomeOf({ status }: UpstreamResponse): BreakerOutcome {
  return isTemporaryStatus(status) && status !== 429 ? 'failed' : 'well'
}

function summarize(circuits: Iterable<Circuit>): Record<string, CircuitSummary> {
  const counts = new Map<string, { open: number; total: number }>()
  for (const { provider, breaker } of circuits) {
    const count = counts.get(provider) ?? { open: 0, total: 0 }
    counts.set(provider, count)
    count.total++
    if (!breaker.isClosed) count.open++
  }
  return Object.fromEntries(
    Array.from(counts, ([provider, { open, total }]) => {
      const status = open === 0 ? 'up' : open < total ? 'partial' : 'down'
      return [provider, { status, openCircuits: open }]
    }),
  )
}
