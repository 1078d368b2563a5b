/** The real application on a port of its own (PORT=0), with operators' functions at hand. */

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
  port: number
  stores: Stores
  /** A project on a plan; returns one key of it. */
  createKey(options?: KeyOptions): Promise<string>
  /** Runs SQL and returns its rows. */
  query<Row>(text: string): Promise<Row[]>
  /** Waits for records and refunds to be written. */
  settle(): Promise<void>
  /** Checks open realtime sessions, as happens every half minute. */
  readmitSessions(): Promise<void>
  /** As SIGTERM does first. */
  beginDrain(): void
  stop(): Promise<void>
}

export interface KeyOptions {
  /** Made where there is none of that name. */
  project?: string
  plan?: string
  type?: 'project' | 'test'
  /** Of the project. */
  settings?: Record<string, string>
}

export interface ProxyOptions {
  stores: Stores
  environment?: Record<string, string>
  /** To share upstream calls with other proxies. */
  bus?: ProcessBus
  log?: Log
  /** In place of the one that the environment names. */
  embedder?: Embedder
  /** What it measures, to be read by the test. */
  metrics?: Metrics
  /** Serves the dashboard and the admin API too; most tests have no use for them. */
  dashboard?: boolean
  /** How long its connections may idle after an answer; by default as long as in service. */
  idleTimeoutSeconds?: number
  /** How long the database may take to admit a request: by default longer than a busy machine does. */
  admissionTimeoutMs?: number
  /** How long a stream may be silent before its head goes out with a keep-alive comment. */
  keepAliveAfterMs?: number
  /** How many calls are read on after their clients have left. */
  abandonedCallLimits?: Partial<AbandonedCallLimits>
  /** How long a request waits for what others have reserved of its budget: by default as long as in service. */
  reservationWaitMs?: number
  /** How long it waits before a first retry: by default hardly. */
  retryWaitMs?: number
  /** How long a hook that keeps failing is left alone: by default hardly. */
  hookPauseMs?: number
  /** How often it asks providers for the usage of what was estimated: by default never, for fake providers count requests. */
  reconcileEveryMs?: number
  /** How often the loops of maintenance run: by default each in its own time. */
  maintenanceEveryMs?: number
}

let projects = 0
/** Far longer than it takes on a busy machine: what is written later is found by the next test. */
const FLUSH_LIMIT_MS = 30_000
const NEVER_MS = 24 * 60 * 60_000
/** In service, a client learns within a second that the database is gone; here, a slow one is none of a test's business. */
const ADMISSION_LIMIT_MS = 30_000
/** What happens after them is what is tested, not how long they are. */
const RETRY_WAIT_MS = 5
const HOOK_PAUSE_MS = 250

/** Requests a minute are unlimited on plan `open`; the seeded plans are as they are. */
export async function startProxy({
  stores,
  environment = {},
  bus,
  log = createLog('silent'),
  dashboard = false,
  embedder: given,
  reconcileEveryMs = NEVER_MS,
  admissionTimeoutMs = ADMISSION_LIMIT_MS,
  retryWaitMs = RETRY_WAIT_MS,
  hookPauseMs = HOOK_PAUSE_MS,
  ...options
}: ProxyOptions): Promise<TestProxy> {
  const { database, store } = stores
  // A model in a process of its own, for each proxy of each test, would take longer than most tests.
  const config: Config = readConfig({
    PORT: '0',
    DASHBOARD: dashboard ? 'on' : 'off',
    ...environment,
  })
  const embedder = given ?? (await createEmbedder(config.embedder, log))
  const limits = { reconcileEveryMs, admissionTimeoutMs, retryWaitMs, hookPauseMs }
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

  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
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

/** Elysia waits for the process's end with each app that listens, and so keeps all of it for ever: what is returned takes that back. */
function noteEndListeners(listen: () => unknown): () => void {
  const before = process.listeners('beforeExit')
  listen()
  const added = process.listeners('beforeExit').filter(listener => !before.includes(listener))
  return () => {
    for (const listener of added) process.off('beforeExit', listener)
  }
}
