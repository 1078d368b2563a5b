/** A proxy whose clock is wrong: what it records has the database's time. */
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { ask } from '../harness/client.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis } from './servers.ts'

const SERVER = fileURLToPath(new URL('wrong-clock.ts', import.meta.url))
const DAY_MS = 86_400_000
const ASKED = 20

describeFaults('a clock', () => {
  const stores: PrivateServer[] = []
  afterAll(() => Promise.all(stores.map(store => store.remove())))

  test.each([-70, 70])('that is wrong by %i days loses no record, and dates none wrongly', async days => {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    stores.push(postgres, redis)
    const environment = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, WRONG_CLOCK_MS: String(days * DAY_MS) }
    const proxy = await startProxyProcess(environment, { server: SERVER })
    const database = openRealDatabase({ url: postgres.url, maxConnections: 1 })
    const accounts = openAccounts(database)
    const account = await accounts.create()
    for (let n = 0; n < ASKED; n++) expect((await ask(proxy, account.key, `Question ${n % 15}`)).status).toBe(200)
    await waitUntil('all is recorded', 30_000, async () => (await accounts.countRecords(account))['200'] === ASKED)
    const [dated] = await database.call<{ off: number; summed: number }>(
      `select extract(epoch from max(greatest(now() - recorded_at, recorded_at - now())))::integer as off,
        (select sum(requests)::integer from usage_hourly where hour > now() - interval '2 hours') as summed
      from usage_records`,
      [],
    )
    expect(dated?.summed).toBe(ASKED)
    expect(dated?.off).toBeLessThan(60)
    await database.close()
  })
})
