/** Wires the application together. It has no logic of its own, so that tests start the real application. */
import { createAdmission } from '../admission/admission.ts'
import { type ImportedKeys, watchImportedKeys } from '../admission/key-validator.ts'
import { createQuota } from '../admission/quota.ts'
import { createRateLimiter } from '../admission/rate-limiter.ts'
import type { Embedder } from '../cache/embedders/embedder.ts'
import { loadCatalogue } from '../catalogue/catalogue.ts'
import type { Config } from '../config/config.ts'
import { createDashboard, createDashboardServer } from '../dashboard/dashboard.ts'
import { StreamMemory } from '../event-loop/stream-memory.ts'
import { largeBodyReader } from '../formats/large-bodies/read-large-body.ts'
import { createHook } from '../hooks/hook.ts'
import { createHealthCheck, createReadiness, type Readiness } from '../http/health.ts'
import { type ConnectionLimiter, createConnectionLimiter } from '../http/ingress.ts'
import { IDLE_TIMEOUT_SECONDS } from '../http/pipeline-handler.ts'
import { createHttpApp } from '../http/routes.ts'
import { createAddressRateLimits } from '../http/unmetered-handlers.ts'
import { type Accounting, createAccounting } from '../pipeline/accounting/accounting.ts'
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
import { syncDatabaseTime } from '../postgres/sync-database-time.ts'
import { createProviders } from '../providers/create-providers.ts'
import { createModelRouter, type ModelRouter } from '../providers/model-router.ts'
import { createSandboxProvider } from '../providers/sandbox-provider.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createInProcessStore } from '../stores/in-process-store.ts'
import type { ProcessBus } from '../stores/redis/process-bus.ts'
import { defineGauges } from '../telemetry/gauges.ts'
import type { Log } from '../telemetry/log.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import { createProxyMetrics, instrumentStores, type ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import { createRejectionCounter, createRejectionRecorder } from '../telemetry/rejection-counter.ts'
import { createCacheServices } from './create-cache-services.ts'
import { createRecorders, flushAll } from './create-recorders.ts'
import { startMaintenance } from './maintenance.ts'

export interface AppOptions {
  config: Config
  /** The database; already migrated. */
  database: Database
  store: FastStore
  embedder: Embedder
  /** Shares upstream calls with other processes; null if there is only this one. */
  bus?: ProcessBus | null
  /** The idle timeout of keep-alive connections; IDLE_TIMEOUT_SECONDS by default. */
  idleTimeoutSeconds?: number
  /** The time that the database may take to admit a request, and again to look it up; together less than a second by default. */
  databaseTimeoutMs?: number | undefined
  /** The silence after which the head of a streamed response is sent; ten seconds by default. */
  keepAliveAfterMs?: number | undefined
  /** Limits the number and the bytes of calls that are read to their end after their clients have disconnected. */
  abandonedCallLimits?: ConstructorParameters<typeof SharedCalls>[1]
  /** The longest time a request waits for reservations of other requests to end; five seconds by default. */
  reservationWaitMs?: number | undefined
  /** The upper bound on the first wait before a request to a provider is retried; a quarter of a second by default. */
  retryWaitMs?: number | undefined
  /** The time for which a hook that keeps failing is not called; two seconds by default. */
  hookPauseMs?: number | undefined
  /** The interval of requests to providers for usage that was estimated; a few seconds by default. */
  reconcileEveryMs?: number | undefined
  /** The interval at which vendors, and whether there are imported keys, are read; two seconds by default. */
  refreshVendorsMs?: number | undefined
  /** The interval of all maintenance loops; by default, each has its own. */
  maintenanceEveryMs?: number | undefined
  log: Log
  /** The metrics of this process. */
  metrics?: Metrics
}

export interface App {
  http: ReturnType<typeof createHttpApp>
  /** The dashboard's server; null if it has no port of its own. */
  dashboard: ReturnType<typeof createDashboardServer> | null
  /** Limits connections; the listener registers them here. */
  connections: ConnectionLimiter
  /** Starts to drain: /readyz fails, connections close after their next response, and realtime sessions after their last response. */
  beginDrain(): void
  /** Checks the keys of open realtime sessions now. This also happens every half minute. */
  recheckSessions(): Promise<void>
  /** Resolves once no provider's response is being read. Some are read to their end after their clients have disconnected. */
  waitUntilFinished(): Promise<void>
  /** Announces that requests in flight will be aborted, so that they are not counted. */
  beginAbort(): void
  /** Records the requests that are still open, at their maximum cost. */
  recordOpenRequests(): void
  /** Writes pending usage records, refunds and vectors. Resolves once that is done, or after `timeLimitMs`. */
  flush(timeLimitMs: number): Promise<void>
  /** Stops background work. Call `flush` first, because pending writes are lost. */
  close(): Promise<void>
}

export async function createApp(given: AppOptions): Promise<App> {
  const { metrics = createMetrics() } = given
  const options = { ...given, ...instrumentStores(given, metrics, given.log.failures) }
  const { config, database, store, idleTimeoutSeconds = IDLE_TIMEOUT_SECONDS, log } = options
  const proxyMetrics = createProxyMetrics(metrics)
  const routing = await createRouting(options, proxyMetrics)
  const { catalogue, providers, modelRouter } = routing
  const tracing =
    config.tracing && (await import('../telemetry/tracing/create-tracing.ts')).createTracing(config.tracing, log)
  const caching = await createCacheServices({ ...options, tracing }, catalogue, modelRouter, proxyMetrics)
  const windows = createRateLimiter(store, database)
  const quota = createQuota(database, windows, given.databaseTimeoutMs)
  const [maintenance] = await Promise.all([startMaintenance(options), syncDatabaseTime(database), quota.warm()])
  const importedKeys = await watchImportedKeys(database, log, given.refreshVendorsMs)
  const recorders = createRecorders(options, modelRouter, catalogue)
  const memory = new StreamMemory(config.maxUnreadBytes)
  const parts = { routing, caching, recorders, windows, quota, importedKeys, memory, metrics: proxyMetrics }
  const services = createPipelineServices(options, parts)
  const realtime = createRealtimeSessions(services)
  const healthSources = { database, circuits: providers.circuits, streams: memory, failures: log.failures }
  const connections = createConnectionLimiter()
  const localStore = createInProcessStore()
  const rejections = createRejectionCounter(log)
  const rejectionRecorder = createRejectionRecorder(database, rejections, log)
  const { recordVerdict } = proxyMetrics
  const operatorStores = { database: database.operatorDatabase, store: localStore }
  const adminSetup = { ...routing, ...operatorStores, config, memory, rejections, recordVerdict, log }
  const pendingRecorders = [
    ...Object.values(recorders),
    caching.vectors,
    caching.storedTurns,
    rejectionRecorder,
    ...(tracing ? [tracing] : []),
  ]
  const readiness = createReadiness(createHealthCheck({ ...healthSources, store }))
  defineGauges(metrics, { ...healthSources, rejections, ...recorders, ...readiness })
  const http = createHttpApp({
    idleTimeoutSeconds,
    pipeline: createPipeline(services, given.keepAliveAfterMs),
    realtime,
    ...createInfoReaders(services, modelRouter),
    ...{ config, readiness, connections, memory, tracing, rejections, log },
    catalogue,
    addressLimits: createAddressRateLimits(localStore),
    metrics: proxyMetrics,
    controllers: config.dashboard === 'on' ? [createDashboard(adminSetup)] : [],
  })
  return {
    http,
    connections,
    ...createStopControls(readiness, services.accounting, realtime),
    dashboard: typeof config.dashboard === 'number' ? createDashboardServer(adminSetup) : null,
    flush: timeLimitMs =>
      flushAll([caching.cache.flush, caching.versions.flush, quota.settled], pendingRecorders, timeLimitMs),
    async close() {
      await Promise.all(
        [maintenance, rejectionRecorder, caching.learner, recorders.reconciler].map(each => each.stop()),
      )
      for (const opened of [catalogue, providers, importedKeys]) opened.close()
      await localStore.close()
    },
  }
}

/** Creates the parts that select a provider for a request: the catalogue, providers, the model router, and the hook. */
async function createRouting(options: AppOptions, metrics: ProxyMetrics) {
  const { config, database, log, retryWaitMs, refreshVendorsMs, hookPauseMs: pauseMs } = options
  const catalogue = await loadCatalogue({
    database,
    installation: {
      settings: config.vendors,
      servesLocalDefaults: config.databaseUrl === null && !config.aggregator.isConfigured,
    },
    log,
    refreshVendorsMs,
  })
  const providers = createProviders({ config, database, catalogue, log, retryWaitMs })
  const modelRouter = createModelRouter({ catalogue, sandbox: createSandboxProvider(), ...providers })
  const hook = config.hook && createHook({ config: config.hook, log, metrics, pauseMs })
  return { catalogue, providers, modelRouter, hook }
}

interface ServiceParts {
  routing: Awaited<ReturnType<typeof createRouting>>
  caching: Awaited<ReturnType<typeof createCacheServices>>
  recorders: ReturnType<typeof createRecorders>
  windows: ReturnType<typeof createRateLimiter>
  quota: ReturnType<typeof createQuota>
  importedKeys: ImportedKeys
  memory: StreamMemory
  metrics: ProxyMetrics
}

/** Creates the services that the pipeline uses to handle requests. */
function createPipelineServices(
  { database, store, bus = null, abandonedCallLimits, log }: AppOptions,
  { routing, caching, recorders, windows, quota, importedKeys, memory, metrics }: ServiceParts,
): PipelineServices {
  return {
    admission: createAdmission({ store, windows, quota, importedKeys }),
    largeBodies: largeBodyReader,
    parsedBodies: createParsedBodyCache(),
    ...caching,
    ...routing,
    accounting: createAccounting({ ...recorders, metrics, quota, catalogue: routing.catalogue, log }),
    sharedCalls: new SharedCalls(memory, abandonedCallLimits),
    callLeases: createCallLeases(bus),
    inFlightVectors: new InFlightVectors(),
    database,
    store,
    conversations: createConversations({
      responses: caching.storedResponses,
      modelRouter: routing.modelRouter,
      largeBodies: largeBodyReader,
      log,
    }),
  }
}

function createStopControls(
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

/** Creates the readers of models and of the caller's own key. */
function createInfoReaders({ admission, database, catalogue }: PipelineServices, modelRouter: ModelRouter) {
  return {
    models: createModelDirectory(admission, modelRouter, catalogue),
    keyInfo: createKeyInfoReader(admission, database.operatorDatabase),
  }
}
