/** Recognises a pooler between the proxy and PostgreSQL, and what it would lose, before anything is served. */
import { TimeLimitExceeded, withinTimeLimit } from '../event-loop/time-limit.ts'
import type { DatabaseAddress } from './address.ts'
import { sqlStateOf } from './database.ts'
import { type Driver, endDriver, openDriver, PREPARED } from './driver.ts'

export interface Pooling {
  /** Whether client connections share connections of the server. */
  isPooled: boolean
  /** Whether statements that were prepared by name can be found again. */
  keepsPrepared: boolean
  /** Whether a statement that takes too long is aborted by the server. */
  limitsStatements: boolean
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
 * What the first is answered now tells whether it got another one, and whether its statement went along.
 */
export async function checkPooling(address: DatabaseAddress): Promise<Pooling> {
  const options = { address, statementTimeLimitMs: STATEMENT_TIME_LIMIT_MS }
  const first = await openDriver(options)
  try {
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
        keepsPrepared: after.answer !== NOT_PREPARED,
        limitsStatements: before?.time_limit !== '0',
      }
    } finally {
      endDriver(second)
    }
  } finally {
    endDriver(first)
  }
}

async function ask({ sql }: Driver): Promise<Who | undefined> {
  const [row] = await sql.unsafe<Who[]>(WHO, [], PREPARED)
  return row
}

async function askAgain(driver: Driver): Promise<Who | undefined | typeof NOT_PREPARED> {
  try {
    return await withinTimeLimit(ASK_LIMIT_MS, ask(driver))
  } catch (error) {
    if (sqlStateOf(error) === NOT_PREPARED) return NOT_PREPARED
    if (error instanceof TimeLimitExceeded) return undefined
    throw error
  }
}
