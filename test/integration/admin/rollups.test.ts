import { afterAll, beforeEach, expect, test } from 'vitest'
import { callAsActor } from '../../../src/postgres/admin/call-as.ts'
import { recordUsage, rollUpUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { describeBackends, type Stores } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { draw } from '../../harness/depth.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'

const GRAINS = ['quarter', 'hour', 'day', 'month']
const SUMS = [
  'usage_hourly',
  ...GRAINS.flatMap(grain => [
    `(select * from usage_sums where grain = '${grain}' and project_id = 0) t`,
    `(select * from usage_sums where grain = '${grain}' and project_id < 0) t`,
    `(select * from usage_sums where grain = '${grain}' and project_id > 0) t`,
    `(select * from latency_counts where grain = '${grain}' and project_id = 0) t`,
    `(select * from latency_counts where grain = '${grain}' and project_id > 0) t`,
  ]),
]
const MINUTES_APART = 101

/** The nth record of a long series, going back from now. */
function recordOf(project: number, n: number, keys: readonly number[] = [1]): UsageRecord {
  return {
    recorded_at: new Date(Date.now() - n * MINUTES_APART * 60_000).toISOString(),
    request_id: `r${n}`,
    project_id: project,
    key_id: keys[n % keys.length] ?? 0,
    endpoint: 'chat',
    model: `m${n % 3}`,
    provider: 'openai',
    cache_result: n % 2 === 0 ? 'HIT' : 'MISS',
    status: 200,
    streamed: false,
    prompt_tokens: n,
    cached_prompt_tokens: 0,
    completion_tokens: 1,
    tokens_saved: 0,
    cost_usd: 0.5,
    saved_usd: 0.25,
    latency_ms: 10,
    duration_ms: 20,
    tags: n % 5 === 0 ? null : { team: `t${n % 2}` },
    cache_reason: n % 2 === 0 ? 'exact' : n % 3 === 0 ? null : 'no-candidate',
  }
}

describeBackends('usage by any length of time', backend => {
  let stores: Stores
  let proxy: TestProxy
  beforeEach(async () => {
    if (proxy) await proxy.stop()
    stores = await backend.open()
    // What is not summed up yet is looked at.
    proxy = await startProxy({ dashboard: true, stores, maintenanceEveryMs: 24 * 60 * 60_000 })
  })
  afterAll(() => proxy.stop())

  const sums = (table: string) =>
    proxy.query(`select cache_result, sum(requests)::integer as requests from ${table} group by 1 order by 1`)

  /** Sums over all projects have their own tables, which only this report reads. They equal the sum over the projects. */
  async function administratorSeesTheSame(): Promise<void> {
    const [user] = await proxy.query<{ id: string }>(`select create_user('all@example.com', 'owner')::text as id`)
    const [other] = await proxy.query<{ id: string }>(`select create_user('none@example.com', 'reader')::text as id`)
    const everybody = await proxy.query<{ id: number }>(`select id::integer from projects`)
    const actorOf = (id = '') => ({
      database: stores.database,
      name: 'x',
      userId: Number(id),
      adminKeyId: null,
      address: '127.0.0.1',
    })
    const [from_time, until_time] = [Date.now() - 100 * 86_400_000, Date.now()].map(at => new Date(at).toISOString())
    const overviews = (['hour', 'day', 'month'] as const).flatMap(width =>
      [null, 'project', 'test'].map(of_key_type => ({ width, of_key_type })),
    )
    for (const overview of draw(overviews)) {
      const parameters = { from_time: `${from_time}`, until_time: `${until_time}`, zone: 'Asia/Kolkata', ...overview }
      const read = (of_projects: number[] | null, id = user?.id) =>
        callAsActor(actorOf(id), 'usage_overview', { ...parameters, of_projects, of_model: null, of_key: null })
      const all = await read(null)
      expect(all.length).toBeGreaterThan(3)
      expect(all).toEqual(await read(everybody.map(({ id }) => id)))
      expect(await read(null, other?.id)).toEqual([])
    }
    const everything = everybody.map(({ id }) => id)
    const span = { from_time: `${from_time}`, until_time: `${until_time}` }
    const shares = ['model', 'provider', 'api_key', 'tag'].flatMap(share_by =>
      [null, 'm1'].flatMap(of_model => [null, 'project'].map(of_key_type => ({ share_by, of_model, of_key_type }))),
    )
    for (const share of draw(shares)) {
      const read = (of_projects: number[] | null, id = user?.id) =>
        callAsActor(actorOf(id), 'usage_shares', {
          ...{ ...span, ...share, of_key: null, of_projects },
          ...{ ordered_by: 'requests', max_rows: 20 },
        })
      expect((await read(null)).length).toBeGreaterThan(0)
      expect(await read(null)).toEqual(await read(everything))
      expect(await read(null, other?.id)).toEqual([])
    }
    const buckets = [[], ['project_id'], ['api_key_id'], ['model'], ['project_id', 'model']].flatMap(groups =>
      [null, 'team'].map(by_tag => ({ groups, by_tag })),
    )
    for (const bucket of draw(buckets)) {
      const filter = { ...span, ...bucket, width: '1d', of_tags: null, of_keys: null, of_models: null }
      const read = (of_projects: number[] | null, id = user?.id) =>
        callAsActor(actorOf(id), 'usage_buckets', {
          ...{ ...filter, of_projects, of_endpoints: ['chat'] },
          ...{ skipped_rows: 0, max_rows: 10_000 },
        })
      expect((await read(null)).length).toBeGreaterThan(50)
      expect(await read(null)).toEqual(await read(everything))
      expect(await read(null, other?.id)).toEqual([])
    }
    const latencies = (of_projects: number[] | null, id = user?.id) =>
      callAsActor(actorOf(id), 'latency_percentiles', { ...span, of_projects })
    expect((await latencies(null)).length).toBeGreaterThan(0)
    expect(await latencies(null)).toEqual(await latencies(everything))
    expect(await latencies(null, other?.id)).toEqual([])
  }

  async function hasWholeHours(zone: string): Promise<boolean> {
    const [found] = await proxy.query<{ is: boolean }>(
      `select extract(minute from now() at time zone '${zone}') = extract(minute from now() at time zone 'UTC') as is`,
    )
    return found?.is ?? false
  }

  /** Cache misses by reason are the same as in the records, whether summed or pending. */
  async function missesAsRecorded(): Promise<void> {
    const [report] = await proxy.query<{ misses: unknown }>(`select monthly_report('', '') -> 'misses' as misses`)
    const recorded = await proxy.query(`
      select coalesce(cache_reason, '') as name, count(*)::integer as requests, sum(cost_usd)::float8 as cost_usd
      from usage_records
      where cache_result = 'MISS' and recorded_at >= date_trunc('month', now(), 'UTC')
      group by 1
      order by 3 desc, 2 desc, 1`)
    expect(report?.misses).toEqual(recorded)
  }

  test('is available at once, and is the same after it was summed, by several at a time', async () => {
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
      expect(await sums('usage_hourly')).toEqual(expected)
      expect(await sums('usage_pending')).not.toEqual([])
      await Promise.all([rollUpUsage(stores.database), rollUpUsage(stores.database), rollUpUsage(stores.database)])
      for (const table of SUMS) {
        expect([table, await sums(table)]).toEqual([table, expected])
      }
      expect(await sums('usage_pending')).toEqual([])
    }
    const [compared] = await proxy.query(`select
      (select sum(prompt_tokens) from usage_records) = (select sum(prompt_tokens) from usage_hourly) as tokens,
      (select sum(cost_usd) from usage_records) = (select sum(cost_usd) from usage_hourly) as cost`)
    expect(compared).toEqual({ tokens: true, cost: true })
  })

  test('is the same by the hour, day and month of any time zone, from whichever sums it is read', async () => {
    await proxy.query(`select create_project('long', 'free')`)
    const [project] = await proxy.query<{ id: number }>(`select id from projects where name = 'long'`)
    for (const type of ['test', 'project']) await proxy.query(`select issue_key('long', '${type}', '${type}')`)
    const made = await proxy.query<{ id: number }>(
      `update api_keys set created_at = now() - interval '1 year' where name in ('test', 'project') returning id::integer`,
    )
    const keys = made.map(({ id }) => id)
    const records = Array.from({ length: 1_700 }, (_, n) => recordOf(Number(project?.id), n + 1, keys))
    await recordUsage(stores.database, records, crypto.randomUUID())
    await missesAsRecorded()
    await rollUpUsage(stores.database)
    await missesAsRecorded()
    for (const zone of draw(['UTC', 'Europe/Vienna', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati'])) {
      for (const [width, back] of [
        ['hour', '3 days 5 hours'],
        ['day', '40 days 3 hours'],
        ['month', '115 days 7 hours'],
      ]) {
        const from = `(now() - interval '${back}')`
        const span = `array[(select id from projects where name = 'long')], ${from}, now()`
        // Without a filter the report reads sums over all keys and models, with a key it reads the sums of that key.
        for (const key of ['null', keys[0]]) {
          const [compared] = await proxy.query(`
            with told as (select bucket_start, requests, exact_hits, prompt_tokens, cost_usd from usage_overview(${span}, '${width}', '${zone}', null, ${key}, null)),
            counted as (
              select date_trunc('${width}', recorded_at, '${zone}') as bucket_start, count(*) as requests,
                count(*) filter (where cache_result = 'HIT') as exact_hits, sum(prompt_tokens) as prompt_tokens, sum(cost_usd) as cost_usd
              from usage_records where recorded_at >= ${from} and (${key}::bigint is null or key_id = ${key}) group by 1
            )
            select (select count(*)::integer from told) > 2 as some,
              (select count(*)::integer from (table told except table counted) t) as wrong,
              (select count(*)::integer from (table counted except table told) t) as missing`)
          expect([zone, width, compared]).toEqual([zone, width, { some: true, wrong: 0, missing: 0 }])
        }
        // Usage by tag is summed by whole hours of UTC, so zones that divide those hours are omitted.
        if (!(await hasWholeHours(zone))) continue
        const [tagged] = await proxy.query(`
          with told as (
            select bucket_start, requests, hits, prompt_tokens, cost_usd
            from usage_by_tag(${span}, '{"team": "t1"}', null, null, null, '{time}', '${width}', '${zone}', 'requests')
          ),
          counted as (
            select date_trunc('${width}', recorded_at, '${zone}') as bucket_start, count(*) as requests,
              count(*) filter (where cache_result = 'HIT') as hits, sum(prompt_tokens) as prompt_tokens, sum(cost_usd) as cost_usd
            from usage_records where recorded_at >= ${from} and tags @> '{"team": "t1"}' group by 1
          )
          select (select count(*)::integer from told) > 2 as some,
            (select count(*)::integer from (table told except table counted) t) as wrong,
            (select count(*)::integer from (table counted except table told) t) as missing`)
        expect([zone, width, tagged]).toEqual([zone, width, { some: true, wrong: 0, missing: 0 }])
      }
    }
    await administratorSeesTheSame()
    const span = `array[(select id from projects where name = 'long')], now() - interval '100 days', now()`
    expect(
      await proxy.query(`select sum(requests)::integer as requests from latency_percentiles(${span})
        union all select sum(requests)::integer from usage_shares(${span}, 'model', null, null, null, 'requests', 20)`),
    ).toEqual(
      Array(2).fill(
        (
          await proxy.query(
            `select count(*)::integer as requests from usage_records where recorded_at >= now() - interval '100 days'`,
          )
        )[0],
      ),
    )
  })

  test('has the most used tags among thousands of values, which come to all requests with tags', async () => {
    await proxy.query(`select create_project('tagged', 'free')`)
    const [project] = await proxy.query<{ id: number }>(`select id from projects where name = 'tagged'`)
    for (const type of ['test', 'project']) await proxy.query(`select issue_key('tagged', '${type}', '${type}')`)
    const keys = await proxy.query<{ id: number }>(
      `select id::integer from api_keys where project_id = ${project?.id} order by id`,
    )
    // 400 sets in each of eight hours, and each value in one of them.
    const records = Array.from({ length: 3_200 }, (_, n) => ({
      ...recordOf(
        Number(project?.id),
        n % 8,
        keys.map(({ id }) => id),
      ),
      recorded_at: new Date(Date.now() - (n % 8) * 3_600_000 - 1_000).toISOString(),
      cost_usd: n / 1_000,
      tags: { team: `t${n % 7}`, job: `j${n}` },
    }))
    const compared = (of: string, type: string) =>
      proxy.query<{ name: string; requests: number }>(`
        with told as (
          select name, requests::integer, hits::integer, failed::integer, tokens::integer, cost_usd::numeric, saved_usd::numeric
          from usage_shares(${of}, 'tag', null, null, ${type}, 'requests', 20)
        ),
        counted as (
          select g.key || '=' || g.value, count(*)::integer, count(*) filter (where cache_result = 'HIT')::integer,
            count(*) filter (where status >= 400)::integer, sum(prompt_tokens + completion_tokens)::integer, sum(cost_usd), sum(saved_usd)
          from (select ${of.split(', ')[1]} as begins) s
          join usage_records r on r.recorded_at >= s.begins
          cross join jsonb_each_text(r.tags) g
          where ${type}::text is null or key_id in (select id from api_keys where type = ${type})
          group by 1 order by 2 desc, 1 limit 20
        )
        select t.name, t.requests from told t join counted c on c = t`)
    const isRight = async () => {
      for (const projects of [`array[${project?.id}]`, 'null'])
        for (const back of ['1 day', '5 hours 20 minutes'])
          for (const type of ['null', "'test'", "'project'"]) {
            const of = `${projects}, now() - interval '${back}', now()`
            const shares = await compared(of, type)
            const [all] = await proxy.query(`select sum(requests)::integer as requests
              from usage_overview(${of}, 'hour', 'UTC', null, null, ${type})`)
            const teams = shares.filter(({ name }) => name.startsWith('team='))
            expect([of, type, shares.length, teams.length]).toEqual([of, type, 20, 7])
            expect({ requests: teams.reduce((sum, { requests }) => sum + requests, 0) }).toEqual(all)
            const [ofTeam] = await proxy.query(`select 'team=t1' as name, sum(requests)::integer as requests
              from usage_by_tag(${of}, '{"team": "t1"}', null, null, ${type}, '{time}', 'hour', 'UTC', 'requests')`)
            expect(teams).toContainEqual(ofTeam)
          }
    }
    await recordUsage(stores.database, records.slice(0, 1_600), crypto.randomUUID())
    await isRight()
    await rollUpUsage(stores.database)
    await isRight()
    await recordUsage(stores.database, records.slice(1_600), crypto.randomUUID())
    await rollUpUsage(stores.database)
    await isRight()
  })

  test('has a bounded number of tag sets per hour: the rest is summed without tags', async () => {
    await proxy.query(`select create_project('tagged', 'free')`)
    const [project] = await proxy.query<{ id: number }>(`select id from projects where name = 'tagged'`)
    const tagged = (n: number) => ({ ...recordOf(Number(project?.id), 0), tags: { job: String(n) } })
    for (const first of [0, 600, 0]) {
      const records = Array.from({ length: 600 }, (_, n) => tagged(first + n))
      await recordUsage(stores.database, records, crypto.randomUUID())
      await rollUpUsage(stores.database)
    }
    expect(
      await proxy.query(`select tags = '{}' as beyond, count(*)::integer as sets, sum(requests)::integer as requests
        from usage_sums_by_tag where grain = 'hour' and project_id > 0 group by 1 order by 1`),
    ).toEqual([
      { beyond: false, sets: 500, requests: 1_000 },
      { beyond: true, sets: 1, requests: 800 },
    ])
    expect(
      await proxy.query(`select count(*)::integer as values, sum(requests)::integer as requests from usage_sums_by_name
        where kind = 'tag' and grain = 'hour' and project_id > 0`),
    ).toEqual([{ values: 500, requests: 1_000 }])
    // What has no place is found all the same, and an hour without a tag is not searched for it.
    const [beyond] = await proxy.query<{
      job: string
    }>(`select tags ->> 'job' as job from usage_records r where not exists (
      select from usage_sums_by_tag t where t.tags = r.tags) order by 1 limit 1`)
    const found = (job?: string) =>
      proxy.query(`select distinct (f.record).tags ->> 'job' as job
        from find_requests(${project?.id}, now() - interval '1 day', now() + interval '1 minute', of_tags => '{"job": "${job}"}') f`)
    expect(await found(beyond?.job)).toEqual([beyond])
    expect(await found('nobody')).toEqual([])
    expect(
      await proxy.query(`select g.job, bool_or(f.bits & tag_bits(g.tags) = tag_bits(g.tags)) as may_be
        from usage_tag_filters f, (values ('beyond', '{"job": "${beyond?.job}"}'::jsonb), ('nobody', '{"job": "nobody"}')) as g (job, tags)
        group by 1 order by 1`),
    ).toEqual([
      { job: 'beyond', may_be: true },
      { job: 'nobody', may_be: false },
    ])
    const grains = await proxy.query(
      `select distinct sum(requests)::integer as requests from usage_sums_by_tag group by grain, project_id`,
    )
    expect(grains).toEqual([{ requests: 1_800 }])
  })
})
