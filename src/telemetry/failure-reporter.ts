/**
 * Reports failures of work that no client is waiting for: background loops, and writes after the response. Each failure is logged, counted in
 * `model_proxy_failures_total`, and degrades /v1/health while it lasts.
 */
import { msSince } from '../event-loop/clock.ts'
import { describeCause } from './describe-cause.ts'

/** The categories of failures, which are the values of the metric's label `what`, with their descriptions in docs/metrics.md. */
export const FAILURE_CATEGORIES = {
  database: 'calling one of the proxy’s SQL functions',
  request: 'answering an API request: an unexpected error (500)',
  dashboard:
    'answering a request of the dashboard or the admin API: an unexpected error, or a missing database privilege',
  lookup: 'looking up a request in the cache: it was a miss',
  store: 'storing a response, its vector or a change of either',
  embed: 'embedding a prompt',
  record: 'writing usage records: they wait in memory',
  record_dropped: 'writing usage records: they are lost, counted in `model_proxy_dropped_records_total`',
  request_detail: 'writing the content of a request, a semantic hit, or a count of rejections: it is lost',
  sums: 'adding usage to the rollups that reports read',
  clock: 'reading the database’s clock',
  sweep: 'deleting expired cache entries and ending expired reservations',
  partitions: 'creating and dropping partitions of usage records',
  outdated: 'deleting rows past their retention',
  catalogue:
    'reading models and prices: the last ones stay in use, or recording that a model exceeded its output limit',
  events: 'raising events that depend on time',
  alerts: 'measuring usage for alerts',
  deliveries: 'delivering events to webhooks and by mail',
  mail: 'mailing an invitation or a password reset: it is lost',
  judge: 'queueing pairs for the judge, or writing its verdicts',
  stored_objects: 'storing responses and their owners, or reconciling their usage with the provider',
  traces: 'exporting spans: they are lost',
} as const satisfies Record<string, string>

export type FailureCategory = keyof typeof FAILURE_CATEGORIES

/** A failure that is not reported again within this time counts as recovered. Loops retry within half of it. */
const FAILURE_EXPIRES_MS = 60_000

interface ReportDetails {
  /** The part that failed, of several that recover independently. */
  part?: string
  /** Additional fields of the log line. */
  fields?: object
}

export class FailureReporter {
  readonly #log: (fields: object, message: string) => void
  readonly #totals = new Map<FailureCategory, number>(
    Object.keys(FAILURE_CATEGORIES).map(what => [what as FailureCategory, 0]),
  )
  /** Failures that have not recovered, by category and part, with the time of the last report. */
  readonly #open = new Map<string, { what: FailureCategory; atMs: number }>()

  constructor(log: (fields: object, message: string) => void) {
    this.#log = log
  }

  /** Logs and counts a failure. `message` states what failed or was lost. The error's own message is not logged, because it may quote a prompt. */
  report(what: FailureCategory, error: unknown, message: string, { part = '', fields = {} }: ReportDetails = {}): void {
    this.#log({ what, ...fields, cause: describeCause(error) }, message)
    this.#totals.set(what, (this.#totals.get(what) ?? 0) + 1)
    this.#open.set(`${what} ${part}`, { what, atMs: performance.now() })
  }

  /** Marks the failure as recovered. It is called after each success, so it returns at once while nothing fails. */
  recover(what: FailureCategory, part = ''): void {
    if (this.#open.size > 0) this.#open.delete(`${what} ${part}`)
  }

  /** Marks all failures as recovered, because a store that was down is available again. */
  recoverAll(): void {
    this.#open.clear()
  }

  /** Returns the categories that are failing at present, sorted. */
  listFailing(): FailureCategory[] {
    for (const [name, { atMs }] of this.#open) if (msSince(atMs) >= FAILURE_EXPIRES_MS) this.#open.delete(name)
    return [...new Set(Array.from(this.#open.values(), ({ what }) => what))].sort()
  }

  /** Returns the failures since the start for every category, including 0: a counter that first appears as 1 would not show an increase. */
  totals(): ReadonlyMap<FailureCategory, number> {
    return this.#totals
  }
}
