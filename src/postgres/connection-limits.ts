/** What a proxy asks of a database at the start: whether it is usable, and how many connections it has to give. */
import type { Database } from './database.ts'

const PING = `select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean as writable`

/** Rejects when the database does not answer, and when it takes no writes: a standby, or a read-only primary. */
export async function pingDatabase(database: Database): Promise<void> {
  const [server] = await database.call<{ writable: boolean }>(PING, [])
  if (!server?.writable) throw new Error('the server takes no writes')
}

/** The share of all proxies, without a setting: it leaves room for other clients and operators. */
const SHARE = 1 / 4
/** Statements share connections, so more than this make a process no faster. */
const ENOUGH = 5

const COUNT_CONNECTIONS = `
select least(
    current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
    (select nullif(d.datconnlimit, -1) from pg_database d where d.datname = current_database()),
    (select nullif(r.rolconnlimit, -1) from pg_roles r where r.rolname = current_user)
) as connections`

/** Connections for one of so many processes. `budget` is for all of them; null asks the server. */
export async function divideConnections(database: Database, budget: number | null, processes: number): Promise<number> {
  if (budget !== null) return Math.max(1, Math.floor(budget / processes))
  const [server] = await database.call<{ connections: number }>(COUNT_CONNECTIONS, [])
  return Math.max(1, Math.min(ENOUGH, Math.floor(((server?.connections ?? 0) * SHARE) / processes)))
}
