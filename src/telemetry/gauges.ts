/** What is read for each scrape. What is left of budgets comes from the database: it is the same whichever process is asked. */
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { remainingBudgets } from '../postgres/spending.ts'
import type { Metrics, MetricsSnapshot } from './metrics.ts'
import type { Refusals } from './refusals.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/** More series would burden Prometheus: those are told of which the least share is left. */
const MOST_BUDGETS = 500
const TIME_LIMIT_MS = 1_000

/** Empty when there are none, or the database does not answer in time: a scrape must tell of all else then. */
export async function readBudgetMetrics(database: Database): Promise<MetricsSnapshot> {
  const budgets = await withinTimeLimit(TIME_LIMIT_MS, remainingBudgets(database, MOST_BUDGETS)).catch(() => [])
  if (budgets.length === 0) return []
  return [
    {
      name: 'model_proxy_budget_remaining_usd',
      help: 'US dollars left of a budget in its present period.',
      type: 'gauge',
      labelNames: ['project', 'budget', 'per'],
      bounds: [],
      series: budgets.map(({ project, budget, per, remaining_usd }) => ({
        labels: [project, budget, per],
        value: remaining_usd,
        counts: [],
      })),
    },
  ]
}

/** What is counted elsewhere. */
export interface Gauged {
  refusals: Pick<Refusals, 'totals'>
  circuits: { summarize(): Record<string, { openCircuits: number }> }
  recorder: Pick<UsageRecorder, 'waiting'>
  database: Pick<Database, 'connections'>
  checkHealth(): Promise<{ dependencies: Record<string, { status: 'up' | 'down' }> }>
}

export function defineGauges(metrics: Metrics, { refusals, circuits, recorder, database, checkHealth }: Gauged): void {
  const refused = 'Refused requests, by the code of the error.'
  metrics.counter('model_proxy_refused_total', refused, ['reason'], family => {
    for (const [reason, total] of Object.entries(refusals.totals())) family.with(reason).value = total
  })
  metrics.gauge('model_proxy_circuits_open', 'Open circuits.', ['provider'], family => {
    for (const [provider, { openCircuits }] of Object.entries(circuits.summarize())) {
      family.with(provider).value = openCircuits
    }
  })
  let stores: Record<string, { status: 'up' | 'down' }> = {}
  metrics.gauge('model_proxy_stores_up', 'Processes that reach the store.', ['store'], family => {
    for (const [store, { status }] of Object.entries(stores)) family.with(store).value = status === 'up' ? 1 : 0
    // The answer is for the next scrape: this one does not wait.
    void checkHealth().then(health => {
      stores = health.dependencies
    })
  })
  metrics.gauge('model_proxy_database_connections', 'Connections of requests to PostgreSQL.', ['state'], family => {
    const { open, most } = database.connections()
    family.with('open').value = open
    family.with('most').value = most
  })
  metrics.gauge('model_proxy_records_waiting', 'Usage records that are not written yet.', [], family => {
    family.with().value = recorder.waiting()
  })
}
