/** Wires the stages together; no logic of its own, so that tests boot the real application. */
import { createAdmission } from '../admission/admission.ts'
import { createBudgets } from '../admission/budgets.ts'
import { createQuota } from '../admission/quota.ts'
import { createRateWindows } from '../admission/rate-windows.ts'
import { createTokenWindows } from '../admission/token-windows.ts'
import type { Embedder } from '../cache/embedders/embedder.ts'
import { AGGREGATOR, type Catalogue, loadCatalogue } from '../catalogue/catalogue.ts'
import type { Config } from '../config/config.ts'
import { VENDORS } from '../config/vendors.ts'
import { createDashboard, createDashboardServer } from '../dashboard/dashboard.ts'
import { offLoop } from '../event-loop/off-loop.ts'
import { StreamMemory } from '../event-loop/stream-memory.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { largeBodies } from '../formats/large-bodies/read-large-body.ts'
import { createHook } from '../hooks/hook.ts'
import { IDLE_TIMEOUT_SECONDS } from '../http/answer.ts'
import { createEdgeWindows } from '../http/free-answers.ts'
import { createHealthCheck } from '../http/health.ts'
import { type ConnectionRoom, createConnectionRoom } from '../http/incoming.ts'
import { createReadiness, type Readiness } from '../http/readiness.ts'
import { createHttp } from '../http/routes.ts'
import { type Accounting, createAccounting } from '../pipeline/accounting/accounting.ts'
import { createLeads } from '../pipeline/coalescing/leads.ts'
import { SharedCalls } from '../pipeline/coalescing/shared-call.ts'
import { createConversations } from '../pipeline/conversations.ts'
import { VectorCalls } from '../pipeline/embeddings/vector-calls.ts'
import { createResponseFollower } from '../pipeline/kept-objects/follow-responses.ts'
import { createModelDirectory } from '../pipeline/model-directory.ts'
import { createPipeline } from '../pipeline/pipeline.ts'
import { createParsedBodies } from '../pipeline/read-request.ts'
import { createRealtime, type Realtime } from '../pipeline/realtime/open-session.ts'
import type { Stages } from '../pipeline/request-context.ts'
import { createAccountTeller } from '../pipeline/tell-account.ts'
import type { Database } from '../postgres/database.ts'
import { readTime } from '../postgres/upkeep.ts'
import { readEncryptionKeys } from '../providers/keys/encryption-key.ts'
import { createVault } from '../providers/keys/vault.ts'
import { createWordings } from '../providers/keys/wordings.ts'
import { createModelRouter, type ModelRouter } from '../providers/model-router.ts'
import { reachProviders } from '../providers/reach-providers.ts'
import { createSandboxProvider } from '../providers/sandbox-provider.ts'
import { findSimilar } from '../providers/similar-names.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createInProcessStore } from '../stores/in-process-store.ts'
import type { ProcessBus } from '../stores/redis/process-bus.ts'
import { createContentRecorder } from '../telemetry/content-recorder.ts'
import { defineGauges } from '../telemetry/gauges.ts'
import type { Log } from '../telemetry/log.ts'
import { createMetrics, type Metrics } from '../telemetry/metrics.ts'
import { createProxyMetrics, measureStores, type ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import { createRefusalRecorder } from '../telemetry/refusal-recorder.ts'
import { createRefusals } from '../telemetry/refusals.ts'
import { createSemanticHitRecorder } from '../telemetry/semantic-hit-recorder.ts'
import type { Tracing } from '../telemetry/tracing/request-trace.ts'
import { createUsageRecorder } from '../telemetry/usage-recorder.ts'
import { createCaching } from './create-caching.ts'
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
  admissionLimitMs?: number | undefined
  /** Silence before the head of a streamed response goes out; by default ten seconds. */
  keepAliveAfterMs?: number | undefined
  /** How many calls, and bytes of them, are read on after their clients have left. */
  abandonedCalls?: ConstructorParameters<typeof SharedCalls>[1]
  /** How often providers are asked for usage that was estimated; by default every few seconds. */
  followEveryMs?: number | undefined
  /** How often the loops of maintenance run; by default each in its own time. */
  tickEveryMs?: number | undefined
  log: Log
  /** Where everything that this process measures is counted. */
  metrics?: Metrics
}

export interface App {
  http: ReturnType<typeof createHttp>
  /** Null when it has no port of its own. */
  dashboard: ReturnType<typeof createDashboardServer> | null
  /** The listener registers its connections here. */
  connections: ConnectionRoom
  /** This process is about to stop: /readyz says so, connections are closed after their next answer, and sessions after their last response. */
  beginDrain(): void
  /** Checks open realtime sessions now, as happens every half minute. */
  readmitSessions(): Promise<void>
  /** Resolves when no provider's answer is being read any more: some are read to their end after their clients have left. */
  allFinished(): Promise<void>
  /** This process is about to cut off requests in flight: they must not count. */
  beginCutOff(): void
  /** Records what is still open, at what it may have cost. */
  finishOpen(): void
  /** Writes pending usage records, refunds and vectors. Resolves when that is done, or the time is up. */
  flush(timeLimitMs: number): Promise<void>
  /** Stops background work. Call `flush` first: anything not yet written is lost. */
  close(): Promise<void>
}

export async function createApp(given: AppOptions): Promise<App> {
  const { metrics = createMetrics() } = given
  const options = { ...given, ...measureStores(given, metrics, given.log.failures) }
  const { config, database, store, bus = null, idleTimeoutSeconds = IDLE_TIMEOUT_SECONDS, log } = options
  const proxyMetrics = createProxyMetrics(metrics)
  const asked = await reachAsked(options, proxyMetrics)
  const { catalogue, providers, modelRouter } = asked
  const tracing = await traceRequests(config, log)
  const caching = await createCaching({ ...options, tracing }, catalogue, modelRouter, proxyMetrics)
  const windows = createRateWindows(store, database)
  const quota = createQuota(database, windows, given.admissionLimitMs)
  const [maintenance] = await Promise.all([startMaintenance(options), readTime(database), quota.warm()])
  const recorders = createRecorders(options, modelRouter, catalogue)
  const memory = new StreamMemory(config.maxUnreadBytes)
  const stages: Stages = {
    admission: createAdmission({ store, windows, quota }),
    largeBodies,
    parsedBodies: createParsedBodies(),
    ...caching,
    ...asked,
    accounting: createAccounting({ ...recorders, metrics: proxyMetrics, quota, catalogue, log }),
    calls: new SharedCalls(memory, given.abandonedCalls),
    leads: createLeads(bus),
    vectorCalls: new VectorCalls(),
    database,
    store,
    conversations: createConversations({ kept: caching.keptResponses, modelRouter, largeBodies, log }),
  }
  const realtime = createRealtime(stages)
  const measured = { database, circuits: providers.circuits, streams: memory, failures: log.failures }
  const connections = createConnectionRoom()
  const ownWindows = createInProcessStore()
  const refusals = createRefusals(log)
  const refusalRecorder = createRefusalRecorder(database, refusals, log)
  const { noteVerdict } = proxyMetrics
  const own = { database: database.aside, store: ownWindows }
  const adminSetup = { ...asked, ...own, config, memory, refusals, noteVerdict, log }
  const drained = [...Object.values(recorders), caching.vectors, refusalRecorder, ...(tracing ? [tracing] : [])]
  const readiness = createReadiness(createHealthCheck({ ...measured, store }))
  defineGauges(metrics, { ...measured, refusals, ...recorders, ...readiness })
  const http = createHttp({
    idleTimeoutSeconds,
    pipeline: createPipeline(stages, given.keepAliveAfterMs),
    realtime,
    ...createTellers(stages, modelRouter),
    ...{ config, readiness, connections, memory, tracing, refusals, log },
    edge: createEdgeWindows(ownWindows),
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
      await Promise.all([maintenance, refusalRecorder, caching.learner, recorders.follower].map(each => each.stop()))
      for (const opened of [catalogue, providers]) opened.close()
      await ownWindows.close()
    },
  }
}

/** Whom requests are put to. */
async function reachAsked({ config, database, log }: AppOptions, metrics: ProxyMetrics) {
  const catalogue = await loadCatalogue(database, log)
  const providers = reachProviders({ config, database, catalogue, log })
  const modelRouter = createModelRouter({ catalogue, sandbox: createSandboxProvider(), ...providers })
  const hook = config.hook && createHook({ config: config.hook, log, metrics })
  return { catalogue, providers, modelRouter, hook }
}

function tellStop(
  readiness: Readiness,
  accounting: Accounting,
  realtime: Realtime,
): Pick<App, 'beginDrain' | 'beginCutOff' | 'allFinished' | 'finishOpen' | 'readmitSessions'> {
  return {
    allFinished: accounting.allFinished,
    finishOpen: accounting.finishOpen,
    readmitSessions: realtime.readmit,
    beginDrain() {
      readiness.beginDrain()
      realtime.drain()
    },
    beginCutOff() {
      accounting.beginCutOff()
      realtime.cut()
    },
  }
}

/** Loads OpenTelemetry's libraries where they are wanted alone. */
async function traceRequests({ tracing }: Config, log: Log): Promise<Tracing | null> {
  return tracing && (await import('../telemetry/tracing/open-tracing.ts')).openTracing(tracing, log)
}

/** Of what requests leave behind. */
function createRecorders(options: AppOptions, modelRouter: ModelRouter, catalogue: Catalogue) {
  const { config, database, store, log, followEveryMs } = options
  const { seal } = createWordings(createVault(() => readEncryptionKeys(config)))
  const budgets = createBudgets(database, undefined, {
    findSimilarModels(model) {
      const listed = [AGGREGATOR, ...VENDORS.map(({ name }) => name)].flatMap(provider => catalogue.listedBy(provider))
      // Another provider may have a price for it by this name.
      const names = listed.map(each => each.model).filter(name => name !== model && !name.endsWith(`/${model}`))
      return findSimilar(model, names)
    },
  })
  return {
    recorder: createUsageRecorder(database, log, budgets.recorded),
    semanticHits: createSemanticHitRecorder(database, seal, log),
    contents: createContentRecorder(database, seal, log),
    budgets,
    tokenWindows: createTokenWindows(store),
    follower: createResponseFollower({ database, modelRouter, catalogue, log, lookEveryMs: followEveryMs }),
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
  await withinTimeLimit(timeLimitMs / 2, offLoop.idle()).catch(() => {})
  const flushed = unlimited.map(each => withinTimeLimit(timeLimitMs / 2, each()).catch(() => {}))
  await Promise.all([...flushed, ...recorders.map(each => each.drain(timeLimitMs / 2))])
}

/** What clients are told of models and of their keys. */
function createTellers({ admission, database }: Stages, modelRouter: ModelRouter) {
  return {
    models: createModelDirectory(admission, modelRouter),
    accounts: createAccountTeller(admission, database.aside),
  }
}
