/** One connection to a PostgreSQL server. Statements are pipelined: each is sent without waiting for earlier replies, as `SendingOrder` says. */
import { AnswerLost } from './database.ts'
import { type DriverOptions, endDriver, isServerError, openDriver, PREPARED } from './driver.ts'
import type { ServerIdentity } from './primary.ts'
import { SendingOrder } from './sending-order.ts'
import { encodeValue } from './wire-format.ts'

export interface Connection {
  /** Rejects with the server's error, or with AnswerLost. */
  run<Row>(text: string, values: readonly unknown[]): Promise<Row[]>
  /** Of its server; null where that does not tell. */
  readonly identity: ServerIdentity | null
  /** Number of statements that have no reply yet. */
  readonly waiting: number
  /** `performance.now()` of the last reply, or of the first statement sent after it. */
  readonly quietSinceMs: number
  /** `performance.now()` of the last reply, or of its beginning. */
  readonly answeredAtMs: number
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
  const order = new SendingOrder(options.address.isPrepared !== false)
  const connection = { run, identity, waiting: 0, quietSinceMs: openedAtMs, answeredAtMs: openedAtMs, retire, end }

  function note(isAnswered: boolean): void {
    connection.waiting--
    connection.quietSinceMs = performance.now()
    if (isAnswered) connection.answeredAtMs = connection.quietSinceMs
    if (isRetired) retire()
  }

  function run<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    if (connection.waiting++ === 0) connection.quietSinceMs = performance.now()
    const parameters = values.map(encodeValue)
    const send = () => driver.sql.unsafe(text, parameters, PREPARED).execute()
    return order.send({ text, hasParameters: parameters.length > 0 }, send).then(
      rows => {
        note(true)
        return rows as unknown as Row[]
      },
      error => {
        note(isServerError(error))
        throw isServerError(error) ? error : new AnswerLost(error)
      },
    )
  }

  function retire(): void {
    isRetired = true
    if (connection.waiting === 0) end()
  }

  function end(): void {
    if (hasEnded) return
    hasEnded = true
    endDriver(driver)
    options.onEnd(connection)
  }
  return connection
}
