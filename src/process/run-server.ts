/** Starts one serving process, from its stores to its open port. */
import { type App, createApp } from '../app.ts'
import { type Config, ConfigError } from '../config.ts'
import { createEmbedder } from '../embedders/create-embedder.ts'
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { IDLE_TIMEOUT_SECONDS } from '../http/answer.ts'
import { describeAddress, parseDatabaseUrl } from '../postgres/address.ts'
import { shareConnections } from '../postgres/connection-budget.ts'
import type { Database } from '../postgres/database.ts'
import { openEmbeddedDatabase } from '../postgres/embedded/embedded.ts'
import { readInstallationId } from '../postgres/installation-id.ts'
import { migrate } from '../postgres/migrate.ts'
import { pingDatabase } from '../postgres/ping.ts'
import { openRealDatabase } from '../postgres/real.ts'
import { readEncryptionKeys } from '../providers/keys/encryption-key.ts'
import { connectRedis } from '../redis/connect-redis.ts'
import { openProcessBus, type ProcessBus } from '../redis/process-bus.ts'
import { openRedisStore } from '../redis/redis-store.ts'
import { createEntryTags, type EntryTags } from '../stores/entry-tags.ts'
import type { FastStore } from '../stores/fast-store.ts'
import { guardStore } from '../stores/guarded-store.ts'
import { createInProcessStore } from '../stores/in-process-store.ts'
import { tagEntries } from '../stores/tagged-store.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { createWrongTags } from '../telemetry/wrong-tags.ts'
import { warmTokenizer } from '../tokens/encodings.ts'
import { keepPsqlPassword, lockDataDir } from './data-dir.ts'
import { reportToSupervisor } from './heartbeat.ts'
import { watchLoopDelay } from './loop-delay.ts'
import { stopOnSignals } from './stop-server.ts'
import { welcome } from './welcome.ts'

/** Wait for Redis: this process alone would count requests before the first contact. */
const REDIS_WAIT_MS = 1_000

export interface RunOptions {
  /** One of several workers: the supervisor migrates and prints the welcome. */
  isWorker: boolean
}

/** Resolves when the process serves; it exits by itself on SIGTERM and SIGINT. */
export async function runServer(config: Config, { isWorker }: RunOptions): Promise<void> {
  const log = createLog(config.logLevel)
  const [database, embedder] = await Promise.all([openDatabase(config), createEmbedder(config.embedder, log)])
  if (!isWorker) await migrateAndLog(database, log)
  const { store, bus } =
    config.redisUrl === null
      ? { store: createInProcessStore(), bus: null }
      : await openRedis(config.redisUrl, await readInstallationId(database), config, log)
  const app = await createApp({ config, database, store, embedder, bus, log })

  // Loading the vocabulary blocks for a third of a second: now, rather than during a request.
  warmTokenizer()

  const server = listen(app.http, config)
  if (app.dashboard && typeof config.dashboard === 'number')
    listen(app.dashboard, { ...config, port: config.dashboard })
  app.connections.watch(server, closed => log.warn({ closed }, 'connections run short; idle ones were closed'))
  stopOnSignals({ server, app, store, database, embedder, log, timeLimitMs: config.shutdownTimeoutMs })
  log.info(
    {
      host: config.host,
      port: server.port,
      postgres: database.backend,
      redis: store.kind,
      embedder: embedder.space.model,
    },
    'listening',
  )
  watchLoopDelay(log)
  if (isWorker) reportToSupervisor()
  else await welcome(config, database, baseUrlOf(config.host, server.port ?? config.port))
}

/** Throws ConfigError when no database answers at DATABASE_URL. */
export async function openDatabase(config: Config): Promise<Database> {
  if (config.databaseUrl === null) {
    // PGlite creates its files with any mode that the umask allows.
    process.umask(0o077)
    const directory = await lockDataDir(config.dataDir)
    const password = await keepPsqlPassword(config.dataDir)
    return openEmbeddedDatabase({ directory, psql: { port: config.embeddedPgPort, password } })
  }
  const url = config.databaseUrl
  const first = openRealDatabase({ url, maxConnections: 1 })
  try {
    await pingDatabase(first)
    const maxConnections = await shareConnections(first, config.databaseMaxConnections, config.workers)
    return openRealDatabase({ url, maxConnections })
  } catch (error) {
    const address = parseDatabaseUrl(url)
    throw new ConfigError([
      `DATABASE_URL must lead to a PostgreSQL that answers; ${address && describeAddress(address)} does not: ${reasonOf(error)}. Example: DATABASE_URL=postgres://user:password@127.0.0.1:5432/model_proxy`,
    ])
  } finally {
    await first.close()
  }
}

/** Logs when another proxy's migration, or a table in use, delays this start. */
export async function migrateAndLog(database: Database, log: Log): Promise<void> {
  const onWait = (seconds: number) =>
    log.info({ seconds }, 'waiting to migrate the database: another proxy is at it, or its tables are in use')
  const { isBehind } = await migrate(database, { onWait })
  if (isBehind) log.warn({}, 'a newer release has migrated the database; its functions stay')
}

/** The proxy starts without Redis, too, and reconnects later. */
async function openRedis(
  url: string,
  installationId: string,
  config: Config,
  log: Log,
): Promise<{ store: FastStore; bus: ProcessBus }> {
  const redis = connectRedis(url)
  const guarded = guardStore(openRedisStore(redis, installationId), {
    processes: config.workers,
    onChange: (up, cause) => {
      if (up) log.info({}, 'Redis is back')
      else log.warn({ cause: reasonOf(cause) }, 'Redis is lost: no exact hits from it, rate windows by process')
    },
  })
  const wrongTags = createWrongTags(log)
  const store = tagEntries(guarded, { tags: await openTags(config, installationId), onWrong: wrongTags.note })
  if (!(await answersWithin(store, REDIS_WAIT_MS))) log.warn({}, 'Redis does not answer at REDIS_URL; going on without')
  return { store, bus: openProcessBus({ redis, url, installationId, entries: store }) }
}

/**
 * Without an ENCRYPTION_KEY, anyone who knows the whole installation id can write entries. Names in Redis contain its first digits only.
 */
async function openTags(config: Config, installationId: string): Promise<EntryTags> {
  const { current, previous } = await readEncryptionKeys(config)
  return createEntryTags({ current: current ?? Buffer.from(installationId), previous }, installationId)
}

async function answersWithin(store: FastStore, limitMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + limitMs
  while (performance.now() < deadlineMs) {
    const answered = await withinTimeLimit(limitMs, store.ping()).then(
      () => true,
      () => false,
    )
    if (answered) return true
    await Bun.sleep(20)
  }
  return false
}

/** Throws ConfigError when the port is not available. */
function listen(http: App['http'] | NonNullable<App['dashboard']>, { port, host, workers }: Config) {
  try {
    http.listen({ port, hostname: host, reusePort: workers > 1, idleTimeout: IDLE_TIMEOUT_SECONDS })
  } catch (error) {
    throw portUnavailable(host, port, error)
  }
  if (!http.server) throw new Error('The server did not start')
  return http.server
}

export function portUnavailable(host: string, port: number, error: unknown): ConfigError {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  return new ConfigError([
    isTaken
      ? `PORT must be free on ${host}, and ${port} is in use by another process. Example: PORT=${port === 3000 ? 3001 : 3000}`
      : `HOST and PORT must be an address of this machine; ${host}:${port} is not: ${reasonOf(error)}. Example: HOST=127.0.0.1`,
  ])
}

export function baseUrlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${reachable}:${port}/v1`
}

/** An error of several attempts, as for a name with two addresses, has a code and no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
