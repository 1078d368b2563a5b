/** The circuits of all provider keys of this process, and a summary of them for each provider. */

import { LRUCache } from 'lru-cache'
import type { Log } from '../telemetry/log.ts'
import { CircuitBreaker, type CircuitBreakerOptions } from './circuit-breaker.ts'
import { KeyCircuits, type KeyStatus } from './key-circuits.ts'
import { type Provider, wrapProvider } from './upstream.ts'

export interface CircuitBreakersOptions extends Pick<CircuitBreakerOptions, 'failures' | 'openMs'> {
  log: Pick<Log, 'warn' | 'info'>
  /** Whether everyone may know the model's name. By default, no name is. */
  isPublicModel?(provider: Provider, model: string): boolean
  /** Called when a circuit opens, and when it opens again after a trial. */
  onOpen?(provider: string, projectId: number, waitMs: number): void
}

/** A summary of a provider's circuits in this process. */
export interface CircuitSummary {
  status: KeyStatus
  openCircuits: number
  /** Public names of failing models, while others respond with the same key; absent when there are none. */
  openModels?: readonly string[]
}

export interface CircuitBreakers {
  /** Returns the provider behind new circuits. They replace the earlier ones of the same owner: the project, or one of its named keys. */
  protect(provider: Provider, projectId: number, key?: string): Provider
  /** Returns a summary for each provider. */
  summarize(): Record<string, CircuitSummary>
}

/** With more keys than this, the circuits of the least recently created still work but are not summarized. */
const MAX_SUMMARIZED = 10_000
/** Models that a summary names. */
const MAX_NAMED = 20

export function createCircuitBreakers({
  failures,
  openMs,
  log,
  onOpen,
  isPublicModel = () => false,
}: CircuitBreakersOptions): CircuitBreakers {
  const keys = new LRUCache<string, KeyCircuits>({ max: MAX_SUMMARIZED })

  return {
    protect(provider, projectId, key = '') {
      const owner = { provider: provider.name, owner: `project ${projectId}`, ...(key !== '' && { key }) }
      const circuits = new KeyCircuits(provider, openMs, model => {
        const fields = { ...owner, ...(model !== null && { model }) }
        return new CircuitBreaker({
          failures,
          openMs,
          onOpen(waitMs) {
            log.warn({ ...fields, waitMs }, 'circuit opened')
            onOpen?.(provider.name, projectId, waitMs)
          },
          onClose: () => log.info(fields, 'circuit closed'),
        })
      })
      keys.set(`${provider.name} ${projectId} ${key}`, circuits)
      return wrapProvider(provider, (send, request) => circuits.send(send, request))
    },
    summarize: () => summarize(keys.values(), isPublicModel),
  }
}

function summarize(
  keys: Iterable<KeyCircuits>,
  isPublicModel: NonNullable<CircuitBreakersOptions['isPublicModel']>,
): Record<string, CircuitSummary> {
  const summaries = new Map<string, Required<CircuitSummary>>()
  for (const key of keys) {
    const { provider } = key
    const { status, openCircuits, openModels } = key.summarize()
    const before = summaries.get(provider.name)
    const named = openModels.filter(model => isPublicModel(provider, model))
    summaries.set(provider.name, {
      status: before === undefined || before.status === status ? status : 'partial',
      openCircuits: openCircuits + (before?.openCircuits ?? 0),
      openModels: [...new Set([...(before?.openModels ?? []), ...named])].slice(0, MAX_NAMED),
    })
  }
  return Object.fromEntries(
    Array.from(summaries, ([name, { openModels, ...summary }]) => [
      name,
      openModels.length > 0 ? { ...summary, openModels } : summary,
    ]),
  )
}
