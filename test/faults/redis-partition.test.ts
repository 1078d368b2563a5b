import { beforeAll, expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask, get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { describeFaults } from './describe-faults.ts'
import { type ProxyProcess, startProxyProcess } from './proxy-process.ts'
import { startPostgres, startRedis } from './servers.ts'

const LIMIT = 300

describeFaults('one of two proxies is disconnected from Redis', () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startRedis)
  const relay = duringTests(() => startCuttingProxy(redis.url))
  const well = duringTests(() => startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url }))
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 1 }))
  let cutOff: ProxyProcess

  beforeAll(async () => {
    // Starts second, so that it counts both processes when it connects.
    cutOff = await startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: relay.url })
  })

  async function countAdmitted(proxy: ProxyProcess, key: string): Promise<number> {
    const answers = Array.from({ length: 2 * LIMIT }, () => ask(proxy, key, 'Admitted?'))
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.filter(status => status !== 200 && status !== 429)).toEqual([])
    return statuses.filter(status => status === 200).length
  }

  const healthOf = async (proxy: ProxyProcess) =>
    ((await (await get(proxy, '/health')).json()) as { status: string }).status

  const isCutOff = (expected: boolean) =>
    waitUntil('health reports the state', async () => (await healthOf(cutOff)) === (expected ? 'degraded' : 'ok'))

  test('both together admit one limit, in whichever order requests arrive', async () => {
    const accounts = openAccounts(database)
    const create = () => accounts.create({ perMinute: LIMIT })
    const [first, second, both, before] = await Promise.all([create(), create(), create(), create()])
    // The healthy proxy now knows the key, and knows that it is not marked.
    expect((await ask(well, first.key, 'Admitted?')).status).toBe(200)
    expect(await countAdmitted(well, before.key)).toBe(LIMIT)
    const mended = Promise.withResolvers<void>()
    const parted = relay.part(mended.promise)
    await isCutOff(true)
    expect(await healthOf(well)).toBe('ok')
    expect(await countAdmitted(cutOff, first.key)).toBe(LIMIT / 2)
    expect(await countAdmitted(well, first.key)).toBe(LIMIT / 2 - 1)
    // This proxy knows a full minute first from the other's records and later from its messages.
    await waitUntil('all is recorded', async () => (await accounts.countRecords(before))[200] === LIMIT)
    expect(await countAdmitted(cutOff, before.key)).toBe(0)
    expect(await countAdmitted(well, second.key)).toBe(LIMIT)
    await waitUntil('all is recorded', async () => (await accounts.countRecords(second))[200] === LIMIT)
    expect(await countAdmitted(cutOff, second.key)).toBe(0)
    const [alone, other] = await Promise.all([countAdmitted(cutOff, both.key), countAdmitted(well, both.key)])
    expect([alone <= LIMIT / 2, alone + other]).toEqual([true, LIMIT])
    mended.resolve()
    await parted
    await isCutOff(false)
    for (const { key } of [first, second, both, before])
      expect([await countAdmitted(cutOff, key), await countAdmitted(well, key)]).toEqual([0, 0])
  })
})
