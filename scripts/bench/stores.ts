/** Prepares real stores for a benchmark: a new database on the given server, dropped afterwards. */

import { randomBytes } from 'node:crypto'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { nameTablesIn } from '../../test/harness/search-path.ts'

export interface BenchStores {
  environment: { DATABASE_URL: string; REDIS_URL: string }
  /** A key of a project with limits that the benchmark does not reach. */
  key: string
  drop(): Promise<void>
}

/** Uses DATABASE_URL and REDIS_URL; without them, starts stores with scripts/services.sh. */
export async function prepareStores(): Promise<BenchStores> {
  const { databaseUrl, redisUrl } = await findStores()
  const name = `mp_bench_${randomBytes(6).toString('hex')}`
  const admin = openServerDatabase({ url: databaseUrl, maxConnections: 1 })
  await admin.runScript(`create database ${name}`)
  await admin.runScript(nameTablesIn(name))
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  const key = await withDatabase(url.href, async database => {
    await migrate(database)
    await database.runScript(`
      insert into plans values ('bench', 1000000000, 1000000000, 1000000000000, 1000000000, 1000000000000);
      update plans set concurrent_requests = 1000000 where name = 'bench';
      alter table projects alter column id restart with ${Number.parseInt(randomBytes(5).toString('hex'), 16)};
    `)
    await callFunction(database, 'create_project', { project: 'bench', plan: 'bench' })
    return callFunction(database, 'issue_key', { project: 'bench', key_type: 'project', key_name: 'bench' })
  })
  return {
    environment: { DATABASE_URL: url.href, REDIS_URL: redisUrl },
    key,
    async drop() {
      await admin.runScript(`drop database if exists ${name} with (force)`)
      await admin.close()
    },
  }
}

export async function findStores(): Promise<{ databaseUrl: string; redisUrl: string }> {
  const { DATABASE_URL, REDIS_URL } = process.env
  if (DATABASE_URL && REDIS_URL) return { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL }
  const printed = await new Response(
    Bun.spawn(['scripts/services.sh', 'up'], { stdout: 'pipe', stderr: 'inherit' }).stdout,
  ).text()
  const read = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(printed)?.[1]
  const [databaseUrl, redisUrl] = [read('DATABASE_URL'), read('REDIS_URL')]
  if (!databaseUrl || !redisUrl) throw new Error('scripts/services.sh did not print DATABASE_URL and REDIS_URL')
  return { databaseUrl, redisUrl }
}

/** Opens the database for `use` and disconnects afterwards. */
export async function withDatabase<T>(url: string, use: (database: Database) => Promise<T>): Promise<T> {
  const database = openServerDatabase({ url, maxConnections: 1 })
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}
