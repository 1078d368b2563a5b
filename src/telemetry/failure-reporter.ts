/**
 * Work that fails and that no client hears of: background loops, and writes after the response. Every such failure is reported here, which
 * logs it, counts it in `model_proxy_failures_total`, and degrades /v1/health while it lasts.
 */
import { msSince } from '../event-loop/clock.ts'
import { describeCause } from './describe-cause.ts'

/** What can fail, the label `what` of the metric: as short as it may be listed in docs/metrics.md. */
export const FAILURE_CATEGORIES = {
  database: 'a call of one of the proxy’s own SQL functions, whoever made it',
  request: 'a request to the API, by an error that the proxy does not know (500)',
  dashboard: 'a request of the dashboard or the admin API, likewise, or because a right is missing in the database',
  lookup: 'the cache lookup of a request: it was a miss',
  store: 'storing a response, its vector or a change of either',
  embed: 'embedding a prompt',
  record: 'writing usage records: they wait in memory',
  record_dropped: 'writing usage records: they are lost, counted in `model_proxy_dropped_records_total`',
  request_detail: 'writing the content of a request, a semantic hit, or a count of rejections: it is lost',
  sums: 'adding usage to the sums that reports read',
  clock: 'comparing the database’s clock',
  sweep: 'deleting expired cache entries and ending expired reservations',
  lists: 'rebuilding the lists of similar entries',
  partitions: 'creating and dropping partitions of usage records',
  outdated: 'deleting what is past its retention',
  catalogue: 'reading models and prices: the last known stay, or recording that one exceeded its limit',
  events: 'raising events for webhooks',
  deliveries: 'delivering events to webhooks',
  judge: 'queueing pairs for the judge, or writing its verdicts',
  stored_objects: 'storing responses and whom they belong to, or reconciling their usage with their provider',
  traces: 'exporting spans: they are lost',
} as const satisfies Record<string, string>

export type FailureCategory = keyof typeof FAILURE_CATEGORIES

/** Loops retry a failure within half of this. A failure that is not repeated for so long, and never recovers, is over. */
const LASTS_MS = 60_000

interface ReportDetails {
  /** Which of several parts failed: each recovers by itself. */
  part?: string
  /** More fields of the log line. */
  fields?: object
}

export class FailureReporter {
  readonly #log: (fields: object, message: string) => void
  readonly #totals = new Map<FailureCategory, number>(
    Object.keys(FAILURE_CATEGORIES).map(what => [what as FailureCategory, 0]),
  )
  /** Failures that have not recovered, by what and part; when each was last reported. */
  readonly #open = new Map<string, { what: FailureCategory; atMs: number }>()

  constructor(log: (fields: object, message: string) => void) {
    this.#log = log
  }

  /** `message` says what was lost. The error's own message is not logged: it may quote a prompt. */
  report(what: FailureCategory, error: unknown, message: string, { part = '', fields = {} }: ReportDetails = {}): void {
    this.#log({ what, ...fields, cause: describeCause(error) }, message)
    this.#totals.set(what, (this.#totals.get(what) ?? 0) + 1)
    this.#open.set(`${what} ${part}`, { what, atMs: performance.now() })
  }

  /** The same work has succeeded. Called after each success, so it costs nothing while nothing fails. */
  recover(what: FailureCategory, part = ''): void {
    if (this.#open.size > 0) this.#open.delete(`${what} ${part}`)
  }

  /** A store that was down is back: what failed meanwhile says nothing of the present. */
  recoverAll(): void {
    this.#open.clear()
  }

  /** What fails at present. */
  listFailing(): FailureCategory[] {
    for (const [name, { atMs }] of this.#open) if (msSince(atMs) >= LASTS_MS) this.#open.delete(name)
    return [...new Set(Array.from(this.#open.values(), ({ what }) => what))].sort()
  }

  /** Failures since the start, all kinds, 0 included: a counter that begins with its first failure would never seem to increase. */
  totals(): ReadonlyMap<FailureCategory, number> {
    return this.#totals
  }
}
