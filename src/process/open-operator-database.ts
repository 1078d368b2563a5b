/** The database for an operator's command: the configured one, also while a proxy uses the embedded one. */
import type { Config } from '../config/config.ts'
import { formatCommand } from '../config/operator-command.ts'
import { readEmbeddedPort } from '../postgres/address.ts'
import { type Database, sqlStateOf } from '../postgres/database.ts'
import { openServerDatabase } from '../postgres/server-database.ts'
import { withSchema } from '../postgres/with-schema.ts'
import { findLockOwner, readPsqlPassword } from './data-dir.ts'
import { type DatabaseLimits, openDatabase } from './open-database.ts'

/** Runs the command and disconnects. Throws a one-line error when there is no database, or it is not migrated. */
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

/** An operator waits longer than a request does: a busy machine is slow to let a command in, and to answer it. */
const PATIENCE: DatabaseLimits = { connectTimeLimitMs: 60_000, statementTimeLimitMs: 60_000 }

/** Only one process may own the embedded database's files. While a proxy does, this connects through its psql port. */
export async function openOperatorDatabase(config: Config, given: DatabaseLimits = {}): Promise<Database> {
  const limits = { ...PATIENCE, ...given }
  if (config.databaseUrl !== null || (await findLockOwner(config.dataDir)) === null)
    return openDatabase(config, undefined, limits)
  const password = await readPsqlPassword(config.dataDir)
  const port = readEmbeddedPort(config.dataDir) ?? config.embeddedPgPort
  const url = `postgres://postgres:${password ?? ''}@127.0.0.1:${port}/postgres?sslmode=disable`
  return withSchema(openServerDatabase({ url, maxConnections: 1, ...limits }), config.databaseSchema)
}

/** Whoever has forgotten DATABASE_URL learns which database this is. */
function describeUnmigrated({ databaseUrl, dataDir }: Config): string {
  const [which, or] =
    databaseUrl === null
      ? [`The embedded database in ${dataDir}`, ', or set DATABASE_URL for another']
      : ['The database', '']
  return `${which} is not at this version’s schema: run \`${formatCommand('migrate')}\`${or}`
}

/** The schema, a table, a column or a function that this version needs is missing. */
function isUnmigrated(error: unknown): boolean {
  return ['3F000', '42P01', '42703', '42883'].includes(sqlStateOf(error) ?? '')
}
