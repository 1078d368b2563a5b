/** Wires the cache, and what learns in the background which of its entries may be served. */

import { createCache } from '../cache/cache.ts'
import type { Embedder } from '../cache/embedders/embedder.ts'
import { createExplainer } from '../cache/explain.ts'
import { createJudge } from '../cache/judge/judge.ts'
import { createJudgeQueue } from '../cache/judge/judge-queue.ts'
import { createLearner } from '../cache/judge/learner.ts'
import { createPromptVectors } from '../cache/prompt-vectors.ts'
import { UnfinishedWrites } from '../cache/unfinished-writes.ts'
import { createEmbedderPrice, nameEmbedderVectors } from '../cache/vectors/embedder-space.ts'
import { createVectorStore } from '../cache/vectors/vector-store.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Config } from '../config/config.ts'
import { createModelCaller } from '../pipeline/judge-model.ts'
import { createKeptResponses } from '../pipeline/kept-responses.ts'
import type { Database } from '../postgres/database.ts'
import { readEncryptionKeys } from '../providers/keys/encryption-key.ts'
import type { ModelRouter } from '../providers/model-router.ts'
import { type AnswerSeal, createAnswerSeal } from '../stores/answer-seal.ts'
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
  tracing: Tracing | null
  log: Log
}

export async function createCaching(
  { config, database, store, bus = null, embedder, tracing, log }: CachingOptions,
  catalogue: Catalogue,
  modelRouter: ModelRouter,
  { noteVerdict, noteEmbedded }: ProxyMetrics,
) {
  const seal = await openSeal(config)
  const vectors = createVectorStore({ database, store, log })
  const nameVector = nameEmbedderVectors(embedder, config, catalogue.directProvidersOf)
  const priceEmbedded = createEmbedderPrice(embedder, config, catalogue)
  const promptVectors = await createPromptVectors({
    database,
    embedder,
    vectors,
    nameVector,
    onEmbedded: promptTokens => noteEmbedded(priceEmbedded(promptTokens)),
    log,
  })
  const prepareCall = createModelCaller(modelRouter, catalogue, log)
  const judge = createJudge(database, prepareCall, log, noteVerdict)
  const learner = createLearner({ database, seal, prepareCall, tracing, log, noteVerdict })
  const judgeQueue = createJudgeQueue({ database, seal, log, onQueued: learner.wake })
  const unfinished = new UnfinishedWrites()
  const isOnlyProcess = bus ? bus.isOnlyProcess : () => database.backend === 'embedded'
  const cache = createCache({
    database,
    store,
    unfinished,
    vectors: promptVectors,
    judge,
    judgeQueue,
    isOnlyProcess,
    seal,
    log,
  })
  return {
    noteVerdict,
    vectors,
    cache,
    learner,
    keptResponses: createKeptResponses({ database, seal }),
    explainer: createExplainer({ database, unfinished, vectors: promptVectors, seal }),
  }
}

/** Where the key cannot be read, what needs it says so. */
async function openSeal(config: Config): Promise<AnswerSeal> {
  return createAnswerSeal(await readEncryptionKeys(config).catch(() => ({ current: null, others: [] })))
}
