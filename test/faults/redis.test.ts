import { beforeAll, expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask, get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { ANSWERED_WITHIN_MS, findSlow, type Load, startLoad } from './load.ts'
import { startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis } from './servers.ts'

const OUTAGES = [
  { name: 'stopped', begin: (redis: PrivateServer) => redis.stop(), end: (redis: PrivateServer) => redis.start() },
  { name: 'frozen', begin: (redis: PrivateServer) => redis.freeze(), end: (redis: PrivateServer) => redis.thaw() },
]

describeFaults('Redis is lost under load', () => {
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

  async function readHealth() {
    const response = await get(proxy, '/health', undefined, { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) })
    const { status } = (await response.json()) as { status: string }
    return { http: response.status, status }
  }

  function expectAllServed(load: Load): void {
    expect(load.results.filter(result => result.status !== 200)).toEqual([])
    expect(findSlow(load.results, ANSWERED_WITHIN_MS)).toEqual([])
  }

  test.each(OUTAGES)('$name: requests continue, and full service is back within 5 s', async ({ begin, end }) => {
    const account = await accounts.create()
    const limited = await accounts.create({ perMinute: 5 })
    const load = startLoad({ baseUrl: proxy.baseUrl, key: account.key })
    await waitUntil('the load runs', () => load.results.length > 50)

    await begin(redis)
    const lostAtMs = performance.now()
    await waitUntil('health reports the outage', async () => {
      const { http, status } = await readHealth()
      return http === 200 && status === 'degraded'
    })
    const statuses: number[] = []
    for (let i = 0; i < 9; i++) statuses.push((await ask(proxy, limited.key, `Question ${i}?`)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429])
    const duringOutage = () => load.results.filter(result => result.startedAtMs > lostAtMs)
    await waitUntil('the load goes on', () => duringOutage().length > 50)
    // The hits come from PostgreSQL.
    expect(duringOutage().some(result => result.cache === 'HIT')).toBe(true)

    await end(redis)
    const tookMs = await waitUntil('health is ok', async () => (await readHealth()).status === 'ok')
    await waitUntil(
      'entries are stored in Redis again',
      async () => {
        const question = `What is ${crypto.randomUUID()}?`
        expect((await ask(proxy, account.key, question)).cache).toBe('MISS')
        // Without the rows, a later hit comes from Redis.
        await accounts.run('delete from cache_entries')
        return (await ask(proxy, account.key, question)).cache === 'HIT'
      },
      5_000 - tookMs,
    )
    await load.stop()
    expectAllServed(load)
    expect(proxy.output()).toContain('Redis is back')
  })

  test('a proxy that starts without Redis serves, and uses it later', async () => {
    await redis.stop()
    const late = await startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url })
    const { key } = await accounts.create()
    expect((await ask(late, key, 'Where is Redis?')).status).toBe(200)
    await redis.start()
    await waitUntil('health is ok', async () => {
      const { status } = (await (await get(late, '/health')).json()) as { status: string }
      return status === 'ok'
    })
    late.signal('SIGTERM')
    expect(await late.ended()).toBe(0)
  })
})
