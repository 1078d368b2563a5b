/** One connection to a PostgreSQL server. Statements are pipelined: each is sent without waiting for earlier replies, as `StatementScheduler` says. */
import { ReplyLost } from './database.ts'
import { closeDriver, type DriverOptions, isServerError, openDriver, PREPARED_OPTIONS } from './driver.ts'
import type { ServerIdentity } from './primary-tracker.ts'
import { StatementScheduler } from './statement-scheduler.ts'
import { encodeValue } from './wire-format.ts'

export interface Connection {
  /** Rejects with the server's error, or with ReplyLost. */
  run<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
  /** Of its server; null where that does not tell. */
  readonly identity: ServerIdentity | null
  /** Number of statements that have no reply yet. */
  readonly pendingStatements: number
  /** `performance.now()` of the last reply, or of the first statement sent after it. */
  readonly silentSinceMs: number
  /** `performance.now()` of the last reply, or of its beginning. */
  readonly lastReplyAtMs: number
  /** Closes after the last reply. */
  retire(): void
  /** Closes now; statements in flight reject. */
  end(): void
}

export interface ConnectionOptions extends DriverOptions {
  /** Called once, whichever side closed it. */
  onEnd(connection: Connection): void
}

export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const driver = await openDriver(options)
  if (driver.isLost) throw new Error('The connection was lost')
  driver.onLost = end
  let hasEnded = false
  let isRetired = false
  const openedAtMs = performance.now()
  const { identity } = driver
  const order = new StatementScheduler(options.address.isPrepared !== false)
  const connection = {
    run,
    identity,
    pendingStatements: 0,
    silentSinceMs: openedAtMs,
    lastReplyAtMs: openedAtMs,
    retire,
    end,
  }

  function note(isAnswered: boolean): void {
    connection.pendingStatements--
    connection.silentSinceMs = performance.now()
    if (isAnswered) connection.lastReplyAtMs = connection.silentSinceMs
    if (isRetired) retire()
  }

  function run<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    if (connection.pendingStatements++ === 0) connection.silentSinceMs = performance.now()
    const parameters = values.map(encodeValue)
    const send = () => driver.sql.unsafe(text, parameters, PREPARED_OPTIONS).execute()
    return order.send({ text, hasParameters: parameters.length > 0 }, send).then(
      rows => {
        note(true)
        return rows as unknown as Row[]
      },
      error => {
        note(isServerError(error))
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
