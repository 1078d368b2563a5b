import { afterAll, beforeEach, expect, test } from 'vitest'
import { rollUpUsage } from '../../../src/postgres/record-usage.ts'
import { describeBackends, type Stores } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'

describeBackends('usage by the hour', backend => {
  let stores: Stores
  let proxy: TestProxy
  beforeEach(async () => {
    if (proxy) await proxy.stop()
    stores = await backend.open()
    proxy = await startProxy({ stores })
  })
  afterAll(() => proxy.stop())

  const sums = (table: string) =>
    proxy.query(`select cache_result, sum(requests)::integer as requests from ${table} group by 1 order by 1`)

  test('is known at once, and is the same once it was summed up, by several at a time', async () => {
    const key = await proxy.createKey()
    const expected: unknown[] = []
    for (let round = 1; round <= 3; round++) {
      for (const content of ['one', 'one', `another ${round}`]) await ask(proxy, key, content)
      await proxy.settle()
      expected.splice(
        0,
        2,
        { cache_result: 'HIT', requests: 2 * round - 1 },
        { cache_result: 'MISS', requests: round + 1 },
      )
      expect(await sums('usage_sums')).toEqual(expected)
      expect(await sums('latency_sums')).toEqual(expected)
      await Promise.all([rollUpUsage(stores.database), rollUpUsage(stores.database), rollUpUsage(stores.database)])
      for (const table of ['usage_sums', 'usage_hourly', 'latency_hourly', 'usage_daily', 'latency_daily']) {
        expect([table, await sums(table)]).toEqual([table, expected])
      }
      expect(await sums('usage_pending')).toEqual([])
    }
    const [compared] = await proxy.query(`select
      (select sum(prompt_tokens) from usage_records) = (select sum(prompt_tokens) from usage_hourly) as tokens,
      (select sum(cost_usd) from usage_records) = (select sum(cost_usd) from usage_hourly) as cost`)
    expect(compared).toEqual({ tokens: true, cost: true })
  })
})
