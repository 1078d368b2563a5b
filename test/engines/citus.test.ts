import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { findVectors, storeVectors } from '../../src/postgres/vectors.ts'
import { makeProject, sha256 } from '../harness/answers.ts'
import { makeDistributed } from '../harness/make-distributed.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/citus.sh', import.meta.url))
const check = Bun.spawnSync([SCRIPT, 'check'])
const missing = check.exitCode === 0 ? null : check.stderr.toString().trim()
const real = inject('real')
const reason = missing ?? (real && !real.isCluster ? null : 'DATABASE_URL and REDIS_URL are not set')

/** Accounts, admission, cache and usage. */
const SUITE = [
  'key-limits',
  'admit',
  'admission',
  'quota',
  'cache-bounds',
  'find-answer',
  'embeddings',
  'conversations',
  'admin/usage',
].map(name => `test/integration/${name}.test.ts`)

describe.skipIf(reason !== null)(`Citus${reason === null ? '' : `: skipped, ${reason}`}`, () => {
  let environment: Record<string, string>
  let url: string

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'model-proxy-citus-'))
    const port = findFreePort()
    environment = { CITUS_DIR: join(folder, 'cluster'), CITUS_PORT: String(port) }
    await Bun.$`chmod 755 ${folder}`.quiet()
    // For the scripts, wherever they are called.
    Object.assign(process.env, environment)
    await Bun.$`${SCRIPT} up`.quiet()
    url = `postgres://postgres@127.0.0.1:${port}/distributed`
    await makeDistributed('distributed', url)
    // Three servers, and a database on each.
  }, 600_000)
  afterAll(async () => {
    await Bun.$`${SCRIPT} down`.quiet()
    for (const name of Object.keys(environment)) delete process.env[name]
  })

  test('distributing again changes nothing, and rows of a project are together on one worker', async () => {
    await Bun.$`psql ${url} -qf ${fileURLToPath(new URL('../../scripts/distribute.sql', import.meta.url))}`.quiet()
    const database = openRealDatabase({ url, maxConnections: 2 })
    const projects = await Promise.all(['one', 'two', 'three', 'four'].map(name => makeProject(database, name)))
    for (const projectId of projects) {
      const names = Array.from({ length: 20 }, (_, i) => sha256(`${projectId} ${i}`))
      const vectors = names.map(name => ({ name, packed: new Uint8Array(8), promptTokens: 1, answeredAs: 'm' }))
      await storeVectors(database, { projectId, vectors, ttlSeconds: 600 })
      expect(await findVectors(database, { projectId, names, maxAgeSeconds: null })).toHaveLength(20)
      const placed = await database.call<{ rows: string }>(
        `select result as rows from run_command_on_shards('cached_vectors', $$select count(*) from %s where project_id = ${projectId}$$)`,
        [],
      )
      expect(placed.map(({ rows }) => Number(rows)).toSorted((a, b) => b - a)).toEqual([20, 0, 0, 0])
    }
    await database.runScript(`delete from projects where id = ${projects[0]}`)
    const [left] = await database.call<{ rows: number }>('select count(*)::integer as rows from cached_vectors', [])
    expect(left).toEqual({ rows: 60 })
    await database.close()
  })

  test('the suite for accounts, admission, cache and usage passes', { timeout: 900_000 }, async () => {
    const child = Bun.spawn(['bun', 'run', 'test', ...SUITE, '-t', '(real)'], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      env: {
        ...process.env,
        ...environment,
        TEST_CITUS: 'on',
        TEST_SUITE: 'fast',
        DATABASE_URL: url.replace(/[^/]*$/, 'postgres'),
        REDIS_URL: real?.redisUrl ?? '',
      },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    expect([await child.exited, output + errors]).toEqual([0, expect.stringContaining('passed')])
  })
})
