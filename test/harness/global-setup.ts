/**
 * Before all tests: creates migrated templates of both backends. Each worker's embedded database and each group's real one start from them.
 * After all tests: prints which backends the tests used.
 */

import type { TestProject } from 'vitest/node'
import { callFunction } from '../../src/postgres/call.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import type { Depth } from './depth.ts'
import { prepareEmbeddedTemplate } from './embedded-template.ts'
import { OLDER_PARTITION } from './older-partition.ts'
import { runAsAdmin } from './run-as-admin.ts'

const USUAL_SEED = 20_261_122

declare module 'vitest' {
  export interface ProvidedContext {
    depth: Depth
    /** The path of the embedded template's dump. */
    embeddedTemplate: string
    /** Null if no real stores are configured. `isCluster`: the database is the coordinator of scripts/citus.sh. */
    real: { adminUrl: string; template: string; redisUrl: string; isCluster: boolean } | null
  }
}

export default async function setUp(project: TestProject) {
  const { DATABASE_URL: adminUrl, REDIS_URL: redisUrl } = process.env
  const isCluster = process.env.TEST_CITUS === 'on'
  const real = adminUrl && redisUrl ? { adminUrl, redisUrl, template: `mp_template_${process.pid}`, isCluster } : null
  const [embeddedTemplate] = await Promise.all([
    prepareEmbeddedTemplate(),
    real && !isCluster && makeRealTemplate(real.adminUrl, real.template),
  ])
  const depth = readDepth()
  project.provide('depth', depth)
  project.provide('embeddedTemplate', embeddedTemplate)
  project.provide('real', real)

  return async () => {
    if (real && !isCluster) await runAsAdmin(real.adminUrl, `drop database if exists ${real.template} with (force)`)
    process.stdout.write(`\n${describeCoverage(depth, real !== null)}\n`)
  }
}

function readDepth(): Depth {
  const { TEST_DEPTH, TEST_SEED } = process.env
  const seed = TEST_SEED === 'random' ? Date.now() : Number(TEST_SEED ?? USUAL_SEED)
  return { isFull: TEST_DEPTH === 'full', seed: seed | 0 }
}

function describeCoverage({ isFull, seed }: Depth, hasReal: boolean): string {
  const stores = !hasReal
    ? 'embedded alone; set DATABASE_URL and REDIS_URL to cover real ones'
    : isFull
      ? 'embedded and real (PostgreSQL and Redis)'
      : 'real (PostgreSQL and Redis); TEST_DEPTH=full covers embedded ones too'
  const cases = isFull ? 'all' : 'a tenth of each matrix; TEST_DEPTH=full tests all'
  return `Stores covered: ${stores}.\nCases tested: ${cases}. TEST_SEED=${seed}.`
}

async function makeRealTemplate(adminUrl: string, name: string): Promise<void> {
  await runAsAdmin(adminUrl, `drop database if exists ${name} with (force)`, `create database ${name}`)
  const database = openServerDatabase({ url: databaseUrl(adminUrl, name) })
  await migrate(database)
  await callFunction(database, 'maintain_usage_partitions', {})
  await database.runScript(OLDER_PARTITION)
  await database.close()
}

function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}
