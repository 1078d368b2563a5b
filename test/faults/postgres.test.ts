import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask, get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { queriesOf } from '../harness/queries.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { ANSWERED_WITHIN_MS, findSlow, type Load, startLoad } from './load.ts'
import { startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis } from './servers.ts'

const CLIENTS = 32
const OUTAGES = [
  {
    name: 'stopped',
    begin: (server: PrivateServer) => server.stop(),
    end: (server: PrivateServer) => server.start(),
    countsExactly: true,
  },
  {
    name: 'frozen',
    begin: (server: PrivateServer) => server.freeze(),
    end: (server: PrivateServer) => server.thaw(),
    countsExactly: true,
  },
  {
    name: 'killed',
    begin: (server: PrivateServer) => server.kill(),
    end: (server: PrivateServer) => server.start(),
    // A crash loses the counts of the last moments, because counters do not wait for the disk. If the crash lost a batch's response, its
    // counts are unknown.
    countsExactly: false,
  },
]

describeFaults('PostgreSQL is lost under load', () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const proxy = duringTests(() => startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url }))
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  const accounts = openAccounts(database)

  beforeAll(async () => {
    // Warms up the process, so that the first load of modules is not measured.
    const { key } = await accounts.create()
    for (const question of ['What is warm?', 'What is warm?']) await ask(proxy, key, question)
  })

  function answeredOf(load: Load): number {
    return load.results.filter(result => result.status === 200).length
  }

  test.each(OUTAGES)('$name: 503 within a second, no request admitted, and full service within 5 s', async outage => {
    const account = await accounts.create()
    const load = startLoad({ baseUrl: proxy.baseUrl, key: account.key, clients: CLIENTS })
    await waitUntil('the load runs', () => answeredOf(load) > CLIENTS)

    await outage.begin(postgres)
    const lostAtMs = performance.now()
    const health = () => get(proxy, '/health', undefined, { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) })
    // The state is at most a second old.
    await waitUntil('health reports the outage', async () => (await health()).status === 503)
    for (const key of [account.key, 'lgw_test_0123456789abcdefghijklmnopqrst']) {
      expect(await ask(proxy, key, 'Let me in.')).toMatchObject({
        status: 503,
        json: { error: { code: 'service_unavailable' } },
      })
    }
    await waitUntil('a request is rejected', () => load.results.some(result => result.startedAtMs > lostAtMs))
    const foundAtMs = performance.now()
    await outage.end(postgres)
    await waitUntil('requests are answered', async () => (await ask(proxy, account.key, 'And now?')).status === 200)
    const servedAtMs = performance.now()
    // The state is at most a second old.
    await waitUntil('health is ok', async () => (await get(proxy, '/health')).status === 200)
    const since = () => load.results.filter(result => result.startedAtMs > servedAtMs)
    await waitUntil('each client is served', () => since().length > 2 * CLIENTS)
    await load.stop()

    const during = load.results.filter(result => result.startedAtMs > lostAtMs && result.endedAtMs < foundAtMs)
    expect(during.length).toBeGreaterThan(0)
    expect(during.filter(result => result.status !== 503 || result.code !== 'service_unavailable')).toEqual([])
    expect(findSlow(load.results, ANSWERED_WITHIN_MS)).toEqual([])
    expect(since().filter(result => result.status !== 200)).toEqual([])
    // Every request ends with a response or with 503.
    expect(load.results.filter(result => result.status !== 200 && result.status !== 503)).toEqual([])

    const answered = answeredOf(load) + 1
    if (!outage.countsExactly) {
      expect(await accounts.countRequests(account)).toBeLessThanOrEqual(answered + CLIENTS)
      return
    }
    await waitUntil('only successful requests are counted', async () => {
      return (await accounts.countRequests(account)) === answered
    })
    await waitUntil('successful requests are recorded', async () => {
      return (await accounts.countRecords(account))['200'] === answered
    })
  })

  test('connections ended by an administrator cost at most a few requests', async () => {
    const account = await accounts.create()
    const load = startLoad({ baseUrl: proxy.baseUrl, key: account.key, clients: CLIENTS })
    await Bun.sleep(300)
    const admin = openServerDatabase({ url: postgres.url, maxConnections: 1 })
    for (let i = 0; i < 5; i++) {
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
        order by state = 'active' desc, pid limit 1`.execute(queriesOf(admin))
      await Bun.sleep(150)
    }
    await admin.close()
    const calmAtMs = performance.now()
    await Bun.sleep(500)
    await load.stop()

    const failed = load.results.filter(result => result.status !== 200)
    expect(failed.length).toBeLessThanOrEqual(5 * CLIENTS)
    expect(failed.filter(result => result.code !== 'service_unavailable')).toEqual([])
    expect(failed.filter(result => result.startedAtMs > calmAtMs)).toEqual([])
    expect(findSlow(load.results, ANSWERED_WITHIN_MS)).toEqual([])
    await waitUntil('only successful requests are counted', async () => {
      return (await accounts.countRequests(account)) === answeredOf(load)
    })
  })
})
