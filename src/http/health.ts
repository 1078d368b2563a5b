/** GET /v1/health: whether the proxy and its dependencies work. */

import { msSince } from '../event-loop/clock.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { pingDatabase } from '../postgres/connection-limits.ts'
import type { Database, StandbyState } from '../postgres/database.ts'
import type { PrimaryProblem } from '../postgres/primary-tracker.ts'
import type { CircuitBreakers, CircuitSummary } from '../providers/circuit-breakers.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { FailureCategory, FailureReporter } from '../telemetry/failure-reporter.ts'

const POSTGRES_TIME_LIMIT_MS = 800
const REDIS_TIME_LIMIT_MS = 400
/** Requests within this time share one result: health needs no key, and must not be a way to load the stores. */
const PROBE_EVERY_MS = 1_000

export interface DependencyHealth {
  status: 'up' | 'down'
  /** embedded or real for PostgreSQL; in-process or redis for Redis. */
  kind: string
  latencyMs: number
}

type PostgresProblem = PrimaryProblem | 'disk full'

export interface PostgresHealth extends DependencyHealth {
  /**
   * Two servers take writes, and the one on the higher timeline is used; or there is only one that was left behind, which is not used; or it
   * has no room for what is to be written.
   */
  problem?: PostgresProblem
  /** Those of DATABASE_STANDBY_URL, in its order. One that is not up does not change the proxy's own status. */
  standbys?: StandbyState[]
}

export interface RedisHealth extends DependencyHealth {
  /** Entries and messages with a wrong integrity tag that this process has found since its start; none of them was used. */
  wrongTags: number
}

export interface Health {
  /**
   * degraded: requests are answered, but without Redis, or there are two primaries, or the database's disk is full, or the memory for what
   * clients have not read is, or work is failing. down: none is, because keys cannot be checked.
   */
  status: 'ok' | 'degraded' | 'down'
  dependencies: { postgres: PostgresHealth; redis: RedisHealth }
  /** What fails at present in this process; the log says why. While PostgreSQL is down, that is all that is said. */
  failing: FailureCategory[]
  /** Providers that this process has called. One that is down does not change the proxy's own status. */
  upstreams: Record<string, CircuitSummary>
  /** This process’s memory budget for what clients have not read yet. Full: no new stream or large response begins. */
  streams: { heldBytes: number; mostBytes: number; isFull: boolean }
}

export interface HealthOptions {
  database: Database
  store: FastStore
  circuits: Pick<CircuitBreakers, 'summarize'>
  streams: Pick<StreamMemory, 'heldBytes' | 'maxBytes' | 'isFull'>
  failures: Pick<FailureReporter, 'listFailing' | 'recoverAll'>
}

/** Returns a function that probes the stores at most once a second, whatever the number of callers. */
export function createHealthCheck({
  database,
  store,
  circuits,
  streams,
  failures,
}: HealthOptions): () => Promise<Health> {
  let probing: Promise<{ postgres: PostgresHealth; redis: DependencyHealth }> | null = null
  let probedAtMs = 0
  let wasDown = false

  async function probeStores() {
    const [postgres, redis, standbys] = await Promise.all([
      probe(database.backend, POSTGRES_TIME_LIMIT_MS, () => pingDatabase(database)),
      probe(store.kind, REDIS_TIME_LIMIT_MS, () => store.ping()),
      database.standbys?.states(),
    ])
    return { postgres: { ...postgres, ...(standbys && { standbys }) }, redis }
  }

  return async () => {
    const nowMs = performance.now()
    if (probing === null || nowMs - probedAtMs >= PROBE_EVERY_MS) {
      probedAtMs = nowMs
      probing = probeStores()
    }
    const { postgres, redis } = await probing
    const problem: PostgresProblem | null = database.primary?.problem ?? (database.disk.isFull ? 'disk full' : null)
    const isDown = postgres.status === 'down'
    // All that failed without the database is retried: what fails still is reported again.
    if (isDown || wasDown) failures.recoverAll()
    wasDown = isDown
    const failing = failures.listFailing()
    const { heldBytes, maxBytes, isFull } = streams
    const isDegraded = redis.status === 'down' || problem !== null || isFull || failing.length > 0
    const status = isDown ? 'down' : isDegraded ? 'degraded' : 'ok'
    const dependencies = {
      postgres: problem ? { ...postgres, problem } : postgres,
      redis: { ...redis, wrongTags: store.invalidSignatures?.() ?? 0 },
    }
    return {
      status,
      dependencies,
      failing,
      upstreams: circuits.summarize(),
      streams: { heldBytes, mostBytes: maxBytes, isFull },
    }
  }
}

async function probe(kind: string, limitMs: number, ask: () => Promise<unknown>): Promise<DependencyHealth> {
  const startedAt = performance.now()
  const status = await withTimeout(limitMs, ask()).then(
    () => 'up' as const,
    () => 'down' as const,
  )
  return { status, kind, latencyMs: msSince(startedAt) }
}
