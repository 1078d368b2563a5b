/** Converts LiteLLM's budgets, which have any duration, into budgets per day, week, month or in total. No budget allows more than before. */
import { nowMs } from '../../event-loop/clock.ts'
import { isJsonObject, type JsonObject } from '../../formats/json/canonical.ts'
import type { ImportReport } from './report.ts'
import { asNumber, asObject, asText } from './source.ts'

const DAY_SECONDS = 86_400
const UNIT_SECONDS: Readonly<Record<string, number>> = {
  ...{ s: 1, m: 60, h: 3_600, d: DAY_SECONDS, w: 7 * DAY_SECONDS, mo: 30 * DAY_SECONDS },
}
const PERIODS = [
  ['month', 30 * DAY_SECONDS],
  ['week', 7 * DAY_SECONDS],
  ['day', DAY_SECONDS],
] as const

export interface PlannedBudget {
  /** The project's id at LiteLLM. */
  project: string
  /** The hash of the key; null: all keys of the project. */
  key: string | null
  model: string | null
  per: 'day' | 'week' | 'month' | 'total'
  /** US dollars. */
  amount: number
  /** US dollars spent in LiteLLM's present period. */
  spent: number
}

export interface BudgetScope {
  project: string
  key?: string
  model?: string
  /** For the report, such as `team search`. */
  of: string
  /** Keys among which the amount is divided. */
  shares?: number
}

/** Returns the period and the factor by which the amount changes; null if the duration is not known. */
export function convertDuration(duration: string | null): { per: PlannedBudget['per']; factor: number } | null {
  if (duration === null) return { per: 'total', factor: 1 }
  const [, count, unit = ''] = /^(\d+)(s|m|h|d|w|mo)$/.exec(duration) ?? []
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0)
  if (!(seconds > 0)) return null
  // LiteLLM resets a budget of 28 to 31 days at the beginning of a month.
  if (seconds >= 28 * DAY_SECONDS && seconds <= 31 * DAY_SECONDS) return { per: 'month', factor: 1 }
  const [per, length] = PERIODS.find(([, length]) => length <= seconds) ?? PERIODS[2]
  return { per, factor: length / seconds }
}

export class BudgetPlanner {
  readonly #budgets = new Map<string, PlannedBudget>()
  readonly #report: ImportReport

  constructor(report: ImportReport) {
    this.#report = report
  }

  get budgets(): PlannedBudget[] {
    return [...this.#budgets.values()]
  }

  /** Adds the budget of a row with max_budget, budget_duration, budget_reset_at and spend, if it has one. */
  add(scope: BudgetScope, row: JsonObject): void {
    const max = asNumber(row.max_budget)
    if (max === null) return
    const duration = asText(row.budget_duration)
    const converted = convertDuration(duration)
    const { per, factor } = converted ?? { per: 'total', factor: 1 }
    const shares = scope.shares ?? 1
    const amount = roundUsd((max * factor) / shares)
    const reset = asText(row.budget_reset_at)
    // LiteLLM resets the amount at the next run of a job.
    const isReset = reset !== null && Date.parse(toUtc(reset)) <= nowMs()
    const spent = isReset ? 0 : roundUsd((asNumber(row.spend) ?? 0) / shares)
    const planned = { project: scope.project, key: scope.key ?? null, model: scope.model ?? null, per, amount, spent }
    const name = JSON.stringify([planned.project, planned.key, planned.model, per])
    const known = this.#budgets.get(name)
    if (!known || amount < known.amount) this.#budgets.set(name, planned)
    const notes = [
      ...(converted ? [] : [`its duration ${duration} is not known: it does not begin again`]),
      ...(factor === 1 ? [] : [`$${max} per ${duration}, at the same rate`]),
      ...(shares === 1 ? [] : [`divided among ${shares} keys`]),
      ...(known ? ['two budgets of one period: the lower applies'] : []),
    ]
    this.#report.add(
      'budget',
      scope.of,
      `$${amount} ${per === 'total' ? 'in total' : `per ${per}`}, $${spent} spent`,
      notes.join('; '),
    )
  }

  /** Adds budgets per model: `{"gpt-4o": {"max_budget": 5, "budget_duration": "1d"}}`, or with the former names of both fields. */
  addByModel(scope: BudgetScope, row: JsonObject, modelOf: (name: string) => string): void {
    for (const [name, value] of Object.entries(asObject(row.model_max_budget))) {
      const limit = isJsonObject(value) ? value : { max_budget: value }
      this.add(
        { ...scope, model: modelOf(name), of: `${scope.of}, model ${name}` },
        {
          max_budget: limit.max_budget ?? limit.budget_limit,
          budget_duration: limit.budget_duration ?? limit.time_period,
          spend: asObject(row.model_spend)[name],
        },
      )
    }
  }
}

/** The largest amount of a budget. */
const MAX_USD = 999_999_999
const roundUsd = (usd: number) => Math.min(MAX_USD, Math.max(0, Math.round(usd * 1e9) / 1e9))

/** Prisma's timestamps have no time zone, and are UTC. */
export const toUtc = (timestamp: string) => (/(Z|[+-]\d\d(:?\d\d)?)$/.test(timestamp) ? timestamp : `${timestamp}Z`)
