/** Implements GET /v1/health, which reports whether the proxy and its dependencies work, and the probes /livez and /readyz. */
import { msSince } from '../event-loop/clock.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import type { RouteTarget } from '../pipeline/request/request.ts'
import { pingDatabase } from '../postgres/connection-limits.ts'
import type { Database, StandbyState } from '../postgres/database.ts'
import type { PrimaryProblem } from '../postgres/primary-tracker.ts'
import type { CircuitBreakers, CircuitSummary } from '../providers/circuit-breakers.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { FailureCategory, FailureReporter } from '../telemetry/failure-reporter.ts'

const POSTGRES_TIME_LIMIT_MS = 800
const REDIS_TIME_LIMIT_MS = 400
/** Requests within this time share one result: health needs no key, and must not become a way to overload the stores. */
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
   * Two servers accept writes, and the one on the higher timeline is used; or the only one is outdated, and is not used; or its disk is
   * full.
   */
  problem?: PostgresProblem
  /** The standbys of DATABASE_STANDBY_URL, in its order. A standby that is down does not change the proxy's own status. */
  standbys?: StandbyState[]
}

export interface RedisHealth extends DependencyHealth {
  /** Number of entries and messages with a wrong integrity tag since the process started. None of them was used. */
  wrongTags: number
}

export interface Health {
  /**
   * degraded: requests are served, but Redis is down, there are two primaries, the database's disk is full, the memory for unread data is
   * full, or background work is failing. down: no request is served, because keys cannot be checked.
   */
  status: 'ok' | 'degraded' | 'down'
  dependencies: { postgres: PostgresHealth; redis: RedisHealth }
  /** Kinds of work that currently fail in this process; the log has the causes. While PostgreSQL is down, nothing else is reported. */
  failing: FailureCategory[]
  /** Providers that this process has called. One that is down does not change the proxy's own status. */
  upstreams: Record<string, CircuitSummary>
  /** This process’s memory budget for data that clients have not read yet. When it is full, no new stream or large response begins. */
  streams: { heldBytes: number; mostBytes: number; isFull: boolean }
}

export interface HealthOptions {
  database: Database
  store: FastStore
  circuits: Pick<CircuitBreakers, 'summarize'>
  streams: Pick<StreamMemory, 'heldBytes' | 'maxBytes' | 'isFull'>
  failures: Pick<FailureReporter, 'listFailing' | 'recoverAll'>
}

/** Returns a function that probes the stores at most once a second, for any number of callers. */
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
    // Everything that failed without the database is retried, and reported again if it still fails.
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

async function probe(kind: string, limitMs: number, ping: () => Promise<unknown>): Promise<DependencyHealth> {
  const startedAt = performance.now()
  const status = await withTimeout(limitMs, ping()).then(
    () => 'up' as const,
    () => 'down' as const,
  )
  return { status, kind, latencyMs: msSince(startedAt) }
}

export type Probe = Extract<RouteTarget, { kind: 'probe' }>['probe']

/** GET /livez reports that the process runs, GET /readyz that it can serve requests and is not draining. */
export interface Readiness<H = Health> {
  /** Makes /readyz return 503, and each response close its connection. */
  beginDrain(): void
  isDraining(): boolean
  checkHealth(): Promise<H>
  probe(probe: Probe): Promise<{ value: { status: string }; status: number }>
}

/** Creates the readiness state. It does not check for migrations, because a server listens only after they have run. */
export function createReadiness<H extends Pick<Health, 'status'>>(checkHealth: () => Promise<H>): Readiness<H> {
  let isDraining = false
  return {
    beginDrain() {
      isDraining = true
    },
    isDraining: () => isDraining,
    checkHealth,
    async probe(probe) {
      if (probe === 'livez') return { value: { status: 'alive' }, status: 200 }
      if (isDraining) return { value: { status: 'draining' }, status: 503 }
      const { status } = await checkHealth()
      // Requests are also served without Redis.
      return status === 'down' ? { value: { status }, status: 503 } : { value: { status: 'ready' }, status: 200 }
    },
  }
}
