/** The backend for a PostgreSQL server, through porsager's `postgres`. */

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
  /** Of standbys; null for none. */
  standbyUrl?: string | null
  /** Most connections of this process. */
  maxConnections?: number
  /** Whether statements are prepared by name. */
  isPrepared?: boolean
  /** The server aborts a statement that takes longer. */
  statementTimeLimitMs?: number
  /** As the start found it. */
  tls?: TlsState
  /** Limit until a connection is usable; requests do not wait long for one. */
  connectTimeLimitMs?: number
}

/** Opened when they are needed. */
const OPERATORS_CONNECTIONS = 2
const OPERATORS_TIME_LIMIT_MS = 5_000
/** A second primary is found, and the one that was left behind is left, in this time. */
const COMPARE_EVERY_MS = 5_000
/** A script that takes longer sets its own limit: `set local statement_timeout`. */
const STATEMENT_TIME_LIMIT_MS = 10_000

export function openServerDatabase(options: ServerDatabaseOptions): Database {
  const { url, standbyUrl = null, maxConnections = 5, isPrepared = true } = options
  const { statementTimeLimitMs = STATEMENT_TIME_LIMIT_MS } = options
  const read = (given: string): DatabaseAddress => {
    const parsed = readDatabaseUrl(given)
    const { connectTimeLimitMs = parsed.connectTimeLimitMs } = options
    return {
      ...parsed,
      isPrepared: isPrepared && parsed.isPrepared !== false,
      ...(connectTimeLimitMs ? { connectTimeLimitMs } : {}),
    }
  }
  const primary = new PrimaryTracker()
  const address = { ...read(url), primary }
  const requests = openConnections({ address, maxConnections, statementTimeLimitMs })
  const operators = openConnections({
    address,
    maxConnections: OPERATORS_CONNECTIONS,
    statementTimeLimitMs: OPERATORS_TIME_LIMIT_MS,
  })

  const standbys = standbyUrl === null ? null : new StandbyRouter(read(standbyUrl), primary, requests.call)

  const compareHosts = () =>
    openDriver({ address, statementTimeLimitMs: STATEMENT_TIME_LIMIT_MS, isComparison: true }).then(
      closeDriver,
      () => {},
    )
  const comparing = address.hosts.length > 1 ? setInterval(compareHosts, COMPARE_EVERY_MS) : null
  comparing?.unref()

  const disk = new DiskMonitor()
  const over = (connections: Connections, limitMs: number, call = disk.watch(connections.call)): Database => ({
    call,
    disk,
    readReplica: standbys?.createReader(connections, limitMs) ?? connections,
    backend: 'real',
    hasVectorLists: true,
    primary,
    ...(options.tls ? { tls: options.tls } : {}),
    standbys,
    limitConnections: requests.setMaxConnections,
    connections: requests.size,
    lastReplyAtMs: requests.lastReplyAtMs,
    psqlPort: null,
    runScript: (text, limitMs) => runScript(address, text, limitMs),
    runScripts: scripts => runScripts(address, scripts),
    get operatorDatabase() {
      return aside
    },
    async close() {
      if (comparing) clearInterval(comparing)
      await Promise.all([requests.close(), operators.close(), standbys?.close()])
    },
  })
  const aside = over(operators, OPERATORS_TIME_LIMIT_MS)
  return over(requests, statementTimeLimitMs)
}

/** The server runs it as one transaction, unless it is a single statement that cannot run in one. */
export async function runScript(address: DatabaseAddress, text: string, limitMs?: number): Promise<void> {
  await withDriver(address, ({ sql }) => sql.unsafe(text), limitMs)
}

/** Runs all of them in one transaction. */
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
