/** Finds each input's vector: among those that are known, with another request that is fetching it just now, or with the provider. */
import type { CacheControl } from '../../cache/cache-control.ts'
import { addUsage, NO_USAGE, type TokenUsage } from '../../catalogue/cost.ts'
import { withinTimeLimit } from '../../event-loop/time-limit.ts'
import type { Breathe } from '../../event-loop/yield.ts'
import type { AdmitRow } from '../../postgres/admit.ts'
import type { Provider } from '../../providers/upstream.ts'
import type { StoredVector } from '../../vector-cache/stored-vector.ts'
import type { VectorStore } from '../../vector-cache/vector-store.ts'
import { ClientGone, type ProxyRequest } from '../exchange.ts'
import { whenGone } from '../follow.ts'
import { notCached } from '../not-cached.ts'
import type { ParsedBody } from '../read-request.ts'
import { createInputCounter } from './count-inputs.ts'
import type { FetchedBatch } from './fetch-batch.ts'
import { type FetchEnd, fetchEmbeddings, type NamedInput } from './fetch-embeddings.ts'
import type { Claim, FetchedVector, InFlight } from './in-flight.ts'
import { checkTokenLimits } from './token-limits.ts'

export interface GatherOrder {
  request: ProxyRequest
  parsed: ParsedBody
  control: CacheControl
  account: AdmitRow
  provider: Provider
  /** In the request's order, the same name as often as it comes. */
  inputs: readonly NamedInput[]
  breathe: Breathe
}

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

export interface GatherOptions {
  vectors: VectorStore
  inFlight: InFlight
}

/** How long an answer may be held back so that an immediate repeat finds its vectors. */
const STORE_TIME_LIMIT_MS = 250

/** Throws a 400 where token limits are exceeded, a 504 where something would have to be fetched and may not, and ClientGone. */
export async function gatherVectors(order: GatherOrder, options: GatherOptions): Promise<Gathered> {
  const { request, parsed, control, inputs, breathe } = order
  const known = await lookUp(order, options)
  const gathered: Gathered = { known, fetched: new Map(), batches: [], usage: NO_USAGE, end: null }
  const unknown = inputs.filter(({ name }) => !known.has(name))
  const counter = createInputCounter(parsed.model, breathe)
  const knownTokens = inputs.reduce((sum, { name }) => sum + (known.get(name)?.promptTokens ?? 0), 0)
  await checkTokenLimits(
    parsed.model,
    unknown.map(({ input }) => input),
    knownTokens,
    counter,
  )
  if (unknown.length === 0) return gathered
  if (control.onlyIfCached) throw notCached()
  if (request.signal.aborted) throw new ClientGone()

  const storing: Promise<void>[] = []
  const distinct = Array.from(new Map(unknown.map(named => [named.name, named])).values())
  // What another request fails to fetch, this one asks for itself.
  const rounds = mayShare(control) ? [true, false] : [false]
  for (const isShared of rounds) {
    const left = distinct.filter(({ name }) => !known.has(name) && !gathered.fetched.has(name))
    if (left.length === 0 || gathered.end) break
    await fetchRound(left, isShared)
  }
  await Promise.all(storing)
  return gathered

  async function fetchRound(left: readonly NamedInput[], isShared: boolean): Promise<void> {
    const claim = isShared ? claimShared(left) : null
    try {
      const mine = claim ? left.filter(({ name }) => claim.mine.has(name)) : left
      if (mine.length > 0) await fetchMine(mine, claim)
      if (claim && !gathered.end) await takeTheirs(claim)
    } finally {
      for (const { name } of left) if (!gathered.fetched.has(name)) claim?.land(name, null)
    }
  }

  function claimShared(left: readonly NamedInput[]): Claim {
    const { project_id, cache_generation } = order.account
    return options.inFlight.claim(
      `${project_id} ${cache_generation}`,
      left.map(({ name }) => name),
    )
  }

  async function fetchMine(mine: readonly NamedInput[], claim: Claim | null): Promise<void> {
    const fetched = await fetchEmbeddings({
      ...order,
      unknown: mine,
      isWholeRequest: mine.length === inputs.length,
      counter,
      keep(vectors) {
        // Whoever comes too late to wait for a vector finds it stored.
        const stored = withinTimeLimit(STORE_TIME_LIMIT_MS, keep(vectors, order, options)).catch(() => {})
        storing.push(
          stored.then(() => {
            for (const [name, vector] of vectors) claim?.land(name, vector)
          }),
        )
      },
    })
    for (const batch of fetched.batches) {
      gathered.batches.push(batch)
      for (const [name, vector] of batch.vectors) gathered.fetched.set(name, vector)
    }
    gathered.usage = addUsage(gathered.usage, fetched.usage)
    gathered.end = fetched.end
  }

  async function takeTheirs({ theirs }: Claim): Promise<void> {
    const gone = whenGone(request.signal)
    for (const [name, landing] of theirs) {
      const vector = await Promise.race([landing, gone])
      if (vector) known.set(name, { ...vector, createdAtMs: Date.now() })
    }
  }
}

async function lookUp({ control, account, inputs }: GatherOrder, { vectors }: GatherOptions) {
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

/** Who wants fresh vectors, or leaves none behind, goes alone. */
function mayShare(control: CacheControl): boolean {
  return control.lookup && control.store
}

async function keep(
  fetched: ReadonlyMap<string, FetchedVector>,
  { control, account }: GatherOrder,
  { vectors }: GatherOptions,
): Promise<void> {
  const ttlSeconds = control.ttlSeconds ?? account.cache_ttl_seconds
  if (!control.store || ttlSeconds <= 0) return
  const named = Array.from(fetched, ([name, vector]) => ({ ...vector, name }))
  await vectors.store(account, named, ttlSeconds)
}
