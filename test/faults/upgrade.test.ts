/** The next release alters, backfills and indexes large tables of a filled database while this one serves requests. None is rejected. */
import { appendFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { migrate } from '../../src/postgres/migrate.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { startLoad } from './load.ts'
import { startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis } from './servers.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const RECORDS = Number(process.env.UPGRADE_RECORDS ?? 200_000)
const ENTRIES = Number(process.env.UPGRADE_ENTRIES ?? 20_000)

const FILL = `
set synchronous_commit = off;
select maintain_usage_partitions();
insert into projects (name, plan) select 'filled-' || n, 'enterprise' from generate_series(1, 100) n;
insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at, bytes)
select p.id, sha256(convert_to(p.name || '/' || n, 'UTF8')), 'chat', 'm', 'openai', repeat(md5(n::text), 20), now() + interval '7 days', 900
from projects p, generate_series(1, ${ENTRIES / 100}) n;
insert into usage_records (recorded_at, request_id, project_id, key_id, endpoint, model, provider, cache_result, status, streamed,
    prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms)
select date_trunc('month', now(), 'UTC') + (now() - date_trunc('month', now(), 'UTC')) * random(), 'r' || n, 1 + n % 100, n % 10, 'chat', 'm',
    'openai', 'MISS', 200, false, 10, 0, 10, 0, 0.01, 0, 10, 20
from generate_series(1, ${RECORDS}) n;
analyze;`

/** The permitted changes to large tables, as described at the top of migrate.ts. */
const nextMigration = (partition: string) => `
lock table api_keys, cache_entries, monthly_counters, projects, usage_records in access exclusive mode;
alter table api_keys add column next_of_key text not null default '';
alter table cache_entries add column next_bytes bigint;
alter table monthly_counters add column next_of_counter text not null default '';
alter table projects add column next_of_project text not null default '';
alter table usage_records add column next_note text;
-- step: batches
with moved as (
    update cache_entries e
    set next_bytes = e.bytes
    where e.ctid = any (array(select x.ctid from cache_entries x where x.next_bytes is null limit 2000 for update skip locked))
    returning 1
)
select count(*)::integer as moved from moved;
-- step: batches
with moved as (
    update ${partition} r
    set next_note = r.model
    where r.ctid = any (array(select x.ctid from ${partition} x where x.next_note is null limit 20000 for update skip locked))
    returning 1
)
select count(*)::integer as moved from moved;
-- step: concurrently
create index concurrently cache_entries_next_idx on model_proxy.cache_entries (project_id, next_bytes);
-- step: concurrently
create index concurrently usage_records_next_idx on model_proxy.${partition} (next_note, recorded_at);
`

describeFaults('an upgrade of a filled database', () => {
  const stores: PrivateServer[] = []
  let folder: string | null = null
  afterAll(async () => {
    await Promise.all(stores.map(store => store.remove()))
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  async function makeNextRelease(partition: string): Promise<string> {
    folder = await mkdtemp(join(tmpdir(), 'model-proxy-upgrade-'))
    const copy = folder
    await Promise.all(['src', 'sql'].map(name => cp(join(ROOT, name), join(copy, name), { recursive: true })))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await symlink(join(ROOT, 'vendor'), join(folder, 'vendor')).catch(() => {})
    const manifest = await Bun.file(join(ROOT, 'package.json')).json()
    await Bun.write(join(folder, 'package.json'), JSON.stringify({ ...manifest, version: '999.0.0' }))
    await Bun.write(join(folder, 'sql/migrations/999999_next.sql'), nextMigration(partition))
    for (const kind of ['functions', 'views']) {
      for (const file of new Bun.Glob('**/*.sql').scanSync(join(folder, 'sql', kind)))
        await appendFile(join(folder, 'sql', kind, file), '\n-- The next release.\n')
    }
    return join(folder, 'src/process/server.ts')
  }

  test('rejects no request, counts none twice, and is shared by two simultaneous starts', {
    timeout: 1_500_000,
  }, async () => {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    stores.push(postgres, redis)
    const database = openServerDatabase({ url: postgres.url, maxConnections: 1 })
    await migrate(database)
    await database.runScript(`set statement_timeout = 0; ${FILL}`)
    const [row] = await database.call<{ partition: string }>(
      `select 'usage_records_' || to_char(current_month(), 'YYYY_MM') as partition`,
      [],
    )
    const server = await makeNextRelease(row?.partition ?? '')
    const environment = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, DATABASE_MAX_CONNECTIONS: '5' }
    const accounts = openAccounts(database)
    const account = await accounts.create()
    const first = await startProxyProcess(environment)
    const loads = [startLoad({ baseUrl: first.baseUrl, key: account.key, clients: 8, pauseMs: 100 })]
    await Bun.sleep(1_000)

    const startedAtMs = performance.now()
    const next = await Promise.all([1, 2].map(() => startProxyProcess(environment, { server, readyWithinMs: 900_000 })))
    const tookMs = Math.round(performance.now() - startedAtMs)
    for (const { baseUrl } of next) loads.push(startLoad({ baseUrl, key: account.key, clients: 4, pauseMs: 100 }))
    await Bun.sleep(3_000)
    await Promise.all(loads.map(load => load.stop()))

    const results = loads.flatMap(load => load.results)
    process.stdout.write(`the upgrade took ${tookMs} ms, under ${results.length} requests\n`)
    expect(results.filter(({ status }) => status !== 200)).toEqual([])
    const books = async () => [await accounts.countRequests(account), (await accounts.countRecords(account))['200']]
    await waitUntil('all is counted and recorded', async () =>
      (await books()).every(count => count === results.length),
    ).catch(async () => expect(await books()).toEqual([results.length, results.length]))
    const [state] = await database.call<Record<string, number>>(
      `select (select count(*)::integer from cache_entries where next_bytes is null and created_at < now() - interval '1 minute') as entries,
        (select count(*)::integer from usage_records where next_note is null and model = 'm') as records,
        (select count(*)::integer from pg_index where indexrelid::regclass::text like '%_next_idx' and indisvalid) as indexes`,
      [],
    )
    expect(state).toMatchObject({ records: 0, indexes: 2 })
    await database.close()
  })
})
