/** Decides how many of the server's connections a process may open. */
import type { Database } from './database.ts'
import { defineStatement, integer, readOne } from './statement.ts'

/** The share of all proxies on one machine, without a setting: it leaves room for other clients and operators. */
const SHARE = 1 / 4
/** Statements share connections, so more than this make a process no faster. */
const ENOUGH = 5

const COUNT_CONNECTIONS = defineStatement(
  `select least(
    current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
    (select nullif(d.datconnlimit, -1) from pg_database d where d.datname = current_database()),
    (select nullif(r.rolconnlimit, -1) from pg_roles r where r.rolname = current_user)
  ) as connections`,
  { connections: integer },
)

/** Connections for one of `workers` processes. `budget` is for all of them; null asks the server. */
export async function shareConnections(database: Database, budget: number | null, workers: number): Promise<number> {
  if (budget !== null) return Math.max(1, Math.floor(budget / workers))
  const { connections } = await readOne(database, COUNT_CONNECTIONS)
  return Math.max(1, Math.min(ENOUGH, Math.floor((connections * SHARE) / workers)))
}
