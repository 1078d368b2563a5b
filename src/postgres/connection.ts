/** One connection to a PostgreSQL server. Statements are pipelined: `StatementScheduler` sends each without waiting for earlier replies. */
import { ReplyLost } from './database.ts'
import { closeDriver, type DriverOptions, isServerError, openDriver, PREPARED_OPTIONS } from './driver.ts'
import type { ServerIdentity } from './primary-tracker.ts'
import { StatementScheduler } from './statement-scheduler.ts'
import { encodeValue } from './wire-format.ts'

export interface Connection {
  /** Runs a statement. Rejects with the server's error, or with ReplyLost. */
  run<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
  /** The identity of the server; null if the server does not report it. */
  readonly identity: ServerIdentity | null
  /** The number of statements without a reply. */
  readonly pendingStatements: number
  /** `performance.now()` of the last reply, or of the first statement sent after it. */
  readonly silentSinceMs: number
  /** `performance.now()` of the last reply; before the first reply, when the connection was opened. */
  readonly lastReplyAtMs: number
  /** Closes after the last reply. */
  retire(): void
  /** Closes at once. Statements in flight reject. */
  end(): void
}

export interface ConnectionOptions extends DriverOptions {
  /** Called once, whichever side closes the connection. */
  onEnd(connection: Connection): void
}

export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const driver = await openDriver(options)
  if (driver.isLost) throw new Error('the connection to the database was lost')
  driver.onLost = end
  let hasEnded = false
  let isRetired = false
  const openedAtMs = performance.now()
  const { identity } = driver
  const scheduler = new StatementScheduler(options.address.isPrepared !== false)
  const connection = {
    run,
    identity,
    pendingStatements: 0,
    silentSinceMs: openedAtMs,
    lastReplyAtMs: openedAtMs,
    retire,
    end,
  }

  function recordReply(hasReply: boolean): void {
    connection.pendingStatements--
    connection.silentSinceMs = performance.now()
    if (hasReply) connection.lastReplyAtMs = connection.silentSinceMs
    if (isRetired) retire()
  }

  function run<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    if (connection.pendingStatements++ === 0) connection.silentSinceMs = performance.now()
    const parameters = values.map(encodeValue)
    const send = () => driver.sql.unsafe(text, parameters, PREPARED_OPTIONS).execute()
    return scheduler.send({ text, hasParameters: parameters.length > 0 }, send).then(
      rows => {
        recordReply(true)
        return rows as unknown as Row[]
      },
      error => {
        recordReply(isServerError(error))
        throw isServerError(error) ? error : new ReplyLost(error)
      },
    )
  }

  function retire(): void {
    isRetired = true
    if (connection.pendingStatements === 0) end()
  }

  function end(): void {
    if (hasEnded) return
    hasEnded = true
    closeDriver(driver)
    options.onEnd(connection)
  }
  return connection
}
