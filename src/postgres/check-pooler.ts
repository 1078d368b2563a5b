/** Recognises a pooler between the proxy and PostgreSQL, and what it would lose, before anything is served. */
import { TimeoutError, withTimeout } from '../event-loop/timeouts.ts'
import type { DatabaseAddress } from './address.ts'
import { checkServer } from './check-server.ts'
import { sqlStateOf } from './database.ts'
import { closeDriver, type Driver, type DriverOptions, openDriver, PREPARED_OPTIONS } from './driver.ts'
import type { TlsState } from './secure-socket.ts'
import { throwSetupProblems } from './setup-problem.ts'

export interface PoolerFeatures {
  /** Whether client connections share connections of the server. */
  isPooled: boolean
  /** Whether statements that were prepared by name can be found again. */
  hasPreparedStatements: boolean
  /** Whether a statement that takes too long is aborted by the server. */
  hasStatementTimeout: boolean
  tls: TlsState
}

const STATEMENT_TIME_LIMIT_MS = 10_000
/** A pooler may have a single connection to the server, which the check holds itself. */
const ASK_LIMIT_MS = 1_000
/** SQLSTATE: invalid_sql_statement_name. */
const NOT_PREPARED = '26000'

const WHO = `select pg_backend_pid() as pid, current_setting('statement_timeout') as time_limit`

interface Who {
  pid: number
  time_limit: string
}

/**
 * One connection prepares a statement; then another holds a transaction, and so perhaps the server's connection that the first one used.
 * What the first is answered now tells whether it got another one, and whether its statement went along. Throws DatabaseSetupError when the
 * server, or a session as it comes through the pooler, is not as the proxy needs it.
 */
export async function detectPoolerFeatures(
  address: DatabaseAddress,
  limits: Pick<DriverOptions, 'connectTimeLimitMs'> = {},
): Promise<PoolerFeatures> {
  const options = { address, statementTimeLimitMs: STATEMENT_TIME_LIMIT_MS, ...limits }
  const first = await openDriver(options)
  try {
    throwSetupProblems(await checkServer(first))
    const second = await openDriver(options)
    try {
      const before = await ask(first)
      const after = await second.sql.begin(async transaction => {
        const [held] = await transaction.unsafe<Who[]>(WHO)
        return { held, answer: await askAgain(first) }
      })
      return {
        isPooled:
          after.held?.pid === before?.pid || (typeof after.answer === 'object' && after.answer?.pid !== before?.pid),
        hasPreparedStatements: after.answer !== NOT_PREPARED,
        hasStatementTimeout: before?.time_limit !== '0',
        tls: first.tls,
      }
    } finally {
      closeDriver(second)
    }
  } finally {
    closeDriver(first)
  }
}

async function ask({ sql }: Driver): Promise<Who | undefined> {
  const [row] = await sql.unsafe<Who[]>(WHO, [], PREPARED_OPTIONS)
  return row
}

async function askAgain(driver: Driver): Promise<Who | undefined | typeof NOT_PREPARED> {
  try {
    return await withTimeout(ASK_LIMIT_MS, ask(driver))
  } catch (error) {
    if (sqlStateOf(error) === NOT_PREPARED) return NOT_PREPARED
    if (error instanceof TimeoutError) return undefined
    throw error
  }
}
