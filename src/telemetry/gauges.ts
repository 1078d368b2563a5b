/** What is read for each scrape. What is left of budgets comes from the database: it is the same whichever process is asked. */
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { FailureReporter } from './failure-reporter.ts'
import { createMetrics, type Metrics, type MetricsSnapshot } from './metrics.ts'
import { valuesOf } from './proxy-families.ts'
import type { Refusals } from './refusals.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/** More series would burden Prometheus: those are told of which the least share is left. */
const MOST_BUDGETS = 500
const TIME_LIMIT_MS = 1_000

/** Empty when there are none, or the database does not answer in time: a scrape must tell of all else then. */
export async function readBudgetMetrics(database: Database): Promise<MetricsSnapshot> {
  const asked = call(database, 'remaining_budgets', { at_most: MOST_BUDGETS })
  const budgets = await withinTimeLimit(TIME_LIMIT_MS, asked).catch(() => [])
  const metrics = createMetrics()
  const remaining = valuesOf(metrics, 'model_proxy_budget_remaining_usd')
  for (const { project, budget, per, remaining_usd } of budgets)
    remaining.with(project, budget, per).value = remaining_usd
  return budgets.length === 0 ? [] : metrics.snapshot()
}

/** What is counted elsewhere. */
export interface Gauged {
  refusals: Pick<Refusals, 'totals'>
  circuits: { summarize(): Record<string, { openCircuits: number }> }
  recorder: Pick<UsageRecorder, 'waiting' | 'dropped'>
  failures: Pick<FailureReporter, 'totals'>
  database: Pick<Database, 'connections'>
  streams: Pick<StreamMemory, 'heldBytes' | 'mostBytes' | 'cuts'>
  checkHealth(): Promise<{ dependencies: Record<string, { status: 'up' | 'down' }> }>
}

export function defineGauges(metrics: Metrics, gauged: Gauged): void {
  const { refusals, circuits, recorder, failures, database, streams, checkHealth } = gauged
  valuesOf(metrics, 'model_proxy_refused_total', family => {
    for (const [reason, total] of Object.entries(refusals.totals())) family.with(reason).value = total
  })
  valuesOf(metrics, 'model_proxy_circuits_open', family => {
    for (const [provider, { openCircuits }] of Object.entries(circuits.summarize())) {
      family.with(provider).value = openCircuits
    }
  })
  let stores: Record<string, { status: 'up' | 'down' }> = {}
  valuesOf(metrics, 'model_proxy_stores_up', family => {
    for (const [store, { status }] of Object.entries(stores)) family.with(store).value = status === 'up' ? 1 : 0
    // The answer is for the next scrape: this one does not wait.
    void checkHealth().then(health => {
      stores = health.dependencies
    })
  })
  valuesOf(metrics, 'model_proxy_database_connections', family => {
    const { open, most } = database.connections()
    family.with('open').value = open
    family.with('most').value = most
  })
  valuesOf(metrics, 'model_proxy_stream_bytes', family => {
    family.with('held').value = streams.heldBytes
    family.with('most').value = streams.mostBytes
  })
  valuesOf(metrics, 'model_proxy_streams_cut_total', family => {
    family.with().value = streams.cuts
  })
  valuesOf(metrics, 'model_proxy_records_waiting', family => {
    family.with().value = recorder.waiting()
  })
  valuesOf(metrics, 'model_proxy_dropped_records_total', family => {
    family.with().value = recorder.dropped().records
  })
  valuesOf(metrics, 'model_proxy_dropped_usd_total', family => {
    family.with().value = recorder.dropped().usd
  })
  valuesOf(metrics, 'model_proxy_failures_total', family => {
    for (const [what, total] of failures.totals()) family.with(what).value = total
  })
}
