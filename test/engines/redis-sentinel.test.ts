import { expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { openAccounts } from '../faults/accounts.ts'
import { startProxyProcess } from '../faults/proxy-process.ts'
import { startPostgres } from '../faults/servers.ts'
import { ask, get } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { describeEngines } from './engines.ts'
import { type SentinelGroup, startSentinels } from './redis-servers.ts'

describeEngines('three Sentinels', ['redis-server', 'redis-sentinel', 'redis-cli'], () => {
  const postgres = duringTests(startPostgres)
  const redis = duringTests(startSentinels)
  const proxy = duringTests(() => startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url }))
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 1 }))

  const isWell = async () => ((await (await get(proxy, '/health')).json()) as { status: string }).status === 'ok'
  const roleOf = async (node: SentinelGroup['nodes'][0]) => String(await node.call('role')).split('\n')[0]

  async function countAdmitted(key: string, requests: number): Promise<number> {
    const answers = await Promise.all(Array.from({ length: requests }, () => ask(proxy, key, 'Admitted?')))
    expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([])
    return answers.filter(({ status }) => status === 200).length
  }

  test('lead to the master; a hanging one is replaced by its replica, with all windows', async () => {
    const [first, second] = redis.nodes
    await waitUntil('health is ok', isWell)
    const { key } = await openAccounts(database).create({ perMinute: 100 })
    let admitted = await countAdmitted(key, 40)
    expect(admitted).toBe(40)
    first.freeze()
    await waitUntil('the replica is master', async () => (await roleOf(second)) === 'master')
    await waitUntil('health is ok', isWell)
    admitted += await countAdmitted(key, 100)
    expect(admitted).toBe(100)
    // The thawed node is a master first and then becomes a replica. The proxy does not return to it.
    first.thaw()
    await waitUntil('the old master is a replica', async () => (await roleOf(first)) === 'slave')
    expect(await countAdmitted(key, 20)).toBe(0)
    expect(await isWell()).toBe(true)
  })
})
