/**
 * Every metric, under the name that dashboards and alerts rely on: its labels, and what it says, to Prometheus and in docs/metrics.md. No
 * label holds a key, a prompt or an address.
 */
import { FAILURE_CATEGORIES } from './failure-reporter.ts'
import type { HistogramSeries, MetricDefinition, MetricFamily, Metrics, MetricType, Series } from './metrics.ts'

/** Of times, in seconds: from a cache hit to a long answer. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const SIMILARITIES = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99, 0.999]
/** Of calls of the stores. */
const CALL_SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const DELAY_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]

const FAILURES_LISTED = Object.entries(FAILURE_CATEGORIES)
  .map(([what, meaning]) => `\`${what}\`: ${meaning}`)
  .join('; ')

export interface DocumentedMetric extends MetricDefinition {
  /** What the docs say besides. */
  details?: string
}

export const METRIC_DEFINITIONS = {
  model_proxy_requests_total: {
    type: 'counter',
    labels: ['endpoint', 'model', 'provider', 'cache', 'status'],
    help: 'Requests that have ended and are recorded.',
    details: 'As many as there are [records](requests.md): refused ones of a known key are among them.',
  },
  model_proxy_unrecorded_requests_total: {
    type: 'counter',
    labels: ['route', 'status'],
    help: 'Answers that leave no record.',
    details:
      'Of the API: without a good key, of an unknown path (`other`), free, or refused of one key beyond 30 in a minute.',
  },
  model_proxy_request_duration_seconds: {
    type: 'histogram',
    labels: ['endpoint', 'cache'],
    help: 'From arrival to the last byte.',
    bounds: SECONDS,
  },
  model_proxy_overhead_seconds: {
    type: 'histogram',
    labels: ['cache'],
    help: 'Of the time to the response headers, the proxy’s own part.',
    bounds: SECONDS,
  },
  model_proxy_time_to_first_chunk_seconds: {
    type: 'histogram',
    labels: ['cache'],
    help: 'From arrival to the first chunk of a stream.',
    bounds: SECONDS,
  },
  model_proxy_upstream_duration_seconds: {
    type: 'histogram',
    labels: ['provider'],
    help: 'From asking a provider to the head of its response.',
    bounds: SECONDS,
  },
  model_proxy_tokens_total: {
    type: 'counter',
    labels: ['direction'],
    help: 'Tokens as providers count them; saved ones were served from cache.',
    details:
      '`input`, of which `cached_input`; `output`; `saved`; `embedder`: read by an embedder at an API, in no record.',
  },
  model_proxy_cost_usd_total: {
    type: 'counter',
    labels: ['model', 'provider'],
    help: 'What providers charge, in US dollars.',
    details: '`provider="embedder"`: for the embedder at an API, in no record and no budget.',
  },
  model_proxy_estimated_usd: {
    type: 'counter',
    labels: ['reason', 'part'],
    help: 'US dollars of requests whose cost nobody reported, by the reason (`cost_estimated` of their records).',
    details:
      '`part`: `charged` is the estimate, which is in `model_proxy_cost_usd_total`; `doubtful` is what may have been charged beyond.',
  },
  model_proxy_saved_usd_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'What hits would have cost, in US dollars.',
    details: '`exact`, `semantic`, `vectors`.',
  },
  model_proxy_semantic_similarity: {
    type: 'histogram',
    labels: ['outcome'],
    help: 'Cosine similarity of the best candidate.',
    details: '`served`, `shadow`, `near-miss`.',
    bounds: SIMILARITIES,
  },
  model_proxy_unverified_total: {
    type: 'counter',
    labels: ['veto'],
    help: 'Similar answers that were not served, by what stood against it.',
    details: 'Of the first 60 questions of a minute in each context.',
  },
  model_proxy_verdicts_total: {
    type: 'counter',
    labels: ['by', 'verdict'],
    help: 'Verdicts on pairs of questions.',
    details: 'By a `person` (not with psql) or the `judge`: `same`, `different`.',
  },
  model_proxy_hook_verdicts_total: {
    type: 'counter',
    labels: ['when', 'verdict'],
    help: 'What the hook said of requests and answers.',
    details: '`before` and `after`: `allow`, `no-store`, `refuse`; `failed`, where it gave no verdict.',
  },
  model_proxy_hook_duration_seconds: {
    type: 'histogram',
    labels: ['when'],
    help: 'From asking the hook to its verdict, or to its want.',
    bounds: CALL_SECONDS,
  },
  model_proxy_coalesced_requests_total: {
    type: 'counter',
    labels: ['scope'],
    help: 'Requests answered by the call of an identical one.',
    details: 'Of the same `process` or another one of the `installation`.',
  },
  model_proxy_refused_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Refused requests, by the code of the error.',
    details: 'Those, recorded or not, that got a 401, 403 or 429.',
  },
  model_proxy_store_duration_seconds: {
    type: 'histogram',
    labels: ['store', 'call'],
    help: 'Calls of the stores; one call may serve many requests.',
    details: '`postgres`, `redis`.',
    bounds: CALL_SECONDS,
  },
  model_proxy_batch_size: {
    type: 'histogram',
    labels: ['store', 'call'],
    help: 'Items in one call of a store.',
    details: 'Of calls that take several.',
    bounds: BATCH_SIZES,
  },
  model_proxy_database_connections: {
    type: 'gauge',
    labels: ['state'],
    help: 'Connections of requests to PostgreSQL.',
    details: 'Those that are `open`, and the `most` there may be.',
  },
  model_proxy_event_loop_delay_seconds: {
    type: 'histogram',
    labels: [],
    help: 'How late a timer ran: everything else waited as long.',
    bounds: DELAY_SECONDS,
  },
  model_proxy_budget_remaining_usd: {
    type: 'gauge',
    labels: ['project', 'budget', 'per'],
    help: 'US dollars left of a budget in its present period.',
    details: 'Of the 500 [budgets](budgets.md) with the least share left; all processes tell the same: take the `max`.',
  },
  model_proxy_circuits_open: { type: 'gauge', labels: ['provider'], help: 'Open circuits.' },
  model_proxy_stores_up: {
    type: 'gauge',
    labels: ['store'],
    help: 'Processes that reach the store.',
    details: '`postgres` and `redis`, as of the scrape before.',
  },
  model_proxy_stream_bytes: {
    type: 'gauge',
    labels: ['state'],
    help: 'Memory for what clients have not read: streams, large responses, realtime sessions.',
    details: '`held`, and the `most` there may be (`MAX_UNREAD_BYTES` of each process).',
  },
  model_proxy_streams_cut_total: {
    type: 'counter',
    labels: [],
    help: 'Readers of streams that were cut off so that others have room.',
  },
  model_proxy_records_waiting: { type: 'gauge', labels: [], help: 'Usage records that are not written yet.' },
  model_proxy_dropped_records_total: {
    type: 'counter',
    labels: [],
    help: 'Usage records that were lost.',
    details: 'More than 500,000 waited, the database rejected one, or the proxy stopped before they were written.',
  },
  model_proxy_dropped_usd_total: {
    type: 'counter',
    labels: [],
    help: 'What the requests of lost usage records cost, in US dollars.',
  },
  model_proxy_failures_total: {
    type: 'counter',
    labels: ['what'],
    help: 'Failures of work that no client hears of, each with a line in the log.',
    details: FAILURES_LISTED,
  },
} as const satisfies Record<string, DocumentedMetric>

type Families = typeof METRIC_DEFINITIONS
type NameOf<Type extends MetricType> = {
  [Name in keyof Families]: Families[Name]['type'] extends Type ? Name : never
}[keyof Families]

/** `read` sets the series of what is counted elsewhere, before each scrape. */
export function createValueFamily(
  metrics: Metrics,
  name: NameOf<'counter' | 'gauge'>,
  read?: (family: MetricFamily<Series>) => void,
): MetricFamily<Series> {
  return metrics.valueFamily(name, METRIC_DEFINITIONS[name], read)
}

export function createHistogramFamily(metrics: Metrics, name: NameOf<'histogram'>): MetricFamily<HistogramSeries> {
  return metrics.histogramFamily(name, METRIC_DEFINITIONS[name])
}
