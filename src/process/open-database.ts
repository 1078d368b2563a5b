/** Opens the configured database, for a serving process, a supervisor or an operator's command. */
import { type Config, ConfigError } from '../config.ts'
import { describeAddress, parseDatabaseUrl } from '../postgres/address.ts'
import type { Database } from '../postgres/database.ts'
import { pingDatabase, shareConnections } from '../postgres/database-facts.ts'
import { openEmbeddedDatabase } from '../postgres/embedded/embedded.ts'
import { migrate } from '../postgres/migrate.ts'
import { openRealDatabase } from '../postgres/real.ts'
import type { Log } from '../telemetry/log.ts'
import { keepPsqlPassword, lockDataDir } from './data-dir.ts'
import { reasonOf } from './reason-of.ts'

/** Throws ConfigError when no database answers at DATABASE_URL. */
export async function openDatabase(config: Config): Promise<Database> {
  if (config.databaseUrl === null) {
    // PGlite creates its files with any mode that the umask allows.
    process.umask(0o077)
    const directory = await lockDataDir(config.dataDir)
    const password = await keepPsqlPassword(config.dataDir)
    return openEmbeddedDatabase({ directory, psql: { port: config.embeddedPgPort, password } })
  }
  const url = config.databaseUrl
  const first = openRealDatabase({ url, maxConnections: 1 })
  try {
    await pingDatabase(first)
    const maxConnections = await shareConnections(first, config.databaseMaxConnections, config.workers)
    return openRealDatabase({ url, maxConnections })
  } catch (error) {
    const address = parseDatabaseUrl(url)
    throw new ConfigError([
      `DATABASE_URL must lead to a PostgreSQL that answers; ${address && describeAddress(address)} does not: ${reasonOf(error)}. Example: DATABASE_URL=postgres://user:password@127.0.0.1:5432/model_proxy`,
    ])
  } finally {
    await first.close()
  }
}

/** Logs when another proxy's migration, or a table in use, delays this start. */
export async function migrateAndLog(database: Database, log: Log): Promise<void> {
  const onWait = (seconds: number) =>
    log.info({ seconds }, 'waiting to migrate the database: another proxy is at it, or its tables are in use')
  const { isBehind } = await migrate(database, { onWait })
  if (isBehind) log.warn({}, 'a newer release has migrated the database; its functions stay')
}
