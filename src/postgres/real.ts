/** A real PostgreSQL server, through porsager's driver. */
import { Kysely } from 'kysely'
import { PostgresJSDialect } from 'kysely-postgres-js'
import postgres from 'postgres'
import type { Database } from './database.ts'
import type { DB } from './types.generated.ts'

export interface RealDatabaseOptions {
  url: string
  /** Most connections of this process. */
  maxConnections?: number
}

export function openRealDatabase({ url, maxConnections = 10 }: RealDatabaseOptions): Database {
  const sql = postgres(url, {
    max: maxConnections,
    // Seconds. A server that is gone must be noticed, and one that is back found, quickly.
    connect_timeout: 2,
    backoff: attempt => Math.min(0.1 * 2 ** attempt, 1),
    connection: { application_name: 'model-proxy', statement_timeout: 10_000 },
    onnotice: () => {},
    types: {
      // Ids and counters stay far below 2^53.
      int8: { to: 20, from: [20], serialize: String, parse: Number },
      // A date has no time zone: kept as text, it cannot shift.
      date: { to: 1082, from: [1082], serialize: String, parse: (text: string) => text },
    },
  })
  const queries = new Kysely<DB>({ dialect: new PostgresJSDialect({ postgres: sql }) })
  return {
    queries,
    footing: 'real',
    psqlPort: null,
    buildsGraphs: true,
    async runScript(text) {
      await sql.unsafe(text).simple()
    },
    async close() {
      await sql.end({ timeout: 2 })
    },
  }
}
