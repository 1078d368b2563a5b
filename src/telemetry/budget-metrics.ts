/** What is left of budgets, read from the database for each scrape: it is the same whichever process is asked. */
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { remainingBudgets } from '../postgres/spending.ts'
import type { MetricsSnapshot } from './metrics.ts'

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
