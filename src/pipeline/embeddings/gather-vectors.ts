/** Finds each input's vector: in the cache, with another request that is fetching it, or at the provider. */
import { type CacheControl, keptForSeconds } from '../../cache/cache-control.ts'
import { dimensionsOf } from '../../cache/vectors/pack-vector.ts'
import type { StoredVector } from '../../cache/vectors/vector-store.ts'
import { ClientGone, refuse } from '../../errors/errors.ts'
import { nowMs } from '../../event-loop/clock.ts'
import { rejectWhenGone, withinTimeLimit } from '../../event-loop/time-limit.ts'
import { recordedUserOf } from '../../formats/end-user.ts'
import { addUsage, NO_USAGE, type TokenUsage } from '../../formats/token-usage.ts'
import { wantedOfEmbeddings } from '../../formats/wanted.ts'
import { checkTokenLimits } from './count-inputs.ts'
import { type EmbeddingsJob, type FetchEnd, type FetchedBatch, fetchBatches, type NamedInput } from './fetch-batches.ts'
import type { FetchedVector, JoinedVectors } from './vector-calls.ts'

export interface Gathered {
  /** Vectors that cost nothing this time. */
  known: Map<string, StoredVector>
  /** Together with `known`, all of them, unless gathering ended early. */
  fetched: Map<string, FetchedVector>
  batches: FetchedBatch[]
  /** Sum over everything fetched. */
  usage: TokenUsage
  /** Why some vectors are missing; null when none are. */
  end: FetchEnd | null
}

/** Longest time a response waits for its vectors to be stored, so that an immediate repeat finds them. */
const STORE_TIME_LIMIT_MS = 250

/** Throws a 400 when token limits are exceeded, a 504 when a vector is missing and may not be fetched, and ClientGone. */
export async function gatherVectors(job: EmbeddingsJob): Promise<Gathered> {
  const { context, inputs } = job
  const { request, control } = context
  const known = await findKnown(job)
  const gathered: Gathered = { known, fetched: new Map(), batches: [], usage: NO_USAGE, end: null }
  const unknown = inputs.filter(({ name }) => !known.has(name))
  await checkLimits(job, unknown, known)
  if (unknown.length === 0) return gathered
  if (control.onlyIfCached) throw refuse('notCached')
  if (request.signal.aborted) throw new ClientGone()

  const distinct = Array.from(new Map(unknown.map(named => [named.name, named])).values())
  // Vectors that another request failed to fetch are fetched here.
  if (mayShare(control)) await fetchShared(job, distinct, gathered)
  const left = distinct.filter(({ name }) => !known.has(name) && !gathered.fetched.has(name))
  if (left.length > 0 && !gathered.end) await fetchMine(job, left, gathered, null)
  return gathered
}

async function findKnown({ context, inputs, stages }: EmbeddingsJob): Promise<Map<string, StoredVector>> {
  const { account, control } = context
  const known = new Map<string, StoredVector>()
  if (!control.lookup) return known
  const names = Array.from(new Set(inputs.map(({ name }) => name)))
  const found = await stages.vectors.find(account, names, control.maxAgeSeconds)
  for (const [at, name] of names.entries()) {
    const vector = found[at]
    if (vector) known.set(name, vector)
  }
  return known
}

async function checkLimits(
  { context, inputs, counter }: EmbeddingsJob,
  unknown: readonly NamedInput[],
  known: Gathered['known'],
): Promise<void> {
  const knownTokens = inputs.reduce((sum, { name }) => sum + (known.get(name)?.promptTokens ?? 0), 0)
  const unknownInputs = unknown.map(({ input }) => input)
  await checkTokenLimits(context.query.model, unknownInputs, knownTokens, counter)
}

/** A request that wants fresh vectors, or may not store any, shares none with other requests. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store
}

/** Fetches the vectors that are not in flight, and waits for those that are. */
async function fetchShared(job: EmbeddingsJob, wanted: readonly NamedInput[], gathered: Gathered): Promise<void> {
  const { account, request } = job.context
  const names = wanted.map(({ name }) => name)
  const joined = job.stages.vectorCalls.join(`${account.project_id} ${account.cache_generation}`, names)
  try {
    const mine = wanted.filter(({ name }) => joined.mine.has(name))
    if (mine.length > 0) await fetchMine(job, mine, gathered, joined)
    if (gathered.end) return
    const gone = rejectWhenGone(request.signal)
    for (const [name, settled] of joined.theirs) {
      const vector = await Promise.race([settled, gone])
      if (vector) gathered.known.set(name, { ...vector, createdAtMs: nowMs() })
    }
  } finally {
    for (const name of names) joined.settle(name, null)
  }
}

/** Stores each batch, and settles it for waiting requests, as soon as it arrives. */
async function fetchMine(
  job: EmbeddingsJob,
  mine: readonly NamedInput[],
  gathered: Gathered,
  joined: JoinedVectors | null,
): Promise<void> {
  const storing: Promise<void>[] = []
  for await (const batch of fetchBatches(job, mine)) {
    if (!('vectors' in batch)) {
      gathered.end = batch
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
function areAsWanted({ context }: EmbeddingsJob, { known, fetched }: Gathered): boolean {
  const { dimensions } = wantedOfEmbeddings(context.query.body)
  const lengths = new Set([...known.values(), ...fetched.values()].map(({ packed }) => dimensionsOf(packed)))
  return lengths.size === 1 && (dimensions === undefined || lengths.has(dimensions))
}

/** Stores before it settles: a request too late to wait for a vector finds it stored. */
async function storeAndSettle(
  job: EmbeddingsJob,
  { vectors }: FetchedBatch,
  joined: JoinedVectors | null,
): Promise<void> {
  await withinTimeLimit(STORE_TIME_LIMIT_MS, store(job, vectors)).catch(() => {})
  for (const [name, vector] of vectors) joined?.settle(name, vector)
}

async function store(
  { context: { recorder, control, account, query }, stages }: EmbeddingsJob,
  fetched: ReadonlyMap<string, FetchedVector>,
): Promise<void> {
  const ttlSeconds = keptForSeconds(control, account)
  if (ttlSeconds <= 0) return
  if (!control.lookup) recorder.set({ refreshed: true })
  const named = Array.from(fetched, ([name, vector]) => ({ ...vector, name }))
  await stages.vectors.store(account, named, { ttlSeconds, endUser: recordedUserOf(query.body) })
}
