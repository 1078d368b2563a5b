/** Starts one serving process, from its stores to its open port. */

import { createEmbedder, EMBEDDER_DESCRIPTIONS } from '../cache/embedders/create-embedder.ts'
import type { Config } from '../config/config.ts'
import { withTimeout } from '../event-loop/timeouts.ts'
import { warmUpTokenizer } from '../formats/tokens/count-in-worker.ts'
import { IDLE_TIMEOUT_SECONDS } from '../http/pipeline-handler.ts'
import { callFunction } from '../postgres/call.ts'
import { divideConnections } from '../postgres/connection-limits.ts'
import type { Database } from '../postgres/database.ts'
import type { PrimaryProblem } from '../postgres/primary-tracker.ts'
import { readEncryptionKeys } from '../providers/keys/encryption-key.ts'
import { createFallbackStore } from '../stores/fallback-store.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { createInProcessStore } from '../stores/in-process-store.ts'
import { connectRedis } from '../stores/redis/connect-redis.ts'
import { explainRedisError, isDatabaseMissing } from '../stores/redis/explain-redis-error.ts'
import { openProcessBus, type ProcessBus } from '../stores/redis/process-bus.ts'
import { primaryTimelineKey, registerProcess } from '../stores/redis/process-registry.ts'
import { openRedisStore } from '../stores/redis/redis-store.ts'
import { createEntrySigner, createSignedStore, type EntrySigner } from '../stores/signed-store.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createTagMismatchLogger } from '../telemetry/tag-mismatch-logger.ts'
import { type App, createApp } from './app.ts'
import { monitorEventLoopDelay } from './event-loop-delay.ts'
import { reportToSupervisor } from './heartbeat.ts'
import { baseUrlOf, portUnavailableError } from './listen-address.ts'
import { warnUnknownSettings } from './misspelt-settings.ts'
import { migrateDatabase, openDatabase, rejectOldPrimary } from './open-database.ts'
import { startMetricsServer } from './start-metrics-server.ts'
import {
  createStartupMessage,
  printDashboardLogin,
  printStartupMessage,
  type StartupMessage,
} from './startup-message.ts'
import { stopOnSignals } from './stop-server.ts'

/** Wait for Redis: this process alone would count requests before the first contact. Longer than an attempt to connect, which has a cause then. */
const REDIS_WAIT_MS = 1_500

export interface RunServerOptions {
  /** One of several workers: the supervisor migrates and prints the welcome. */
  isWorker: boolean
}

/** Resolves when the process serves; it exits by itself on SIGTERM and SIGINT. */
export async function runServer(config: Config, { isWorker }: RunServerOptions): Promise<void> {
  const log = createLog(config.logLevel)
  // Without a provider, the sandbox answers, and counts each answer: the vocabulary is loaded beside all that follows.
  if (!config.aggregator.isConfigured) warmUpTokenizer()
  const [database, embedder] = await Promise.all([openDatabase(config, log), createEmbedder(config.embedder, log)])
  if (database.primary) database.primary.onProblem = problem => notePrimary(problem, log)
  database.disk.onChange = isFull => {
    if (isFull) log.error({}, 'the disk of the database is full: what needs room is not stored')
    else log.info({}, 'the disk of the database has room again')
  }
  if (database.standbys)
    database.standbys.onChange = (place, state) => {
      if (state === 'up') log.info({ standby: place }, 'reads that may lag are asked of this standby')
      else log.warn({ standby: place, state }, 'a standby of DATABASE_STANDBY_URL is not used')
    }
  if (!isWorker) await Promise.all([migrateDatabase(database, log), warnUnknownSettings(log)])
  const { store, bus } =
    config.redisUrl === null
      ? { store: createInProcessStore(), bus: null }
      : await openRedis(config.redisUrl, database, config, log)
  const metrics = createMetrics()
  const app = await createApp({ config, database, store, embedder, bus, log, metrics })

  const introduction = isWorker ? null : await createStartupMessage(config, database, log)

  const server = listenOrTell(app.http, config, introduction)
  const baseUrl = baseUrlOf(config.host, server.port ?? config.port)
  if (introduction) printStartupMessage(introduction, baseUrl)
  if (app.dashboard && typeof config.dashboard === 'number')
    listen(app.dashboard, { ...config, port: config.dashboard }, 'DASHBOARD')
  app.connections.watch(server, closed => log.warn({ closed }, 'connections run short; idle ones were closed'))
  stopOnSignals({
    server,
    app,
    store,
    database,
    embedder,
    log,
    shutdownDelayMs: config.shutdownDelayMs,
    shutdownTimeoutMs: config.shutdownTimeoutMs,
  })
  log.info(
    {
      host: config.host,
      port: server.port,
      postgres: database.backend,
      ...(database.tls ? { tls: database.tls } : {}),
      redis: store.kind,
      embedder: embedder.space.model,
    },
    'listening',
  )
  if (!isWorker) log.info({ embedder: config.embedder.kind }, EMBEDDER_DESCRIPTIONS[config.embedder.kind])
  monitorEventLoopDelay(metrics, log)
  forgetStart(server)
  if (isWorker) return reportToSupervisor(metrics.snapshot)
  startMetricsServer(config, database, metrics.snapshot, log)
  await printDashboardLogin(config, database, baseUrl, log)
}

const STARTED_MS = 1_000

/** Code that ran once, to start, takes six megabytes until the engine is told that it may go. What serves requests would go, too. */
function forgetStart(server: { readonly pendingRequests: number }): void {
  setTimeout(() => {
    if (server.pendingRequests === 0) Bun.shrink()
  }, STARTED_MS).unref()
}

function notePrimary(problem: PrimaryProblem | null, log: Log): void {
  if (problem === 'two primaries') {
    log.error({}, 'two servers of DATABASE_URL take writes; the one on the higher timeline is used: end the other')
  } else if (problem === 'old primary') {
    log.error({}, 'the only server of DATABASE_URL that takes writes was left behind by a failover: it is not used')
  } else log.info({}, 'there is one primary again')
}

/** The proxy starts without Redis, too, and reconnects later. */
async function openRedis(
  url: string,
  database: Database,
  config: Config,
  log: Log,
): Promise<{ store: FastStore; bus: ProcessBus }> {
  const redis = connectRedis(url, { tls: config.redisTls })
  const installationId = await callFunction(database, 'installation_id', {})
  const { primary } = database
  const onCount = (living: number) => shareWithFleet(database, config, living)
  const listener = connectRedis(url, { tls: config.redisTls, isSubscriber: true })
  const fleet = registerProcess({
    redis,
    listener,
    installationId,
    workers: config.workers,
    primary,
    onProcessCountChange: onCount,
  })
  const guarded = createFallbackStore(openRedisStore(redis, installationId), {
    processCount: fleet.processCount,
    onAvailabilityChange: (up, shard, cause) => {
      const which = shard === '' ? {} : { shard }
      if (up) log.info(which, 'Redis is back')
      else
        log.warn(
          { ...which, ...explainRedisError(redis, cause) },
          'Redis is lost: no exact hits from it, rate windows by process',
        )
    },
  })
  const store = createSignedStore(guarded, {
    signer: await openTags(config, installationId),
    onInvalidSignature: createTagMismatchLogger(log),
  })
  const failure = await failureWithin(store, REDIS_WAIT_MS)
  if (failure === null) await withTimeout(REDIS_WAIT_MS, fleet.sendHeartbeat()).catch(() => {})
  else log.warn(explainRedisError(redis, failure), 'Redis cannot be used at REDIS_URL; going on without')
  if (isDatabaseMissing(redis))
    log.warn(explainRedisError(redis, null), 'the database of REDIS_URL does not exist; 0 is used')
  if (primary) await rejectOldPrimary(database, primaryTimelineKey(installationId))
  const { isOnlyProcess } = fleet
  const bus = openProcessBus({ redis, listener, installationId, entries: store, store: guarded, isOnlyProcess })
  const close = async () => {
    await fleet.deregister()
    await store.close()
  }
  return { store: { ...store, close }, bus }
}

/** Without a setting for each machine, the processes of all machines share what the server gives to one. */
async function shareWithFleet(database: Database, { databaseMaxConnections, workers }: Config, living: number) {
  if (databaseMaxConnections !== null) return
  database.limitConnections(await divideConnections(database, null, Math.max(workers, living)))
}

/**
 * Without an ENCRYPTION_KEY, anyone who knows the whole installation id can write entries. Names in Redis contain its first digits only.
 */
async function openTags(config: Config, installationId: string): Promise<EntrySigner> {
  const { current, others } = await readEncryptionKeys(config)
  return createEntrySigner({ current: current ?? Buffer.from(installationId), others }, installationId)
}

/** Null as soon as it answers; else what the last attempt rejected with. */
async function failureWithin(store: FastStore, limitMs: number): Promise<unknown> {
  const deadlineMs = performance.now() + limitMs
  let failure: unknown = null
  do {
    failure = await withTimeout(limitMs, store.ping()).then(
      () => null,
      error => error,
    )
    if (failure === null) return null
    await Bun.sleep(20)
  } while (performance.now() < deadlineMs)
  return failure
}

/** As `listen`. A key that the first start has made is shown even if it cannot go on. */
function listenOrTell(http: App['http'], config: Config, introduction: StartupMessage | null) {
  try {
    return listen(http, config)
  } catch (error) {
    if (introduction?.testKey) printStartupMessage(introduction, null)
    throw error
  }
}

/** Throws ConfigError when the port is not available. */
function listen(
  http: App['http'] | NonNullable<App['dashboard']>,
  { port, host, workers }: Config,
  setting?: 'DASHBOARD',
) {
  try {
    http.listen({ port, hostname: host, reusePort: workers > 1, idleTimeout: IDLE_TIMEOUT_SECONDS })
  } catch (error) {
    throw portUnavailableError(host, port, error, setting)
  }
  if (!http.server) throw new Error('The server did not start')
  return http.server
}
