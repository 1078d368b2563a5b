/** The backend for a PostgreSQL server. It uses porsager's driver, `postgres`. */

import { type DatabaseAddress, readDatabaseUrl } from './address.ts'
import { type Connections, openConnections } from './connection-pool.ts'
import { type Database, ScriptError, type SqlScript } from './database.ts'
import { DiskMonitor } from './disk-monitor.ts'
import { closeDriver, type Driver, openDriver } from './driver.ts'
import { PrimaryTracker } from './primary-tracker.ts'
import type { TlsState } from './secure-socket.ts'
import { StandbyRouter } from './standbys.ts'

export interface ServerDatabaseOptions {
  url: string
  /** The URL of the standbys; null for none. */
  standbyUrl?: string | null
  /** The maximum number of connections of this process. */
  maxConnections?: number
  /** True if statements are prepared by name. */
  isPrepared?: boolean
  /** The server aborts a statement that takes longer. */
  statementTimeLimitMs?: number
  /** The TLS state that the check at the start detected. */
  tls?: TlsState
  /** The time limit for opening a connection. It is short, because requests do not wait long. */
  connectTimeLimitMs?: number
}

/** These connections open on demand. */
const OPERATOR_CONNECTIONS = 2
const OPERATOR_TIME_LIMIT_MS = 5_000
/** Within this time, a second primary is detected, and connections to an old primary are closed. */
const COMPARE_EVERY_MS = 5_000
/** A script that takes longer sets its own limit: `set local statement_timeout`. */
const STATEMENT_TIME_LIMIT_MS = 10_000

export function openServerDatabase(options: ServerDatabaseOptions): Database {
  const { url, standbyUrl = null, maxConnections = 5, isPrepared = true } = options
  const { statementTimeLimitMs = STATEMENT_TIME_LIMIT_MS } = options
  const parseUrl = (text: string): DatabaseAddress => {
    const parsed = readDatabaseUrl(text)
    const { connectTimeLimitMs = parsed.connectTimeLimitMs } = options
    return {
      ...parsed,
      isPrepared: isPrepared && parsed.isPrepared !== false,
      ...(connectTimeLimitMs ? { connectTimeLimitMs } : {}),
    }
  }
  const primary = new PrimaryTracker()
  const address = { ...parseUrl(url), primary }
  const requestConnections = openConnections({ address, maxConnections, statementTimeLimitMs })
  const operatorConnections = openConnections({
    address,
    maxConnections: OPERATOR_CONNECTIONS,
    statementTimeLimitMs: OPERATOR_TIME_LIMIT_MS,
  })

  const standbys =
    standbyUrl === null ? null : new StandbyRouter(parseUrl(standbyUrl), primary, requestConnections.call)

  const compareHosts = () =>
    openDriver({ address, statementTimeLimitMs: STATEMENT_TIME_LIMIT_MS, isComparison: true }).then(
      closeDriver,
      () => {},
    )
  const comparison = address.hosts.length > 1 ? setInterval(compareHosts, COMPARE_EVERY_MS) : null
  comparison?.unref()

  const disk = new DiskMonitor()
  const createDatabase = (
    connections: Connections,
    limitMs: number,
    call = disk.watch(connections.call),
  ): Database => ({
    call,
    disk,
    readReplica: standbys?.createReader(connections, limitMs) ?? connections,
    backend: 'real',
    hasVectorLists: true,
    primary,
    ...(options.tls ? { tls: options.tls } : {}),
    standbys,
    limitConnections: requestConnections.setMaxConnections,
    connections: requestConnections.size,
    lastReplyAtMs: requestConnections.lastReplyAtMs,
    psqlPort: null,
    runScript: (text, limitMs) => runScript(address, text, limitMs),
    runScripts: scripts => runScripts(address, scripts),
    get operatorDatabase() {
      return operatorDatabase
    },
    async close() {
      if (comparison) clearInterval(comparison)
      await Promise.all([requestConnections.close(), operatorConnections.close(), standbys?.close()])
    },
  })
  const operatorDatabase = createDatabase(operatorConnections, OPERATOR_TIME_LIMIT_MS)
  return createDatabase(requestConnections, statementTimeLimitMs)
}

/** Runs SQL text as one transaction, unless it is a single statement that cannot run in a transaction. */
export async function runScript(address: DatabaseAddress, text: string, limitMs?: number): Promise<void> {
  await withDriver(address, ({ sql }) => sql.unsafe(text), limitMs)
}

/** Runs all scripts in one transaction. Rejects with ScriptError when one fails. */
export async function runScripts(address: DatabaseAddress, scripts: readonly SqlScript[]): Promise<void> {
  await withDriver(address, ({ sql }) =>
    sql.begin(async transaction => {
      for (const { name, text } of scripts) {
        await transaction.unsafe(text).catch(error => {
          throw new ScriptError(name, error)
        })
      }
    }),
  )
}

async function withDriver(
  address: DatabaseAddress,
  run: (driver: Driver) => Promise<unknown>,
  limitMs = STATEMENT_TIME_LIMIT_MS,
): Promise<void> {
  const driver = await openDriver({ address, statementTimeLimitMs: limitMs })
  try {
    await run(driver)
  } finally {
    closeDriver(driver)
  }
}
