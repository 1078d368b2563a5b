/** The backend for a PostgreSQL server, through porsager's `postgres`. */
import { Kysely } from 'kysely'
import { parseDatabaseUrl } from './address.ts'
import { openConnections } from './connections.ts'
import type { Database } from './database.ts'
import { createDialect } from './dialect.ts'
import { runScript, runScripts } from './scripts.ts'
import type { DB } from './types.generated.ts'

export interface RealDatabaseOptions {
  url: string
  /** Most connections of this process. */
  maxConnections?: number
}

export function openRealDatabase({ url, maxConnections = 5 }: RealDatabaseOptions): Database {
  const address = parseDatabaseUrl(url)
  if (!address) throw new Error('DATABASE_URL is not an address that PostgreSQL can be reached at')
  const { call, close } = openConnections({ address, maxConnections })
  return {
    queries: new Kysely<DB>({ dialect: createDialect(call) }),
    call,
    backend: 'real',
    buildsLists: true,
    psqlPort: null,
    runScript: text => runScript(address, text),
    runScripts: scripts => runScripts(address, scripts),
    close,
  }
}
