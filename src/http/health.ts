/** GET /v1/health: whether the proxy and what it depends on are well. */

import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { pingDatabase } from '../postgres/ping.ts'
import type { CircuitSummary, Circuits } from '../providers/circuits.ts'
import type { FastStore } from '../stores/fast-store.ts'

const POSTGRES_TIME_LIMIT_MS = 800
const REDIS_TIME_LIMIT_MS = 400

export interface DependencyHealth {
  status: 'up' | 'down'
  /** embedded, real; in-process, redis. */
  kind: string
  latencyMs: number
}

export interface Health {
  /** degraded: requests are answered, but without Redis. down: none is, for keys cannot be checked. */
  status: 'ok' | 'degraded' | 'down'
  dependencies: { postgres: DependencyHealth; redis: DependencyHealth }
  /** Providers that this process has been asked for. One that is down leaves the proxy's own status alone. */
  upstreams: Record<string, CircuitSummary>
}

export interface HealthOptions {
  database: Database
  store: FastStore
  circuits: Pick<Circuits, 'summarize'>
}

export async function checkHealth({ database, store, circuits }: HealthOptions): Promise<Health> {
  const [postgres, redis] = await Promise.all([
    probe(database.footing, POSTGRES_TIME_LIMIT_MS, () => pingDatabase(database)),
    probe(store.kind, REDIS_TIME_LIMIT_MS, () => store.ping()),
  ])
  const status = postgres.status === 'down' ? 'down' : redis.status === 'down' ? 'degraded' : 'ok'
  return { status, dependencies: { postgres, redis }, upstreams: circuits.summarize() }
}

async function probe(kind: string, limitMs: number, ask: () => Promise<unknown>): Promise<DependencyHealth> {
  const startedAt = performance.now()
  const status = await withinTimeLimit(limitMs, ask()).then(
    () => 'up' as const,
    () => 'down' as const,
  )
  return { status, kind, latencyMs: Math.round((performance.now() - startedAt) * 1000) / 1000 }
}
