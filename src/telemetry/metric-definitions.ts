/**
 * Defines every metric: its name, on which dashboards and alerts rely, its labels, and its description for Prometheus and docs/metrics.md. No
 * label contains a key, a prompt or an address.
 */
import { FAILURE_CATEGORIES } from './failure-reporter.ts'
import type { HistogramSeries, MetricDefinition, MetricFamily, Metrics, MetricType, Series } from './metrics.ts'

/** Histogram bounds of request times in seconds, from a cache hit to a long response. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const SIMILARITIES = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99, 0.999]
/** Histogram bounds of calls to the stores, in seconds. */
const CALL_SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const DELAY_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]

const FAILURES_LISTED = Object.entries(FAILURE_CATEGORIES)
  .map(([what, meaning]) => `\`${what}\`: ${meaning}`)
  .join('; ')

export interface DocumentedMetric extends MetricDefinition {
  /** Additional text for the docs. */
  details?: string
}

export const METRIC_DEFINITIONS = {
  model_proxy_requests_total: {
    type: 'counter',
    labels: ['endpoint', 'model', 'provider', 'cache', 'status'],
    help: 'Finished requests with a usage record.',
    details: 'It equals the number of [records](requests.md), which include rejected requests of known keys.',
  },
  model_proxy_unrecorded_requests_total: {
    type: 'counter',
    labels: ['route', 'status'],
    help: 'API responses without a usage record.',
    details:
      'Requests without a valid key, to an unknown path (`other`), free of charge, or rejected beyond 30 per minute and key.',
  },
  model_proxy_request_duration_seconds: {
    type: 'histogram',
    labels: ['endpoint', 'cache'],
    help: 'Time from a request’s arrival to the last byte of its response.',
    bounds: SECONDS,
  },
  model_proxy_overhead_seconds: {
    type: 'histogram',
    labels: ['cache'],
    help: 'The proxy’s own part of the time to the response headers.',
    bounds: SECONDS,
  },
  model_proxy_time_to_first_chunk_seconds: {
    type: 'histogram',
    labels: ['cache'],
    help: 'Time from a request’s arrival to the first chunk of its stream.',
    bounds: SECONDS,
  },
  model_proxy_upstream_duration_seconds: {
    type: 'histogram',
    labels: ['provider'],
    help: 'Time from sending a request to a provider to its response headers.',
    bounds: SECONDS,
  },
  model_proxy_tokens_total: {
    type: 'counter',
    labels: ['direction'],
    help: 'Tokens as providers count them; saved ones were served from cache.',
    details:
      '`input`, of which `cached_input`; `output`; `saved`; `embedder`: tokens of an embedding API, which are in no record.',
  },
  model_proxy_cost_usd_total: {
    type: 'counter',
    labels: ['model', 'provider'],
    help: 'What providers charge, in US dollars.',
    details: '`provider="embedder"`: the cost of an embedding API, which is in no record and no budget.',
  },
  model_proxy_estimated_usd: {
    type: 'counter',
    labels: ['reason', 'part'],
    help: 'Estimated US dollars of requests whose provider reported no cost, by reason (`cost_estimated` of their records).',
    details:
      '`part`: `charged` is the estimate, which is in `model_proxy_cost_usd_total`; `doubtful` is the amount that may have been charged in addition.',
  },
  model_proxy_saved_usd_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'The cost that cache hits saved, in US dollars.',
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
    help: 'Similar cached responses that were not served, by the check that rejected them.',
  },
  model_proxy_verdicts_total: {
    type: 'counter',
    labels: ['by', 'verdict'],
    help: 'Verdicts on pairs of questions.',
    details: '`by`: a `person` (not with psql) or the `judge`; `verdict`: `same` or `different`.',
  },
  model_proxy_hook_verdicts_total: {
    type: 'counter',
    labels: ['when', 'verdict'],
    help: 'Decisions of the hook on requests and responses.',
    details: '`before` or `after`: `allow`, `no-store`, `refuse`; `failed` when the hook returned no decision.',
  },
  model_proxy_hook_duration_seconds: {
    type: 'histogram',
    labels: ['when'],
    help: 'Time of a call to the hook, until its decision or its failure.',
    bounds: CALL_SECONDS,
  },
  model_proxy_coalesced_requests_total: {
    type: 'counter',
    labels: ['scope'],
    help: 'Requests served by the provider call of an identical request.',
    details: '`scope`: the call was made by the same `process`, or by another one of the `installation`.',
  },
  model_proxy_fallbacks_total: {
    type: 'counter',
    labels: ['from', 'to', 'kind'],
    help: 'Calls of a fallback model after another model failed.',
    details: '`from`, `to`: the models, `other` without a price. `kind`: the [kind of failure](providers.md#attempts).',
  },
  model_proxy_refused_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Rejected requests, by the error’s code.',
    details: 'Requests with status 401, 403 or 429, with and without a usage record.',
  },
  model_proxy_store_duration_seconds: {
    type: 'histogram',
    labels: ['store', 'call'],
    help: 'Time of calls to the stores; one call may serve many requests.',
    details: '`postgres`, `redis`.',
    bounds: CALL_SECONDS,
  },
  model_proxy_batch_size: {
    type: 'histogram',
    labels: ['store', 'call'],
    help: 'Items in one call to a store.',
    details: 'Only calls that accept several items count.',
    bounds: BATCH_SIZES,
  },
  model_proxy_database_connections: {
    type: 'gauge',
    labels: ['state'],
    help: 'Connections of requests to PostgreSQL.',
    details: '`open`: open connections; `most`: the upper bound.',
  },
  model_proxy_event_loop_delay_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Delay of a timer, which delays all other work of the process as well.',
    bounds: DELAY_SECONDS,
  },
  model_proxy_budget_remaining_usd: {
    type: 'gauge',
    labels: ['project', 'budget', 'per'],
    help: 'US dollars left of a budget in its current period.',
    details:
      'Only the 500 [budgets](budgets.md) with the smallest share left. All processes export the same value: aggregate with `max`.',
  },
  model_proxy_circuits_open: { type: 'gauge', labels: ['provider'], help: 'Open circuits.' },
  model_proxy_stores_up: {
    type: 'gauge',
    labels: ['store'],
    help: 'Processes that can reach the store.',
    details: '`postgres` and `redis`, as of the previous scrape.',
  },
  model_proxy_stream_bytes: {
    type: 'gauge',
    labels: ['state'],
    help: 'Memory for data that clients have not read yet: streams, large responses, realtime sessions.',
    details: '`held`: used bytes; `most`: the upper bound (`MAX_UNREAD_BYTES` of each process).',
  },
  model_proxy_streams_cut_total: {
    type: 'counter',
    labels: [],
    help: 'Slow readers of streams that were disconnected to free memory.',
  },
  model_proxy_records_waiting: { type: 'gauge', labels: [], help: 'Usage records that are not written yet.' },
  model_proxy_dropped_records_total: {
    type: 'counter',
    labels: [],
    help: 'Usage records that were lost.',
    details:
      'The queue exceeded 500,000 records, the database rejected a record, or the proxy stopped before writing them.',
  },
  model_proxy_dropped_usd_total: {
    type: 'counter',
    labels: [],
    help: 'The cost of requests whose usage records were lost, in US dollars.',
  },
  model_proxy_failures_total: {
    type: 'counter',
    labels: ['what'],
    help: 'Failures of work that no client is waiting for; each is logged.',
    details: FAILURES_LISTED,
  },
} as const satisfies Record<string, DocumentedMetric>

type Families = typeof METRIC_DEFINITIONS
type NameOf<Type extends MetricType> = {
  [Name in keyof Families]: Families[Name]['type'] extends Type ? Name : never
}[keyof Families]

/** Creates the family of a counter or a gauge. `read` is called before each scrape, and sets series that are counted elsewhere. */
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
