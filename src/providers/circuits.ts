/** Circuit breakers: a provider that keeps failing for a key is left alone for a while, and everybody is told at once. */
import {
  type CircuitBreakerPolicy,
  CircuitState,
  circuitBreaker,
  DelegateBackoff,
  handleWhen,
  type IBreaker,
} from 'cockatiel'
import type { Log } from '../telemetry/log.ts'
import { createRecentMap } from './recent-map.ts'
import type { Provider, UpstreamAnswer } from './upstream.ts'
import { isPassing, openCircuit, UpstreamFailure } from './upstream-failure.ts'

export interface CircuitOptions {
  /** So many failures in a row open a circuit, once they have gone on for half of `openMs`. */
  failures: number
  /** How long it stays open at first; each time that the trial after it fails, twice as long, up to a minute. */
  openMs: number
  log: Pick<Log, 'warn' | 'info'>
}

/** All of a provider's circuits in this process. */
export interface CircuitSummary {
  /** None is open, some are, all are. */
  status: 'up' | 'partial' | 'down'
  openCircuits: number
}

export interface Circuits {
  /** The provider behind a new circuit, which takes the place of an earlier one of the same owner's. `owner`: whose key it is; no secret. */
  protect(provider: Provider, owner: string): Provider
  /** By provider. */
  summarize(): Record<string, CircuitSummary>
}

const MAX_OPEN_MS = 60_000
/** Told while one request tries whether the provider is back. */
const TRIAL_WAIT_MS = 1_000
/** Older ones go on working, and are not counted any more. */
const MAX_SUMMARIZED = 10_000

interface Circuit {
  provider: string
  policy: CircuitBreakerPolicy
  /** Until it lets one request try. */
  waitMs(): number
}

export function createCircuits({ failures, openMs, log }: CircuitOptions): Circuits {
  const circuits = createRecentMap<Circuit>(MAX_SUMMARIZED)

  function createCircuit(provider: string, owner: string): Circuit {
    let openUntilMs = 0
    const policy: CircuitBreakerPolicy = circuitBreaker(
      // A trial that the client broke off has shown nothing: the next one is to try again.
      handleWhen(error => error instanceof UpstreamFailure || policy.state === CircuitState.HalfOpen).orWhenResult(
        answer => isFailing(answer as UpstreamAnswer),
      ),
      {
        breaker: createBreaker(failures, openMs / 2),
        halfOpenAfter: new DelegateBackoff(({ attempt }: { attempt: number }) => {
          const lengthMs = Math.min(MAX_OPEN_MS, openMs * 2 ** (attempt - 1))
          openUntilMs = Date.now() + lengthMs
          return lengthMs
        }),
      },
    )
    const waitMs = () => openUntilMs - Date.now()
    policy.onBreak(() => log.warn({ provider, owner, waitMs: waitMs() }, 'circuit opened'))
    policy.onReset(() => log.info({ provider, owner }, 'circuit closed'))
    return { provider, policy, waitMs }
  }

  return {
    protect(provider, owner) {
      const circuit = createCircuit(provider.name, owner)
      circuits.set(`${provider.name} ${owner}`, circuit)
      return {
        ...provider,
        async ask(request) {
          refuseIfOpen(circuit)
          return circuit.policy.execute(() => provider.ask(request))
        },
      }
    },
    summarize: () => summarize(circuits.values()),
  }
}

/**
 * Many requests at once may fail within a moment, before any of those that went well has its answer: of a provider that fails
 * now and then, that is no sign that it is down.
 */
function createBreaker(failures: number, spanMs: number): IBreaker {
  let inARow = 0
  let firstAtMs = 0
  return {
    state: null,
    success() {
      inARow = 0
    },
    failure() {
      if (inARow++ === 0) firstAtMs = Date.now()
      return inARow >= failures && Date.now() - firstAtMs >= spanMs
    },
  }
}

function refuseIfOpen({ provider, policy, waitMs }: Circuit): void {
  if (policy.state === CircuitState.HalfOpen) throw openCircuit(provider, TRIAL_WAIT_MS)
  if (policy.state === CircuitState.Open && waitMs() > 0) throw openCircuit(provider, waitMs())
}

/** Whether the provider says that it is unwell. Being asked too often does not count. */
function isFailing({ status }: UpstreamAnswer): boolean {
  return isPassing(status) && status !== 429
}

function summarize(circuits: Iterable<Circuit>): Record<string, CircuitSummary> {
  const counts = new Map<string, { open: number; all: number }>()
  for (const { provider, policy } of circuits) {
    const count = counts.get(provider) ?? { open: 0, all: 0 }
    counts.set(provider, count)
    count.all++
    if (policy.state !== CircuitState.Closed) count.open++
  }
  return Object.fromEntries(
    Array.from(counts, ([provider, { open, all }]) => {
      const status = open === 0 ? 'up' : open < all ? 'partial' : 'down'
      return [provider, { status, openCircuits: open }]
    }),
  )
}
