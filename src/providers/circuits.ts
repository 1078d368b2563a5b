/** Circuits of providers: one that keeps failing for a key is not called for a while, and requests for it fail at once. */
import { LRUCache } from 'lru-cache'
import type { Log } from '../telemetry/log.ts'
import { type Breaker, type BreakerOptions, createBreaker, type Outcome } from './breaker.ts'
import type { Provider, UpstreamAnswer } from './upstream.ts'
import { isPassing, openCircuit, UpstreamFailure } from './upstream-failure.ts'

export interface CircuitOptions extends Pick<BreakerOptions, 'failures' | 'openMs'> {
  log: Pick<Log, 'warn' | 'info'>
}

/** Summary of a provider's circuits in this process. */
export interface CircuitSummary {
  /** up: none is open; partial: some are; down: all are. */
  status: 'up' | 'partial' | 'down'
  openCircuits: number
}

export interface Circuits {
  /**
   * Puts the provider behind a new circuit, which replaces an earlier one of the same owner. `owner` identifies the key without being
   * secret.
   */
  protect(provider: Provider, owner: string): Provider
  /** By provider. */
  summarize(): Record<string, CircuitSummary>
}

/** Beyond this, the oldest circuits still work but are not summarized. */
const MAX_SUMMARIZED = 10_000

interface Circuit {
  provider: string
  breaker: Breaker
}

export function createCircuits({ failures, openMs, log }: CircuitOptions): Circuits {
  const circuits = new LRUCache<string, Circuit>({ max: MAX_SUMMARIZED })

  return {
    protect(provider, owner) {
      const about = { provider: provider.name, owner }
      const breaker = createBreaker({
        failures,
        openMs,
        onOpen: waitMs => log.warn({ ...about, waitMs }, 'circuit opened'),
        onClose: () => log.info(about, 'circuit closed'),
      })
      circuits.set(`${provider.name} ${owner}`, { provider: provider.name, breaker })
      const { name, pass } = provider
      return {
        ...provider,
        ask: request => askThrough(breaker, name, () => provider.ask(request)),
        ...(pass && { pass: request => askThrough(breaker, name, () => pass(request)) }),
      }
    },
    summarize: () => summarize(circuits.values()),
  }
}

async function askThrough(
  breaker: Breaker,
  provider: string,
  ask: () => Promise<UpstreamAnswer>,
): Promise<UpstreamAnswer> {
  const entered = breaker.enter()
  if ('waitMs' in entered) throw openCircuit(provider, entered.waitMs)
  try {
    const answer = await ask()
    entered.settle(outcomeOf(answer))
    return answer
  } catch (error) {
    entered.settle(error instanceof UpstreamFailure ? 'failed' : 'unknown')
    throw error
  }
}

/** Whether the response shows that the provider is unhealthy. A rate limit does not. */
function outcomeOf({ status }: UpstreamAnswer): Outcome {
  return isPassing(status) && status !== 429 ? 'failed' : 'well'
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
