/** Two releases side by side on the same stores, under load: this one, and one with every permitted kind of change. */
import { appendFile, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { type Accounts, openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { type Load, startLoad } from './load.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis } from './servers.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Each statement locks its table exclusively until the deploy is complete. */
const NEXT_MIGRATION = `
alter table projects add column next_of_project text not null default '';
alter table api_keys add column next_of_key text not null default '';
alter table monthly_counters add column next_of_counter text not null default '';
alter table cache_entries add column next_of_entry text not null default '';
alter table applied_batches add column next_of_batch text not null default '';
alter table admission_slots add column next_of_slot text not null default '';
create function next_release() returns text language sql stable set search_path = model_proxy, pg_temp as $$ select 'next' $$;
`
const NEXT_SETTING = `('next_setting', 'number', '0.5', 0, 1, array['a number'], 'Next', 'Next', 'Of the next release.', '{}')`

describeFaults('two releases side by side', () => {
  let folder: string
  const stores: PrivateServer[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'model-proxy-next-'))
    await Promise.all(['src', 'sql'].map(name => cp(join(ROOT, name), join(folder, name), { recursive: true })))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await symlink(join(ROOT, 'vendor'), join(folder, 'vendor')).catch(() => {})
    const manifest = await Bun.file(join(ROOT, 'package.json')).json()
    await Bun.write(join(folder, 'package.json'), JSON.stringify({ ...manifest, version: '999.0.0' }))
    await mkdir(join(folder, 'sql/migrations'), { recursive: true })
    await Bun.write(join(folder, 'sql/migrations/999999_next.sql'), NEXT_MIGRATION)
    const settings = Bun.file(join(folder, 'sql/settings/project_settings.sql'))
    await settings.write((await settings.text()).replace('\n) as v (', `,\n${NEXT_SETTING}\n) as v (`))
    for (const kind of ['functions', 'views']) {
      for (const file of new Bun.Glob('**/*.sql').scanSync(join(folder, 'sql', kind)))
        await appendFile(join(folder, 'sql', kind, file), '\n-- The next release.\n')
    }
  })
  afterAll(async () => {
    await Promise.all(stores.map(store => store.remove()))
    await rm(folder, { recursive: true, force: true })
  })

  async function openStores() {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    stores.push(postgres, redis)
    const environment = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, DATABASE_MAX_CONNECTIONS: '5' }
    const open = () => openServerDatabase({ url: postgres.url, maxConnections: 1 })
    const ours = () => startProxyProcess(environment)
    const next = () => startProxyProcess(environment, { server: join(folder, 'src/process/server.ts') })
    return { open, ours, next }
  }

  /** Loads both from the start of the second one: no request is rejected, and each is counted and recorded once. */
  async function expectBothServe(
    database: Database,
    first: ProxyProcess,
    startSecond: () => Promise<ProxyProcess>,
  ): Promise<void> {
    const accounts: Accounts = openAccounts(database)
    const account = await accounts.create()
    const load = ({ baseUrl }: ProxyProcess): Load => startLoad({ baseUrl, key: account.key, clients: 8, pauseMs: 100 })
    const loads = [load(first)]
    await Bun.sleep(500)
    loads.push(load(await startSecond()))
    await Bun.sleep(1_500)
    await Promise.all(loads.map(each => each.stop()))
    const results = loads.flatMap(each => each.results)
    expect(results.filter(({ status }) => status !== 200)).toEqual([])
    const books = async () => [await accounts.countRequests(account), (await accounts.countRecords(account))['200']]
    await waitUntil('all is counted and recorded', async () =>
      (await books()).every(count => count === results.length),
    ).catch(async () => expect(await books()).toEqual([results.length, results.length]))
  }

  async function isNext(database: Database): Promise<boolean> {
    return (
      (await database.call<{ next: boolean }>(`select to_regproc('next_release') is not null as next`, []))[0]?.next ??
      false
    )
  }

  test('the next is started beside this one', async () => {
    const { open, ours, next } = await openStores()
    const first = await ours()
    const database = open()
    await expectBothServe(database, first, next)
    expect(await isNext(database)).toBe(true)
    const preset = await database.call('select distinct next_setting as value from projects', [])
    expect(preset).toEqual([{ value: 0.5 }])
    await database.close()
  })

  test('this one is started beside the next, and leaves its changes in place', async () => {
    const { open, ours, next } = await openStores()
    const first = await next()
    const database = open()
    const readLedger = () =>
      database.call<{ name: string }>('select name, checksum from schema_migrations order by name', [])
    const before = await readLedger()
    let second: ProxyProcess | undefined
    await expectBothServe(database, first, async () => {
      second = await ours()
      return second
    })
    expect(await readLedger()).toEqual(before)
    expect(second?.output()).toContain('a newer release has migrated the database')
    await database.close()
  })
})
