/** Runs an operator's command: an error becomes one clear line on standard error, and a non-zero exit. */
import { type Config, readConfig } from '../src/config.ts'
import type { Database } from '../src/postgres/database.ts'
import { withOperatorDatabase } from '../src/process/open-operator-database.ts'

/** The command returns the exit code. */
export async function runOperatorCommand(
  command: (database: Database, config: Config) => Promise<number>,
): Promise<void> {
  try {
    const config = readConfig()
    // Sets the exit code instead of exiting, because output may still be pending.
    process.exitCode = await withOperatorDatabase(config, database => command(database, config))
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error))
  }
}

/** Prints the reason and ends the process. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
