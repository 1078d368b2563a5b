/** The lists of end users and of projects: each figure equals the plain sum of the records, over all pages and in each order. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../src/postgres/database.ts'
import { recordUsage, rollUpUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { describeBackends } from '../../harness/backends.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

const DAY = 86_400
const RESULTS = ['HIT', 'HIT-SEMANTIC', 'MISS', 'MISS', null] as const
/** The newest records, which are not summed yet. Each has an end user. */
const PENDING = 100
type Row = Record<string, number | string | null>

describeBackends('spend', backend => {
  let proxy: TestProxy
  let adminKey: string
  let database: Database
  const projects: number[] = []
  const now = Math.floor(Date.now() / 1000)
  const from = now - 20 * DAY - 1_234
  // In the afternoon of yesterday, so that each time ends with a part of a day, which is read from the records.
  const until = now - (now % DAY) - 36_000
  const span = `start_time=${from}&end_time=${until}`

  beforeAll(async () => {
    const stores = await backend.open()
    database = stores.database
    proxy = await startProxy({ dashboard: true, stores, maintenanceEveryMs: 24 * 60 * 60_000 })
    await addUser(proxy, 'all@example.com', 'owner')
    adminKey = await issueAdminKey(proxy, 'all@example.com')
    for (const name of ['one', 'two', 'three', 'unused']) {
      const [row] = await proxy.query<{ id: number }>(`select create_project('${name}', 'free')::integer as id`)
      projects.push(row?.id ?? 0)
      for (const type of ['project', 'test']) await proxy.query(`select issue_key('${name}', '${type}', '${type}')`)
    }
    await proxy.query(`select archive_project('three')`)
    const keys = await proxy.query<{ id: number }>(`select id::integer as id from api_keys order by project_id, id`)
    const records = Array.from({ length: 500 }, (_, n) =>
      recordOf(
        n,
        keys.map(({ id }) => id),
      ),
    )
    await recordUsage(database, records.slice(PENDING), crypto.randomUUID())
    await rollUpUsage(database)
    await recordUsage(database, records.slice(0, PENDING), crypto.randomUUID())
  })
  afterAll(() => proxy.stop())

  function recordOf(n: number, keys: readonly number[]): UsageRecord {
    const owner = n % 3
    const result = RESULTS[n % RESULTS.length] ?? null
    const usd = ((n * 37) % 1_009) / 997
    return {
      recorded_at: new Date((now - ((n * 7_919) % (45 * DAY))) * 1000).toISOString(),
      request_id: `r${n}`,
      project_id: projects[owner] ?? 0,
      key_id: keys[owner * 2 + (Math.floor(n / 3) % 2)] ?? 0,
      endpoint: 'chat',
      model: `m${n % 7}`,
      provider: result === null ? null : 'openai',
      cache_result: result,
      status: result === null ? 502 : 200,
      streamed: false,
      ...{ prompt_tokens: n, cached_prompt_tokens: 0, completion_tokens: 1, tokens_saved: 0 },
      cost_usd: result === 'MISS' ? usd : 0,
      saved_usd: result === 'HIT' ? usd : 0,
      ...{ latency_ms: 10, duration_ms: 20 },
      end_user: n < PENDING || n % 4 ? `User ${n % 13}` : null,
    }
  }

  async function listAll(path: string): Promise<Row[]> {
    const found: Row[] = []
    for (let after = ''; ; ) {
      const { status, json } = await send(proxy, 'GET', `${path}&limit=3${after}`, {
        headers: { authorization: `Bearer ${adminKey}` },
      })
      expect([path, status]).toEqual([path, 200])
      found.push(...json.data)
      if (!json.has_more) return found
      after = `&after=${encodeURIComponent(json.last_id)}`
    }
  }

  const within = (start: number, end: number) =>
    `recorded_at >= to_timestamp(${start}) and recorded_at < to_timestamp(${end})`
  const IS_TEST = `key_id in (select id from api_keys where type = 'test')`
  const counts = (where: string) => `
    (count(*) filter (where ${where}))::integer as requests,
    (count(*) filter (where ${where} and cache_result like 'HIT%'))::integer as hits,
    (count(*) filter (where ${where} and cache_result = 'MISS'))::integer as misses,
    (count(*) filter (where ${where} and status >= 400))::integer as failed,
    coalesce(sum(cost_usd) filter (where ${where}), 0)::float8 as cost_usd,
    coalesce(sum(saved_usd) filter (where ${where}), 0)::float8 as saved_usd`

  test.each([
    ['', 'true'],
    ['&key_type=test', IS_TEST],
    ['&key_type=project', `not ${IS_TEST}`],
    ['&name_contains=USER%201', `end_user ilike '%user 1%'`],
    ['&name_contains=%25', 'false'],
  ])('of end users%s equals the records', async (query, where) => {
    const listed = await listAll(`/v1/organization/projects/proj_${projects[0]}/end_users?${span}${query}`)
    const summed = await proxy.query<Row>(`
      select end_user as id, ${counts('true')}, sum(prompt_tokens + completion_tokens)::integer as tokens
      from usage_records
      where project_id = ${projects[0]} and end_user is not null and ${within(from, until)} and ${where}
      group by 1 order by sum(cost_usd) desc, 2 desc, 1 desc`)
    expect(listed.map(({ object: _, hit_rate: __, ...row }) => row)).toEqual(summed)
  })

  test('sums of any grains, added and subtracted, cover exactly the time', async () => {
    // The number of pieces that contain a moment changes only where a piece begins or ends.
    const [counted] = await proxy.query<Row>(`
      with spans as materialized (
        select s, now() - random() * interval '400 days' as from_time, random() * interval '90 days' as length
        from generate_series(1, 40) s
      ),
      pieces as materialized (
        select x.*, p.* from (select s, from_time, from_time + length as until_time from spans) x
        cross join lateral split_range(x.from_time, x.until_time, '{month,third,day,hour,quarter}') p
      )
      select
        count(*) filter (where c.sum <> (at >= from_time and at < until_time)::integer)::integer as wrong,
        (select count(distinct s) from pieces)::integer as spans,
        (select count(distinct (grain, sign)) from pieces)::integer as kinds,
        (select max(count) from (select count(*) from pieces group by s) d)::integer < 20 as are_few
      from (
        select p.s, p.from_time, p.until_time, b.at, (
          select coalesce(sum(o.sign), 0) from pieces o where o.s = p.s and o.begins <= b.at and o.ends > b.at
        ) as sum
        from pieces p
        cross join lateral (values (p.begins), (p.ends), (p.from_time)) as b (at)
      ) c
      -- The rest of a current day and month is read with it: nothing is dated in the future.
      where at < now()`)
    expect(counted).toEqual({ wrong: 0, spans: 40, kinds: 11, are_few: true })
  })

  const MEASURES: Record<string, (row: Row) => number> = {
    cost: row => Number(row.cost_usd),
    saved: row => Number(row.saved_usd),
    requests: row => Number(row.requests),
    hit_rate: row => Number(row.hit_rate ?? -1),
    failed: row => Number(row.failed_share),
    change: row => Number(row.cost_usd) - Number(row.previous_cost_usd),
  }
  test.each(Object.keys(MEASURES))('of projects by %s equals the records', async order => {
    for (const [query, where] of [
      ['&include_archived=true', 'true'],
      ['&key_type=project', `not ${IS_TEST} and p.archived_at is null`],
    ] as const) {
      const listed = await listAll(`/v1/usage/projects?${span}&projects_by=${order}${query}`)
      const summed = await proxy.query<Row>(`
        select 'proj_' || p.id as id, ${counts(`${within(from, until)} and ${where}`)},
          coalesce(sum(cost_usd) filter (where ${within(2 * from - until, from)} and ${where}), 0)::float8 as previous_cost_usd
        from projects p left join usage_records r on r.project_id = p.id
        ${query === '&key_type=project' ? 'where p.archived_at is null' : ''} group by p.id order by p.id`)
      const measure = MEASURES[order] as (row: Row) => number
      for (const [at, row] of listed.entries())
        if (at > 0) expect(measure(row)).toBeLessThanOrEqual(measure(listed[at - 1] as Row))
      const pick = ({ id, requests, hits, misses, failed, cost_usd, saved_usd, previous_cost_usd }: Row) => ({
        ...{ id, requests, hits, misses, failed, cost_usd, saved_usd, previous_cost_usd },
      })
      expect(listed.map(pick).sort((a, b) => String(a.id).localeCompare(String(b.id)))).toEqual(
        summed.sort((a, b) => String(a.id).localeCompare(String(b.id))),
      )
      for (const row of listed) {
        const buckets = row.buckets as unknown as { cost_usd: number }[]
        expect(buckets.reduce((sum, bucket) => sum + bucket.cost_usd, 0)).toBeCloseTo(Number(row.cost_usd), 9)
      }
    }
  })

  test('counts nothing below zero where sums are wrong', async () => {
    // The last month without its last days: the sums of the month, less those of the days and hours after.
    const [month] = await proxy.query<{ from: number; until: number }>(
      `select extract(epoch from m.at - interval '1 month')::integer as from, extract(epoch from m.at - interval '60 hours')::integer as until
      from (select date_trunc('month', to_timestamp(${now}), 'UTC')) m (at)`,
    )
    const cut = `start_time=${month?.from}&end_time=${month?.until}`
    const authorization = `Bearer ${adminKey}`
    const readAll = async () => {
      const users = await listAll(`/v1/organization/projects/proj_${projects[0]}/end_users?${cut}`)
      const path = `/v1/usage?${cut}&project_id=proj_${projects[0]}`
      const { status, json } = await send(proxy, 'GET', path, { headers: { authorization } })
      expect(status).toBe(200)
      return [users, json.by_model, await listAll(`/v1/usage/projects?${cut}`)]
    }
    await rollUpUsage(database)

    const counts = 'hits = 0, misses = 0, failed = 0, tokens = 0'
    await proxy.query(`update usage_sums_by_name set ${counts} where grain in ('third', 'month')`)
    await proxy.query(`update usage_sums set prompt_tokens = 0, completion_tokens = 0 where grain in ('day', 'month')`)
    for (const rows of await readAll()) {
      expect(rows.length).toBeGreaterThan(0)
      for (const { hits = 0, misses = 0, failed = 0, tokens = 0 } of rows)
        expect(Math.min(hits, misses, failed, tokens)).toBeGreaterThanOrEqual(0)
    }

    await proxy.query(`update usage_sums_by_name set requests = 0 where grain in ('third', 'month')`)
    await proxy.query(`update usage_sums set requests = 0 where grain in ('day', 'month')`)
    for (const rows of await readAll()) for (const { requests } of rows) expect(requests).toBeGreaterThanOrEqual(0)
  })
})
