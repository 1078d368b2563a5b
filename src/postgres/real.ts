/** A real PostgreSQL server, through node-postgres. */
import { Kysely, PostgresDialect } from 'kysely'
import { openConnections } from './connections.ts'
import type { Database } from './database.ts'
import type { DB } from './types.generated.ts'

export interface RealDatabaseOptions {
  url: string
  /** Most connections of this process. */
  maxConnections?: number
}

export function openRealDatabase({ url, maxConnections = 10 }: RealDatabaseOptions): Database {
  const connections = openConnections({ url, maxConnections })
  return {
    queries: new Kysely<DB>({ dialect: new PostgresDialect({ pool: connections.pool }) }),
    call: connections.call,
    footing: 'real',
    buildsGraphs: true,
    psqlPort: null,
    runScript: connections.runScript,
    close: connections.close,
  }
}
