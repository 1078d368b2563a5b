/** Reads what a month's report tells. */
import type { OverviewRow, ShareRow } from './admin/rows.ts'
import type { Database } from './database.ts'
import { defineStatement, readOne, text } from './statement.ts'

export interface MonthlyReport {
  /** `2026-10`. */
  month: string
  projects: string[]
  /** In UTC; days without requests are left out. */
  days: OverviewRow[]
  models: ShareRow[]
  keys: ShareRow[]
  /** `team=search`. */
  tags: ShareRow[]
  /** By the cache's reason; empty where none was recorded. The dearest first. */
  misses: { name: string; requests: number; cost_usd: number }[]
  /** Hits that people called wrong. */
  wrong_hits: number
}

const READ = defineStatement('select model_proxy.monthly_report($1::text, $2::text)::text as report', {
  report: text(),
})

/** Of all projects where `project` is empty, of the current month where `month` is. Rejects with a one-line error for an unknown one. */
export async function readMonthlyReport(database: Database, project: string, month: string): Promise<MonthlyReport> {
  const { report } = await readOne(database.lagging, READ, [project, month])
  return JSON.parse(report)
}
