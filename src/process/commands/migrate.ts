/** `migrate`: migrates the configured database to this version's schema. A start does the same. */
import { readConfig } from '../../config/config.ts'
import { migrate } from '../../postgres/migrate.ts'
import { openOperatorDatabase } from '../open-operator-database.ts'

export async function run(): Promise<number> {
  const database = await openOperatorDatabase(readConfig())
  const { applied, repaired } = await migrate(database, {
    onWait: seconds =>
      process.stderr.write(`Waiting for another proxy, which is migrating the database (${seconds} s)\n`),
    onRepair: names => process.stderr.write(`Recreating what differs from the schema: ${names.join(', ')}\n`),
  })
  process.stdout.write(
    applied.length > 0
      ? `Applied: ${applied.join(', ')}\n`
      : repaired.length > 0
        ? `Repaired: ${repaired.length}\n`
        : 'The database is up to date.\n',
  )
  await database.close()
  return 0
}
