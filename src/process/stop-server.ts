/** Stops a serving process: finishes requests, writes pending data, and closes stores. */

import type { Embedder } from '../cache/embedders/embedder.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../postgres/database.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { App } from './app.ts'
import { dropNewConnections } from './drop-new-connections.ts'

/** Signals within this time count as one, because a terminal signals all processes of a group, and the supervisor forwards the signal. */
const ONE_SIGNAL_MS = 500
/** The time for aborted requests to abort their upstream calls and be recorded. */
const ABORT_GRACE_MS = 250
/** The time for requests on connections that were opened before new ones are dropped. */
const LAST_REQUESTS_MS = 250
const FLUSH_TIME_LIMIT_MS = 5_000
const CLOSE_TIME_LIMIT_MS = 2_000

/** The used part of Bun's server. */
interface Server {
  readonly port: number | undefined
  readonly pendingRequests: number
  readonly pendingWebSockets: number
  /** Stops listening and closes idle connections. Resolves once all requests have ended. With `true`, aborts them. */
  stop(abort?: boolean): Promise<void>
}

export interface RunningServer {
  server: Server
  app: App
  store: FastStore
  database: Database
  embedder: Embedder
  config: Pick<Config, 'shutdownDelayMs' | 'shutdownTimeoutMs'>
  log: Log
}

/** Ends the process on SIGTERM or SIGINT with code 0; on a second one at once, with code 1. */
export function stopOnSignals(serving: RunningServer): void {
  let stoppingSinceMs: number | null = null

  function stop(signal?: NodeJS.Signals): void {
    const now = performance.now()
    stoppingSinceMs ??= now
    if (stoppingSinceMs === now)
      stopServing(serving, signal === 'SIGTERM' ? serving.config.shutdownDelayMs : 0).then(() => process.exit(0))
    else if (now - stoppingSinceMs > ONE_SIGNAL_MS) process.exit(1)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // The supervisor has ended.
  process.on('disconnect', () => stop())
}

async function stopServing(serving: RunningServer, delayMs: number): Promise<void> {
  const { server, app, store, database, embedder, config, log } = serving
  log.info({ pending: server.pendingRequests, delayMs }, 'stopping')
  app.beginDrain()
  if (delayMs > 0) await drain(server, delayMs)
  await Promise.race([server.stop().then(app.waitUntilFinished), Bun.sleep(config.shutdownTimeoutMs)])
  await abortRequests(server, app, log)
  app.recordOpenRequests()
  await app.flush(FLUSH_TIME_LIMIT_MS)
  await Promise.race([
    Promise.allSettled([app.close(), store.close(), database.close(), embedder.close()]),
    Bun.sleep(CLOSE_TIME_LIMIT_MS),
  ])
  log.info({}, 'stopped')
  await log.flush()
}

/** Continues to serve until load balancers have noticed the shutdown, and then the requests that were already sent. */
async function drain(server: Server, delayMs: number): Promise<void> {
  await Bun.sleep(delayMs)
  if (server.port !== undefined && dropNewConnections(server.port)) await Bun.sleep(LAST_REQUESTS_MS)
}

async function abortRequests(server: Server, app: App, log: Log): Promise<void> {
  if (server.pendingRequests === 0 && server.pendingWebSockets === 0) return
  log.warn({ pending: server.pendingRequests }, 'requests took too long to end; they are aborted')
  app.beginAbort()
  // Not awaited, because it resolves once all requests have ended, which may never happen.
  server.stop(true)
  await Bun.sleep(ABORT_GRACE_MS)
}
