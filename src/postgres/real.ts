/** The backend for a PostgreSQL server, through porsager's `postgres`. */
import { Kysely } from 'kysely'
import { parseDatabaseUrl } from './address.ts'
import { type Connections, openConnections } from './connections.ts'
import type { Database } from './database.ts'
import { createDialect } from './dialect.ts'
import { runScript, runScripts } from './scripts.ts'
import type { DB } from './types.generated.ts'

export interface RealDatabaseOptions {
  url: string
  /** Most connections of this process. */
  maxConnections?: number
}

/** Opened when they are needed. */
const OPERATORS_CONNECTIONS = 2
const OPERATORS_TIME_LIMIT_MS = 5_000

export function openRealDatabase({ url, maxConnections = 5 }: RealDatabaseOptions): Database {
  const address = parseDatabaseUrl(url)
  if (!address) throw new Error('DATABASE_URL is not an address that PostgreSQL can be reached at')
  const requests = openConnections({ address, maxConnections })
  const operators = openConnections({
    address,
    maxConnections: OPERATORS_CONNECTIONS,
    statementTimeLimitMs: OPERATORS_TIME_LIMIT_MS,
  })

  const over = ({ call }: Connections): Database => ({
    queries: new Kysely<DB>({ dialect: createDialect(call) }),
    call,
    backend: 'real',
    buildsLists: true,
    psqlPort: null,
    runScript: text => runScript(address, text),
    runScripts: scripts => runScripts(address, scripts),
    get aside() {
      return aside
    },
    close: async () => void (await Promise.all([requests.close(), operators.close()])),
  })
  const aside = over(operators)
  return over(requests)
}
