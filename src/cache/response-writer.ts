/**
 * Writes complete responses to PostgreSQL in batches: those that arrive while a call is in flight share the next. A response whose vector is still being
 * made is stored without, to be found by what needs none. The vector follows.
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
  /** Whether it may be matched semantically; a response that calls tools may not. */
  isSemantic: boolean
  /** Whether its client has all but the closing event. */
  isStreamed: boolean
  /** As in the entry. */
  policy: string | null
}

/** Neither rejects: a response that was not stored is a miss next time. */
export interface PendingWrite {
  /** Resolves when PostgreSQL has it. */
  stored: Promise<void>
  /** Resolves when PostgreSQL has its vector, too, or there will be none. The same promise where that is not late. */
  vectorStored: Promise<void>
}

export interface ResponseWriter {
  /** A response without a prompt is written a moment later, with others. */
  write(
    query: CacheQuery,
    response: CompleteResponse,
    vector: PromptVector | PendingVector | null,
    ttlSeconds: number,
  ): PendingWrite
  /** Whether so much waits to be written that further responses should wait, too. */
  isBacklogged(): boolean
  /** Writes at once what waits, and resolves when no write is pending. */
  flush(): Promise<void>
}

type StoredVector = NonNullable<CacheEntryInput['semantic']>['vector']

const MAX_BATCH = 50
const TIME_LIMIT_MS = 10_000
/** A batch costs as much as ten answers, so one that nobody waits for collects more. */
const LINGER_MS = 25
const MOST_WAITING_BYTES = 32 * 1024 * 1024

export function createResponseWriter(database: Database, seal: ContentSeal, log: Log): ResponseWriter {
  const underWay = new BackgroundWork()
  let waitingBytes = 0
  let flushing = Promise.withResolvers<void>()
  const createStore = (maxItems: number, linger?: () => Promise<void>) =>
    createBatcher<CacheEntryInput, number | null>({
      run: answers => storeCachedResponses(database, answers),
      maxItems,
      ...(linger && { linger }),
      timeoutMs: TIME_LIMIT_MS,
      createTimeoutError: () => new Error('A response was not stored in time'),
    })
  const store = createStore(MAX_BATCH)
  const storeLater = createStore(MAX_BATCH, () => Promise.race([Bun.sleep(LINGER_MS), flushing.promise]))
  // One at a time, because writing several long ones would block the event loop.
  const storeLong = createStore(1)
  const addVector = createBatcher<PromptVectorInput, null>({
    run: async added => {
      await addPromptVectors(database, added)
      return added.map(() => null)
    },
    maxItems: MAX_BATCH,
    timeoutMs: TIME_LIMIT_MS,
    createTimeoutError: () => new Error('A vector was not stored in time'),
  })
  const report = (error: unknown) => log.failures.report('store', error, 'a response could not be stored')

  /** Resolves to what its vector, if it is late, is added to. Nothing of the response is kept until then. */
  async function storeRow(row: CacheEntryInput): Promise<Omit<PromptVectorInput, 'vector'> | null> {
    const add = row.response.length > MAX_MAIN_THREAD_BYTES ? storeLong : row.semantic ? store : storeLater
    const { projectId, semantic } = row
    const entryId = await add(row)
    if (entryId === null || semantic?.vector?.text !== null) return null
    const { contextHash, normalizedHash, anchorHash = null } = semantic
    return { entryId, projectId, contextHash, normalizedHash, anchorHash }
  }

  return {
    write(query, response, vector, ttlSeconds) {
      const bytes = response.body.length
      waitingBytes += bytes
      const storing = ifMade(vector)
        .then(made => storeRow(toRow(query, response, made, { ttlSeconds, seal })))
        .finally(() => {
          waitingBytes -= bytes
        })
      const stored = underWay.add(storing.then(() => log.failures.recover('store'), report))
      if (!vector || 'text' in vector) return { stored, vectorStored: stored }
      const comparable = Promise.all([storing.catch(() => null), vector.ready]).then(async ([place, made]) => {
        if (place && made) await addVector({ ...place, vector: made }).catch(report)
      })
      return { stored, vectorStored: underWay.add(comparable) }
    },
    isBacklogged: () => waitingBytes > MOST_WAITING_BYTES,
    async flush() {
      flushing.resolve()
      await underWay.settled()
      flushing = Promise.withResolvers()
    },
  }
}

/** A late vector, too, if it is made by the end of this turn. */
async function ifMade(vector: PromptVector | PendingVector | null): Promise<StoredVector> {
  if (!vector || 'text' in vector) return vector
  const late = { spaceId: vector.spaceId, text: null }
  return Promise.race([vector.ready, new Promise<StoredVector>(resolve => setImmediate(resolve, late))])
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
  if (body === null || prompt === null) throw new Error('seal_answers is on, and there is no ENCRYPTION_KEY')
  return {
    projectId: resolvedKey.project_id,
    cacheGeneration: resolvedKey.cache_generation,
    test: resolvedKey.key_type === 'test',
    keyId: resolvedKey.key_id,
    logContent: resolvedKey.log_content,
    endUser: recordedEndUserOf(identity.body),
    requestHash,
    namespace: identity.namespace,
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
            anchorHash: semantic.anchorHash,
          },
  }
}

/** By which a client may have it deleted, where nobody can look for the id in what is sealed. */
function idOf(body: Uint8Array): string | null {
  const { id } = parseJsonObject(new TextDecoder().decode(body)) ?? {}
  return typeof id === 'string' ? id : null
}
