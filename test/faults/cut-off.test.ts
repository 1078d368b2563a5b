import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { openRealDatabase } from '../../src/postgres/real.ts'
import { ask, get } from '../harness/client.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts'
import { describeFaults } from './describe-faults.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'
import { type PrivateServer, startPostgres, startRedis } from './servers.ts'

const LIMIT = 300

describeFaults('one of two proxies is cut off from Redis', () => {
  let postgres: PrivateServer
  let redis: PrivateServer
  let relay: CuttingProxy
  let database: Database
  let well: ProxyProcess
  let cutOff: ProxyProcess

  beforeAll(async () => {
    ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    relay = await startCuttingProxy(redis.url)
    well = await startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url })
    // It counts the other when it connects.
    cutOff = await startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: relay.url })
    database = openRealDatabase({ url: postgres.url, maxConnections: 1 })
  })
  afterAll(async () => {
    relay?.close()
    await database?.close()
    await Promise.all([postgres?.remove(), redis?.remove()])
  })

  async function countAdmitted(proxy: ProxyProcess, key: string): Promise<number> {
    const asked = Array.from({ length: 2 * LIMIT }, () => ask(proxy, key, 'Admitted?'))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter(status => status !== 200 && status !== 429)).toEqual([])
    return statuses.filter(status => status === 200).length
  }

  const healthOf = async (proxy: ProxyProcess) =>
    ((await (await get(proxy, '/health')).json()) as { status: string }).status

  test('it admits its share of a limit, and reports that when it is back', async () => {
    const { key } = await openAccounts(database).create({ perMinute: LIMIT })
    const parted = relay.part(20_000)
    await waitUntil('it knows', 10_000, async () => (await healthOf(cutOff)) === 'degraded')
    expect(await healthOf(well)).toBe('ok')
    expect(await countAdmitted(cutOff, key)).toBe(LIMIT / 2)
    expect(await countAdmitted(well, key)).toBe(LIMIT)
    await parted
    await waitUntil('it is back', 10_000, async () => (await healthOf(cutOff)) === 'ok')
    expect(await countAdmitted(cutOff, key)).toBe(0)
  })
})
