/** Stops a serving process: finishes requests, writes pending data, and closes the stores. */

import type { Embedder } from '../cache/embedders/embedder.ts'
import type { Database } from '../postgres/database.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { App } from './app.ts'
import { dropNewConnections } from './drop-new-connections.ts'

/** A terminal signals every process of its group, and each parent passes the signal on. Signals within this time count as one. */
const ONE_SIGNAL_MS = 500
/** Time for requests that were cut off to abort their upstream calls and be accounted for. */
const CUT_GRACE_MS = 250
/** For requests on connections that were opened before new ones are turned away. */
const LAST_REQUESTS_MS = 250
const FLUSH_TIME_LIMIT_MS = 5_000
const CLOSE_TIME_LIMIT_MS = 2_000

/** The part of Bun's server that is needed here. */
interface Server {
  readonly port: number | undefined
  readonly pendingRequests: number
  readonly pendingWebSockets: number
  /** Accepts no more and closes idle connections; resolves when all requests have ended, or with `true` cuts them. */
  stop(cut?: boolean): Promise<void>
}

export interface RunningServer {
  server: Server
  app: App
  store: FastStore
  database: Database
  embedder: Embedder
  log: Log
  /** How long requests are still taken after SIGTERM. */
  shutdownDelayMs: number
  /** How long requests in flight may take to end. */
  shutdownTimeoutMs: number
}

/** Ends the process on SIGTERM or SIGINT with code 0; on a second one at once, with code 1. */
export function stopOnSignals(serving: RunningServer): void {
  let stoppingSinceMs: number | null = null

  function stop(signal?: NodeJS.Signals): void {
    const now = performance.now()
    stoppingSinceMs ??= now
    if (stoppingSinceMs === now)
      stopServing(serving, signal === 'SIGTERM' ? serving.shutdownDelayMs : 0).then(() => process.exit(0))
    else if (now - stoppingSinceMs > ONE_SIGNAL_MS) process.exit(1)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // The supervisor has died.
  process.on('disconnect', () => stop())
}

async function stopServing(serving: RunningServer, delayMs: number): Promise<void> {
  const { server, app, store, database, embedder, log, shutdownTimeoutMs } = serving
  log.info({ pending: server.pendingRequests, delayMs }, 'stopping')
  app.beginDrain()
  if (delayMs > 0) await drain(server, delayMs)
  await Promise.race([server.stop().then(app.waitUntilFinished), Bun.sleep(shutdownTimeoutMs)])
  await cutRequests(server, app, log)
  app.recordOpenRequests()
  await app.flush(FLUSH_TIME_LIMIT_MS)
  await Promise.race([
    Promise.allSettled([app.close(), store.close(), database.close(), embedder.close()]),
    Bun.sleep(CLOSE_TIME_LIMIT_MS),
  ])
  log.info({}, 'stopped')
  await log.flush()
}

/** Serves on until load balancers have noticed, and then the requests that are on their way. */
async function drain(server: Server, delayMs: number): Promise<void> {
  await Bun.sleep(delayMs)
  if (server.port !== undefined && dropNewConnections(server.port)) await Bun.sleep(LAST_REQUESTS_MS)
}

async function cutRequests(server: Server, app: App, log: Log): Promise<void> {
  if (server.pendingRequests === 0 && server.pendingWebSockets === 0) return
  log.warn({ pending: server.pendingRequests }, 'requests took too long to end; cut')
  app.beginAbort()
  // Not awaited: it resolves when every request has ended, which may be never.
  server.stop(true)
  await Bun.sleep(CUT_GRACE_MS)
}
