/**
 * Writes complete responses to PostgreSQL in batches. Responses that arrive while a call is in flight share the next call. A response whose
 * vector is in progress is stored without it first, so that lookups without a vector find it.
 */

import { BackgroundWork } from '../event-loop/background-work.ts'
import { createBatcher } from '../event-loop/batcher.ts'
import { MAX_MAIN_THREAD_BYTES } from '../event-loop/worker-pool.ts'
import { recordedEndUserOf } from '../formats/end-user.ts'
import { parseJsonObject } from '../formats/json/canonical.ts'
import type { Database } from '../postgres/database.ts'
import {
  addPromptVectors,
  type CacheEntryInput,
  type PromptVectorInput,
  storeCachedResponses,
} from '../postgres/store-cached-responses.ts'
import type { ContentSeal } from '../stores/content-seal.ts'
import type { Log } from '../telemetry/log.ts'
import type { CacheQuery } from './cache-query.ts'
import type { PendingVector, PromptVector } from './prompt-embedder.ts'

export interface CompleteResponse {
  /** The plain JSON body. */
  body: Uint8Array
  provider: string
  promptTokens: number
  completionTokens: number
  /** True when the response may be matched semantically. A response that calls tools may not. */
  isSemantic: boolean
  /** True when the client has received all but the closing event. */
  isStreamed: boolean
  /** The hook's policy version; see `CacheEntry`. */
  policy: string | null
}

/** A write in progress. Its promises never reject: a response that was not stored is a miss next time. */
export interface PendingWrite {
  /** Resolves when the response is in PostgreSQL. */
  stored: Promise<void>
  /** Resolves when the vector is in PostgreSQL, too, or the embedding failed. The same promise as `stored` if the vector was ready. */
  vectorStored: Promise<void>
}

export interface ResponseWriter {
  /** Queues the response. A response without a prompt is delayed by 25 ms, to be written with others. */
  write(
    query: CacheQuery,
    response: CompleteResponse,
    vector: PromptVector | PendingVector | null,
    ttlSeconds: number,
  ): PendingWrite
  /** Returns true when so many bytes wait to be written that further responses should wait, too. */
  isBacklogged(): boolean
  /** Writes all queued responses at once. Resolves when no write is pending. */
  flush(): Promise<void>
}

type StoredVector = NonNullable<CacheEntryInput['semantic']>['vector']

const MAX_BATCH = 50
const TIME_LIMIT_MS = 10_000
/** Delay in which a batch without a waiting request collects more responses. A batch costs as much as ten responses. */
const LINGER_MS = 25
const MAX_WAITING_BYTES = 32 * 1024 * 1024

export function createResponseWriter(database: Database, seal: ContentSeal, log: Log): ResponseWriter {
  const inFlight = new BackgroundWork()
  let waitingBytes = 0
  let flushing = Promise.withResolvers<void>()
  const createStore = (maxItems: number, linger?: () => Promise<void>) =>
    createBatcher<CacheEntryInput, number | null>({
      run: responses => storeCachedResponses(database, responses),
      maxItems,
      ...(linger && { linger }),
      timeoutMs: TIME_LIMIT_MS,
      createTimeoutError: () => new Error('response was not stored in PostgreSQL within 10 s'),
    })
  const store = createStore(MAX_BATCH)
  const storeLater = createStore(MAX_BATCH, () => Promise.race([Bun.sleep(LINGER_MS), flushing.promise]))
  // Long responses are written one at a time, because several would block the event loop.
  const storeLong = createStore(1)
  const addVector = createBatcher<PromptVectorInput, null>({
    run: async added => {
      await addPromptVectors(database, added)
      return added.map(() => null)
    },
    maxItems: MAX_BATCH,
    timeoutMs: TIME_LIMIT_MS,
    createTimeoutError: () => new Error('vector was not stored in PostgreSQL within 10 s'),
  })
  const report = (error: unknown) => log.failures.report('store', error, 'a response could not be stored')

  /** Stores a row. Resolves to the fields for adding a vector in progress; null when none is to be added. Does not retain the response. */
  async function storeRow(row: CacheEntryInput): Promise<Omit<PromptVectorInput, 'vector'> | null> {
    const add = row.response.length > MAX_MAIN_THREAD_BYTES ? storeLong : row.semantic ? store : storeLater
    const { projectId, semantic } = row
    const entryId = await add(row)
    if (entryId === null || semantic?.vector?.text !== null) return null
    const { contextHash, normalizedHash } = semantic
    return { entryId, projectId, contextHash, normalizedHash }
  }

  return {
    write(query, response, vector, ttlSeconds) {
      const bytes = response.body.length
      waitingBytes += bytes
      const storing = takeIfReady(vector)
        .then(ready => storeRow(toRow(query, response, ready, { ttlSeconds, seal })))
        .finally(() => {
          waitingBytes -= bytes
        })
      const stored = inFlight.add(storing.then(() => log.failures.recover('store'), report))
      if (!vector || 'text' in vector) return { stored, vectorStored: stored }
      const vectorStored = Promise.all([storing.catch(() => null), vector.ready]).then(async ([entry, ready]) => {
        if (entry && ready) await addVector({ ...entry, vector: ready }).catch(report)
      })
      return { stored, vectorStored: inFlight.add(vectorStored) }
    },
    isBacklogged: () => waitingBytes > MAX_WAITING_BYTES,
    async flush() {
      flushing.resolve()
      await inFlight.settled()
      flushing = Promise.withResolvers()
    },
  }
}

/** Resolves to the vector. One in progress is awaited until the end of this tick, then has no `text`. */
async function takeIfReady(vector: PromptVector | PendingVector | null): Promise<StoredVector> {
  if (!vector || 'text' in vector) return vector
  const pending = { spaceId: vector.spaceId, text: null }
  return Promise.race([vector.ready, new Promise<StoredVector>(resolve => setImmediate(resolve, pending))])
}

function toRow(
  query: CacheQuery,
  response: CompleteResponse,
  vector: StoredVector,
  { ttlSeconds, seal }: { ttlSeconds: number; seal: ContentSeal },
): CacheEntryInput {
  const { resolvedKey, identity, requestHash, model } = query
  const semantic = response.isSemantic ? query.semantic() : 'tools'
  const body = seal.seal(response.body, resolvedKey)
  const prompt = typeof semantic === 'string' ? '' : seal.sealText(semantic.normalizedPrompt.text, resolvedKey)
  if (body === null || prompt === null)
    throw new Error('response cannot be stored: seal_answers is on, and ENCRYPTION_KEY is not set; set it')
  return {
    projectId: resolvedKey.project_id,
    cacheGeneration: resolvedKey.cache_generation,
    test: resolvedKey.key_type === 'test',
    keyId: resolvedKey.key_id,
    logContent: resolvedKey.log_content,
    endUser: recordedEndUserOf(identity.body),
    requestHash,
    namespace: identity.namespace,
    version: identity.version || null,
    endpoint: identity.endpoint,
    model,
    provider: response.provider,
    response: body,
    responseId: body !== response.body && identity.endpoint === 'responses' ? idOf(response.body) : null,
    promptTokens: response.promptTokens,
    completionTokens: response.completionTokens,
    ttlSeconds,
    policy: response.policy,
    semantic:
      typeof semantic === 'string'
        ? null
        : {
            contextHash: semantic.contextHash,
            normalizedHash: semantic.normalizedHash,
            prompt,
            vector,
            topicWords: semantic.topicWords,
          },
  }
}

/** Returns the response's id, by which a client may delete it. In a sealed body the id could not be found. */
function idOf(body: Uint8Array): string | null {
  const { id } = parseJsonObject(new TextDecoder().decode(body)) ?? {}
  return typeof id === 'string' ? id : null
}
