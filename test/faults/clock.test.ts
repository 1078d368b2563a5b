/** Proxies with wrong clocks beside one with a correct clock. Stored data, dates and expiries follow the database's clock. */
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask, get, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'
import { startPostgres, startRedis } from './servers.ts'

const SERVER = fileURLToPath(new URL('wrong-clock.ts', import.meta.url))
const DAY_MS = 86_400_000
const WRONG_BY_DAYS = [-70, 0, 70]
const ASKED = 20

describeFaults('clocks that are wrong by 70 days', () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 1 }))
  const accounts = openAccounts(database)
  let proxies: ProxyProcess[]

  beforeAll(async () => {
    const start = (days: number) =>
      startProxyProcess(
        { DATABASE_URL: postgres.url, REDIS_URL: redis.url, WRONG_CLOCK_MS: String(days * DAY_MS) },
        { server: SERVER },
      )
    const first = await start(0)
    proxies = [await start(-70), first, await start(70)]
  })

  const at = (i: number) => proxies[i] as ProxyProcess

  test.each(WRONG_BY_DAYS.keys().toArray())('lose no record, and date none wrongly: proxy %i', async i => {
    const account = await accounts.create()
    for (let n = 0; n < ASKED; n++) expect((await ask(at(i), account.key, `Question ${n % 15}`)).status).toBe(200)
    await waitUntil('all is recorded', async () => (await accounts.countRecords(account))['200'] === ASKED)
    const [dated] = await database.call<{ off: number; summed: number }>(
      `select extract(epoch from max(greatest(now() - u.recorded_at, u.recorded_at - now())))::integer as off,
        (select sum(h.requests)::integer from usage_hourly h
          where h.project_id = p.id and h.hour > now() - interval '2 hours') as summed
      from usage_records u join projects p on p.id = u.project_id where p.name = $1 group by p.id`,
      [account.project],
    )
    expect(dated?.summed).toBe(ASKED)
    expect(dated?.off).toBeLessThan(60)
  })

  async function askFor(i: number, key: string, prompt: string, headers: Record<string, string> = {}) {
    const { cache, status, headers: received } = await ask(at(i), key, prompt, headers)
    return { cache, status, ageSeconds: Number(received.get('age')) }
  }

  test('responses stored by one process are served by the others, from either store, with their true age', async () => {
    const { key } = await accounts.create()
    for (const maker of proxies.keys()) {
      expect(await askFor(maker, key, `Made by ${maker}?`)).toMatchObject({ cache: 'MISS' })
      for (const reader of proxies.keys()) {
        const found = await askFor(reader, key, `Made by ${maker}?`, { 'cache-control': 'max-age=50' })
        expect([maker, reader, found.cache]).toEqual([maker, reader, 'HIT'])
        expect(found.ageSeconds).toBeLessThan(50)
      }
    }
    const written = async () => (await database.call('select from cache_entries', [])).length >= proxies.length
    await waitUntil('all is in PostgreSQL', written)
    Bun.spawnSync(['redis-cli', '-u', redis.url, 'flushall'])
    for (const maker of proxies.keys())
      for (const reader of proxies.keys())
        expect(await askFor(reader, key, `Made by ${maker}?`)).toMatchObject({ cache: 'HIT' })
  })

  test('responses stored by one process expire in all of them', async () => {
    const { key } = await accounts.create()
    for (const maker of proxies.keys()) await askFor(maker, key, `Short by ${maker}?`, { 'x-proxy-cache-ttl': '2' })
    await Bun.sleep(2_500)
    for (const maker of proxies.keys())
      for (const reader of proxies.keys()) {
        const answer = await askFor(reader, key, `Short by ${maker}?`, { 'cache-control': 'only-if-cached' })
        expect([maker, reader, answer.status]).toEqual([maker, reader, 504])
      }
  })

  test('a key is valid for its time, and reports are of today', async () => {
    await accounts.run(`select create_user('root@example.org', 'owner', 'x')`)
    const [issued] = await database.call<{ key: string }>(
      `select key from issue_admin_key('root@example.org', 'k')`,
      [],
    )
    const account = await accounts.create()
    const [row] = await database.call<{ id: number }>('select id::integer from projects where name = $1', [
      account.project,
    ])
    for (const i of proxies.keys()) {
      const made = await post(at(i), issued?.key ?? '', `/organization/projects/proj_${row?.id}/api_keys`, {
        name: `k${i}`,
        type: 'test',
        expires_in_seconds: 3,
      })
      const { value } = (await made.json()) as { value: string }
      for (const reader of proxies.keys()) expect((await ask(at(reader), value, 'Hello?')).status).toBe(200)
      await waitUntil('the key expires', async () => (await ask(at(i), value, 'Hello?')).status === 401)
      const start = Math.floor(Date.now() / 1000) - 600
      const path = `/organization/usage/completions?start_time=${start}&bucket_width=1m&limit=60`
      const report = await get(at(i), path, issued?.key)
      const { data } = (await report.json()) as { data: { results: { num_model_requests: number }[] }[] }
      expect(data.flatMap(({ results }) => results).length).toBeGreaterThan(0)
    }
  })
})
