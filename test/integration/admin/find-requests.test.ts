/** Requests can be filtered by every recorded field, sorted in every order, paged and exported. */

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callAsActor } from '../../../src/postgres/admin/call-as.ts'
import { recordUsage, rollUpUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { describeBackends } from '../../harness/backends.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

const RECORDS = 1_500
const DAYS = 40
const FORMULA = `=HYPERLINK("http://x", "y")`
/** Some spreadsheets treat these full-width characters like their ASCII forms. */
const WIDE = '\uff1d1+1'
/** Two of each status that fails, by the place of the status: a short time has only some of them. */
const ERROR_CODES: Record<number, [string, string]> = {
  3: ['rate_limit_exceeded', 'quota_exceeded'],
  4: ['upstream_error', 'upstream_timeout'],
}
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Query parameters and the SQL conditions that they must be equal to. */
const FILTERS: Record<string, { values: string[]; meaning(value: string): string }> = {
  model: {
    values: ['LINI', 'mini_3', '%', 'claude'],
    meaning: part => `strpos(lower(model), lower(${quoted(part)})) > 0`,
  },
  model_name: {
    values: ['mini-3', 'mini', 'MINI-3', 'lini%x', '%'],
    meaning: name => `model = ${quoted(name)}`,
  },
  key_type: {
    values: ['project', 'test'],
    // Keys that are gone count as project keys.
    meaning: type =>
      `coalesce((select k.type from api_keys k where k.id = key_id and k.project_id = usage_records.project_id), 'project') = ${quoted(type)}`,
  },
  endpoint: { values: ['chat', 'embeddings', 'nothing'], meaning: endpoint => `endpoint = ${quoted(endpoint)}` },
  provider: { values: ['openai', 'groq'], meaning: provider => `provider = ${quoted(provider)}` },
  cache_result: { values: ['HIT', 'MISS', 'HIT-SEMANTIC'], meaning: result => `cache_result = ${quoted(result)}` },
  outcome: {
    values: ['ok', 'failed', 'client_error', 'server_error'],
    meaning: outcome =>
      ({ ok: 'status < 400', client_error: 'status between 400 and 499', server_error: 'status >= 500' })[outcome] ??
      'status >= 400',
  },
  status: { values: ['200', '429', '503', '418'], meaning: status => `status = ${status}` },
  error_code: { values: ['rate_limit_exceeded', 'upstream_timeout'], meaning: code => `error_code = ${quoted(code)}` },
  end_user: { values: ['user-3', FORMULA], meaning: user => `end_user = ${quoted(user)}` },
  session: { values: ['session-2'], meaning: session => `session = ${quoted(session)}` },
  api_key_id: { values: ['key_1', 'key_2', 'key_99'], meaning: key => `key_id = ${key.slice(4)}` },
  asked_id: { values: ['asked-7', 'nothing'], meaning: id => `asked_id = ${quoted(id)}` },
  request_id: { values: ['r7', 'r1400'], meaning: id => `request_id = ${quoted(id)}` },
  tags: {
    values: ['team=search', 'env=prod'],
    meaning: tag => `tags->>${quoted(tag.split('=')[0] ?? '')} = ${quoted(tag.split('=')[1] ?? '')}`,
  },
}
const ORDERS: Record<string, { where: string; by: string }> = {
  newest: { where: 'true', by: 'recorded_at desc, request_id desc' },
  slowest: { where: 'duration_ms >= 1000', by: 'duration_ms desc, recorded_at desc, request_id desc' },
  dearest: { where: 'cost_usd > 0', by: 'cost_usd desc, recorded_at desc, request_id desc' },
}

describeBackends('finding requests', backend => {
  let proxy: TestProxy
  let adminKey: string
  let now: number
  let project: number

  beforeAll(async () => {
    const stores = await backend.open()
    proxy = await startProxy({ dashboard: true, stores })
    await addUser(proxy, 'all@example.com', 'owner')
    adminKey = await issueAdminKey(proxy, 'all@example.com')
    const [row] = await proxy.query<{ id: string }>(`select create_project('one', 'free')::text as id`)
    project = Number(row?.id)
    // The third key is deleted.
    await proxy.query(`insert into api_keys (id, project_id, key_hash, prefix, type, name) overriding system value
      values (1, ${project}, sha256('1'), 'lgw_proj_00000001', 'project', 'one'), (2, ${project}, sha256('2'), 'lgw_test_00000002', 'test', 'two')`)
    now = Math.floor(Date.now() / 1000)
    const records = Array.from({ length: RECORDS }, (_, n) => recordOf(n))
    // Some records are summed up, the others are still pending.
    await recordUsage(stores.database, records.slice(0, 1_000), crypto.randomUUID())
    await rollUpUsage(stores.database)
    await recordUsage(stores.database, records.slice(1_000), crypto.randomUUID())
  })
  afterAll(() => proxy.stop())

  /** Most requests are from the last hours, the others from each of the weeks before. Many times and costs are equal. */
  function recordOf(n: number): UsageRecord {
    const secondsAgo = n % 3 === 0 ? (n * 104_729) % (DAYS * 86_400) : (n * 7919) % 20_000
    return {
      recorded_at: new Date((now - secondsAgo) * 1000).toISOString(),
      request_id: `r${n}`,
      project_id: n % 11 === 0 ? project + 1 : project,
      key_id: 1 + (n % 3),
      endpoint: n % 5 === 0 ? 'embeddings' : 'chat',
      model: ['mini_3', 'mini-3', 'lini%x', 'claude'][n % 4] ?? '',
      provider: [null, 'openai', 'groq'][n % 3] ?? null,
      cache_result: ([null, 'HIT', 'HIT-SEMANTIC', 'MISS'] as const)[n % 4] ?? null,
      status: [200, 200, 200, 429, 503][n % 5] ?? 200,
      error_code: (ERROR_CODES[n % 5] ?? [null])[n % 2] ?? null,
      streamed: false,
      prompt_tokens: n,
      cached_prompt_tokens: 0,
      completion_tokens: 1,
      tokens_saved: 0,
      cost_usd: n % 2 === 0 ? (n % 7) / 1000 : 0,
      saved_usd: 0,
      latency_ms: 10,
      duration_ms: (n % 13) * 200,
      end_user: n % 50 === 0 ? FORMULA : n % 50 === 1 ? WIDE : n % 7 === 0 ? `user-${n % 4}` : null,
      session: n % 9 === 0 ? `session-${n % 4}` : null,
      asked_id: `asked-${n % 19}`,
      tags: [null, { team: 'search' }, { env: 'prod', team: 'ads' }][n % 3] ?? null,
    }
  }

  const get = (path: string) => send(proxy, 'GET', path, { headers: { authorization: `Bearer ${adminKey}` } })

  async function listAll(query: URLSearchParams): Promise<string[]> {
    const found: string[] = []
    let after: string | null = null
    do {
      if (after !== null) query.set('after', after)
      const { status, json } = await get(`/v1/requests?${query}`)
      expect([String(query), status]).toEqual([String(query), 200])
      found.push(...json.data.map((item: { request_id: string }) => item.request_id))
      after = json.has_more ? json.last_id : null
    } while (after !== null && found.length < 400)
    return found
  }

  test('by any filters, in any period and order, returns what psql returns, over all pages', async () => {
    const second = fc.integer({ min: 0, max: DAYS * 86_400 })
    const filter = fc
      .constantFrom(...Object.keys(FILTERS))
      .chain(name => fc.constantFrom(...(FILTERS[name]?.values ?? [])).map(value => [name, value] as const))
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(second, second),
        fc.uniqueArray(filter, { maxLength: 3, selector: ([name]) => name }),
        fc.constantFrom(...Object.keys(ORDERS)),
        fc.integer({ min: 7, max: 100 }),
        async ([one, other], filters, sort, limit) => {
          const [from, until] = [now - Math.max(one, other), now - Math.min(one, other) + 1]
          const order = ORDERS[sort]
          const rows = await proxy.query<{ request_id: string }>(
            `select request_id from usage_records where project_id = ${project} and recorded_at >= to_timestamp(${from})
              and recorded_at < to_timestamp(${until}) and ${order?.where}
              ${filters.map(([name, value]) => `and ${FILTERS[name]?.meaning(value)}`).join(' ')} order by ${order?.by} limit 400`,
          )
          const query = new URLSearchParams({ project_id: `proj_${project}`, sort, limit: String(limit) })
          query.set('start_time', String(from))
          query.set('end_time', String(until))
          for (const [name, value] of filters) query.set(name, value)
          expect((await listAll(query)).slice(0, rows.length + 1).slice(0, 400)).toEqual(
            rows.map(row => row.request_id),
          )
        },
      ),
    )
  }, 120_000)

  test('by the tag user_id, only for callers who may see the project', async () => {
    await proxy.query(`update usage_records set tags = '{"user_id": "u1"}' where request_id in ('r12', 'r13')`)
    const [nobody] = await proxy.query<{ id: string }>(`select create_user('nobody@example.com', 'reader')::text as id`)
    const [owner] = await proxy.query<{ id: string }>(`select id::text from users where email = 'all@example.com'`)
    const find = (id = '') =>
      callAsActor(
        { database: proxy.stores.database, name: 'x', userId: Number(id), adminKeyId: null, address: '127.0.0.1' },
        'find_requests',
        {
          ...{ of_project: project, of_tags: { user_id: 'u1' } },
          ...{ from_time: '2020-01-01T00:00:00Z', until_time: '2100-01-01T00:00:00Z' },
        },
      )
    expect((await find(owner?.id)).map(({ record }) => (record as UsageRecord).request_id).sort()).toEqual([
      'r12',
      'r13',
    ])
    expect(await find(nobody?.id)).toEqual([])
  })

  test.each(['key_type', 'model_name', 'outcome'])(
    'by %s alone, to which a number of the overview links',
    async name => {
      // Long enough for records of all three keys.
      const from = now - DAYS * 86_400
      for (const value of FILTERS[name]?.values ?? []) {
        const [row] = await proxy.query<{ n: number }>(
          `select count(*)::integer as n from usage_records where project_id = ${project}
          and recorded_at >= to_timestamp(${from}) and ${FILTERS[name]?.meaning(value)}`,
        )
        const span = `project_id=proj_${project}&start_time=${from}&format=json`
        const { text } = await get(`/v1/requests/export?${span}&${name}=${encodeURIComponent(value)}`)
        expect([value, JSON.parse(text).length]).toEqual([value, row?.n])
      }
    },
  )

  test.each([
    [30_000, 7_000, 20],
    // A single request, which failed.
    [3_352, 3_351, 5],
  ])('lists exactly the values that occur in a time range, and how often: %s', async (start, end, least) => {
    const [from, until] = [now - start, now - end]
    const { status, json } = await get(
      `/v1/requests/filters?project_id=proj_${project}&start_time=${from}&end_time=${until}`,
    )
    expect([status, json.object, json.has_more]).toEqual([200, 'list', false])
    type Value = { kind: string; value: string; requests: number | null }
    const sort = (values: Value[]) =>
      values.map(({ kind, value, requests }) => `${kind} ${value} ${requests}`).sort((a, b) => (a < b ? -1 : 1))
    const span = `project_id = ${project} and recorded_at >= to_timestamp(${from}) and recorded_at < to_timestamp(${until})`
    const counted = Object.entries({
      model: 'model',
      provider: 'provider',
      endpoint: 'endpoint',
      cache_result: 'cache_result',
      api_key: `'key_' || key_id`,
      outcome: `unnest(case when status < 400 then array['ok'] when status < 500 then array['failed', 'client_error'] else array['failed', 'server_error'] end)`,
      end_user: 'end_user',
      tag: `(jsonb_each_text(tags)).key || '=' || (jsonb_each_text(tags)).value`,
    }).map(
      ([kind, value]) =>
        `select '${kind}' as kind, ${value} as value, count(*)::integer as requests from usage_records where ${span} group by 2`,
    )
    const uncounted = Object.entries({
      status: 'case when status >= 400 then status::text end',
      error_code: 'error_code',
    }).map(([kind, value]) => `select distinct '${kind}', ${value}, null::integer from usage_records where ${span}`)
    const rows = await proxy.query<Value>(
      `select * from (${[...counted, ...uncounted].join(' union all ')}) v where v.value is not null`,
    )
    expect(rows.length).toBeGreaterThan(least)
    expect(sort(json.data)).toEqual(sort(rows))
    const none = await get(`/v1/requests/filters?project_id=proj_${project}&start_time=1&end_time=2`)
    expect(none.json.data).toEqual([])
  })

  test('finds a request by its id at any age, but only in a given time range', async () => {
    const old = new Date((now - 300 * 86_400) * 1000).toISOString()
    await recordUsage(
      proxy.stores.database,
      [{ ...recordOf(1), request_id: 'ancient', recorded_at: old }],
      crypto.randomUUID(),
    )
    const find = async (query: string) =>
      (await get(`/v1/requests?project_id=proj_${project}&${query}`)).json.data.map(
        (row: UsageRecord) => row.request_id,
      )
    expect(await find('request_id=ancient')).toEqual(['ancient'])
    expect(await find(`request_id=ancient&start_time=${now - 7 * 86_400}`)).toEqual([])
    expect(await find('request_id=anc')).toEqual([])
    expect((await get('/v1/requests?project_id=proj_999&request_id=ancient')).status).toBe(404)
    await proxy.query(`delete from usage_records where request_id = 'ancient'`)
  })

  test('as a CSV file, no cell is a formula, and quotes and commas stay in their cells', async () => {
    const span = `project_id=proj_${project}&start_time=${now - DAYS * 86_400}`
    const { status, text, headers } = await get(`/v1/requests/export?${span}`)
    expect([status, headers.get('content-disposition')]).toEqual([200, 'attachment; filename="requests.csv"'])
    const [head = '', ...lines] = text.replace('\ufeff', '').trimEnd().split('\r\n')
    const [counted] = await proxy.query(
      `select count(*)::integer as n from usage_records where project_id = ${project}`,
    )
    expect({ n: lines.length }).toEqual(counted)
    const at = head.split(',').indexOf('end_user')
    const cells = lines.map(line =>
      Array.from(line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g), ([, cell = '']) => cell),
    )
    expect(new Set(cells.map(row => row.length - 1))).toEqual(new Set([head.split(',').length]))
    const users = new Set(cells.map(row => row[at]))
    for (const harmful of [FORMULA, WIDE]) expect(users).toContain(`"'${harmful.replaceAll('"', '""')}"`)
    expect(cells.flat().filter(cell => /^"?[=+@-]/.test(cell))).toEqual([])
  })

  test('as a JSON file, equals the list’s items in its order, up to the limit', async () => {
    const span = `project_id=proj_${project}&start_time=${now - DAYS * 86_400}&sort=slowest`
    const { json: list } = await get(`/v1/requests?${span}&limit=100`)
    for (const limit of [1, 100, 1_234]) {
      const { text } = await get(`/v1/requests/export?${span}&format=json&limit=${limit}`)
      expect(JSON.parse(text).slice(0, 100)).toEqual(list.data.slice(0, Math.min(limit, 100)))
    }
    const { text: none } = await get(`/v1/requests/export?${span}&format=json&model=nobody`)
    expect(JSON.parse(none)).toEqual([])
  })

  test.each([
    'status=99',
    'sort=fastest',
    'key_type=admin',
    'after=x',
    'tags=team',
    'format=xml',
    'limit=0',
    'nonsense=1',
  ])('with %s is rejected', async query => {
    const path = query.startsWith('format') ? '/v1/requests/export' : '/v1/requests'
    const { status, json } = await get(`${path}?project_id=proj_${project}&${query}`)
    expect([status, json.error.code]).toEqual([400, 'invalid_request_error'])
  })
})
