/** Vectors of prompts. Each text is embedded once; a failing embedder costs a match, never a response. */

import { LRUCache } from 'lru-cache'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { recordedUserOf } from '../formats/end-user.ts'
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { formatVector } from '../postgres/vectors.ts'
import { reasonOf } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { CacheControl } from './cache-control.ts'
import type { CacheQuery, RequestIdentity } from './cache-query.ts'
import { ownerOf, scopedHash } from './cache-scope.ts'
import type { Embedder, PaidEmbedder } from './embedders/embedder.ts'
import type { PromptReading } from './text/read-prompt.ts'
import { type NameVector, packVector, unpackFloats } from './vectors/pack-vector.ts'
import type { VectorStore } from './vectors/vector-store.ts'
import { GIST_FORM, gistOf } from './verify/gist.ts'

const EMBED_TIME_LIMIT_MS = 2_000
const MAX_IN_MEMORY = 10_000

export interface PromptVector {
  spaceId: number
  /** From `formatVector`; it is sent to the database twice. */
  text: string
}

/** One that an answer is stored without: it is being made. */
export interface LateVector {
  spaceId: number
  /** Never rejects; null when there will be none. */
  made: Promise<PromptVector | null>
}

export type PromptVectors =
  /** A vector costs next to nothing, so none is stored. */
  | { readonly isFree: true; make(reading: Pick<PromptReading, 'normalized' | 'owner'>): PromptVector }
  /** Resolves to a normalized text's vector; null when the embedder failed or timed out. */
  | {
      readonly isFree: false
      readonly spaceId: number
      find(asking: Asking, normalized: string): Promise<PromptVector | null>
      /** The same for an answer that is stored: nobody waits for it, so it may take longer. */
      findLater(asking: Asking, normalized: string): Promise<PromptVector | null>
    }

/** For whom a vector is made. */
export type Asking = Pick<CacheQuery, 'account' | 'trace'> & {
  control: Pick<CacheControl, 'sharingScope'>
  identity: Pick<RequestIdentity, 'body'>
}

export interface PromptVectorsOptions {
  database: Database
  embedder: Embedder
  /** Where paid vectors are stored, together with the vectors of clients' own requests. */
  vectors: VectorStore
  /** Names the embedder's vectors as an equal request of a client would be named. */
  nameVector: NameVector
  /** Told of each call of an embedder at an API: what it read. */
  onEmbedded(promptTokens: number): void
  log: Log
}

export async function createPromptVectors(options: PromptVectorsOptions): Promise<PromptVectors> {
  const { database, embedder, log } = options
  const { model, dimensions } = embedder.space
  const spaceId = await call(database, 'register_embedding_space', {
    model: `${model}-${GIST_FORM}`,
    dimensions,
    build_lists: database.buildsLists,
  })
  const toPromptVector = (values: Float32Array): PromptVector => ({ spaceId, text: formatVector(values) })
  if (embedder.isFree)
    return { isFree: true, make: ({ normalized, owner }) => toPromptVector(embedder.embed(gistOf(normalized, owner))) }
  if (embedder.asks === null) {
    const orNull = (values: Float32Array | null) => values && toPromptVector(values)
    return {
      isFree: false,
      spaceId,
      find: (asking, normalized) => embedder.embed(gistOf(normalized, ownerOf(asking)), ownerOf(asking)).then(orNull),
      // Thousands may be under way, so none keeps its request.
      findLater: (asking, normalized) =>
        embedder.embedLater(gistOf(normalized, ownerOf(asking)), ownerOf(asking)).then(orNull),
    }
  }
  const embedText = embedOnce(embedder, options)
  async function find(asking: Asking, normalized: string): Promise<PromptVector | null> {
    // Test keys are free of charge, so only exact and normalized matches serve them.
    if (asking.account.key_type === 'test') return null
    try {
      const embedding = embedText(asking, gistOf(normalized, ownerOf(asking)))
      const values = await withinTimeLimit(EMBED_TIME_LIMIT_MS, embedding)
      log.failures.recover('embed')
      return toPromptVector(values)
    } catch (error) {
      log.failures.report('embed', error, 'a prompt could not be embedded', { fields: { reason: reasonOf(error) } })
      return null
    }
  }
  return {
    isFree: false,
    spaceId,
    find,
    findLater: ({ account, control, identity }, normalized) => find({ account, control, identity }, normalized),
  }
}

/** Looks in memory first, then in the vector store, and asks the embedder last. */
function embedOnce(embedder: PaidEmbedder, { vectors, nameVector, onEmbedded }: PromptVectorsOptions) {
  const recent = new LRUCache<string, Promise<Float32Array>>({ max: MAX_IN_MEMORY })

  async function embed({ account, identity, trace }: Asking, text: string, name: string): Promise<Float32Array> {
    const [known] = await vectors.find(account, [name], null)
    const values = known ? unpackFloats(known.packed) : null
    if (values?.length === embedder.space.dimensions) return values
    const { numbers, ...counted } = await embedder.embed(text, AbortSignal.timeout(EMBED_TIME_LIMIT_MS), trace)
    onEmbedded(counted.promptTokens)
    const packed = packVector(numbers)
    const ttlSeconds = account.cache_ttl_seconds
    const kept = { ttlSeconds, endUser: recordedUserOf(identity.body) }
    if (packed && ttlSeconds > 0) void vectors.store(account, [{ name, packed, ...counted }], kept)
    return Float32Array.from(numbers)
  }

  return (asking: Asking, text: string): Promise<Float32Array> => {
    const { account, control } = asking
    const name = scopedHash(control.sharingScope, nameVector(text))
    const place = `${account.project_id} ${account.cache_generation} ${name}`
    const known = recent.get(place)
    if (known) return known
    const asked = embed(asking, text, name)
    recent.set(place, asked)
    asked.catch(() => recent.delete(place))
    return asked
  }
}
