/** Reads what a month's report tells. */
import type { Database } from './database.ts'
import { defineStatement, readOne, text } from './statement.ts'

export interface ReportedDay {
  /** ISO 8601. */
  bucket_start: string
  requests: number
  exact_hits: number
  semantic_hits: number
  misses: number
  client_errors: number
  server_errors: number
  tokens_saved: number
  cost_usd: number
  saved_usd: number
}

export interface ReportedShare {
  name: string
  requests: number
  hits: number
  failed: number
  tokens: number
  cost_usd: number
  saved_usd: number
}

export interface MonthlyReport {
  /** `2026-10`. */
  month: string
  projects: string[]
  /** In UTC; days without requests are left out. */
  days: ReportedDay[]
  models: ReportedShare[]
  keys: ReportedShare[]
  /** `team=search`. */
  tags: ReportedShare[]
  /** By the cache's reason; empty where none was recorded. The dearest first. */
  misses: { name: string; requests: number; cost_usd: number }[]
  /** Hits that people called wrong. */
  wrong_hits: number
}

const READ = defineStatement('select monthly_report($1::text, $2::text)::text as report', { report: text() })

/** Of all projects where `project` is empty, of the current month where `month` is. Rejects with a one-line error for an unknown one. */
export async function readMonthlyReport(database: Database, project: string, month: string): Promise<MonthlyReport> {
  const { report } = await readOne(database, READ, [project, month])
  return JSON.parse(report)
}
