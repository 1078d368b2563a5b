/** Wires the stages together; no logic of its own, so that tests boot the real application. */
import { createAdmission } from './admission/admission.ts'
import { createReservations } from './admission/reservations.ts'
import { createRequestReserver } from './admission/reserve-requests.ts'
import { createCache } from './cache/cache.ts'
import { createExplainer } from './cache/explain.ts'
import { createJudge } from './cache/judge/judge.ts'
import { createJudgeQueue } from './cache/judge/judge-queue.ts'
import { createLearner } from './cache/judge/learner.ts'
import { createLearnedEquivalences } from './cache/learned-equivalences.ts'
import { createPromptVectors } from './cache/prompt-vectors.ts'
import { loadCatalogue } from './catalogue/catalogue.ts'
import { createLeads } from './coalescing/leads.ts'
import { SharedCalls } from './coalescing/shared-calls.ts'
import type { Config } from './config.ts'
import { createDashboard, createDashboardServer } from './dashboard/dashboard.ts'
import type { Embedder } from './embedders/embedder.ts'
import { withinTimeLimit } from './event-loop/time-limit.ts'
import { type ConnectionRoom, createConnectionRoom } from './http/connection-room.ts'
import { createEdgeWindows } from './http/edge-windows.ts'
import { createHealthCheck } from './http/health.ts'
import { createHttp } from './http/routes.ts'
import { createLargeBodyReader } from './large-bodies/read-large-body.ts'
import { createAccounting } from './pipeline/accounting.ts'
import { VectorCalls } from './pipeline/embeddings/vector-calls.ts'
import { createEquivalenceDesk } from './pipeline/equivalences.ts'
import { createRequestExplainer } from './pipeline/explain.ts'
import { createFeedbackTaker } from './pipeline/feedback.ts'
import { createModelCaller } from './pipeline/judge-model.ts'
import { createKeptObjects } from './pipeline/kept-objects/kept-objects.ts'
import { createModelDirectory } from './pipeline/model-directory.ts'
import { createPassThrough } from './pipeline/pass-through/pass-through.ts'
import { createPipeline } from './pipeline/pipeline.ts'
import type { Stages } from './pipeline/stages.ts'
import { createStoredResponses } from './pipeline/stored-responses.ts'
import { createTokenCounter } from './pipeline/token-counter.ts'
import type { Database } from './postgres/database.ts'
import { startMaintenance } from './process/maintenance.ts'
import { readEncryptionKeys } from './providers/keys/encryption-key.ts'
import { createVault } from './providers/keys/vault.ts'
import { createWordings } from './providers/keys/wordings.ts'
import { reachProviders } from './providers/reach-providers.ts'
import { createRoutes } from './providers/routes.ts'
import { createSandboxProvider } from './providers/sandbox-provider.ts'
import type { ProcessBus } from './redis/process-bus.ts'
import type { FastStore } from './stores/fast-store.ts'
import { createInProcessStore } from './stores/in-process-store.ts'
import type { Log } from './telemetry/log.ts'
import { createRefusalRecorder } from './telemetry/refusal-recorder.ts'
import { createRefusals } from './telemetry/refusals.ts'
import { createSemanticHitRecorder } from './telemetry/semantic-hit-recorder.ts'
import { createUsageRecorder } from './telemetry/usage-recorder.ts'
import { nameEmbedderVectors } from './vector-cache/embedder-space.ts'
import { createVectorStore } from './vector-cache/vector-store.ts'

export interface AppOptions {
  config: Config
  /** Migrated. */
  database: Database
  store: FastStore
  embedder: Embedder
  /** To share upstream calls with other processes; null where there is only this one. */
  bus?: ProcessBus | null
  log: Log
}

export interface App {
  http: ReturnType<typeof createHttp>
  /** Where it has a port of its own. */
  dashboard: ReturnType<typeof createDashboardServer> | null
  /** To be watched by whoever listens. */
  connections: ConnectionRoom
  /** What still runs is about to be cut off by this process's end, and is not to count. */
  noteCut(): void
  /** Writes what waits to be written: usage records, refunds and vectors. Resolves when that is done, or the time is up. */
  flush(timeLimitMs: number): Promise<void>
  /** Ends what runs beside requests. Flush first: what is not yet written then is lost. */
  close(): Promise<void>
}

export async function createApp({ config, database, store, embedder, bus = null, log }: AppOptions): Promise<App> {
  const catalogue = await loadCatalogue(database)
  const vectors = createVectorStore({ database, store, log })
  const nameVector = nameEmbedderVectors(embedder, config, catalogue.directProvidersOf)
  const promptVectors = await createPromptVectors({ database, embedder, vectors, nameVector, log })
  const recorder = createUsageRecorder(database, log)
  const wordings = createWordings(createVault(() => readEncryptionKeys(config)))
  const semanticHits = createSemanticHitRecorder(database, wordings.seal, log)
  const reservations = createReservations(database)
  const providers = reachProviders({ config, database, catalogue, log })
  const { circuits } = providers
  const routes = createRoutes({ catalogue, sandbox: createSandboxProvider(), ...providers })
  const admission = createAdmission(store, reservations)
  const models = createModelDirectory(admission, routes)
  const largeBodies = createLargeBodyReader()
  const askModel = createModelCaller(routes, catalogue, log)
  const judge = createJudge(database, askModel, log)
  const learner = createLearner(database, askModel, log)
  const judgeQueue = createJudgeQueue({ database, log, onQueued: learner.wake })
  const equivalences = createLearnedEquivalences(database, log)
  const cache = createCache({ database, store, vectors: promptVectors, judge, judgeQueue, equivalences, log })
  const explainer = createExplainer({ database, vectors: promptVectors, judge, equivalences })
  const accounting = createAccounting({ recorder, semanticHits, reservations, catalogue, log })
  const stages: Stages = {
    admission,
    largeBodies,
    cache,
    catalogue,
    routes,
    accounting,
    calls: new SharedCalls(),
    leads: createLeads(bus),
    vectorCalls: new VectorCalls(),
    vectors,
  }
  const maintenance = await startMaintenance(database, log)
  const connections = createConnectionRoom()
  const ownWindows = createInProcessStore()
  const refusals = createRefusals(log)
  const refusalRecorder = createRefusalRecorder(database, refusals, log)
  const http = createHttp({
    config,
    pipeline: createPipeline(stages),
    passThrough: createPassThrough(stages),
    keptObjects: createKeptObjects({ stages, database, reserver: createRequestReserver(database, reservations) }),
    countTokens: createTokenCounter(admission, routes, largeBodies),
    storedResponses: createStoredResponses({ admission, routes, cache, database, store }),
    cacheQuestions: {
      feedback: createFeedbackTaker(admission, database, largeBodies),
      explain: createRequestExplainer(admission, routes, explainer, largeBodies),
      equivalences: createEquivalenceDesk(admission, database, largeBodies),
    },
    models,
    checkHealth: createHealthCheck({ database, store, circuits }),
    connections,
    edge: createEdgeWindows(ownWindows),
    refusals,
    controllers: config.dashboard === 'on' ? [createDashboard({ config, database, log })] : [],
    log,
  })
  return {
    http,
    connections,
    noteCut: accounting.noteCut,
    dashboard: typeof config.dashboard === 'number' ? createDashboardServer({ config, database, log }) : null,
    async flush(timeLimitMs) {
      await Promise.all([
        recorder.drain(timeLimitMs),
        semanticHits.drain(timeLimitMs),
        withinTimeLimit(timeLimitMs, cache.flush()).catch(() => {}),
        reservations.drain(timeLimitMs),
        vectors.drain(timeLimitMs),
        refusalRecorder.drain(timeLimitMs),
      ])
    },
    async close() {
      maintenance.stop()
      refusalRecorder.stop()
      await learner.stop()
      catalogue.close()
      largeBodies.close()
      providers.close()
      await ownWindows.close()
    },
  }
}
