/** What is read for each scrape. What is left of budgets comes from the database: it is the same whichever process is asked. */
import type { StreamRoom } from '../event-loop/stream-room.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { Metrics, MetricsSnapshot } from './metrics.ts'
import type { Refusals } from './refusals.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/** More series would burden Prometheus: those are told of which the least share is left. */
const MOST_BUDGETS = 500
const TIME_LIMIT_MS = 1_000

/** Empty when there are none, or the database does not answer in time: a scrape must tell of all else then. */
export async function readBudgetMetrics(database: Database): Promise<MetricsSnapshot> {
  const asked = call(database, 'remaining_budgets', { at_most: MOST_BUDGETS })
  const budgets = await withinTimeLimit(TIME_LIMIT_MS, asked).catch(() => [])
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
  streams: Pick<StreamRoom, 'heldBytes' | 'mostBytes' | 'cuts'>
  checkHealth(): Promise<{ dependencies: Record<string, { status: 'up' | 'down' }> }>
}

export function defineGauges(metrics: Metrics, gauged: Gauged): void {
  const { refusals, circuits, recorder, database, streams, checkHealth } = gauged
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
  const unread = 'Memory for what clients have not read of their streams.'
  metrics.gauge('model_proxy_stream_bytes', unread, ['state'], family => {
    family.with('held').value = streams.heldBytes
    family.with('most').value = streams.mostBytes
  })
  const cut = 'Readers of streams that were cut off so that others have room.'
  metrics.counter('model_proxy_streams_cut_total', cut, [], family => {
    family.with().value = streams.cuts
  })
  metrics.gauge('model_proxy_records_waiting', 'Usage records that are not written yet.', [], family => {
    family.with().value = recorder.waiting()
  })
}
