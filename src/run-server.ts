/** One serving process, from its stores to its last flushed record. */
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { lockDataDir } from './data-dir.ts'
import type { Database } from './postgres/database.ts'
import { openEmbeddedDatabase } from './postgres/embedded.ts'
import { migrate } from './postgres/migrate.ts'
import { openRealDatabase } from './postgres/real.ts'
import type { FastStore } from './redis/fast-store.ts'
import { guardStore } from './redis/guarded-store.ts'
import { createInProcessStore } from './redis/in-process-store.ts'
import { openRedisStore } from './redis/redis-store.ts'
import { createLog } from './telemetry/log.ts'
import { welcome } from './welcome.ts'

/** Bun's connections may idle this long, in seconds; requests that wait for an upstream are exempt. */
const IDLE_TIMEOUT_SECONDS = 60
/** Upstream of our own limit, so that a body that is too large gets our answer rather than Bun's bare one. */
const BODY_LIMIT_SLACK_BYTES = 1_048_576
const FLUSH_TIME_LIMIT_MS = 5_000

export interface RunOptions {
  /** One of several processes: the supervisor has migrated and greeted. */
  isWorker: boolean
}

/** Resolves when the process is serving; it ends itself on SIGTERM and SIGINT. */
export async function runServer(config: Config, { isWorker }: RunOptions): Promise<void> {
  const log = createLog(config.logLevel)
  const database = await openDatabase(config)
  if (!isWorker) await migrate(database)
  const store = openStore(config)
  const app = await createApp({ config, database, store, log })

  app.http.listen({
    port: config.port,
    hostname: config.host,
    reusePort: config.workers > 1,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: config.maxBodyBytes + BODY_LIMIT_SLACK_BYTES,
  })
  const { server } = app.http
  if (!server) throw new Error('The server did not start')
  log.info(
    {
      host: config.host,
      port: server.port,
      postgres: database.footing,
      redis: store.kind,
      embedder: config.embedder.kind,
    },
    'listening',
  )
  if (!isWorker) await welcome(config, database, `http://${printableHost(config.host)}:${server.port}/v1`)

  let stopping = false
  async function stop(): Promise<void> {
    // A second signal does not wait.
    if (stopping) process.exit(1)
    stopping = true
    log.info({}, 'stopping')
    await Promise.race([server?.stop(), Bun.sleep(config.shutdownTimeoutMs)])
    await server?.stop(true)
    await app.drain(FLUSH_TIME_LIMIT_MS)
    await Promise.race([Promise.allSettled([store.close(), database.close()]), Bun.sleep(2_000)])
    log.info({}, 'stopped')
    await log.flush()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

export async function openDatabase(config: Config): Promise<Database> {
  if (config.databaseUrl !== null) return openRealDatabase({ url: config.databaseUrl })
  const directory = await lockDataDir(config.dataDir)
  return openEmbeddedDatabase({ directory, port: config.embeddedPgPort })
}

function openStore(config: Config): FastStore {
  if (config.redisUrl === null) return createInProcessStore()
  return guardStore(openRedisStore({ url: config.redisUrl }))
}

function printableHost(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
}
