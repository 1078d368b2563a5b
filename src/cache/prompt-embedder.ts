/** Provides the vectors of prompts. Each text is embedded once. A failed embedding may cost a match and never fails a request. */

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
import { readModel } from './verify/trees.ts'

/** What is embedded: part of the space's name, so that vectors of other texts are never compared. */
const EMBEDDING_TEXT = 'normalized'
const EMBED_TIME_LIMIT_MS = 2_000
const MAX_IN_MEMORY = 10_000

export interface PromptVector {
  spaceId: number
  /** From `formatVector`. It is sent to the database twice. */
  text: string
}

/** A vector in progress. The response is stored without it first. */
export interface PendingVector {
  spaceId: number
  /** Never rejects. Null when the embedding failed. */
  ready: Promise<PromptVector | null>
}

export type PromptEmbedder = {
  /** Whether the verifier has learned from cosines of this space. */
  readonly isReadByVerifier: boolean
} /** Computes vectors in-process. They cost so little that they are not stored. */ & (
  | { readonly isFree: true; make(prompt: Pick<NormalizedPrompt, 'normalized'>): PromptVector }
  /** Resolves to a normalized text's vector. Null when the embedder failed or timed out. */
  | {
      readonly isFree: false
      readonly spaceId: number
      find(context: EmbeddingContext, normalized: string): Promise<PromptVector | null>
      /** Like `find`, for a response to be stored. It may take longer, because no request waits for it. */
      findLater(context: EmbeddingContext, normalized: string): Promise<PromptVector | null>
    }
)

/** The request for which a vector is computed. */
export type EmbeddingContext = Pick<CacheQuery, 'resolvedKey' | 'trace'> & {
  control: Pick<CacheControl, 'sharingScope'>
  identity: Pick<RequestIdentity, 'body'>
}

export interface PromptEmbedderOptions {
  database: Database
  embedder: Embedder
  /** Stores paid vectors, together with the vectors of clients' own requests. */
  vectors: VectorStore
  /** Names the embedder's vectors like those of an equal client request. */
  nameVector: VectorNamer
  /** Called after each call to an embedder's API, with the prompt tokens. */
  onEmbedded(promptTokens: number): void
  log: Log
}

export async function createPromptEmbedder(options: PromptEmbedderOptions): Promise<PromptEmbedder> {
  const { database, embedder, log } = options
  const { model, dimensions } = embedder.space
  const spaceId = await callFunction(database, 'register_embedding_space', {
    model: `${model}-${EMBEDDING_TEXT}`,
    dimensions,
  })
  const toPromptVector = (values: Float32Array): PromptVector => ({ spaceId, text: formatVector(values) })
  if (embedder.isFree)
    return {
      isReadByVerifier: false,
      isFree: true,
      make: ({ normalized }) => toPromptVector(embedder.embed(normalized)),
    }
  if (embedder.endpoint === null) {
    const toNullable = (values: Float32Array | null) => values && toPromptVector(values)
    return {
      isReadByVerifier: model === readModel('cosine').space,
      isFree: false,
      spaceId,
      find: (context, normalized) => embedder.embed(normalized, scopeOwnerOf(context)).then(toNullable),
      // Thousands may be in flight, so that none retains its request.
      findLater: (context, normalized) =>
        embedder.embedInBackground(normalized, scopeOwnerOf(context)).then(toNullable),
    }
  }
  const embedText = createCachedEmbed(embedder, options)
  async function find(context: EmbeddingContext, normalized: string): Promise<PromptVector | null> {
    // Test keys are free of charge, so that they get only exact and normalized matches.
    if (context.resolvedKey.key_type === 'test') return null
    try {
      const embedding = embedText(context, normalized)
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
    isReadByVerifier: false,
    isFree: false,
    spaceId,
    find,
    findLater: ({ resolvedKey, control, identity }, normalized) => find({ resolvedKey, control, identity }, normalized),
  }
}

/** Returns a function that looks a vector up in memory, then in the vector store, and calls the embedder last. */
function createCachedEmbed(embedder: PaidEmbedder, { vectors, nameVector, onEmbedded }: PromptEmbedderOptions) {
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
    const storeOptions = { ttlSeconds, endUser: recordedEndUserOf(identity.body) }
    if (packed && ttlSeconds > 0) void vectors.store(resolvedKey, [{ name, packed, ...counted }], storeOptions)
    return Float32Array.from(numbers)
  }

  return (context: EmbeddingContext, text: string): Promise<Float32Array> => {
    const { resolvedKey, control } = context
    const name = scopedHash(control.sharingScope, nameVector(text))
    const cacheKey = `${resolvedKey.project_id} ${resolvedKey.cache_generation} ${name}`
    const known = recent.get(cacheKey)
    if (known) return known
    const embedding = embed(context, text, name)
    recent.set(cacheKey, embedding)
    embedding.catch(() => recent.delete(cacheKey))
    return embedding
  }
}
