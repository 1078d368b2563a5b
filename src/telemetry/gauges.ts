/** Defines the metrics that are read at each scrape. Remaining budgets are read from the database, so they are the same in all processes. */
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { FailureReporter } from './failure-reporter.ts'
import { createValueFamily } from './metric-definitions.ts'
import { createMetrics, type Metrics, type MetricsSnapshot } from './metrics.ts'
import type { RejectionCounter } from './rejection-counter.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/** The number of budgets that are exported, those with the smallest share left first. More series would burden Prometheus. */
const MAX_BUDGETS = 500
const TIME_LIMIT_MS = 1_000

/**
 * Returns an empty snapshot when there are no budgets, or when the database does not respond in time, so that a scrape still returns all
 * other metrics.
 */
export async function readBudgetMetrics(database: Database): Promise<MetricsSnapshot> {
  const reading = callFunction(database, 'remaining_budgets', { max_rows: MAX_BUDGETS })
  const budgets = await withTimeout(TIME_LIMIT_MS, reading).catch(() => [])
  const metrics = createMetrics()
  const remaining = createValueFamily(metrics, 'model_proxy_budget_remaining_usd')
  for (const { project, budget, per, remaining_usd } of budgets)
    remaining.with(project, budget, per).value = remaining_usd
  return budgets.length === 0 ? [] : metrics.snapshot()
}

/** The objects whose counts are read at each scrape. */
export interface GaugeSources {
  rejections: Pick<RejectionCounter, 'totals'>
  circuits: { summarize(): Record<string, { openCircuits: number }> }
  recorder: Pick<UsageRecorder, 'waiting' | 'dropped'>
  failures: Pick<FailureReporter, 'totals'>
  database: Pick<Database, 'connections'>
  streams: Pick<StreamMemory, 'heldBytes' | 'maxBytes' | 'disconnects'>
  checkHealth(): Promise<{ dependencies: Record<string, { status: 'up' | 'down' }> }>
}

export function defineGauges(metrics: Metrics, sources: GaugeSources): void {
  const { rejections, circuits, recorder, failures, database, streams, checkHealth } = sources
  createValueFamily(metrics, 'model_proxy_refused_total', family => {
    for (const [reason, total] of Object.entries(rejections.totals())) family.with(reason).value = total
  })
  createValueFamily(metrics, 'model_proxy_circuits_open', family => {
    for (const [provider, { openCircuits }] of Object.entries(circuits.summarize())) {
      family.with(provider).value = openCircuits
    }
  })
  let stores: Record<string, { status: 'up' | 'down' }> = {}
  createValueFamily(metrics, 'model_proxy_stores_up', family => {
    for (const [store, { status }] of Object.entries(stores)) family.with(store).value = status === 'up' ? 1 : 0
    // The result is exported with the next scrape, because this one does not wait for it.
    void checkHealth().then(health => {
      stores = health.dependencies
    })
  })
  createValueFamily(metrics, 'model_proxy_database_connections', family => {
    const { open, most } = database.connections()
    family.with('open').value = open
    family.with('most').value = most
  })
  createValueFamily(metrics, 'model_proxy_stream_bytes', family => {
    family.with('held').value = streams.heldBytes
    family.with('most').value = streams.maxBytes
  })
  createValueFamily(metrics, 'model_proxy_streams_cut_total', family => {
    family.with().value = streams.disconnects
  })
  createValueFamily(metrics, 'model_proxy_records_waiting', family => {
    family.with().value = recorder.waiting()
  })
  createValueFamily(metrics, 'model_proxy_dropped_records_total', family => {
    family.with().value = recorder.dropped().records
  })
  createValueFamily(metrics, 'model_proxy_dropped_usd_total', family => {
    family.with().value = recorder.dropped().usd
  })
  createValueFamily(metrics, 'model_proxy_failures_total', family => {
    for (const [what, total] of failures.totals()) family.with(what).value = total
  })
}
