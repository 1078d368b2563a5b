/** Measures requests and calls to the stores. */
import { type Database, isInternalDatabaseError, sqlStateOf } from '../postgres/database.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { FailureReporter } from './failure-reporter.ts'
import { createHistogramFamily, createValueFamily } from './metric-definitions.ts'
import { type HistogramSeries, type Metrics, observe, type Series } from './metrics.ts'

/** The label of a model without a price. Names that clients invent must not become series. */
const OTHER_MODEL = 'other'
const NONE = 'none'
const EMBEDDER = 'embedder'
const SAVED_BY: Record<string, string> = { HIT: 'exact', 'HIT-SEMANTIC': 'semantic' }
const VETO = /(?<=^un(?:verified|proved):).+|^context$/

export interface ProxyMetrics {
  /**
   * Records a finished request. `listedModel` is the catalogue's name of the model; null for a model without a price. `sharedBy` is where the
   * call of an identical request was made that served this one.
   */
  recordRequest(record: UsageRecord, listedModel: string | null, sharedBy?: SharedCallScope): void
  /** Counts a fallback from one model to another, with names as in `recordRequest`, by the kind of failure that led to it. */
  recordFallback(from: string | null, to: string | null, kind: string | null): void
  /** Counts a response without a usage record. `route` is its documented path, or `other`. */
  countUnrecorded(route: string, status: number): void
  /** Records a call of the embedder, which the operator pays for and which is in no usage record. */
  recordEmbedderCall(call: EmbedderCall): void
  recordSimilarity(outcome: 'served' | 'shadow' | 'near-miss', similarity: number): void
  recordVerdict: VerdictRecorder
  /** Records a call of the hook. `verdict` is `failed` when the hook returned no decision. */
  recordHookCall(when: string, verdict: string, tookMs: number): void
}

export interface EmbedderCall {
  /** As in `recordRequest`. */
  listedModel: string | null
  promptTokens: number
  usd: number
}

/** Where a call is made that also serves an identical request: in this process, or in another one of the installation. */
export type SharedCallScope = 'process' | 'installation'

/** Records a verdict on whether two questions have the same meaning. */
export type VerdictRecorder = (by: 'person' | 'judge', verdict: 'same' | 'different') => void

export function createProxyMetrics(metrics: Metrics): ProxyMetrics {
  const similarity = createHistogramFamily(metrics, 'model_proxy_semantic_similarity')
  const verdicts = createValueFamily(metrics, 'model_proxy_verdicts_total')
  const unrecorded = createValueFamily(metrics, 'model_proxy_unrecorded_requests_total')
  const fallbacks = createValueFamily(metrics, 'model_proxy_fallbacks_total')
  const hookVerdicts = createValueFamily(metrics, 'model_proxy_hook_verdicts_total')
  const hookSeconds = createHistogramFamily(metrics, 'model_proxy_hook_duration_seconds')
  const counts = defineCounts(metrics)
  return {
    recordEmbedderCall({ listedModel, promptTokens, usd }) {
      counts.tokens.with(EMBEDDER).value += promptTokens
      counts.costUsd.with(listedModel ?? OTHER_MODEL, EMBEDDER).value += usd
    },
    recordFallback: (from, to, kind) =>
      void fallbacks.with(from ?? OTHER_MODEL, to ?? OTHER_MODEL, kind ?? NONE).value++,
    countUnrecorded: (route, status) => void unrecorded.with(route, String(status)).value++,
    recordVerdict(by, verdict) {
      verdicts.with(by, verdict).value++
    },
    recordHookCall(when, verdict, tookMs) {
      hookVerdicts.with(when, verdict).value++
      observe(hookSeconds.with(when), tookMs / 1000)
    },
    recordRequest: createRequestRecorder(metrics, counts),
    recordSimilarity(outcome, value) {
      observe(similarity.with(outcome), value)
    },
  }
}

/** The series of requests with the same labels. */
interface RequestSeries {
  requests: Series
  duration: HistogramSeries
  overhead: HistogramSeries
  costUsd: Series
  savedUsd: Series
}

function createRequestRecorder(
  metrics: Metrics,
  counts: ReturnType<typeof defineCounts>,
): ProxyMetrics['recordRequest'] {
  const { duration, overhead, firstChunk, upstream } = defineTimes(metrics)
  const { requests, tokens, costUsd, savedUsd, estimatedUsd, unverified, coalesced } = counts
  const [input, cachedInput, output, saved] = [
    tokens.with('input'),
    tokens.with('cached_input'),
    tokens.with('output'),
    tokens.with('saved'),
  ]

  /** The series by the requests' labels. Joining a dozen labels for each request would cost more than counting. */
  const known = new Map<string, RequestSeries>()
  function seriesOf({ endpoint, provider, status, cache_result }: UsageRecord, listedModel: string | null) {
    const key = `${endpoint} ${listedModel} ${provider} ${cache_result} ${status}`
    const found = known.get(key)
    if (found) return found
    const [model, from, cache] = [listedModel ?? OTHER_MODEL, provider ?? NONE, cache_result ?? NONE]
    const series = {
      requests: requests.with(endpoint, model, from, cache, String(status)),
      duration: duration.with(endpoint, cache),
      overhead: overhead.with(cache),
      costUsd: costUsd.with(model, from),
      savedUsd: savedUsd.with(SAVED_BY[cache] ?? 'vectors'),
    }
    known.set(key, series)
    return series
  }

  return (record, listedModel, sharedBy = 'process') => {
    const { upstream_ms: upstreamMs = null, first_chunk_ms: firstChunkMs = null, cache_reason: reason } = record
    const series = seriesOf(record, listedModel)
    series.requests.value++
    observe(series.duration, record.duration_ms / 1000)
    observe(series.overhead, Math.max(0, record.latency_ms - (upstreamMs ?? 0)) / 1000)
    series.costUsd.value += record.cost_usd
    series.savedUsd.value += record.saved_usd
    const { cost_estimated: estimated } = record
    if (estimated) {
      estimatedUsd.with(estimated, 'charged').value += record.cost_usd
      estimatedUsd.with(estimated, 'doubtful').value += record.doubtful_usd ?? 0
    }
    input.value += record.prompt_tokens
    cachedInput.value += record.cached_prompt_tokens
    output.value += record.completion_tokens
    saved.value += record.tokens_saved
    if (upstreamMs !== null) observe(upstream.with(record.provider ?? NONE), upstreamMs / 1000)
    if (firstChunkMs !== null) observe(firstChunk.with(record.cache_result ?? NONE), firstChunkMs / 1000)
    if (reason === 'coalesced') coalesced.with(sharedBy).value++
    const veto = record.cache_result === 'MISS' ? reason?.match(VETO)?.[0] : undefined
    if (veto !== undefined) unverified.with(veto).value++
  }
}

function defineTimes(metrics: Metrics) {
  return {
    duration: createHistogramFamily(metrics, 'model_proxy_request_duration_seconds'),
    overhead: createHistogramFamily(metrics, 'model_proxy_overhead_seconds'),
    firstChunk: createHistogramFamily(metrics, 'model_proxy_time_to_first_chunk_seconds'),
    upstream: createHistogramFamily(metrics, 'model_proxy_upstream_duration_seconds'),
  }
}

function defineCounts(metrics: Metrics) {
  return {
    requests: createValueFamily(metrics, 'model_proxy_requests_total'),
    tokens: createValueFamily(metrics, 'model_proxy_tokens_total'),
    costUsd: createValueFamily(metrics, 'model_proxy_cost_usd_total'),
    savedUsd: createValueFamily(metrics, 'model_proxy_saved_usd_total'),
    estimatedUsd: createValueFamily(metrics, 'model_proxy_estimated_usd'),
    unverified: createValueFamily(metrics, 'model_proxy_unverified_total'),
    coalesced: createValueFamily(metrics, 'model_proxy_coalesced_requests_total'),
  }
}

/** Runs a call and records its time and its number of items, which is null when the call is not a batch. */
type MeasuredRun = <T>(call: string, items: number | null, run: () => Promise<T>) => Promise<T>

export interface Stores {
  database: Database
  store: FastStore
}

/** Returns the stores with calls that are measured by name, time and size. Failures of SQL functions are reported. */
export function instrumentStores({ database, store }: Stores, metrics: Metrics, failures: FailureReporter): Stores {
  const seconds = createHistogramFamily(metrics, 'model_proxy_store_duration_seconds')
  const sizes = createHistogramFamily(metrics, 'model_proxy_batch_size')
  const timeCalls = (name: string) =>
    createMeasuredRun(
      memoize(call => seconds.with(name, call)),
      memoize(call => sizes.with(name, call)),
    )
  return {
    database: measureDatabase(database, timeCalls('postgres'), failures),
    store: measureStore(store, timeCalls('redis')),
  }
}

/** Measures calls of SQL functions by the function's name. The first parameter of a batch is a list. */
function measureDatabase(database: Database, measure: MeasuredRun, failures: FailureReporter): Database {
  const call: Database['call'] = async (text, values) => {
    const [first] = values
    const name = nameStatement(text)
    try {
      const rows = await measure(name, Array.isArray(first) ? first.length : null, () =>
        database.call<never>(text, values),
      )
      failures.recover('database', name)
      return rows
    } catch (error) {
      if (isInternalDatabaseError(error))
        failures.report('database', error, 'an SQL function failed', {
          part: name,
          fields: { function: name, code: sqlStateOf(error) },
        })
      throw error
    }
  }
  // The object inherits from `database`: a copy would read every getter.
  return Object.assign(Object.create(database), { call })
}

/** Returns the name of the function that a statement calls. The code has a fixed set of statements, so the result is memoized. */
const nameStatement = memoize(text => text.match(/\b([a-z_]+)\((?:[a-z_]+ => )?\$1/)?.[1] ?? 'other')

function measureStore(store: FastStore, measure: MeasuredRun): FastStore {
  return {
    ...store,
    count: batch => measure('count', batch.requests, () => store.count(batch)),
    uncount: (...args) => measure('uncount', null, () => store.uncount(...args)),
    writeEntry: (...args) => measure('write_entry', null, () => store.writeEntry(...args)),
    readEntries: names => measure('read_entries', names.length, () => store.readEntries(names)),
    writeEntries: entries => measure('write_entries', entries.length, () => store.writeEntries(entries)),
  }
}

/** Memoizes a function of names that occur as literals in the code, so the map stays small. */
function memoize<T>(find: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return name => {
    const found = known.get(name) ?? find(name)
    known.set(name, found)
    return found
  }
}

function createMeasuredRun(
  secondsOf: (call: string) => HistogramSeries,
  sizesOf: (call: string) => HistogramSeries,
): MeasuredRun {
  return async (call, items, run) => {
    const startedAtMs = performance.now()
    if (items !== null) observe(sizesOf(call), items)
    try {
      return await run()
    } finally {
      observe(secondsOf(call), (performance.now() - startedAtMs) / 1000)
    }
  }
}
