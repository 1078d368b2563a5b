/** Finds each input's vector: in the cache, with another request that is fetching it, or at the provider. */
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
  /** Vectors that cost nothing this time. */
  cached: Map<string, StoredVector>
  /** Together with `known`, all of them, unless gathering ended early. */
  fetched: Map<string, FetchedVector>
  batches: FetchedBatch[]
  /** Sum over everything fetched. */
  usage: TokenUsage
  /** Why some vectors are missing; null when none are. */
  failure: FetchFailure | null
}

/** Longest time a response waits for its vectors to be stored, so that an immediate repeat finds them. */
const STORE_TIME_LIMIT_MS = 250

/** Throws a 400 when token limits are exceeded, a 504 when a vector is missing and may not be fetched, and ClientDisconnected. */
export async function gatherVectors(job: EmbeddingsFetch): Promise<VectorResults> {
  const { context, inputs } = job
  const { request, control } = context
  const known = await findKnown(job)
  const gathered: VectorResults = { cached: known, fetched: new Map(), batches: [], usage: NO_USAGE, failure: null }
  const unknown = inputs.filter(({ cacheKey }) => !known.has(cacheKey))
  await checkLimits(job, unknown, known)
  if (unknown.length === 0) return gathered
  if (control.onlyIfCached) throw createError('notCached')
  if (request.signal.aborted) throw new ClientDisconnected()

  const distinct = Array.from(new Map(unknown.map(named => [named.cacheKey, named])).values())
  // Vectors that another request failed to fetch are fetched here.
  if (mayShare(control)) await fetchShared(job, distinct, gathered)
  const left = distinct.filter(({ cacheKey }) => !known.has(cacheKey) && !gathered.fetched.has(cacheKey))
  if (left.length > 0 && !gathered.failure) await fetchMine(job, left, gathered, null)
  return gathered
}

async function findKnown({ context, inputs, stages }: EmbeddingsFetch): Promise<Map<string, StoredVector>> {
  const { resolvedKey, control } = context
  const known = new Map<string, StoredVector>()
  if (!control.lookup) return known
  const names = Array.from(new Set(inputs.map(({ cacheKey }) => cacheKey)))
  const found = await stages.vectors.find(resolvedKey, names, control.maxAgeSeconds)
  for (const [at, name] of names.entries()) {
    const vector = found[at]
    if (vector) known.set(name, vector)
  }
  return known
}

async function checkLimits(
  { context, inputs, counter }: EmbeddingsFetch,
  unknown: readonly KeyedInput[],
  known: VectorResults['cached'],
): Promise<void> {
  const knownTokens = inputs.reduce((sum, { cacheKey }) => sum + (known.get(cacheKey)?.promptTokens ?? 0), 0)
  const unknownInputs = unknown.map(({ input }) => input)
  await checkInputTokenLimits(context.query.model, unknownInputs, knownTokens, counter)
}

/** A request that wants fresh vectors, or may not store any, shares none with other requests. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store
}

/** Fetches the vectors that are not in flight, and waits for those that are. */
async function fetchShared(
  job: EmbeddingsFetch,
  wanted: readonly KeyedInput[],
  gathered: VectorResults,
): Promise<void> {
  const { resolvedKey, request } = job.context
  const names = wanted.map(({ cacheKey }) => cacheKey)
  const joined = job.stages.inFlightVectors.join(`${resolvedKey.project_id} ${resolvedKey.cache_generation}`, names)
  try {
    const mine = wanted.filter(({ cacheKey }) => joined.toFetch.has(cacheKey))
    if (mine.length > 0) await fetchMine(job, mine, gathered, joined)
    if (gathered.failure) return
    const gone = rejectOnDisconnect(request.signal)
    for (const [name, settled] of joined.inFlight) {
      const vector = await Promise.race([settled, gone])
      if (vector) gathered.cached.set(name, { ...vector, createdAtMs: nowMs() })
    }
  } finally {
    for (const name of names) joined.settle(name, null)
  }
}

/** Stores each batch, and settles it for waiting requests, as soon as it arrives. */
async function fetchMine(
  job: EmbeddingsFetch,
  mine: readonly KeyedInput[],
  gathered: VectorResults,
  joined: VectorSubscription | null,
): Promise<void> {
  const storing: Promise<void>[] = []
  for await (const batch of fetchBatches(job, mine)) {
    if (!('vectors' in batch)) {
      gathered.failure = batch
      break
    }
    gathered.batches.push(batch)
    gathered.usage = addUsage(gathered.usage, batch.usage)
    for (const [name, vector] of batch.vectors) gathered.fetched.set(name, vector)
    // Those that wait for other vectors get none, and ask themselves.
    if (batch.mayStore && areAsWanted(job, gathered)) storing.push(storeAndSettle(job, batch, joined))
  }
  await Promise.all(storing)
}

/** Whether all vectors so far, those that were known among them, are as long as asked for, and as each other. */
function areAsWanted({ context }: EmbeddingsFetch, { cached, fetched }: VectorResults): boolean {
  const { dimensions } = readExpectedEmbeddings(context.query.body)
  const lengths = new Set([...cached.values(), ...fetched.values()].map(({ packed }) => dimensionsOf(packed)))
  return lengths.size === 1 && (dimensions === undefined || lengths.has(dimensions))
}

/** Stores before it settles: a request too late to wait for a vector finds it stored. */
async function storeAndSettle(
  job: EmbeddingsFetch,
  { vectors }: FetchedBatch,
  joined: VectorSubscription | null,
): Promise<void> {
  await withTimeout(STORE_TIME_LIMIT_MS, store(job, vectors)).catch(() => {})
  for (const [name, vector] of vectors) joined?.settle(name, vector)
}

async function store(
  { context: { recorder, control, resolvedKey, query }, stages }: EmbeddingsFetch,
  fetched: ReadonlyMap<string, FetchedVector>,
): Promise<void> {
  const ttlSeconds = computeTtlSeconds(control, resolvedKey)
  if (ttlSeconds <= 0) return
  if (!control.lookup) recorder.setDetails({ refreshed: true })
  const named = Array.from(fetched, ([name, vector]) => ({ ...vector, name }))
  await stages.vectors.store(resolvedKey, named, { ttlSeconds, endUser: recordedEndUserOf(query.body) })
}
