/** `bun run migrate`: brings the configured database to this version's schema. `start` does the same by itself. */
import { readConfig } from '../src/config.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { openOperatorDatabase } from '../src/process/open-operator-database.ts'

try {
  const database = await openOperatorDatabase(readConfig())
  const { applied } = await migrate(database, {
    onWait: seconds =>
      process.stderr.write(`Waiting for another proxy, which is migrating the database (${seconds} s)\n`),
  })
  process.stdout.write(applied.length > 0 ? `Applied: ${applied.join(', ')}\n` : 'The database is up to date.\n')
  await database.close()
} catch (error) {
  const cause = error instanceof Error && error.cause instanceof Error ? `\n  because: ${error.cause.message}` : ''
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${cause}\n`)
  process.exit(1)
}
