/** Finds each input's vector: among those that are known, with another request that is fetching it just now, or with the provider. */
import { type CacheControl, keptForSeconds } from '../../cache/cache-control.ts'
import { addUsage, NO_USAGE, type TokenUsage } from '../../catalogue/cost.ts'
import { ClientGone, refuse } from '../../errors.ts'
import { withinTimeLimit } from '../../event-loop/time-limit.ts'
import type { StoredVector } from '../../vector-cache/stored-vector.ts'
import { whenGone } from '../follow-call.ts'
import type { RequestContext } from '../request-context.ts'
import type { Stages } from '../stages.ts'
import type { EmbeddingsJob, NamedInput } from './embeddings-job.ts'
import type { FetchedBatch } from './fetch-batch.ts'
import { type FetchEnd, fetchBatches } from './fetch-batches.ts'
import { checkTokenLimits } from './token-limits.ts'
import type { FetchedVector, JoinedVectors } from './vector-calls.ts'

export interface Gathered {
  /** Those that cost nothing this time. */
  known: Map<string, StoredVector>
  /** Together with the known ones, all, unless it ended before. */
  fetched: Map<string, FetchedVector>
  batches: FetchedBatch[]
  /** Of all that was fetched. */
  usage: TokenUsage
  /** Why not all could be had. */
  end: FetchEnd | null
}

/** How long an answer may be held back so that an immediate repeat finds its vectors. */
const STORE_TIME_LIMIT_MS = 250

/** Throws a 400 where token limits are exceeded, a 504 where something would have to be fetched and may not, and ClientGone. */
export async function gatherVectors(job: EmbeddingsJob, stages: Stages): Promise<Gathered> {
  const { context, inputs } = job
  const {
    request,
    cacheQuery: { control },
  } = context
  const known = await findKnown(job, stages)
  const gathered: Gathered = { known, fetched: new Map(), batches: [], usage: NO_USAGE, end: null }
  const unknown = inputs.filter(({ name }) => !known.has(name))
  await checkLimits(job, unknown, known)
  if (unknown.length === 0) return gathered
  if (control.onlyIfCached) throw refuse('notCached')
  if (request.signal.aborted) throw new ClientGone()

  const distinct = Array.from(new Map(unknown.map(named => [named.name, named])).values())
  // What another request fails to fetch, this one asks for itself.
  if (mayShare(control)) await fetchShared(job, distinct, gathered, stages)
  const left = distinct.filter(({ name }) => !known.has(name) && !gathered.fetched.has(name))
  if (left.length > 0 && !gathered.end) await fetchMine(job, left, gathered, null, stages)
  return gathered
}

async function findKnown({ context, inputs }: EmbeddingsJob, { vectors }: Stages): Promise<Map<string, StoredVector>> {
  const {
    account,
    cacheQuery: { control },
  } = context
  const known = new Map<string, StoredVector>()
  if (!control.lookup) return known
  const names = Array.from(new Set(inputs.map(({ name }) => name)))
  const found = await vectors.find(account, names, control.maxAgeSeconds)
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

/** Who wants fresh vectors, or leaves none behind, goes alone. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store
}

/** Fetches what nobody else is fetching, and waits for the rest. */
async function fetchShared(
  job: EmbeddingsJob,
  wanted: readonly NamedInput[],
  gathered: Gathered,
  stages: Stages,
): Promise<void> {
  const { account, request } = job.context
  const names = wanted.map(({ name }) => name)
  const joined = stages.vectorCalls.join(`${account.project_id} ${account.cache_generation}`, names)
  try {
    const mine = wanted.filter(({ name }) => joined.mine.has(name))
    if (mine.length > 0) await fetchMine(job, mine, gathered, joined, stages)
    if (gathered.end) return
    const gone = whenGone(request.signal)
    for (const [name, settled] of joined.theirs) {
      const vector = await Promise.race([settled, gone])
      if (vector) gathered.known.set(name, { ...vector, createdAtMs: Date.now() })
    }
  } finally {
    for (const name of names) joined.settle(name, null)
  }
}

/** Each batch is kept, and told to those who wait for it, as soon as it is there. */
async function fetchMine(
  job: EmbeddingsJob,
  mine: readonly NamedInput[],
  gathered: Gathered,
  joined: JoinedVectors | null,
  stages: Stages,
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
    storing.push(storeAndSettle(job.context, batch, joined, stages))
  }
  await Promise.all(storing)
}

/** Whoever comes too late to wait for a vector finds it stored. */
async function storeAndSettle(
  context: RequestContext,
  { vectors }: FetchedBatch,
  joined: JoinedVectors | null,
  stages: Stages,
): Promise<void> {
  await withinTimeLimit(STORE_TIME_LIMIT_MS, store(context, vectors, stages)).catch(() => {})
  for (const [name, vector] of vectors) joined?.settle(name, vector)
}

async function store(
  { cacheQuery, account }: RequestContext,
  fetched: ReadonlyMap<string, FetchedVector>,
  { vectors }: Stages,
): Promise<void> {
  const ttlSeconds = keptForSeconds(cacheQuery.control, account)
  if (ttlSeconds <= 0) return
  const named = Array.from(fetched, ([name, vector]) => ({ ...vector, name }))
  await vectors.store(account, named, ttlSeconds)
}
