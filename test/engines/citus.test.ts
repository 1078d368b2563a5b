import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { sqlStateOf } from '../../src/postgres/database.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { storeVectors } from '../../src/postgres/vectors.ts'
import { toByteaList } from '../../src/postgres/wire-format.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { createTestProject, sha256 } from '../harness/cached-responses.ts'
import { post } from '../harness/client.ts'
import { createDistributedDatabase } from '../harness/make-distributed.ts'
import { startProxy } from '../harness/proxy.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { waitUntil } from '../harness/wait-until.ts'

const findVectors = (database: Database, projectId: number, names: string[]) =>
  callFunction(database, 'find_vectors', { of_project: projectId, by_names: toByteaList(names), max_age_seconds: null })

const SCRIPT = fileURLToPath(new URL('../../scripts/citus.sh', import.meta.url))
const check = Bun.spawnSync([SCRIPT, 'check'])
const missing = check.exitCode === 0 ? null : check.stderr.toString().trim()
const real = inject('real')
const reason = missing ?? (real && !real.isCluster ? null : 'DATABASE_URL and REDIS_URL are not set')

/** Tests of accounts, admission, cache, stored responses and usage. */
const SUITE = [
  'integration/key-limits',
  'integration/admit',
  'integration/admission',
  'integration/quota',
  'integration/cache-bounds',
  'integration/find-answer',
  'integration/embeddings',
  'clients/conversations',
  'integration/admin/usage',
].map(name => `test/${name}.test.ts`)

const PROJECTS = 100_000

describe.skipIf(reason !== null)(`Citus${reason === null ? '' : `: skipped, ${reason}`}`, () => {
  const folder = createTemporaryDirectory()
  let environment: Record<string, string>
  let url: string

  beforeAll(async () => {
    const port = findFreePort()
    environment = { CITUS_DIR: join(folder, 'cluster'), CITUS_PORT: String(port) }
    await Bun.$`chmod 755 ${folder}`.quiet()
    // The scripts read these variables in each call.
    Object.assign(process.env, environment)
    await Bun.$`${SCRIPT} up`.quiet()
    url = `postgres://postgres@127.0.0.1:${port}/distributed`
    await createDistributedDatabase('distributed', url)
    // The limit covers the start of three servers with a database on each.
  }, 600_000)
  afterAll(async () => {
    await Bun.$`${SCRIPT} down`.quiet()
    for (const name of Object.keys(environment)) delete process.env[name]
  })

  test('distributing again changes nothing, and rows of a project are on one worker', async () => {
    await Bun.$`psql ${url} -qf ${fileURLToPath(new URL('../../scripts/distribute.sql', import.meta.url))}`.quiet()
    const database = openServerDatabase({ url, maxConnections: 2 })
    const projects = await Promise.all(['one', 'two', 'three', 'four'].map(name => createTestProject(database, name)))
    for (const projectId of projects) {
      const names = Array.from({ length: 20 }, (_, i) => sha256(`${projectId} ${i}`))
      const vectors = names.map(name => ({ name, packed: new Uint8Array(8), promptTokens: 1, responseModel: 'm' }))
      await storeVectors(database, { projectId, vectors, ttlSeconds: 600 })
      expect(await findVectors(database, projectId, names)).toHaveLength(20)
      const placed = await database.call<{ rows: string }>(
        `select result as rows from run_command_on_shards('cached_vectors', $$select count(*) from %s where project_id = ${projectId}$$)`,
        [],
      )
      expect(placed.map(({ rows }) => Number(rows)).toSorted((a, b) => b - a)).toEqual([20, 0, 0, 0])
    }
    await database.runScript(`delete from projects where id = ${projects[0]}`)
    const [left] = await database.call<{ rows: number }>('select count(*)::integer as rows from cached_vectors', [])
    expect(left).toEqual({ rows: 60 })
    await database.runScript(`update cached_vectors set expires_at = now() where project_id = ${projects[1]}`)
    expect(await database.call('select delete_expired_entries(100) as deleted', [])).toMatchObject([{ deleted: 20 }])
    expect(await database.call('select count(*)::integer as rows from cached_vectors', [])).toMatchObject([
      { rows: 40 },
    ])
    await database.close()
  })

  test('100,000 projects are spread; a killed worker stops only its own, and shards move under load', async () => {
    const database = openServerDatabase({ url, maxConnections: 8 })
    // Disables the triggers that check each project's settings, and the time limit of requests' statements.
    const run = (text: string) => Bun.$`psql ${url} -qX -v ON_ERROR_STOP=1 -c ${text}`.quiet()
    await run(`set local session_replication_role = replica;
      insert into projects (name, plan) select 'spread-' || i, 'pro' from generate_series(1, ${PROJECTS}) i`)
    await run(
      `insert into cached_vectors (project_id, name, vector, prompt_tokens, response_model, expires_at, test)
      select id, sha256(convert_to(name, 'UTF8')), '\\x01', 1, 'm', now() + interval '1 day', false from projects where name like 'spread-%'`,
    )
    const shards = await database.call<{ shard: string; port: number; rows: number }>(
      `select s.shardid::text as shard, s.nodeport::integer as port, r.result::integer as rows
      from citus_shards s join run_command_on_shards('cached_vectors', 'select count(*) from %s') r using (shardid) order by 1`,
      [],
    )
    const workers = [...new Set(shards.map(({ port }) => port))].toSorted()
    const [killed, other] = workers as [number, number]
    const rowsOn = (port: number) => shards.reduce((sum, shard) => sum + (shard.port === port ? shard.rows : 0), 0)
    expect(workers.map(port => Math.round((10 * rowsOn(port)) / PROJECTS))).toEqual([5, 5])

    const projects = await database.call<{ id: number; name: string; port: number }>(
      `select p.id, p.name, n.nodeport::integer as port
      from (select id, name from projects where name like 'spread-%' order by id limit 200) p
      join pg_dist_placement d on d.shardid = get_shard_id_for_distribution_column('cached_vectors', p.id)
      join pg_dist_node n on n.groupid = d.groupid`,
      [],
    )
    const store = createInProcessStore()
    const stores = { database, store, databaseUrl: url, redisUrl: real?.redisUrl ?? '' }
    const proxy = await startProxy({ stores })
    const keys = await Promise.all(
      workers.map(port =>
        callFunction(database, 'issue_key', { project: nameOn(port), key_type: 'test', key_name: 'k' }),
      ),
    )
    function nameOn(port: number): string {
      return projects.find(project => project.port === port)?.name ?? ''
    }
    const askBoth = () =>
      Promise.all(
        keys.map(key =>
          post(proxy, key, '/embeddings', { model: 'openai/text-embedding-3-small', input: crypto.randomUUID() }),
        ),
      )

    const failed = { [killed]: 0, [other]: 0 }
    let found = 0
    let isMoving = false
    let isOver = false
    async function load(): Promise<void> {
      for (let i = 0; !isOver; i++) {
        const { id, name, port } = projects[(7 * i) % projects.length] as (typeof projects)[number]
        const vectors = [{ name: sha256(name), packed: new Uint8Array(8), promptTokens: 1, responseModel: 'm' }]
        const lookups = [
          findVectors(database, id, [sha256(name)]),
          storeVectors(database, { projectId: id, vectors, ttlSeconds: 600 }).then(() => vectors),
        ]
        const rows = await Promise.all(lookups).catch(error =>
          isMoving && sqlStateOf(error) === '57014' ? 'late' : null,
        )
        // A lookup that waits for a shard beyond its time limit counts as a miss.
        if (rows === 'late') continue
        if (rows?.every(({ length }) => length === 1)) found++
        else failed[port] = (failed[port] ?? 0) + 1
      }
    }
    const clients = Array.from({ length: 4 }, load)
    const goesOn = async () => {
      const before = found
      await waitUntil('other lookups succeed', () => found > before + 50)
    }
    await goesOn()
    const pid = await Bun.file(join(environment.CITUS_DIR ?? '', 'worker1/postmaster.pid')).text()
    process.kill(Number(pid.split('\n')[0]), 'SIGQUIT')
    await waitUntil('lookups on the killed worker fail', () => (failed[killed] ?? 0) > 10)
    await goesOn()
    // Without a vector lookup, the proxy calls the provider.
    expect((await askBoth()).map(({ status }) => status)).toEqual([200, 200])
    await Bun.$`${SCRIPT} up`.quiet()
    expect(failed[other]).toBe(0)
    await waitUntil('lookups on the killed worker succeed again', async () => {
      const before = failed[killed]
      await goesOn()
      return failed[killed] === before
    })
    const before = failed[killed]
    isMoving = true
    for (const { shard } of shards.filter(({ port }) => port === killed)) {
      await run(
        `select citus_move_shard_placement(${shard}, '127.0.0.1', ${killed}, '127.0.0.1', ${other}, 'block_writes')`,
      )
    }
    await goesOn()
    isOver = true
    await Promise.all(clients)
    expect(failed).toEqual({ [killed]: before, [other]: 0 })
    const [left] = await database.call(
      `select count(*)::integer as shards from citus_shards where nodeport = ${killed}`,
      [],
    )
    expect(left).toEqual({ shards: 0 })
    await proxy.stop()
    await store.close()
    await database.close()
  })

  test('passes the tests of accounts, admission, cache, stored responses and usage', { timeout: 900_000 }, async () => {
    const there = await Promise.all(SUITE.map(file => Bun.file(file).exists()))
    expect(SUITE.filter((_, i) => !there[i])).toEqual([])
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
    const failed = (output + errors).split('\n').filter(line => /FAIL|Error: /.test(line))
    expect([await child.exited, failed]).toEqual([0, []])
    expect(output).toContain('passed')
  })
})
