/** Vectors of prompts. Each text is embedded once; a failing embedder costs a match, never a response. */

import { LRUCache } from 'lru-cache'
import { withTimeout } from '../event-loop/timeouts.ts'
import { recordedEndUserOf } from '../formats/end-user.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { formatVector } from '../postgres/vectors.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { CacheControl } from './cache-control.ts'
import type { CacheQuery, RequestIdentity } from './cache-query.ts'
import { scopedHash, scopeOwnerOf } from './cache-scope.ts'
import type { Embedder, PaidEmbedder } from './embedders/embedder.ts'
import type { NormalizedPrompt } from './text/normalize-prompt.ts'
import { packVector, unpackFloats, type VectorNamer } from './vectors/pack-vector.ts'
import type { VectorStore } from './vectors/vector-store.ts'
import { EMBEDDING_TEXT_VERSION, embeddingTextOf } from './verify/embedding-text.ts'

const EMBED_TIME_LIMIT_MS = 2_000
const MAX_IN_MEMORY = 10_000

export interface PromptVector {
  spaceId: number
  /** From `formatVector`; it is sent to the database twice. */
  text: string
}

/** One that an answer is stored without: it is being made. */
export interface PendingVector {
  spaceId: number
  /** Never rejects; null when there will be none. */
  ready: Promise<PromptVector | null>
}

export type PromptEmbedder =
  /** A vector costs next to nothing, so none is stored. */
  | { readonly isFree: true; make(reading: Pick<NormalizedPrompt, 'normalized' | 'owner'>): PromptVector }
  /** Resolves to a normalized text's vector; null when the embedder failed or timed out. */
  | {
      readonly isFree: false
      readonly spaceId: number
      find(asking: EmbeddingContext, normalized: string): Promise<PromptVector | null>
      /** The same for an answer that is stored: nobody waits for it, so it may take longer. */
      findLater(asking: EmbeddingContext, normalized: string): Promise<PromptVector | null>
    }

/** For whom a vector is made. */
export type EmbeddingContext = Pick<CacheQuery, 'resolvedKey' | 'trace'> & {
  control: Pick<CacheControl, 'sharingScope'>
  identity: Pick<RequestIdentity, 'body'>
}

export interface PromptEmbedderOptions {
  database: Database
  embedder: Embedder
  /** Where paid vectors are stored, together with the vectors of clients' own requests. */
  vectors: VectorStore
  /** Names the embedder's vectors as an equal request of a client would be named. */
  nameVector: VectorNamer
  /** Told of each call of an embedder at an API: what it read. */
  onEmbedded(promptTokens: number): void
  log: Log
}

export async function createPromptEmbedder(options: PromptEmbedderOptions): Promise<PromptEmbedder> {
  const { database, embedder, log } = options
  const { model, dimensions } = embedder.space
  const spaceId = await callFunction(database, 'register_embedding_space', {
    model: `${model}-${EMBEDDING_TEXT_VERSION}`,
    dimensions,
    build_lists: database.hasVectorLists,
  })
  const toPromptVector = (values: Float32Array): PromptVector => ({ spaceId, text: formatVector(values) })
  if (embedder.isFree)
    return {
      isFree: true,
      make: ({ normalized, owner }) => toPromptVector(embedder.embed(embeddingTextOf(normalized, owner))),
    }
  if (embedder.endpoint === null) {
    const orNull = (values: Float32Array | null) => values && toPromptVector(values)
    return {
      isFree: false,
      spaceId,
      find: (asking, normalized) =>
        embedder.embed(embeddingTextOf(normalized, scopeOwnerOf(asking)), scopeOwnerOf(asking)).then(orNull),
      // Thousands may be under way, so none keeps its request.
      findLater: (asking, normalized) =>
        embedder
          .embedInBackground(embeddingTextOf(normalized, scopeOwnerOf(asking)), scopeOwnerOf(asking))
          .then(orNull),
    }
  }
  const embedText = embedOnce(embedder, options)
  async function find(asking: EmbeddingContext, normalized: string): Promise<PromptVector | null> {
    // Test keys are free of charge, so only exact and normalized matches serve them.
    if (asking.resolvedKey.key_type === 'test') return null
    try {
      const embedding = embedText(asking, embeddingTextOf(normalized, scopeOwnerOf(asking)))
      const values = await withTimeout(EMBED_TIME_LIMIT_MS, embedding)
      log.failures.recover('embed')
      return toPromptVector(values)
    } catch (error) {
      log.failures.report('embed', error, 'a prompt could not be embedded', {
        fields: { reason: errorMessageOf(error) },
      })
      return null
    }
  }
  return {
    isFree: false,
    spaceId,
    find,
    findLater: ({ resolvedKey, control, identity }, normalized) => find({ resolvedKey, control, identity }, normalized),
  }
}

/** Looks in memory first, then in the vector store, and asks the embedder last. */
function embedOnce(embedder: PaidEmbedder, { vectors, nameVector, onEmbedded }: PromptEmbedderOptions) {
  const recent = new LRUCache<string, Promise<Float32Array>>({ max: MAX_IN_MEMORY })

  async function embed(
    { resolvedKey, identity, trace }: EmbeddingContext,
    text: string,
    name: string,
  ): Promise<Float32Array> {
    const [known] = await vectors.find(resolvedKey, [name], null)
    const values = known ? unpackFloats(known.packed) : null
    if (values?.length === embedder.space.dimensions) return values
    const { numbers, ...counted } = await embedder.embed(text, AbortSignal.timeout(EMBED_TIME_LIMIT_MS), trace)
    onEmbedded(counted.promptTokens)
    const packed = packVector(numbers)
    const ttlSeconds = resolvedKey.cache_ttl_seconds
    const kept = { ttlSeconds, endUser: recordedEndUserOf(identity.body) }
    if (packed && ttlSeconds > 0) void vectors.store(resolvedKey, [{ name, packed, ...counted }], kept)
    return Float32Array.from(numbers)
  }

  return (asking: EmbeddingContext, text: string): Promise<Float32Array> => {
    const { resolvedKey, control } = asking
    const name = scopedHash(control.sharingScope, nameVector(text))
    const place = `${resolvedKey.project_id} ${resolvedKey.cache_generation} ${name}`
    const known = recent.get(place)
    if (known) return known
    const asked = embed(asking, text, name)
    recent.set(place, asked)
    asked.catch(() => recent.delete(place))
    return asked
  }
}
