/** Runs an operator's command: what goes wrong is one clear line on standard error, and a non-zero exit. */
import { type Config, readConfig } from '../src/config.ts'
import type { Database } from '../src/postgres/database.ts'
import { withOperatorDatabase } from '../src/process/open-operator-database.ts'

/** The command gives the exit code. */
export async function runOperatorCommand(
  command: (database: Database, config: Config) => Promise<number>,
): Promise<void> {
  try {
    const config = readConfig()
    // Left to end by itself: what was printed is still on its way.
    process.exitCode = await withOperatorDatabase(config, database => command(database, config))
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error))
  }
}

/** Ends the process, having said why. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
