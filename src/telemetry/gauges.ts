/** What is read for each scrape. What is left of budgets comes from the database: it is the same whichever process is asked. */
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { FailureReporter } from './failure-reporter.ts'
import { createValueFamily } from './metric-definitions.ts'
import { createMetrics, type Metrics, type MetricsSnapshot } from './metrics.ts'
import type { RejectionCounter } from './rejection-counter.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/** More series would burden Prometheus: those are told of which the least share is left. */
const MOST_BUDGETS = 500
const TIME_LIMIT_MS = 1_000

/** Empty when there are none, or the database does not answer in time: a scrape must tell of all else then. */
export async function readBudgetMetrics(database: Database): Promise<MetricsSnapshot> {
  const asked = callFunction(database, 'remaining_budgets', { at_most: MOST_BUDGETS })
  const budgets = await withTimeout(TIME_LIMIT_MS, asked).catch(() => [])
  const metrics = createMetrics()
  const remaining = createValueFamily(metrics, 'model_proxy_budget_remaining_usd')
  for (const { project, budget, per, remaining_usd } of budgets)
    remaining.with(project, budget, per).value = remaining_usd
  return budgets.length === 0 ? [] : metrics.snapshot()
}

/** What is counted elsewhere. */
export interface GaugeSources {
  rejections: Pick<RejectionCounter, 'totals'>
  circuits: { summarize(): Record<string, { openCircuits: number }> }
  recorder: Pick<UsageRecorder, 'waiting' | 'dropped'>
  failures: Pick<FailureReporter, 'totals'>
  database: Pick<Database, 'connections'>
  streams: Pick<StreamMemory, 'heldBytes' | 'maxBytes' | 'disconnects'>
  checkHealth(): Promise<{ dependencies: Record<string, { status: 'up' | 'down' }> }>
}

export function defineGauges(metrics: Metrics, gauged: GaugeSources): void {
  const { rejections, circuits, recorder, failures, database, streams, checkHealth } = gauged
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
    // The answer is for the next scrape: this one does not wait.
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
