/** The backend for a PostgreSQL server. It uses porsager's driver, `postgres`. */

import { type DatabaseAddress, readDatabaseUrl } from './address.ts'
import { type Connection, STATEMENT_TIME_LIMIT_MS } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import { type Database, ScriptError, type SqlScript } from './database.ts'
import { DiskMonitor } from './disk-monitor.ts'
import { openConnection } from './open-connection.ts'
import { PrimaryTracker } from './primary-tracker.ts'
import type { TlsState } from './secure-socket.ts'
import { StandbyRouter } from './standbys.ts'

/** Options that override parameters of the address. */
export interface AddressOptions {
  /** False if statements must not be prepared by name. */
  isPrepared?: boolean
  /** The time limit for opening a connection. It is short, because requests do not wait long. */
  connectTimeLimitMs?: number
}

export interface ServerDatabaseOptions extends AddressOptions {
  url: string
  /** The URL of the standbys; null for none. */
  standbyUrl?: string | null
  /** The maximum number of connections of this process. */
  maxConnections?: number
  /** The server aborts a statement that takes longer. */
  statementTimeLimitMs?: number
  /** The TLS state that the check at the start detected. */
  tls?: TlsState
}

/** These connections open on demand. */
const OPERATOR_CONNECTIONS = 2
const OPERATOR_TIME_LIMIT_MS = 5_000
/** Within this time, a second primary is detected, and connections to an old primary are closed. */
const COMPARE_EVERY_MS = 5_000

export function openServerDatabase(options: ServerDatabaseOptions): Database {
  const { url, standbyUrl = null, maxConnections = 5, statementTimeLimitMs = STATEMENT_TIME_LIMIT_MS } = options
  const primary = new PrimaryTracker()
  const address = { ...resolveAddress(url, options), primary }
  const requestPool = new ConnectionPool({ address, maxConnections, statementTimeLimitMs })
  const operatorPool = new ConnectionPool({
    address,
    maxConnections: OPERATOR_CONNECTIONS,
    statementTimeLimitMs: OPERATOR_TIME_LIMIT_MS,
  })
  const standbys =
    standbyUrl === null ? null : new StandbyRouter(resolveAddress(standbyUrl, options), primary, requestPool)

  const compareHosts = () =>
    openConnection({ address, isComparison: true }).then(
      connection => connection.end(),
      () => {},
    )
  const comparison = address.hosts.length > 1 ? setInterval(compareHosts, COMPARE_EVERY_MS) : null
  comparison?.unref()

  const disk = new DiskMonitor()
  const createDatabase = (pool: ConnectionPool, limitMs: number): Database => ({
    call: disk.watch(pool),
    disk,
    readReplica: standbys?.createReader(pool, limitMs) ?? pool,
    backend: 'real',
    primary,
    ...(options.tls ? { tls: options.tls } : {}),
    standbys,
    limitConnections: most => requestPool.setMaxConnections(most),
    connections: () => requestPool.size,
    lastReplyAtMs: () => requestPool.lastReplyAtMs,
    psqlPort: null,
    runScript: (text, limitMs) => runScript(address, text, limitMs),
    runScripts: scripts => runScripts(address, scripts),
    get operatorDatabase() {
      return operatorDatabase
    },
    async close() {
      if (comparison) clearInterval(comparison)
      await Promise.all([requestPool.close(), operatorPool.close(), standbys?.close()])
    },
  })
  const operatorDatabase = createDatabase(operatorPool, OPERATOR_TIME_LIMIT_MS)
  return createDatabase(requestPool, statementTimeLimitMs)
}

/** Parses a URL, and applies the options. Throws DatabaseUrlError, as readDatabaseUrl() does. */
export function resolveAddress(
  url: string,
  { isPrepared = true, connectTimeLimitMs }: AddressOptions,
): DatabaseAddress {
  const address = readDatabaseUrl(url)
  return {
    ...address,
    isPrepared: isPrepared && address.isPrepared !== false,
    ...(connectTimeLimitMs ? { connectTimeLimitMs } : {}),
  }
}

/** Runs SQL text as one transaction, unless it is a single statement that cannot run in a transaction. */
async function runScript(address: DatabaseAddress, text: string, limitMs?: number): Promise<void> {
  await withConnection(address, ({ sql }) => sql.unsafe(text), limitMs)
}

/** Runs all scripts in one transaction. Rejects with ScriptError when one fails. */
async function runScripts(address: DatabaseAddress, scripts: readonly SqlScript[]): Promise<void> {
  await withConnection(address, ({ sql }) =>
    sql.begin(async transaction => {
      for (const { name, text } of scripts) {
        await transaction.unsafe(text).catch(error => {
          throw new ScriptError(name, error)
        })
      }
    }),
  )
}

/** A script that takes longer than the limit sets its own: `set local statement_timeout`. */
async function withConnection(
  address: DatabaseAddress,
  run: (connection: Connection) => Promise<unknown>,
  statementTimeLimitMs = STATEMENT_TIME_LIMIT_MS,
): Promise<void> {
  const connection = await openConnection({ address, statementTimeLimitMs })
  try {
    await run(connection)
  } finally {
    connection.end()
  }
}
