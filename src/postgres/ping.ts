/** Asks the database whether it can be worked with. */
import type { Database } from './database.ts'
import { boolean, defineStatement, readOne } from './statement.ts'

const PING = defineStatement(
  `select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean as writable`,
  { writable: boolean },
)

/** Rejects where nobody answers, and where no writes are taken: a standby, or a primary that is closed to them. */
export async function pingDatabase(database: Database): Promise<void> {
  const { writable } = await readOne(database, PING)
  if (!writable) throw new Error('the server takes no writes')
}
