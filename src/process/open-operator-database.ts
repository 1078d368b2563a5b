/** Opens the configured database for a command, also while a proxy uses the embedded database. */
import type { Config } from '../config/config.ts'
import { formatCommand } from '../config/operator-command.ts'
import { readEmbeddedPort } from '../postgres/address.ts'
import { type Database, sqlStateOf } from '../postgres/database.ts'
import { withSchema } from '../postgres/schema-name.ts'
import { openServerDatabase } from '../postgres/server-database.ts'
import { findLockOwner, readPsqlPassword } from './data-dir.ts'
import { type DatabaseLimits, openDatabase } from './open-database.ts'

/** Runs the command and disconnects. Throws a one-line error if there is no database, or if it is not migrated. */
export async function withOperatorDatabase<T>(
  config: Config,
  run: (database: Database) => Promise<T>,
  limits: DatabaseLimits = {},
): Promise<T> {
  const database = await openOperatorDatabase(config, limits)
  try {
    return await run(database)
  } catch (error) {
    throw isUnmigrated(error) ? new Error(describeUnmigrated(config)) : error
  } finally {
    await database.close()
  }
}

/** The default time limits of commands. Operators wait longer than requests, because a busy machine connects and replies slowly. */
const OPERATOR_LIMITS: DatabaseLimits = { connectTimeLimitMs: 60_000, statementTimeLimitMs: 60_000 }

/** Opens the database. Only one process may use the embedded database's files; if a proxy does, connects through its psql port. */
export async function openOperatorDatabase(config: Config, given: DatabaseLimits = {}): Promise<Database> {
  const limits = { ...OPERATOR_LIMITS, ...given }
  if (config.databaseUrl !== null || (await findLockOwner(config.dataDir)) === null)
    return openDatabase(config, undefined, limits)
  const password = await readPsqlPassword(config.dataDir)
  const port = readEmbeddedPort(config.dataDir) ?? config.embeddedPgPort
  const url = `postgres://postgres:${password ?? ''}@127.0.0.1:${port}/postgres?sslmode=disable`
  return withSchema(openServerDatabase({ url, maxConnections: 1, ...limits }), config.databaseSchema)
}

/** Describes the database, in case DATABASE_URL was forgotten. */
function describeUnmigrated({ databaseUrl, dataDir }: Config): string {
  const [which, or] =
    databaseUrl === null
      ? [`The embedded database in ${dataDir}`, ', or set DATABASE_URL for another']
      : ['The database', '']
  return `${which} is not at this version’s schema: run \`${formatCommand('migrate')}\`${or}`
}

/** Returns true if a schema, table, column or function that this version needs is missing. */
function isUnmigrated(error: unknown): boolean {
  return ['3F000', '42P01', '42703', '42883'].includes(sqlStateOf(error) ?? '')
}
