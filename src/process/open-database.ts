/** Opens the configured database for a serving process, a supervisor or a command. */
import { type Config, ConfigError } from '../config/config.ts'
import { type DatabaseAddress, describeAddress } from '../postgres/address.ts'
import { detectPoolerFeatures } from '../postgres/check-pooler.ts'
import { findDashboardRoleProblem } from '../postgres/check-rights.ts'
import { divideConnections, pingDatabase } from '../postgres/connection-limits.ts'
import type { Database } from '../postgres/database.ts'
import { openEmbeddedDatabase } from '../postgres/embedded/embedded.ts'
import { explainConnectionError } from '../postgres/explain-connection-error.ts'
import { migrate } from '../postgres/migrate.ts'
import { withSchema } from '../postgres/schema-name.ts'
import type { TlsState } from '../postgres/secure-socket.ts'
import { openServerDatabase, resolveAddress, type ServerDatabaseOptions } from '../postgres/server-database.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { ensurePsqlPassword, lockDataDir, writePsqlPort } from './data-dir.ts'

/** Opens the database. Throws ConfigError with reason and remedy if DATABASE_URL, or a pooler in front of it, is not usable. */
export async function openDatabase(config: Config, log?: StartLog, options: DatabaseLimits = {}): Promise<Database> {
  return withSchema(await openServer(config, options, log), config.databaseSchema)
}

export type DatabaseLimits = Pick<ServerDatabaseOptions, 'statementTimeLimitMs' | 'connectTimeLimitMs'>

type StartLog = Pick<Log, 'warn'>

async function openServer(config: Config, limits: DatabaseLimits, log?: StartLog): Promise<Database> {
  if (config.databaseUrl === null) {
    // PGlite creates files with the most permissive mode that the umask allows.
    process.umask(0o077)
    const directory = await lockDataDir(config.dataDir)
    const password = await ensurePsqlPassword(config.dataDir)
    const database = await openEmbeddedDatabase({
      directory,
      schema: config.databaseSchema,
      psql: { port: config.embeddedPgPort, password },
    })
    if (database.psqlPort !== null) await writePsqlPort(config.dataDir, database.psqlPort)
    return database
  }
  const { databaseUrl: url, databaseStandbyUrl: standbyUrl, databasePrepared: isPrepared } = config
  const address = resolveAddress(url, { isPrepared, ...limits })
  try {
    const tls = await checkServerAndPooler(address, log)
    const probe = openServerDatabase({ url, maxConnections: 1, isPrepared, ...limits })
    try {
      await pingDatabase(probe)
      const budget = config.databaseMaxConnections ?? connectionBudgetOf(address, config.workers)
      const maxConnections = await divideConnections(probe, budget, config.workers)
      return openServerDatabase({ url, standbyUrl, maxConnections, isPrepared, tls, ...limits })
    } finally {
      await probe.close()
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError([
      `DATABASE_URL must point to a PostgreSQL that the proxy can use. ${describeAddress(address)}: ${errorMessageOf(explainConnectionError(error, address))}`,
    ])
  }
}

/** Returns the connections for all workers; null without a limit. `connection_limit` applies to each process. */
function connectionBudgetOf({ connectionLimit }: DatabaseAddress, workers: number): number | null {
  return connectionLimit === undefined ? null : connectionLimit * workers
}

async function checkServerAndPooler(address: DatabaseAddress, log?: StartLog): Promise<TlsState> {
  const { isPooled, hasPreparedStatements, hasStatementTimeout, tls } = await detectPoolerFeatures(address)
  if (!hasPreparedStatements) {
    throw new ConfigError([
      'DATABASE_PREPARED must be off behind this pooler: it does not support prepared statements (PgBouncer does from 1.21 on, unless max_prepared_statements is 0). Example: DATABASE_PREPARED=off',
    ])
  }
  if (isPooled && !hasStatementTimeout) {
    log?.warn(
      {},
      `the pooler takes no statement_timeout, and the role has none; run: alter role ${address.user} set statement_timeout = '10s'`,
    )
  }
  return tls
}

/** Throws ConfigError if the installation has used a later primary than the one at DATABASE_URL. `mark` is the key in Redis that records it. */
export async function rejectOldPrimary(database: Database, mark: string): Promise<void> {
  const isOld = () => database.primary?.problem === 'old primary'
  await database.runScript('select 1').catch(error => {
    if (!isOld()) throw error
    throw new ConfigError([
      `DATABASE_URL must point to the primary: ${errorMessageOf(error)}. If you restored an earlier state, delete ${mark} in Redis.`,
    ])
  })
}

/** Migrates the database. Logs delays by another proxy's migration, a table in use or a repair. */
export async function migrateDatabase(database: Database, log: Log): Promise<void> {
  const onWait = (seconds: number, reason: string) =>
    log.info({ seconds }, `waiting to migrate the database: ${reason}`)
  const onRepair = (names: readonly string[]) =>
    log.warn(
      { count: names.length, names: names.slice(0, 20) },
      'the database differs from this version’s schema; these objects are recreated',
    )
  const { isOlderRelease } = await migrate(database, { onWait, onRepair })
  if (isOlderRelease) log.warn({}, 'a newer release has migrated the database; its functions are used')
  const command = database.backend === 'embedded' ? null : await findDashboardRoleProblem(database)
  if (command !== null) log.warn({ run: command }, 'the dashboard cannot read: run this in the database as a superuser')
}
