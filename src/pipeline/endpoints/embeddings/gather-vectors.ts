/** Gathers each input's vector: from the cache, from another request that is fetching it, or from the provider. */
import { type CacheControl, computeTtlSeconds } from '../../../cache/cache-control.ts'
import { dimensionsOf } from '../../../cache/vectors/pack-vector.ts'
import type { StoredVector } from '../../../cache/vectors/vector-store.ts'
import { ClientDisconnected, createError } from '../../../errors/errors.ts'
import { nowMs } from '../../../event-loop/clock.ts'
import { rejectOnDisconnect, withTimeout } from '../../../event-loop/timeouts.ts'
import { recordedEndUserOf } from '../../../formats/end-user.ts'
import { readExpectedEmbeddings } from '../../../formats/expected-output.ts'
import { addUsage, NO_USAGE, type TokenUsage } from '../../../formats/token-usage.ts'
import type { FetchedVector, VectorSubscription } from '../../coalescing/vector-calls.ts'
import { checkInputTokenLimits } from './count-inputs.ts'
import {
  type EmbeddingsFetch,
  type FetchedBatch,
  type FetchFailure,
  fetchBatches,
  type KeyedInput,
} from './fetch-batches.ts'

export interface VectorResults {
  /** Vectors that cost this request nothing. */
  cached: Map<string, StoredVector>
  /** Vectors that this request fetched. With `cached`, they are all vectors, unless gathering failed. */
  fetched: Map<string, FetchedVector>
  batches: FetchedBatch[]
  /** The usage of all fetched batches. */
  usage: TokenUsage
  /** Why some vectors are missing; null if none are. */
  failure: FetchFailure | null
}

/** Maximum time that a response waits until its vectors are stored, so that an immediate repeat finds them. */
const STORE_TIME_LIMIT_MS = 250

/** Throws a 400 if token limits are exceeded, a 504 if a vector is missing and `only-if-cached` is set, and ClientDisconnected. */
export async function gatherVectors(job: EmbeddingsFetch): Promise<VectorResults> {
  const { context, inputs } = job
  const { request, control } = context
  const cached = await findCached(job)
  const results: VectorResults = { cached, fetched: new Map(), batches: [], usage: NO_USAGE, failure: null }
  const missing = inputs.filter(({ cacheKey }) => !cached.has(cacheKey))
  await checkLimits(job, missing, cached)
  if (missing.length === 0) return results
  if (control.onlyIfCached) throw createError('notCached')
  if (request.signal.aborted) throw new ClientDisconnected()

  const distinct = Array.from(new Map(missing.map(keyed => [keyed.cacheKey, keyed])).values())
  // Vectors that another request failed to fetch are fetched here.
  if (canShare(control)) await fetchShared(job, distinct, results)
  const remaining = distinct.filter(({ cacheKey }) => !cached.has(cacheKey) && !results.fetched.has(cacheKey))
  if (remaining.length > 0 && !results.failure) await fetchMissing(job, remaining, results, null)
  return results
}

async function findCached({ context, inputs, stages }: EmbeddingsFetch): Promise<Map<string, StoredVector>> {
  const { resolvedKey, control } = context
  const cached = new Map<string, StoredVector>()
  if (!control.lookup) return cached
  const names = Array.from(new Set(inputs.map(({ cacheKey }) => cacheKey)))
  const found = await stages.vectors.find(resolvedKey, names, control.maxAgeSeconds)
  for (const [index, name] of names.entries()) {
    const vector = found[index]
    if (vector) cached.set(name, vector)
  }
  return cached
}

async function checkLimits(
  { context, inputs, counter }: EmbeddingsFetch,
  missing: readonly KeyedInput[],
  cached: VectorResults['cached'],
): Promise<void> {
  const cachedTokens = inputs.reduce((sum, { cacheKey }) => sum + (cached.get(cacheKey)?.promptTokens ?? 0), 0)
  const missingInputs = missing.map(({ input }) => input)
  await checkInputTokenLimits(context.query.model, missingInputs, cachedTokens, counter)
}

/** Whether the request shares vectors with others. One that skips the lookup, or may not store, does not. */
function canShare(control: CacheControl): boolean {
  return control.lookup && control.store
}

/** Fetches the vectors that are not in flight, and waits for those that are. */
async function fetchShared(
  job: EmbeddingsFetch,
  missing: readonly KeyedInput[],
  results: VectorResults,
): Promise<void> {
  const { resolvedKey, request } = job.context
  const names = missing.map(({ cacheKey }) => cacheKey)
  const subscription = job.stages.inFlightVectors.join(
    `${resolvedKey.project_id} ${resolvedKey.cache_generation}`,
    names,
  )
  try {
    const toFetch = missing.filter(({ cacheKey }) => subscription.toFetch.has(cacheKey))
    if (toFetch.length > 0) await fetchMissing(job, toFetch, results, subscription)
    if (results.failure) return
    const disconnected = rejectOnDisconnect(request.signal)
    for (const [name, pending] of subscription.inFlight) {
      const vector = await Promise.race([pending, disconnected])
      if (vector) results.cached.set(name, { ...vector, createdAtMs: nowMs() })
    }
  } finally {
    for (const name of names) subscription.settle(name, null)
  }
}

/** Stores each batch, and settles it for waiting requests, as soon as it arrives. */
async function fetchMissing(
  job: EmbeddingsFetch,
  toFetch: readonly KeyedInput[],
  results: VectorResults,
  subscription: VectorSubscription | null,
): Promise<void> {
  const storing: Promise<void>[] = []
  for await (const batch of fetchBatches(job, toFetch)) {
    if (!('vectors' in batch)) {
      results.failure = batch
      break
    }
    results.batches.push(batch)
    results.usage = addUsage(results.usage, batch.usage)
    for (const [name, vector] of batch.vectors) results.fetched.set(name, vector)
    // Requests that wait for other vectors receive none, and fetch them themselves.
    if (batch.mayStore && haveExpectedDimensions(job, results)) storing.push(storeAndSettle(job, batch, subscription))
  }
  await Promise.all(storing)
}

/** Whether all vectors gathered so far have the requested number of dimensions, and the same number. */
function haveExpectedDimensions({ context }: EmbeddingsFetch, { cached, fetched }: VectorResults): boolean {
  const { dimensions } = readExpectedEmbeddings(context.query.body)
  const lengths = new Set([...cached.values(), ...fetched.values()].map(({ packed }) => dimensionsOf(packed)))
  return lengths.size === 1 && (dimensions === undefined || lengths.has(dimensions))
}

/** Stores the vectors before it settles them, so that a request that is too late to wait finds them in the cache. */
async function storeAndSettle(
  job: EmbeddingsFetch,
  { vectors }: FetchedBatch,
  subscription: VectorSubscription | null,
): Promise<void> {
  await withTimeout(STORE_TIME_LIMIT_MS, store(job, vectors)).catch(() => {})
  for (const [name, vector] of vectors) subscription?.settle(name, vector)
}

async function store(
  { context: { recorder, control, resolvedKey, query }, stages }: EmbeddingsFetch,
  fetched: ReadonlyMap<string, FetchedVector>,
): Promise<void> {
  const ttlSeconds = computeTtlSeconds(control, resolvedKey)
  if (ttlSeconds <= 0) return
  if (!control.lookup) recorder.setDetails({ refreshed: true })
  const entries = Array.from(fetched, ([name, vector]) => ({ ...vector, name }))
  const endUser = recordedEndUserOf(query.body)
  await stages.vectors.store(resolvedKey, entries, { ttlSeconds, endUser, control })
}
