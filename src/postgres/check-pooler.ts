/** Detects a pooler between the proxy and PostgreSQL at the start, and the features that it does not support. */
import { TimeoutError, withTimeout } from '../event-loop/timeouts.ts'
import type { DatabaseAddress } from './address.ts'
import { checkServer } from './check-server.ts'
import type { Connection } from './connection.ts'
import { sqlStateOf } from './database.ts'
import { openConnection } from './open-connection.ts'
import type { TlsState } from './secure-socket.ts'
import { throwSetupProblems } from './setup-problem.ts'

export interface PoolerFeatures {
  /** True if client connections share server connections. */
  isPooled: boolean
  /** True if statements that were prepared by name stay available. */
  hasPreparedStatements: boolean
  /** True if the server aborts statements that exceed the timeout. */
  hasStatementTimeout: boolean
  tls: TlsState
}

/** The time limit of the second query. A pooler may have a single server connection, which the check itself holds. */
const QUERY_TIME_LIMIT_MS = 1_000
/** SQLSTATE: invalid_sql_statement_name. */
const NOT_PREPARED = '26000'

const READ_BACKEND = `select pg_backend_pid() as pid, current_setting('statement_timeout') as time_limit`

interface Backend {
  pid: number
  time_limit: string
}

/**
 * Detects the pooler's features. A first connection prepares a statement. A second one then holds a transaction, and with it perhaps the
 * server connection that the first one used. The reply to the first one shows whether it got another server connection, and whether that
 * has its prepared statement. Throws DatabaseSetupError if the server, or a session through the pooler, does not meet the requirements.
 */
export async function detectPoolerFeatures(address: DatabaseAddress): Promise<PoolerFeatures> {
  const first = await openConnection({ address })
  try {
    throwSetupProblems(await checkServer(first))
    const second = await openConnection({ address })
    try {
      const before = await queryBackend(first)
      const after = await second.sql.begin(async transaction => {
        const [held] = await transaction.unsafe<Backend[]>(READ_BACKEND)
        return { held, reply: await queryBackendAgain(first) }
      })
      return {
        isPooled:
          after.held?.pid === before?.pid || (typeof after.reply === 'object' && after.reply?.pid !== before?.pid),
        hasPreparedStatements: after.reply !== NOT_PREPARED,
        hasStatementTimeout: before?.time_limit !== '0',
        tls: first.tls,
      }
    } finally {
      second.end()
    }
  } finally {
    first.end()
  }
}

async function queryBackend(connection: Connection): Promise<Backend | undefined> {
  const [row] = await connection.run<Backend>(READ_BACKEND, [])
  return row
}

async function queryBackendAgain(connection: Connection): Promise<Backend | undefined | typeof NOT_PREPARED> {
  try {
    return await withTimeout(QUERY_TIME_LIMIT_MS, queryBackend(connection))
  } catch (error) {
    if (sqlStateOf(error) === NOT_PREPARED) return NOT_PREPARED
    if (error instanceof TimeoutError) return undefined
    throw error
  }
}
