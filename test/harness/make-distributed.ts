/** Creates a migrated database with distributed tables, on the cluster of scripts/citus.sh. */

import { fileURLToPath } from 'node:url'
import { callFunction } from '../../src/postgres/call.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'

const script = (name: string) => fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url))

export async function createDistributedDatabase(name: string, url: string): Promise<void> {
  await run([script('citus.sh'), 'database', name])
  const database = openServerDatabase({ url, maxConnections: 1 })
  await migrate(database)
  await callFunction(database, 'maintain_usage_partitions', {})
  // Otherwise requests would wait as they do during a deploy.
  await database.runScript(`update schema_migrations set applied_at = applied_at - interval '1 minute'`)
  await database.close()
  // One shard for each worker and a few more, so that they can be distinguished. More shards take longer to create.
  await run(['psql', url, '-qc', 'set citus.shard_count = 4', '-f', script('distribute.sql')])
}

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { env: { ...process.env }, stdout: 'pipe', stderr: 'pipe' })
  const [output, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${output}${error}`)
}
