/** Creates the cache, and the judge that learns in the background which entries may be served. */

import { createCache } from '../cache/cache.ts'
import { createCacheVersions } from '../cache/cache-versions.ts'
import type { Embedder } from '../cache/embedders/embedder.ts'
import { createLookupExplainer } from '../cache/explain.ts'
import { createJudge } from '../cache/judge/judge.ts'
import { createJudgeQueue } from '../cache/judge/judge-queue.ts'
import { createJudgeWorker } from '../cache/judge/judge-worker.ts'
import { PendingWrites } from '../cache/pending-writes.ts'
import { createPromptEmbedder } from '../cache/prompt-embedder.ts'
import { createEmbedderPricing, createEmbedderVectorNamer } from '../cache/vectors/embedder-vector-names.ts'
import { createVectorStore } from '../cache/vectors/vector-store.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Config } from '../config/config.ts'
import { createStoredResponses } from '../pipeline/conversations/stored-responses.ts'
import { createStoredTurns } from '../pipeline/conversations/stored-turns.ts'
import { createJudgeCallPreparer } from '../pipeline/upstream/judge-model.ts'
import type { Database } from '../postgres/database.ts'
import { readEncryptionKeys } from '../providers/keys/encryption-key.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import { type ContentSeal, createContentSeal } from '../stores/content-seal.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { ProcessBus } from '../stores/redis/process-bus.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import type { Tracing } from '../telemetry/tracing/request-trace.ts'

interface CachingOptions {
  config: Config
  database: Database
  store: FastStore
  bus?: ProcessBus | null
  embedder: Embedder
  databaseTimeoutMs?: number | undefined
  tracing: Tracing | null
  log: Log
}

/** A slower lookup is a miss. Together with admission, it takes less than a second. */
const LOOKUP_TIMEOUT_MS = 400

export async function createCacheServices(
  { config, database, store, bus = null, embedder, databaseTimeoutMs, tracing, log }: CachingOptions,
  catalogue: Catalogue,
  modelRouter: ModelRouter,
  { recordVerdict, recordEmbedderCall }: ProxyMetrics,
) {
  const seal = await createSeal(config)
  const vectors = createVectorStore({ database, store, log })
  const nameVector = createEmbedderVectorNamer(embedder, config, catalogue)
  const priceEmbedding = createEmbedderPricing(embedder, config, catalogue)
  const promptVectors = await createPromptEmbedder({
    database,
    embedder,
    vectors,
    nameVector,
    onEmbedded: promptTokens => recordEmbedderCall(priceEmbedding(promptTokens)),
    log,
  })
  const prepareCall = createJudgeCallPreparer(modelRouter, catalogue, log)
  const judge = createJudge(database, prepareCall, log, recordVerdict)
  const learner = createJudgeWorker({ database, seal, prepareCall, tracing, log, recordVerdict })
  const judgeQueue = createJudgeQueue({ database, seal, log, onQueued: learner.wake })
  const lookupTimeoutMs = databaseTimeoutMs ?? LOOKUP_TIMEOUT_MS
  const unfinished = new PendingWrites(lookupTimeoutMs)
  const isOnlyProcess = bus ? bus.isOnlyProcess : () => database.backend === 'embedded'
  const cache = createCache({
    database,
    store,
    unfinished,
    vectors: promptVectors,
    judge,
    judgeQueue,
    isOnlyProcess,
    lookupTimeoutMs,
    seal,
    log,
  })
  return {
    recordVerdict,
    vectors,
    cache,
    versions: createCacheVersions({ database, store, lookupTimeoutMs, log }),
    learner,
    storedResponses: createStoredResponses({ database, seal }),
    storedTurns: createStoredTurns({ database, seal, log }),
    explainer: createLookupExplainer({ database, unfinished, vectors: promptVectors, seal }),
  }
}

/** Creates the seal of contents. If the key cannot be read, the operations that need it report that. */
async function createSeal(config: Config): Promise<ContentSeal> {
  return createContentSeal(await readEncryptionKeys(config).catch(() => ({ current: null, others: [] })))
}
