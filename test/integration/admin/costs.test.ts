/** The costs page's figures equal sums over the records: in every group, in both directions, and in its file. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordUsage, rollUpUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { describeBackends } from '../../harness/backends.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

const DAY = 86_400
/** What each group is in SQL. */
const NAMES = {
  team: `r.tags ->> 'team'`,
  api_key: `(select k.name from api_keys k where k.id = r.key_id)`,
  model: 'r.model',
  end_user: 'r.end_user',
  provider_key: `case
    when r.provider_keys in ('first', 'second 429, first') then r.provider || ': first'
    when r.provider_keys in ('first 401, second', 'first, second 429') then r.provider || ': second'
    else r.provider end`,
}
const KEY_TYPES = ['project', 'test', 'project']
const TAGS = [null, { team: 'search' }, { team: 'ads', env: 'prod' }, { env: 'prod' }]
const RESULTS = ['HIT', 'HIT-SEMANTIC', 'MISS', 'MISS', null] as const
const PROVIDER_KEYS = [null, 'first', 'second 429, first', 'first 401, second', 'first, second 429']
const COLUMNS = [
  ...['kind', 'name', 'requests', 'hits', 'misses', 'hit_rate', 'cost_usd', 'estimated_usd', 'cost_share'],
  ...['saved_usd', 'previous_cost_usd', 'change'],
]

interface Row {
  name: string | null
  requests: number
  hits: number
  misses: number
  cost_usd: number
  estimated_usd: number
  saved_usd: number
  previous_cost_usd: number
}

describeBackends('costs', backend => {
  let proxy: TestProxy
  let adminKey: string
  let now: number
  /** Its records are complete, on the first of a month too. */
  const monthBefore = new Date(new Date().setUTCDate(0)).toISOString().slice(0, 7)
  const projects: number[] = []

  beforeAll(async () => {
    const stores = await backend.open()
    proxy = await startProxy({ dashboard: true, stores, maintenanceEveryMs: 24 * 60 * 60_000 })
    await addUser(proxy, 'all@example.com', 'owner')
    adminKey = await issueAdminKey(proxy, 'all@example.com')
    for (const name of ['one', 'elsewhere']) {
      const [row] = await proxy.query<{ id: number }>(`select create_project('${name}', 'free')::integer as id`)
      projects.push(row?.id ?? 0)
      for (const [n, type] of KEY_TYPES.entries()) await proxy.query(`select issue_key('${name}', '${type}', 'k${n}')`)
    }
    const keys = await proxy.query<{ id: number }>(`select id::integer as id from api_keys order by project_id, id`)
    now = Math.floor(Date.now() / 1000)
    const records = Array.from({ length: 600 }, (_, n) =>
      recordOf(
        n,
        keys.map(({ id }) => id),
      ),
    )
    // Some records are summed up, the others are still pending.
    await recordUsage(stores.database, records.slice(0, 450), crypto.randomUUID())
    await rollUpUsage(stores.database)
    await recordUsage(stores.database, records.slice(450), crypto.randomUUID())
  })
  afterAll(() => proxy.stop())

  function recordOf(n: number, keys: readonly number[]): UsageRecord {
    const owner = n % 2
    const result = RESULTS[n % RESULTS.length] ?? null
    const isMiss = result === 'MISS'
    const usd = ((n * 37) % 1_009) / 997
    return {
      recorded_at: new Date((now - ((n * 7_919) % (62 * DAY))) * 1000).toISOString(),
      request_id: `r${n}`,
      project_id: projects[owner] ?? 0,
      key_id: keys[owner * KEY_TYPES.length + (Math.floor(n / 2) % KEY_TYPES.length)] ?? 0,
      endpoint: 'chat',
      model: `m${n % 7}`,
      provider: result === null ? null : n % 3 ? 'openai' : 'anthropic',
      provider_keys: isMiss ? (PROVIDER_KEYS[Math.floor(n / 5) % PROVIDER_KEYS.length] ?? null) : null,
      cache_result: result,
      status: result === null ? 502 : 200,
      streamed: false,
      ...{ prompt_tokens: n, cached_prompt_tokens: 0, completion_tokens: 1, tokens_saved: 0 },
      cost_usd: isMiss ? usd : 0,
      cost_estimated: isMiss && n % 11 === 0 ? 'client_left' : null,
      saved_usd: result === 'HIT' || result === 'HIT-SEMANTIC' ? usd : 0,
      ...{ latency_ms: 10, duration_ms: 20 },
      end_user: Math.floor(n / 2) % 4 ? `user ${n % 9}` : null,
      tags: TAGS[Math.floor(n / 3) % TAGS.length] ?? null,
    }
  }

  const get = (path: string) => send(proxy, 'GET', path, { headers: { authorization: `Bearer ${adminKey}` } })

  /** The sums over the records themselves, most expensive first. */
  function sumRecords(
    group: keyof typeof NAMES,
    where: string,
    { start_time, end_time, previous_start_time, previous_end_time }: Record<string, number>,
  ): Promise<Row[]> {
    const within = (from?: number, until?: number) =>
      `(r.recorded_at >= to_timestamp(${from}) and r.recorded_at < to_timestamp(${until}))`
    const current = within(start_time, end_time)
    return proxy.query<Row>(`
      select x.* from (
        select ${NAMES[group]} as name,
          count(*) filter (where ${current})::integer as requests,
          count(*) filter (where ${current} and cache_result in ('HIT', 'HIT-SEMANTIC'))::integer as hits,
          count(*) filter (where ${current} and cache_result = 'MISS')::integer as misses,
          coalesce(sum(cost_usd) filter (where ${current}), 0)::float8 as cost_usd,
          coalesce(sum(cost_usd) filter (where ${current} and cost_estimated is not null), 0)::float8 as estimated_usd,
          coalesce(sum(saved_usd) filter (where ${current}), 0)::float8 as saved_usd,
          coalesce(sum(cost_usd) filter (where ${within(previous_start_time, previous_end_time)}), 0)::float8 as previous_cost_usd
        from usage_records r where ${where} group by 1
      ) x
      where requests > 0 or previous_cost_usd > 0
      order by cost_usd desc, previous_cost_usd desc, requests desc, name nulls first`)
  }

  const pick = ({ name, requests, hits, misses, cost_usd, estimated_usd, saved_usd, previous_cost_usd }: Row): Row => ({
    ...{ name, requests, hits, misses, cost_usd, estimated_usd, saved_usd, previous_cost_usd },
  })

  test('of each group equal the records, including those without one, most expensive first', async () => {
    const span = `start_time=${now - 20 * DAY - 1_234}&end_time=${now - 456}`
    for (const range of ['', `month=${monthBefore}`, span])
      for (const [filter, where] of [
        [`&project_id=proj_${projects[0]}`, `r.project_id = ${projects[0]}`],
        [
          `&project_id=proj_${projects[1]}&key_type=project`,
          `r.project_id = ${projects[1]} and key_id not in (select id from api_keys where type = 'test')`,
        ],
        ['', 'true'],
      ] as const)
        for (const group of Object.keys(NAMES) as (keyof typeof NAMES)[]) {
          const path = `/v1/usage/costs?grouping=${group}&${range}${filter}`
          const { json, status } = await get(path)
          expect([path, status]).toEqual([path, 200])
          const summed = await sumRecords(group, where, json)
          expect([path, json.data.map(pick)]).toEqual([path, summed])
          const [total] = await sumRecords('model', where, json).then(rows => [rows.map(({ cost_usd }) => cost_usd)])
          const sum = (total ?? []).reduce((all, usd) => all + usd, 0)
          expect(json.total.cost_usd).toBeCloseTo(sum, 9)
          expect(json.total.requests).toBe(summed.reduce((all, { requests }) => all + requests, 0))
          if (range !== '' && (group === 'team' || group === 'end_user'))
            expect(json.data.map(({ kind }: { kind: string }) => kind)).toContain('without')
        }
  })

  test('of a month are compared with the month before, of the current one with its same part, of a span with its length', async () => {
    const costs = async (query: string) => (await get(`/v1/usage/costs?${query}`)).json
    const at = (text: string) => Date.parse(text) / 1000
    expect(await costs('month=2026-01')).toMatchObject({
      ...{ start_time: at('2026-01-01'), end_time: at('2026-02-01') },
      ...{ previous_start_time: at('2025-12-01'), previous_end_time: at('2026-01-01') },
    })
    const current = await costs('')
    const elapsed = Date.now() / 1000 - current.start_time
    const lengthBefore = current.start_time - current.previous_start_time
    expect(current.previous_end_time - current.previous_start_time).toBeGreaterThan(
      Math.min(elapsed, lengthBefore) - 60,
    )
    expect(current.previous_end_time - current.previous_start_time).toBeLessThanOrEqual(
      Math.min(elapsed + 2, lengthBefore),
    )
    expect(await costs('start_time=1000000&end_time=1000600')).toMatchObject({
      ...{ previous_start_time: 999_400, previous_end_time: 1_000_000 },
    })
    for (const query of ['month=2026-13', 'month=May', 'end_time=5', 'month=2026-01&start_time=5', 'grouping=city']) {
      const { status, json } = await get(`/v1/usage/costs?${query}`)
      expect([query, status, json.error.param]).toEqual([query, 400, /^[a-z_]+/.exec(query)?.[0]])
    }
  })

  test('are the same in the file', async () => {
    const query = `grouping=team&month=${monthBefore}&project_id=proj_${projects[0]}`
    const { json } = await get(`/v1/usage/costs?${query}`)
    const { text, headers } = await get(`/v1/usage/costs/export?${query}`)
    expect(headers.get('content-disposition')).toBe('attachment; filename="costs.csv"')
    const [head, ...lines] = text.replace('\ufeff', '').trimEnd().split('\r\n')
    expect(head?.split(',')).toEqual(COLUMNS)
    const written = json.data.map((row: Record<string, unknown>) => COLUMNS.map(name => row[name] ?? '').join(','))
    expect(lines).toEqual(written)
    expect(lines.length).toBe(3)
    expect((await get(`/v1/usage/costs/export?${query}&format=json`)).json).toEqual(json.data)
  })

  test.each(['model', 'end_user'])('beyond the first groups are one row, by %s', async group => {
    const read = (most: number) =>
      proxy.query<{ level: string; shares: number; cost_usd: number; previous_usd: number }>(
        `select level, name, shares::integer, cost_usd::float8, previous_usd::float8 from cost_shares(null,
          now() - interval '62 days', now() - interval '30 days', now() - interval '30 days', now(), '${group}', null, ${most})`,
      )
    const [all, rows] = [await read(100), await read(2)]
    expect([rows.slice(0, 2), rows.at(-1)]).toEqual([all.slice(0, 2), all.at(-1)])
    expect(rows.map(({ level }) => level)).toEqual(['group', 'group', 'rest', 'total'])
    expect(rows.map(({ shares }) => shares)).toEqual([1, 1, all.length - 3, all.length - 1])
    for (const field of ['cost_usd', 'previous_usd'] as const)
      expect(rows.slice(0, 3).reduce((sum, row) => sum + row[field], 0)).toBeCloseTo(all.at(-1)?.[field] ?? 0, 9)
  })

  test('have the monthly report of the project as a page', async () => {
    const { status, text, headers } = await get(`/v1/usage/report?project_id=proj_${projects[0]}&month=${monthBefore}`)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain('<h1>Model Proxy: one, ')
    expect(text).toContain('Without a team')
    expect(text).not.toContain('elsewhere')
    expect((await get(`/v1/usage/report?project_id=proj_${projects[0]}&month=May`)).status).toBe(400)
  })

  test('and shares of the overview are ordered by the requested figure, with one hit rate', async () => {
    const span = `start_time=${now - 62 * DAY}&end_time=${now + 1}&project_id=proj_${projects[0]}`
    for (const filter of ['', '&tags[]=env%3Dprod'])
      for (const [by, field] of Object.entries({
        requests: 'requests',
        cost: 'cost_usd',
        tokens: 'tokens',
        failed: 'failed',
      })) {
        const { json } = await get(`/v1/usage?${span}&shares_by=${by}${filter}`)
        for (const list of [json.by_model, json.by_api_key, json.by_tag]) {
          const figures = list.map((row: Record<string, number>) => row[field])
          expect([by, figures]).toEqual([by, figures.toSorted((a: number, b: number) => b - a)])
          expect(figures.length).toBeGreaterThan(1)
        }
        for (const row of [json.totals, ...json.by_model, ...json.by_api_key, ...json.by_tag]) {
          expect(row.misses + row.hits).toBeLessThan(row.requests)
          expect(row.hit_rate).toBe(row.hits / (row.hits + row.misses))
        }
      }
    const [counted] = await proxy.query<{ rate: number }>(
      `select (count(*) filter (where cache_result <> 'MISS')::float8 / count(cache_result))::float8 as rate
        from usage_records where project_id = ${projects[0]} and tags ->> 'env' = 'prod'`,
    )
    expect((await get(`/v1/usage?${span}&tags[]=env%3Dprod`)).json.totals.hit_rate).toBe(counted?.rate)
  })
})
