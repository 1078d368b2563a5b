/** Wires the stages together; no logic of its own, so that tests boot the real application. */
import { createAdmission } from '../admission/admission.ts'
import { createBudgets } from '../admission/budgets.ts'
import { createQuota } from '../admission/quota.ts'
import { createRateLimiter } from '../admission/rate-limiter.ts'
import { createTokenRateLimiter } from '../admission/token-rate-limiter.ts'
import type { Embedder } from '../cache/embedders/embedder.ts'
import { AGGREGATOR, type Catalogue, loadCatalogue } from '../catalogue/catalogue.ts'
import type { Config } from '../config/config.ts'
import { VENDORS } from '../config/vendors.ts'
import { createDashboard, createDashboardServer } from '../dashboard/dashboard.ts'
import { StreamMemory } from '../event-loop/stream-memory.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { workerPool } from '../event-loop/worker-pool.ts'
import { largeBodyReader } from '../formats/large-bodies/read-large-body.ts'
import { createHook } from '../hooks/hook.ts'
import { createHealthCheck } from '../http/health.ts'
import { type ConnectionLimiter, createConnectionLimiter } from '../http/ingress.ts'
import { IDLE_TIMEOUT_SECONDS } from '../http/pipeline-handler.ts'
import { createReadiness, type Readiness } from '../http/readiness.ts'
import { createHttpApp } from '../http/routes.ts'
import { createAddressRateLimits } from '../http/unmetered-handlers.ts'
import { type Accounting, createAccounting } from '../pipeline/accounting/accounting.ts'
import { createUsageReconciler } from '../pipeline/accounting/usage-reconciler.ts'
import { createCallLeases } from '../pipeline/coalescing/call-leases.ts'
import { SharedCalls } from '../pipeline/coalescing/shared-call.ts'
import { InFlightVectors } from '../pipeline/coalescing/vector-calls.ts'
import { createParsedBodyCache } from '../pipeline/context/read-request.ts'
import type { PipelineServices } from '../pipeline/context/request-context.ts'
import { createConversations } from '../pipeline/conversations/conversations.ts'
import { createRealtimeSessions, type RealtimeSessions } from '../pipeline/endpoints/realtime/open-session.ts'
import { createKeyInfoReader } from '../pipeline/models/key-info.ts'
import { createModelDirectory } from '../pipeline/models/model-directory.ts'
import { createPipeline } from '../pipeline/pipeline.ts'
import type { Database } from '../postgres/database.ts'
import { syncDatabaseTime } from '../postgres/database-maintenance.ts'
import { createProviders } from '../providers/create-providers.ts'
import { readEncryptionKeys } from '../providers/keys/encryption-key.ts'
import { createQuestionVault } from '../providers/keys/question-vault.ts'
import { createVault } from '../providers/keys/vault.ts'
import { createModelRouter, type ModelRouter } from '../providers/model-router.ts'
import { createSandboxProvider } from '../providers/sandbox-provider.ts'
import { findSimilarNames } from '../providers/similar-names.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createInProcessStore } from '../stores/in-process-store.ts'
import type { ProcessBus } from '../stores/redis/process-bus.ts'
import { createContentRecorder } from '../telemetry/content-recorder.ts'
import { defineGauges } from '../telemetry/gauges.ts'
import type { Log } from '../telemetry/log.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import { createProxyMetrics, instrumentStores, type ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import { createRejectionCounter } from '../telemetry/rejection-counter.ts'
import { createRejectionRecorder } from '../telemetry/rejection-recorder.ts'
import { createSemanticHitRecorder } from '../telemetry/semantic-hit-recorder.ts'
import type { Tracing } from '../telemetry/tracing/request-trace.ts'
import { createUsageRecorder } from '../telemetry/usage-recorder.ts'
import { createCacheServices } from './create-cache-services.ts'
import { startMaintenance } from './maintenance.ts'

export interface AppOptions {
  config: Config
  /** Already migrated. */
  database: Database
  store: FastStore
  embedder: Embedder
  /** For sharing upstream calls with other processes; null when there is only this one. */
  bus?: ProcessBus | null
  /** How long a keep-alive connection may idle; by default IDLE_TIMEOUT_SECONDS. */
  idleTimeoutSeconds?: number
  /** How long the database may take to admit a request; by default less than a second. */
  admissionTimeoutMs?: number | undefined
  /** Silence before the head of a streamed response goes out; by default ten seconds. */
  keepAliveAfterMs?: number | undefined
  /** How many calls, and bytes of them, are read on after their clients have left. */
  abandonedCallLimits?: ConstructorParameters<typeof SharedCalls>[1]
  /** How often providers are asked for usage that was estimated; by default every few seconds. */
  reconcileEveryMs?: number | undefined
  /** How often the loops of maintenance run; by default each in its own time. */
  maintenanceEveryMs?: number | undefined
  log: Log
  /** Where everything that this process measures is counted. */
  metrics?: Metrics
}

export interface App {
  http: ReturnType<typeof createHttpApp>
  /** Null when it has no port of its own. */
  dashboard: ReturnType<typeof createDashboardServer> | null
  /** The listener registers its connections here. */
  connections: ConnectionLimiter
  /** This process is about to stop: /readyz says so, connections are closed after their next answer, and sessions after their last response. */
  beginDrain(): void
  /** Checks open realtime sessions now, as happens every half minute. */
  recheckSessions(): Promise<void>
  /** Resolves when no provider's answer is being read any more: some are read to their end after their clients have left. */
  waitUntilFinished(): Promise<void>
  /** This process is about to cut off requests in flight: they must not count. */
  beginAbort(): void
  /** Records what is still open, at what it may have cost. */
  recordOpenRequests(): void
  /** Writes pending usage records, refunds and vectors. Resolves when that is done, or the time is up. */
  flush(timeLimitMs: number): Promise<void>
  /** Stops background work. Call `flush` first: anything not yet written is lost. */
  close(): Promise<void>
}

export async function createApp(given: AppOptions): Promise<App> {
  const { metrics = createMetrics() } = given
  const options = { ...given, ...instrumentStores(given, metrics, given.log.failures) }
  const { config, database, store, bus = null, idleTimeoutSeconds = IDLE_TIMEOUT_SECONDS, log } = options
  const proxyMetrics = createProxyMetrics(metrics)
  const asked = await reachAsked(options, proxyMetrics)
  const { catalogue, providers, modelRouter } = asked
  const tracing = await traceRequests(config, log)
  const caching = await createCacheServices({ ...options, tracing }, catalogue, modelRouter, proxyMetrics)
  const windows = createRateLimiter(store, database)
  const quota = createQuota(database, windows, given.admissionTimeoutMs)
  const [maintenance] = await Promise.all([startMaintenance(options), syncDatabaseTime(database), quota.warm()])
  const recorders = createRecorders(options, modelRouter, catalogue)
  const memory = new StreamMemory(config.maxUnreadBytes)
  const stages: PipelineServices = {
    admission: createAdmission({ store, windows, quota }),
    largeBodies: largeBodyReader,
    parsedBodies: createParsedBodyCache(),
    ...caching,
    ...asked,
    accounting: createAccounting({ ...recorders, metrics: proxyMetrics, quota, catalogue, log }),
    sharedCalls: new SharedCalls(memory, given.abandonedCallLimits),
    callLeases: createCallLeases(bus),
    inFlightVectors: new InFlightVectors(),
    database,
    store,
    conversations: createConversations({
      responses: caching.storedResponses,
      modelRouter,
      largeBodies: largeBodyReader,
      log,
    }),
  }
  const realtime = createRealtimeSessions(stages)
  const measured = { database, circuits: providers.circuits, streams: memory, failures: log.failures }
  const connections = createConnectionLimiter()
  const ownWindows = createInProcessStore()
  const refusals = createRejectionCounter(log)
  const refusalRecorder = createRejectionRecorder(database, refusals, log)
  const { recordVerdict } = proxyMetrics
  const own = { database: database.operatorDatabase, store: ownWindows }
  const adminSetup = { ...asked, ...own, config, memory, rejections: refusals, recordVerdict, log }
  const drained = [...Object.values(recorders), caching.vectors, refusalRecorder, ...(tracing ? [tracing] : [])]
  const readiness = createReadiness(createHealthCheck({ ...measured, store }))
  defineGauges(metrics, { ...measured, rejections: refusals, ...recorders, ...readiness })
  const http = createHttpApp({
    idleTimeoutSeconds,
    pipeline: createPipeline(stages, given.keepAliveAfterMs),
    realtime,
    ...createTellers(stages, modelRouter),
    ...{ config, readiness, connections, memory, tracing, rejections: refusals, log },
    addressLimits: createAddressRateLimits(ownWindows),
    metrics: proxyMetrics,
    controllers: config.dashboard === 'on' ? [createDashboard(adminSetup)] : [],
  })
  return {
    http,
    connections,
    ...tellStop(readiness, stages.accounting, realtime),
    dashboard: typeof config.dashboard === 'number' ? createDashboardServer(adminSetup) : null,
    flush: timeLimitMs => flushAll([caching.cache.flush, quota.settled], drained, timeLimitMs),
    async close() {
      await Promise.all([maintenance, refusalRecorder, caching.learner, recorders.reconciler].map(each => each.stop()))
      for (const opened of [catalogue, providers]) opened.close()
      await ownWindows.close()
    },
  }
}

/** Whom requests are put to. */
async function reachAsked({ config, database, log }: AppOptions, metrics: ProxyMetrics) {
  const catalogue = await loadCatalogue(database, log)
  const providers = createProviders({ config, database, catalogue, log })
  const modelRouter = createModelRouter({ catalogue, sandbox: createSandboxProvider(), ...providers })
  const hook = config.hook && createHook({ config: config.hook, log, metrics })
  return { catalogue, providers, modelRouter, hook }
}

function tellStop(
  readiness: Readiness,
  accounting: Accounting,
  realtime: RealtimeSessions,
): Pick<App, 'beginDrain' | 'beginAbort' | 'waitUntilFinished' | 'recordOpenRequests' | 'recheckSessions'> {
  return {
    waitUntilFinished: accounting.waitUntilFinished,
    recordOpenRequests: accounting.finishDisconnected,
    recheckSessions: realtime.recheck,
    beginDrain() {
      readiness.beginDrain()
      realtime.drain()
    },
    beginAbort() {
      accounting.beginShutdown()
      realtime.terminate()
    },
  }
}

/** Loads OpenTelemetry's libraries where they are wanted alone. */
async function traceRequests({ tracing }: Config, log: Log): Promise<Tracing | null> {
  return tracing && (await import('../telemetry/tracing/create-tracing.ts')).createTracing(tracing, log)
}

/** Of what requests leave behind. */
function createRecorders(options: AppOptions, modelRouter: ModelRouter, catalogue: Catalogue) {
  const { config, database, store, log, reconcileEveryMs } = options
  const { seal } = createQuestionVault(createVault(() => readEncryptionKeys(config)))
  const budgets = createBudgets(database, undefined, {
    findSimilarModels(model) {
      const listed = [AGGREGATOR, ...VENDORS.map(({ name }) => name)].flatMap(provider => catalogue.modelsOf(provider))
      // Another provider may have a price for it by this name.
      const names = listed.map(each => each.model).filter(name => name !== model && !name.endsWith(`/${model}`))
      return findSimilarNames(model, names)
    },
  })
  return {
    recorder: createUsageRecorder(database, log, budgets.onRecordsWritten),
    semanticHits: createSemanticHitRecorder(database, seal, log),
    contents: createContentRecorder(database, seal, log),
    budgets,
    tokenWindows: createTokenRateLimiter(store),
    reconciler: createUsageReconciler({ database, modelRouter, catalogue, log, pollEveryMs: reconcileEveryMs }),
  }
}

interface Recorder {
  drain(timeLimitMs: number): Promise<void>
}

/** A request whose tokens are being counted is accounted for afterwards, so half of the time is kept for writing. */
async function flushAll(
  unlimited: readonly (() => Promise<void>)[],
  recorders: readonly Recorder[],
  timeLimitMs: number,
): Promise<void> {
  await withTimeout(timeLimitMs / 2, workerPool.whenIdle()).catch(() => {})
  const flushed = unlimited.map(each => withTimeout(timeLimitMs / 2, each()).catch(() => {}))
  await Promise.all([...flushed, ...recorders.map(each => each.drain(timeLimitMs / 2))])
}

/** What clients are told of models and of their keys. */
function createTellers({ admission, database }: PipelineServices, modelRouter: ModelRouter) {
  return {
    models: createModelDirectory(admission, modelRouter),
    keyInfo: createKeyInfoReader(admission, database.operatorDatabase),
  }
}
