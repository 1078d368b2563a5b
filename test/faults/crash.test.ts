import { expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { startLoad } from './load.ts'
import { startProxyProcess } from './proxy-process.ts'
import { startPostgres, startRedis } from './servers.ts'

const QUOTA = 300
const CRASHES = 3
/** All commits are on disk after three times PostgreSQL's wal_writer_delay, 0.6 s, or later on a busy machine. */
const ON_DISK_AFTER_MS = 1_000

describeFaults('PostgreSQL crashes', () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const proxy = duringTests(() => startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url }))
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  const accounts = openAccounts(database)

  test('a quota admits no additional request, however often its database crashes', async () => {
    const account = await accounts.create({ perMonth: QUOTA })
    const load = startLoad({ baseUrl: proxy.baseUrl, key: account.key, clients: 16, pauseMs: 10 })
    const answered = () => load.results.filter(({ status }) => status === 200).length
    for (let crash = 1; crash <= CRASHES; crash++) {
      const before = answered()
      await waitUntil('requests are answered', () => answered() >= before + QUOTA / (2 * CRASHES))
      await postgres.stopAtOnce()
      await postgres.start()
    }
    // A single rejection is not enough, because unused reservations are released first.
    await waitUntil('the month is used up', async () => {
      return answered() >= QUOTA && (await ask(proxy, account.key, 'One more?')).status === 429
    })
    await load.stop()
    expect(answered()).toBe(QUOTA)
    expect(await accounts.countRequests(account)).toBe(QUOTA)
  })

  test('far from its limit, a month loses only the counts of a crash’s last moment', async () => {
    const account = await accounts.create({ perMinute: 100_000, perMonth: 10_000_000 })
    const load = startLoad({ baseUrl: proxy.baseUrl, key: account.key, clients: 16, pauseMs: 10 })
    const answered = () => load.results.filter(({ status }) => status === 200)
    await waitUntil('requests are answered', () => answered().length > QUOTA)
    const crashedAtMs = performance.now()
    await postgres.stopAtOnce()
    await load.stop()
    await postgres.start()
    const lastMoment = answered().filter(({ endedAtMs }) => endedAtMs > crashedAtMs - ON_DISK_AFTER_MS).length
    const lost = answered().length - (await accounts.countRequests(account))
    expect(lost).toBeLessThanOrEqual(lastMoment)
  })
})
