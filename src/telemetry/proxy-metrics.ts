/** What this proxy measures, under the names that dashboards and alerts rely on. No label holds a key, a prompt or an address. */
import type { Database } from '../postgres/database.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { type Distribution, type Metrics, observe, type Series } from './metrics.ts'

/** Of times, in seconds: from a cache hit to a long answer. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const SIMILARITIES = [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98, 0.99, 0.999]

/** The label of a model that no price list knows: what clients invent must not become series. */
const OTHER_MODEL = 'other'
const NONE = 'none'
const EMBEDDER = 'embedder'
const SAVED_BY: Record<string, string> = { HIT: 'exact', 'HIT-SEMANTIC': 'semantic' }
const VETO = /^un(?:verified|proved):(.+)$/

export interface ProxyMetrics {
  /** `listedModel` is the catalogue's name of the model; null for one without a price, as clients may invent any number of names. */
  noteRequest(record: UsageRecord, listedModel: string | null, followed?: CallScope): void
  /** Of an answer that leaves no record: its documented path, or `other`. */
  noteUnrecorded(route: string, status: number): void
  /** Of a call of the embedder, which costs the operator and is in no record. */
  noteEmbedded(call: EmbedderCall): void
  noteSimilarity(outcome: 'served' | 'shadow' | 'near-miss', similarity: number): void
  noteVerdict: NoteVerdict
}

export interface EmbedderCall {
  /** As in `noteRequest`. */
  listedModel: string | null
  promptTokens: number
  usd: number
}

/** Where the call is made that a request follows: by this process, or by another one of the installation. */
export type CallScope = 'process' | 'installation'

/** Somebody has said whether two questions ask the same. */
export type NoteVerdict = (by: 'person' | 'judge', verdict: 'same' | 'different') => void

export function createProxyMetrics(metrics: Metrics): ProxyMetrics {
  const help = 'Cosine similarity of the best candidate.'
  const similarity = metrics.histogram('model_proxy_semantic_similarity', help, SIMILARITIES, ['outcome'])
  const verdicts = metrics.counter('model_proxy_verdicts_total', 'Verdicts on pairs of questions.', ['by', 'verdict'])
  const without = 'Answers that leave no record.'
  const unrecorded = metrics.counter('model_proxy_unrecorded_requests_total', without, ['route', 'status'])
  const counts = defineCounts(metrics)
  return {
    noteEmbedded({ listedModel, promptTokens, usd }) {
      counts.tokens.with(EMBEDDER).value += promptTokens
      counts.costUsd.with(listedModel ?? OTHER_MODEL, EMBEDDER).value += usd
    },
    noteUnrecorded: (route, status) => void unrecorded.with(route, String(status)).value++,
    noteVerdict(by, verdict) {
      verdicts.with(by, verdict).value++
    },
    noteRequest: createRequestNotes(metrics, counts),
    noteSimilarity(outcome, value) {
      observe(similarity.with(outcome), SIMILARITIES, value)
    },
  }
}

/** The series of requests that are alike. */
interface SeriesOfRequests {
  requests: Series
  duration: Distribution
  overhead: Distribution
  costUsd: Series
  savedUsd: Series
}

function createRequestNotes(metrics: Metrics, counts: ReturnType<typeof defineCounts>): ProxyMetrics['noteRequest'] {
  const { duration, overhead, firstChunk, upstream } = defineTimes(metrics)
  const { requests, tokens, costUsd, savedUsd, unverified, coalesced } = counts
  const [input, cachedInput, output, saved] = [
    tokens.with('input'),
    tokens.with('cached_input'),
    tokens.with('output'),
    tokens.with('saved'),
  ]

  /** The series of requests that are alike, looked up once: joining a dozen labels anew costs more than counting. */
  const known = new Map<string, SeriesOfRequests>()
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

  return (record, listedModel, followed = 'process') => {
    const { upstream_ms: upstreamMs, first_chunk_ms: firstChunkMs, cache_reason: reason } = record
    const series = seriesOf(record, listedModel)
    series.requests.value++
    observe(series.duration, SECONDS, record.duration_ms / 1000)
    observe(series.overhead, SECONDS, Math.max(0, record.latency_ms - (upstreamMs ?? 0)) / 1000)
    series.costUsd.value += record.cost_usd
    series.savedUsd.value += record.saved_usd
    input.value += record.prompt_tokens
    cachedInput.value += record.cached_prompt_tokens
    output.value += record.completion_tokens
    saved.value += record.tokens_saved
    if (upstreamMs !== null) observe(upstream.with(record.provider ?? NONE), SECONDS, upstreamMs / 1000)
    if (firstChunkMs !== null) observe(firstChunk.with(record.cache_result ?? NONE), SECONDS, firstChunkMs / 1000)
    if (reason === 'coalesced') coalesced.with(followed).value++
    const veto = record.cache_result === 'MISS' ? reason?.match(VETO)?.[1] : undefined
    if (veto !== undefined) unverified.with(veto).value++
  }
}

function defineTimes(metrics: Metrics) {
  const times = (name: string, help: string, labelNames: readonly string[]) =>
    metrics.histogram(`model_proxy_${name}_seconds`, help, SECONDS, labelNames)
  return {
    duration: times('request_duration', 'From arrival to the last byte.', ['endpoint', 'cache']),
    overhead: times('overhead', 'Of the time to the response headers, the proxy’s own part.', ['cache']),
    firstChunk: times('time_to_first_chunk', 'From arrival to the first chunk of a stream.', ['cache']),
    upstream: times('upstream_duration', 'From asking a provider to the head of its response.', ['provider']),
  }
}

function defineCounts(metrics: Metrics) {
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    metrics.counter(`model_proxy_${name}_total`, help, labelNames)
  return {
    requests: counter('requests', 'Requests that have ended and are recorded.', [
      'endpoint',
      'model',
      'provider',
      'cache',
      'status',
    ]),
    tokens: counter('tokens', 'Tokens as providers count them; saved ones were served from cache.', ['direction']),
    costUsd: counter('cost_usd', 'What providers charge, in US dollars.', ['model', 'provider']),
    savedUsd: counter('saved_usd', 'What hits would have cost, in US dollars.', ['kind']),
    unverified: counter('unverified', 'Similar answers that were not served, by what stood against it.', ['veto']),
    coalesced: counter('coalesced_requests', 'Requests answered by the call of an identical one.', ['scope']),
  }
}

/** Of calls of the stores. */
const CALL_SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** Runs a call and notes its time, and how many items travel in it; null for one that is no batch. */
type Timed = <T>(call: string, items: number | null, run: () => Promise<T>) => Promise<T>

export interface Stores {
  database: Database
  store: FastStore
}

/** The same stores, whose calls are noted with their names, times and sizes. */
export function measureStores({ database, store }: Stores, metrics: Metrics): Stores {
  const labels = ['store', 'call']
  const help = 'Calls of the stores; one call may serve many requests.'
  const seconds = metrics.histogram('model_proxy_store_duration_seconds', help, CALL_SECONDS, labels)
  const sizes = metrics.histogram('model_proxy_batch_size', 'Items in one call of a store.', BATCH_SIZES, labels)
  const timeCalls = (name: string) =>
    timeInto(
      remembered(call => seconds.with(name, call)),
      remembered(call => sizes.with(name, call)),
    )
  return { database: measureDatabase(database, timeCalls('postgres')), store: measureStore(store, timeCalls('redis')) }
}

/** Calls of SQL functions, by the function's name. A batch's first parameter is a list. */
function measureDatabase(database: Database, timed: Timed): Database {
  const call: Database['call'] = (text, values, options) => {
    const [first] = values
    return timed(nameStatement(text), Array.isArray(first) ? first.length : null, () =>
      database.call(text, values, options),
    )
  }
  // Not a copy, which would read every getter.
  return Object.assign(Object.create(database), { call })
}

/** Statements are constant. */
const nameStatement = remembered(text => text.match(/\b([a-z_]+)\((?:[a-z_]+ => )?\$1/)?.[1] ?? 'other')

function measureStore(store: FastStore, timed: Timed): FastStore {
  return {
    ...store,
    count: batch => timed('count', batch.requests, () => store.count(batch)),
    uncount: (...args) => timed('uncount', null, () => store.uncount(...args)),
    writeEntry: (...args) => timed('write_entry', null, () => store.writeEntry(...args)),
    readEntries: names => timed('read_entries', names.length, () => store.readEntries(names)),
    writeEntries: entries => timed('write_entries', entries.length, () => store.writeEntries(entries)),
  }
}

/** For as many texts as there are places in the code. */
function remembered<T>(find: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return name => {
    const found = known.get(name) ?? find(name)
    known.set(name, found)
    return found
  }
}

function timeInto(secondsOf: (call: string) => Distribution, sizesOf: (call: string) => Distribution): Timed {
  return async (call, items, run) => {
    const startedAtMs = performance.now()
    if (items !== null) observe(sizesOf(call), BATCH_SIZES, items)
    try {
      return await run()
    } finally {
      observe(secondsOf(call), CALL_SECONDS, (performance.now() - startedAtMs) / 1000)
    }
  }
}
