import { afterAll, beforeEach, expect, test } from 'vitest'
import { rollUpUsage } from '../../../src/postgres/record-usage.ts'
import { OLDER_PARTITION } from '../../browser/seed.ts'
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

  test('is the same by the hour, day and month of any zone, from whichever sums it is read', async () => {
    await stores.database.runScript(OLDER_PARTITION)
    await proxy.query(`select create_project('long', 'free')`)
    await proxy.query(`select record_usage(
        array_agg(now() - n * interval '101 minutes'), array_agg('r' || n), array_agg(p.id), array_agg(1::bigint), array_agg('chat'::text),
        array_agg('m' || n % 3), array_agg('openai'::text), array_agg((array['HIT', 'MISS'])[n % 2 + 1]), array_agg(200::smallint),
        array_agg(false), array_agg(n), array_agg(0), array_agg(1), array_agg(0), array_agg(0.5), array_agg(0.25), array_agg(10::real),
        array_agg(20::real), gen_random_uuid())
      from projects p, generate_series(1, 1700) n where p.name = 'long'`)
    await rollUpUsage(stores.database)
    for (const zone of ['UTC', 'Europe/Vienna', 'America/St_Johns', 'Pacific/Kiritimati']) {
      for (const [width, back] of [
        ['hour', '3 days 5 hours'],
        ['day', '40 days 3 hours'],
        ['month', '115 days 7 hours'],
      ]) {
        const from = `date_trunc('hour', now() - interval '${back}', 'UTC')`
        const span = `array[(select id from projects where name = 'long')], ${from}, now()`
        const [compared] = await proxy.query(`
          with told as (select bucket_start, requests, exact_hits, prompt_tokens, cost_usd from usage_overview(${span}, '${width}', '${zone}', null, null)),
          counted as (
            select date_trunc('${width}', date_trunc('hour', recorded_at, 'UTC'), '${zone}') as bucket_start, count(*) as requests,
              count(*) filter (where cache_result = 'HIT') as exact_hits, sum(prompt_tokens) as prompt_tokens, sum(cost_usd) as cost_usd
            from usage_records where recorded_at >= ${from} group by 1
          )
          select (select count(*)::integer from told) > 2 as some,
            (select count(*)::integer from (table told except table counted) t) as wrong,
            (select count(*)::integer from (table counted except table told) t) as missing`)
        expect([zone, width, compared]).toEqual([zone, width, { some: true, wrong: 0, missing: 0 }])
      }
    }
    const span = `array[(select id from projects where name = 'long')], now() - interval '100 days', now()`
    expect(
      await proxy.query(`select sum(requests)::integer as requests from latency_percentiles(${span})
        union all select sum(requests)::integer from usage_shares(${span}, 'model')`),
    ).toEqual(
      Array(2).fill(
        (
          await proxy.query(
            `select count(*)::integer as requests from usage_records where date_trunc('hour', recorded_at, 'UTC') >= now() - interval '100 days'`,
          )
        )[0],
      ),
    )
  })
})
