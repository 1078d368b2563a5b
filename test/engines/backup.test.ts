/** A dump that is created under load and restored on another server. A backup needs only PostgreSQL and the encryption key. */
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { type Account, openAccounts } from '../faults/accounts.ts'
import { type ProxyProcess, startProxyProcess } from '../faults/proxy-process.ts'
import { type PrivateServer, startPostgres } from '../faults/servers.ts'
import { ask, get } from '../harness/client.ts'
import { startUpstreams, storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { queriesOf } from '../harness/queries.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { describeEngines } from './engines.ts'

const MODEL = 'gpt-4o-mini'
/** A role without superuser rights owns the database on both servers. */
const BY_AN_ADMINISTRATOR = `create role keeper login; alter database model_proxy owner to keeper; create extension vector;
  create role model_proxy_dashboard nologin; grant model_proxy_dashboard to keeper`
const ownerOf = ({ url }: Pick<PrivateServer, 'url'>) => url.replace('postgres@', 'keeper@')
const CAPITAL = { model: MODEL, messages: [{ role: 'user', content: 'What is the capital of France?' }] }

describeEngines('a backup', ['pg_dump', 'pg_restore', 'psql'], () => {
  const dump = join(createTemporaryDirectory(), 'model_proxy.dump')
  const databases: Database[] = []
  const upstreams = duringTests(startUpstreams)
  const first = duringTests(startPostgres)
  const second = duringTests(startPostgres)
  let proxy: ProxyProcess
  let account: Account
  let adminKey: string

  beforeAll(async () => {
    await Promise.all([first, second].map(server => run(['psql', server.url, '-qAtc', BY_AN_ADMINISTRATOR])))
    proxy = await startOn(first)
    const database = open(first)
    account = await openAccounts(database).create({ type: 'project' })
    await database.runScript("select create_administrator('ada@example.org')")
    const { rows } = await sql<{
      key: string
    }>`select key from issue_admin_key('ada@example.org', 'tests', null)`.execute(queriesOf(database))
    adminKey = rows[0]?.key ?? ''
    await storeKey({ database }, account.project, 'openai', 'sk-own')
  })
  afterAll(() => Promise.all(databases.map(database => database.close())))

  function open(server: PrivateServer): Database {
    const database = openServerDatabase({ url: ownerOf(server), maxConnections: 1 })
    databases.push(database)
    return database
  }
  const startOn = (server: PrivateServer, encryptionKey = TEST_ENCRYPTION_KEY) =>
    startProxyProcess({ ...upstreams.environment, DATABASE_URL: ownerOf(server), ENCRYPTION_KEY: encryptionKey })

  test('is taken while requests are served, and restores keys, limits, cached responses and provider keys', async () => {
    expect(await ask(proxy, account.key, CAPITAL)).toMatchObject({ status: 200, cache: 'MISS' })
    expect(await ask(proxy, account.key, CAPITAL)).toMatchObject({ status: 200, cache: 'HIT' })
    let asking = true
    const load = (async () => {
      const statuses = new Set<number>()
      for (let i = 0; asking; i++) statuses.add((await ask(proxy, account.key, { ...CAPITAL, seed: i })).status)
      return statuses
    })()
    await run(['pg_dump', '--format=custom', '--schema=model_proxy', `--file=${dump}`, ownerOf(first)])
    asking = false
    expect(await load).toEqual(new Set([200]))

    await run(['psql', ownerOf(second), '-qAtc', 'create extension if not exists vector'])
    await run(['pg_restore', '--no-owner', '--no-privileges', '--exit-on-error', `--dbname=${ownerOf(second)}`, dump])
    await run(['psql', ownerOf(second), '-qAtc', 'select model_proxy.ensure_dashboard_role()'])
    const restored = await startOn(second)
    expect(await ask(restored, account.key, CAPITAL)).toMatchObject({ status: 200, cache: 'HIT' })
    upstreams.reset()
    expect(await ask(restored, account.key, { ...CAPITAL, seed: -1 })).toMatchObject({ status: 200, cache: 'MISS' })
    expect(upstreams.openai.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-own'])
    expect(await (await get(restored, '/health')).json()).toMatchObject({ status: 'ok' })
    const projects = (await (await get(restored, '/organization/projects', adminKey)).json()) as { data: object[] }
    expect(projects.data).toContainEqual(expect.objectContaining({ name: account.project }))
  })

  test('without the encryption key restores all but provider keys, and says so', async () => {
    const other = await startOn(second, Buffer.alloc(32, 'other').toString('base64'))
    expect(await ask(other, account.key, CAPITAL)).toMatchObject({ status: 200, cache: 'HIT' })
    const refused = await ask(other, account.key, { ...CAPITAL, seed: -2 })
    expect(refused).toMatchObject({ status: 503 })
    expect(refused.text).toContain('key')
  })
})

async function run(command: string[]): Promise<void> {
  const running = Bun.spawn(command, { stderr: 'pipe' })
  if ((await running.exited) !== 0) throw new Error(await new Response(running.stderr).text())
}
