/** Checks that the database is usable. */
import type { Database } from './database.ts'
import { boolean, defineStatement, readOne } from './statement.ts'

const PING = defineStatement(
  `select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean as writable`,
  { writable: boolean },
)

/** Rejects when the database does not answer, and when it takes no writes: a standby, or a read-only primary. */
export async function pingDatabase(database: Database): Promise<void> {
  const { writable } = await readOne(database, PING)
  if (!writable) throw new Error('the server takes no writes')
}
