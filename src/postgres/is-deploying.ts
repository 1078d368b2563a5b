/** Calls is_deploying(): whether a deploy locks tables, or did so a moment ago. */
import type { Database } from './database.ts'
import { boolean, defineStatement, readOne } from './statement.ts'

const IS_DEPLOYING = defineStatement('select is_deploying() as deploying', { deploying: boolean })

export async function isDeploying(database: Database): Promise<boolean> {
  return (await readOne(database, IS_DEPLOYING)).deploying
}
