/** Checks at the start that a database accepts writes, and how many connections each process may open. */
import type { Database } from './database.ts'

const PING = `select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean as writable`

/** Rejects if the database does not reply, and if it accepts no writes: a standby, or a read-only primary. */
export async function pingDatabase(database: Database): Promise<void> {
  const [server] = await database.call<{ writable: boolean }>(PING, [])
  if (!server?.writable) throw new Error('the server is read-only')
}

/** The share of the server's connections that all proxies use without a setting. Other clients and operators use the rest. */
const SHARE = 1 / 4
/** More connections make a process no faster, because statements are pipelined. */
const MAX_USEFUL_CONNECTIONS = 5

const COUNT_CONNECTIONS = `
select least(
    current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
    (select nullif(d.datconnlimit, -1) from pg_database d where d.datname = current_database()),
    (select nullif(r.rolconnlimit, -1) from pg_roles r where r.rolname = current_user)
) as connections`

/** Returns the number of connections for each of `processes`. `budget` is for all processes; null derives it from the server's limits. */
export async function divideConnections(database: Database, budget: number | null, processes: number): Promise<number> {
  if (budget !== null) return Math.max(1, Math.floor(budget / processes))
  const [server] = await database.call<{ connections: number }>(COUNT_CONNECTIONS, [])
  return Math.max(1, Math.min(MAX_USEFUL_CONNECTIONS, Math.floor(((server?.connections ?? 0) * SHARE) / processes)))
}
