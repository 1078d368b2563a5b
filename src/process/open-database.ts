/** Opens the configured database, for a serving process, a supervisor or an operator's command. */
import { type Config, ConfigError } from '../config/config.ts'
import { type DatabaseAddress, describeAddress, readDatabaseUrl } from '../postgres/address.ts'
import { findDashboardRoleProblem } from '../postgres/check-dashboard-role.ts'
import { detectPoolerFeatures } from '../postgres/check-pooler.ts'
import { divideConnections, pingDatabase } from '../postgres/connection-limits.ts'
import type { Database } from '../postgres/database.ts'
import { openEmbeddedDatabase } from '../postgres/embedded/embedded.ts'
import { explainConnectionError } from '../postgres/explain-connection-error.ts'
import { migrate } from '../postgres/migrate.ts'
import type { TlsState } from '../postgres/secure-socket.ts'
import { openServerDatabase, type ServerDatabaseOptions } from '../postgres/server-database.ts'
import { withSchema } from '../postgres/with-schema.ts'
import { errorMessageOf } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { ensurePsqlPassword, lockDataDir, writePsqlPort } from './data-dir.ts'

/** Throws ConfigError when the database at DATABASE_URL, or a pooler before it, cannot be used as it is: with the reason, and what to run. */
export async function openDatabase(config: Config, log?: StartLog, options: DatabaseLimits = {}): Promise<Database> {
  return withSchema(await openServer(config, options, log), config.databaseSchema)
}

export type DatabaseLimits = Pick<ServerDatabaseOptions, 'statementTimeLimitMs' | 'connectTimeLimitMs'>

type StartLog = Pick<Log, 'warn'>

async function openServer(config: Config, limits: DatabaseLimits, log?: StartLog): Promise<Database> {
  if (config.databaseUrl === null) {
    // PGlite creates its files with any mode that the umask allows.
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
  const address = readDatabaseUrl(url)
  try {
    const tls = await checkStart(address, isPrepared, limits, log)
    const first = openServerDatabase({ url, maxConnections: 1, isPrepared, ...limits })
    try {
      await pingDatabase(first)
      const budget = config.databaseMaxConnections ?? connectionsOf(address, config.workers)
      const maxConnections = await divideConnections(first, budget, config.workers)
      return openServerDatabase({ url, standbyUrl, maxConnections, isPrepared, tls, ...limits })
    } finally {
      await first.close()
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError([
      `DATABASE_URL must lead to a PostgreSQL that the proxy can use. ${describeAddress(address)}: ${errorMessageOf(explainConnectionError(error, address))}`,
    ])
  }
}

/** `connection_limit` is for each process. */
function connectionsOf({ connectionLimit }: DatabaseAddress, workers: number): number | null {
  return connectionLimit === undefined ? null : connectionLimit * workers
}

async function checkStart(
  address: DatabaseAddress,
  isAsked: boolean,
  limits: DatabaseLimits,
  log?: StartLog,
): Promise<TlsState> {
  const isPrepared = isAsked && address.isPrepared !== false
  const { isPooled, hasPreparedStatements, hasStatementTimeout, tls } = await detectPoolerFeatures(
    { ...address, isPrepared },
    limits,
  )
  if (!hasPreparedStatements) {
    throw new ConfigError([
      'DATABASE_PREPARED must be off behind this pooler: it loses prepared statements, and records with them (PgBouncer keeps them from 1.21 on, unless max_prepared_statements is 0). Example: DATABASE_PREPARED=off',
    ])
  }
  if (isPooled && !hasStatementTimeout) {
    log?.warn(
      {},
      `the pooler takes no statement_timeout, and the role has none: run "alter role ${address.user} set statement_timeout = '10s'"`,
    )
  }
  return tls
}

/** Throws ConfigError when the installation has used a later primary than the one that DATABASE_URL leads to. */
export async function rejectOldPrimary(database: Database, mark: string): Promise<void> {
  const isOld = () => database.primary?.problem === 'old primary'
  await database.runScript('select 1').catch(error => {
    if (!isOld()) throw error
    throw new ConfigError([
      `DATABASE_URL must lead to the primary: ${errorMessageOf(error)}. If an earlier state was restored on purpose, delete ${mark} in Redis.`,
    ])
  })
}

/** Logs when another proxy's migration, a table in use or a repair delays this start. */
export async function migrateDatabase(database: Database, log: Log): Promise<void> {
  const onWait = (seconds: number, reason: string) =>
    log.info({ seconds }, `waiting to migrate the database: ${reason}`)
  const onRepair = (names: readonly string[]) =>
    log.warn(
      { count: names.length, names: names.slice(0, 20) },
      'the database differs from this version’s schema; what differs is created again',
    )
  const { isOlderRelease } = await migrate(database, { onWait, onRepair })
  if (isOlderRelease) log.warn({}, 'a newer release has migrated the database; its functions stay')
  const line = database.backend === 'embedded' ? null : await findDashboardRoleProblem(database)
  if (line !== null) log.warn({ run: line }, 'the dashboard cannot read: run this in the database as a superuser')
}
