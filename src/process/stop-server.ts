/** Stops a serving process: finishes requests, writes pending data, and closes the stores. */

import type { Embedder } from '../cache/embedders/embedder.ts'
import type { Database } from '../postgres/database.ts'
import type { FastStore } from '../stores/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { App } from './app.ts'
import { turnAway } from './turn-away.ts'

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

export interface Serving {
  server: Server
  app: App
  store: FastStore
  database: Database
  embedder: Embedder
  log: Log
  /** How long requests are still taken after SIGTERM. */
  delayMs: number
  /** How long requests in flight may take to end. */
  timeLimitMs: number
}

/** Ends the process on SIGTERM or SIGINT with code 0; on a second one at once, with code 1. */
export function stopOnSignals(serving: Serving): void {
  let stoppingSinceMs: number | null = null

  function stop(signal?: NodeJS.Signals): void {
    const now = performance.now()
    stoppingSinceMs ??= now
    if (stoppingSinceMs === now)
      stopServing(serving, signal === 'SIGTERM' ? serving.delayMs : 0).then(() => process.exit(0))
    else if (now - stoppingSinceMs > ONE_SIGNAL_MS) process.exit(1)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // The supervisor has died.
  process.on('disconnect', () => stop())
}

async function stopServing(serving: Serving, delayMs: number): Promise<void> {
  const { server, app, store, database, embedder, log, timeLimitMs } = serving
  log.info({ pending: server.pendingRequests, delayMs }, 'stopping')
  app.beginDrain()
  if (delayMs > 0) await drain(server, delayMs)
  await Promise.race([server.stop().then(app.allFinished), Bun.sleep(timeLimitMs)])
  await cutRequests(server, app, log)
  app.finishOpen()
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
  if (server.port !== undefined && turnAway(server.port)) await Bun.sleep(LAST_REQUESTS_MS)
}

async function cutRequests(server: Server, app: App, log: Log): Promise<void> {
  if (server.pendingRequests === 0 && server.pendingWebSockets === 0) return
  log.warn({ pending: server.pendingRequests }, 'requests took too long to end; cut')
  app.beginCutOff()
  // Not awaited: it resolves when every request has ended, which may be never.
  server.stop(true)
  await Bun.sleep(CUT_GRACE_MS)
}
