/** Starts a serving process: opens its stores, and listens on its port. */

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
import { reportToSupervisor } from './worker-process.ts'

/** The time to wait for Redis. Until then, only this process would count its requests. Longer than a connection attempt, so that errors have a cause. */
const REDIS_WAIT_MS = 1_500

export interface RunServerOptions {
  /** True for one of several workers. Their supervisor migrates and prints the startup message. */
  isWorker: boolean
}

/** Resolves once the process serves. The process exits by itself on SIGTERM and SIGINT. */
export async function runServer(config: Config, { isWorker }: RunServerOptions): Promise<void> {
  const log = createLog(config.logLevel)
  // Without a provider, the sandbox responds and counts tokens, so its vocabulary is loaded in the background.
  if (!config.aggregator.isConfigured) warmUpTokenizer()
  const [database, embedder] = await Promise.all([openDatabase(config, log), createEmbedder(config.embedder, log)])
  if (database.primary) database.primary.onProblem = problem => logPrimaryProblem(problem, log)
  database.disk.onChange = isFull => {
    if (isFull) log.error({}, 'the disk of the database is full: writes fail until it has free space')
    else log.info({}, 'the disk of the database has free space again')
  }
  if (database.standbys)
    database.standbys.onChange = (place, state) => {
      if (state === 'up') log.info({ standby: place }, 'a standby is used for reads that may lag')
      else log.warn({ standby: place, state }, 'a standby of DATABASE_STANDBY_URL is not used')
    }
  if (!isWorker) await Promise.all([migrateDatabase(database, log), warnUnknownSettings(log)])
  const { store, bus } =
    config.redisUrl === null
      ? { store: createInProcessStore(), bus: null }
      : await openRedis(config.redisUrl, database, config, log)
  const metrics = createMetrics()
  const app = await createApp({ config, database, store, embedder, bus, log, metrics })

  const startupMessage = isWorker ? null : await createStartupMessage(config, database, log)

  const server = listenOrPrintKey(app.http, config, startupMessage)
  const baseUrl = baseUrlOf(config.host, server.port ?? config.port)
  if (startupMessage) printStartupMessage(startupMessage, baseUrl)
  if (app.dashboard && typeof config.dashboard === 'number')
    listen(app.dashboard, { ...config, port: config.dashboard }, 'DASHBOARD')
  app.connections.watch(server, closed => log.warn({ closed }, 'connections run short; idle ones were closed'))
  stopOnSignals({ server, app, store, database, embedder, config, log })
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
  releaseStartupCode(server)
  if (isWorker) return reportToSupervisor(metrics.snapshot)
  startMetricsServer(config, database, metrics.snapshot, log)
  await printDashboardLogin(config, database, baseUrl, log)
}

const RELEASE_AFTER_MS = 1_000

/** Frees compiled code that ran only at the start, about six megabytes. Skipped while requests are pending, because their code would go, too. */
function releaseStartupCode(server: { readonly pendingRequests: number }): void {
  setTimeout(() => {
    if (server.pendingRequests === 0) Bun.shrink()
  }, RELEASE_AFTER_MS).unref()
}

function logPrimaryProblem(problem: PrimaryProblem | null, log: Log): void {
  if (problem === 'two primaries') {
    log.error({}, 'two servers of DATABASE_URL take writes; the one on the higher timeline is used: stop the other')
  } else if (problem === 'old primary') {
    log.error({}, 'the only server of DATABASE_URL that takes writes is an old primary: it is not used')
  } else log.info({}, 'DATABASE_URL has one primary again')
}

/** Opens Redis. If it is not available, the proxy starts without it and reconnects later. */
async function openRedis(
  url: string,
  database: Database,
  config: Config,
  log: Log,
): Promise<{ store: FastStore; bus: ProcessBus }> {
  const redis = connectRedis(url, { tls: config.redisTls })
  const installationId = await callFunction(database, 'installation_id', {})
  const { primary } = database
  const onCount = (processCount: number) => limitConnectionsForFleet(database, config, processCount)
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
          'Redis is lost: it serves no exact hits, and each process counts its own rate limits',
        )
    },
  })
  const store = createSignedStore(guarded, {
    signer: await createSigner(config, installationId),
    onInvalidSignature: createTagMismatchLogger(log),
  })
  const failure = await pingUntil(store, REDIS_WAIT_MS)
  if (failure === null) await withTimeout(REDIS_WAIT_MS, fleet.sendHeartbeat()).catch(() => {})
  else log.warn(explainRedisError(redis, failure), 'Redis cannot be used at REDIS_URL; the proxy continues without it')
  if (isDatabaseMissing(redis))
    log.warn(explainRedisError(redis, null), 'the database of REDIS_URL does not exist; database 0 is used')
  if (primary) await rejectOldPrimary(database, primaryTimelineKey(installationId))
  const { isOnlyProcess } = fleet
  const bus = openProcessBus({ redis, listener, installationId, entries: store, store: guarded, isOnlyProcess })
  const close = async () => {
    await fleet.deregister()
    await store.close()
  }
  return { store: { ...store, close }, bus }
}

/** Without DATABASE_MAX_CONNECTIONS, divides the server's connections among the processes of all machines. */
async function limitConnectionsForFleet(
  database: Database,
  { databaseMaxConnections, workers }: Config,
  processCount: number,
) {
  if (databaseMaxConnections !== null) return
  database.limitConnections(await divideConnections(database, null, Math.max(workers, processCount)))
}

/**
 * Creates the signer of entries in Redis. Without an ENCRYPTION_KEY, anyone who knows the whole installation id can forge signatures. Keys in
 * Redis contain only its first digits.
 */
async function createSigner(config: Config, installationId: string): Promise<EntrySigner> {
  const { current, others } = await readEncryptionKeys(config)
  return createEntrySigner({ current: current ?? Buffer.from(installationId), others }, installationId)
}

/** Pings the store until it replies. Returns null then, or the error of the last attempt after `limitMs`. */
async function pingUntil(store: FastStore, limitMs: number): Promise<unknown> {
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

/** Listens like `listen`. On failure, prints the test key that this first start created, because it cannot be read again. */
function listenOrPrintKey(http: App['http'], config: Config, startupMessage: StartupMessage | null) {
  try {
    return listen(http, config)
  } catch (error) {
    if (startupMessage?.testKey) printStartupMessage(startupMessage, null)
    throw error
  }
}

/** Listens on the port. Throws ConfigError if it is not available. */
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
  if (!http.server) throw new Error('the server did not start')
  return http.server
}
