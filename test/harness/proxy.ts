/** The real application on its own port (PORT=0), with the functions of operators. */

import { sql } from 'kysely'
import { createEmbedder } from '../../src/cache/embedders/create-embedder.ts'
import type { Embedder } from '../../src/cache/embedders/embedder.ts'
import { type Config, readConfig } from '../../src/config/config.ts'
import type { AbandonedCallLimits } from '../../src/pipeline/coalescing/abandoned-calls.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { createApp } from '../../src/process/app.ts'
import type { ProcessBus } from '../../src/stores/redis/process-bus.ts'
import { createLog, type Log } from '../../src/telemetry/log.ts'
import type { Metrics } from '../../src/telemetry/metrics.ts'
import type { Stores } from './backends.ts'
import { queriesOf } from './queries.ts'

export interface TestProxy {
  /** Ends in /v1. */
  baseUrl: string
  /** The same without /v1. */
  rootUrl: string
  port: number
  stores: Stores
  /** Creates a key of a project on a plan. Returns its secret. */
  createKey(options?: KeyOptions): Promise<string>
  /** Runs SQL and returns its rows. */
  query<Row>(text: string): Promise<Row[]>
  /** Waits until records and refunds are written. */
  settle(): Promise<void>
  /** Checks open realtime sessions, as the proxy does every 30 seconds. */
  readmitSessions(): Promise<void>
  /** Starts the drain, as SIGTERM does. */
  beginDrain(): void
  stop(): Promise<void>
}

export interface KeyOptions {
  /** The project's name. It is created if it does not exist. */
  project?: string
  plan?: string
  type?: 'project' | 'test'
  /** Settings of the project. */
  settings?: Record<string, string>
}

export interface ProxyOptions {
  stores: Stores | Promise<Stores>
  environment?: Record<string, string>
  /** Shares upstream calls with other proxies. */
  bus?: ProcessBus
  log?: Log
  /** Replaces the embedder of the environment. */
  embedder?: Embedder
  /** Metrics of the proxy, for the test to read. */
  metrics?: Metrics
  /** Serves the dashboard and the admin API too; most tests do not use them. */
  dashboard?: boolean
  /** How long a connection can idle after a response; by default as in production. */
  idleTimeoutSeconds?: number
  /** How long the database can take to admit a request, and to look it up; by default longer than on a busy machine. */
  databaseTimeoutMs?: number
  /** How long a stream can be silent before its head is sent with a keep-alive comment. */
  keepAliveAfterMs?: number
  /** How many calls are read to their end after their clients disconnected. */
  abandonedCallLimits?: Partial<AbandonedCallLimits>
  /** How long a request waits for reservations of other requests in its budget; by default as in production. */
  reservationWaitMs?: number
  /** The wait before a first retry; by default a few milliseconds. */
  retryWaitMs?: number
  /** How long the circuit of a failing hook stays open; by default a quarter of a second. */
  hookPauseMs?: number
  /**
   * How often the proxy requests the usage of estimated requests from providers; by default never, because fake providers count requests.
   */
  reconcileEveryMs?: number
  /** The interval at which vendors, and whether there are imported keys, are read; by default as in production. */
  refreshVendorsMs?: number
  /** The interval of maintenance loops; by default each has its own. */
  maintenanceEveryMs?: number
}

let projects = 0
/** Far longer than a flush takes on a busy machine. Later writes would appear in the next test. */
const FLUSH_LIMIT_MS = 30_000
const NEVER_MS = 24 * 60 * 60_000
/** In production, a client receives an error or a miss within a second of a database outage. Here, a slow database must not fail a test. */
const DATABASE_LIMIT_MS = 30_000
/** Tests check the behaviour after these waits, not their length. */
const RETRY_WAIT_MS = 5
const HOOK_PAUSE_MS = 250

/** Plan `open` has no limit of requests per minute; the seeded plans are unchanged. */
export async function startProxy({
  stores: given,
  environment = {},
  bus,
  log = createLog('silent'),
  dashboard = false,
  embedder: ownEmbedder,
  reconcileEveryMs = NEVER_MS,
  databaseTimeoutMs = DATABASE_LIMIT_MS,
  retryWaitMs = RETRY_WAIT_MS,
  hookPauseMs = HOOK_PAUSE_MS,
  ...options
}: ProxyOptions): Promise<TestProxy> {
  const stores = await given
  const { database, store } = stores
  const config: Config = readConfig({
    PORT: '0',
    DASHBOARD: dashboard ? 'on' : 'off',
    ...environment,
  })
  const embedder = ownEmbedder ?? (await createEmbedder(config.embedder, log))
  const limits = { reconcileEveryMs, databaseTimeoutMs, retryWaitMs, hookPauseMs }
  const app = await createApp({ config, database, store, embedder, bus: bus ?? null, log, ...limits, ...options })
  const { dashboard: apart } = app
  const forget = noteEndListeners(() => {
    app.http.listen({ port: config.port, hostname: '127.0.0.1' })
    apart?.listen({ port: config.dashboard, hostname: '127.0.0.1' })
  })
  const { server } = app.http
  if (!server?.port) throw new Error('The proxy did not start')
  await database.call(
    `insert into plans values ('open', 1000000000, 1000000000, 1000000000, 1000000000, 1000000000) on conflict do nothing`,
    [],
  )

  const rootUrl = `http://127.0.0.1:${server.port}`
  return {
    baseUrl: `${rootUrl}/v1`,
    rootUrl,
    port: server.port,
    stores,
    async createKey({ project, plan = 'open', type = 'test', settings } = {}) {
      const name = project ?? `p${++projects}-${crypto.randomUUID().slice(0, 8)}`
      const known = await sql`select 1 from projects where name = ${name}`.execute(queriesOf(database))
      if (known.rows.length === 0) await callFunction(database, 'create_project', { project: name, plan })
      if (settings) await callFunction(database, 'set_settings', { project: name, settings })
      return callFunction(database, 'issue_key', { project: name, key_type: type, key_name: crypto.randomUUID() })
    },
    async query<Row>(text: string) {
      const { rows } = await sql.raw<Row>(text).execute(queriesOf(database))
      return rows
    },
    settle: () => app.flush(FLUSH_LIMIT_MS),
    readmitSessions: app.recheckSessions,
    beginDrain: app.beginDrain,
    async stop() {
      await Promise.all([server.stop(true), apart?.server?.stop(true)])
      await app.flush(FLUSH_LIMIT_MS)
      await app.close()
      await embedder.close()
      forget()
    },
  }
}

/** Elysia adds a `beforeExit` listener for each app that listens, which keeps the app in memory. Returns a function that removes it. */
function noteEndListeners(listen: () => unknown): () => void {
  const before = process.listeners('beforeExit')
  listen()
  const added = process.listeners('beforeExit').filter(listener => !before.includes(listener))
  return () => {
    for (const listener of added) process.off('beforeExit', listener)
  }
}
