/** Usage reports contain every request exactly once, for every span, time zone and grouping, and no parameter is ignored. */

import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { recordUsage, rollUpUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { PASS_THROUGH_OPERATIONS } from '../../../src/providers/pass-through-operations.ts'
import { describeBackends } from '../../harness/backends.ts'
import { draw, propertyRuns } from '../../harness/depth.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

const ENDPOINTS = [
  'chat',
  'completions',
  'responses',
  'messages',
  'embeddings',
  'files',
  'anthropic_files',
  'batches',
  'message_batches',
  'realtime',
  ...Object.keys(PASS_THROUGH_OPERATIONS),
]
const REPORTS = [
  ...['completions', 'embeddings', 'moderations', 'images', 'audio_speeches', 'audio_transcriptions'],
  ...['rerankings', 'files_and_batches'],
]
/** The types of each project's keys. */
const KEY_TYPES = ['project', 'test', 'project']
const RECORDS = 400
/** Each run reads all pages of all reports. */
const SPANS = propertyRuns / 5
const HOURS = 30

describeBackends('usage reports', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
  let adminKey: string
  let now: number
  const projects: number[] = []
  let keys: number[]

  beforeAll(async () => {
    await addUser(proxy, 'all@example.com', 'owner')
    adminKey = await issueAdminKey(proxy, 'all@example.com')
    for (const name of ['one', 'other']) {
      const [row] = await proxy.query<{ id: string }>(`select create_project('${name}', 'free')::text as id`)
      projects.push(Number(row?.id))
    }
    for (const name of ['one', 'other'])
      for (const [index, type] of KEY_TYPES.entries())
        await proxy.query(`select issue_key('${name}', '${type}', 'k${index}')`)
    const issued = await proxy.query<{ id: string }>(
      `select id::text as id from api_keys where project_id in (${projects}) order by project_id, id`,
    )
    keys = issued.map(({ id }) => Number(id))
    now = Math.floor(Date.now() / 1000)
    const records = Array.from({ length: RECORDS }, (_, n) => recordOf(n))
    // Some records are summed up, the others are still pending.
    await recordUsage(proxy.stores.database, records.slice(0, 300), crypto.randomUUID())
    await rollUpUsage(proxy.stores.database)
    await recordUsage(proxy.stores.database, records.slice(300), crypto.randomUUID())
  })

  function recordOf(n: number): UsageRecord {
    const secondsAgo = (n * 7919) % (HOURS * 3600)
    // Endpoints are independent of projects, keys and models, so each endpoint gets all of them for any number of endpoints.
    const round = Math.floor(n / ENDPOINTS.length)
    return {
      recorded_at: new Date((now - secondsAgo) * 1000).toISOString(),
      request_id: `r${n}`,
      project_id: projects[round % 2] ?? 0,
      key_id: keys[(round % 2) * KEY_TYPES.length + (round % KEY_TYPES.length)] ?? 0,
      endpoint: ENDPOINTS[n % ENDPOINTS.length] ?? '',
      model: `m${round % 5}`,
      provider: 'openai',
      cache_result: round % 4 === 0 ? 'HIT' : 'MISS',
      status: 200,
      streamed: false,
      prompt_tokens: n,
      cached_prompt_tokens: 0,
      completion_tokens: 1,
      tokens_saved: 0,
      cost_usd: 0.5,
      saved_usd: 0.25,
      latency_ms: 10 + n,
      duration_ms: 20,
      tags: [null, { team: 'search' }, { env: 'prod', team: 'ads' }][round % 3] ?? null,
    }
  }

  async function get(path: string) {
    return send(proxy, 'GET', path, { headers: { authorization: `Bearer ${adminKey}` } })
  }

  /** Reads every page of a report. Returns the total number of requests in its rows. */
  async function count(path: string): Promise<number> {
    let total = 0
    let page: string | null = null
    do {
      const { json, status } = await get(page === null ? path : `${path}&page=${page}`)
      expect([path, status]).toEqual([path, 200])
      for (const { results } of json.data) for (const row of results) total += row.num_model_requests
      page = json.next_page
    } while (page !== null)
    return total
  }

  test('all of them, the overview and the records have the same counts, in any period', async () => {
    const second = fc.integer({ min: 0, max: HOURS * 3600 })
    await fc.assert(
      fc.asyncProperty(second, second, fc.constantFrom('1m', '1h', '1d'), async (one, other, width) => {
        const [from, until] = [now - Math.max(one, other), now - Math.min(one, other) + 1]
        const [counted] = await proxy.query<{ requests: number }>(
          `select count(*)::integer as requests from usage_records
            where recorded_at >= to_timestamp(${from}) and recorded_at < to_timestamp(${until})`,
        )
        const span = `start_time=${from}&end_time=${until}`
        const overview = await get(`/v1/usage?${span}`)
        const reported = await Promise.all(
          REPORTS.map(name => count(`/v1/organization/usage/${name}?${span}&bucket_width=${width}&group_by[]=model`)),
        )
        const sum = reported.reduce((total, requests) => total + requests, 0)
        expect([sum, overview.json.totals.requests]).toEqual([counted?.requests, counted?.requests])
      }),
      { numRuns: SPANS },
    )
  })

  test('by the values of a tag, in any period, equal the records', async () => {
    const second = fc.integer({ min: 0, max: HOURS * 3600 })
    await fc.assert(
      fc.asyncProperty(second, second, fc.constantFrom('1m', '1h', '1d'), async (one, other, width) => {
        const [from, until] = [now - Math.max(one, other), now - Math.min(one, other) + 1]
        const span = `start_time=${from}&end_time=${until}&bucket_width=${width}&limit=${width === '1m' ? 1440 : 31}`
        for (const [filter, where] of [
          ['', 'true'],
          ['&tags[]=env%3Dprod', `tags->>'env' = 'prod'`],
        ]) {
          const counted = await proxy.query(
            `select tags->>'team' as team, count(*)::integer as requests from usage_records
              where recorded_at >= to_timestamp(${from}) and recorded_at < to_timestamp(${until})
                and endpoint in ('chat', 'completions', 'responses', 'responses/compact', 'messages', 'realtime') and ${where}
              group by 1 order by 1`,
          )
          const sums = new Map<string | null, number>()
          let page: string | null = null
          do {
            const path: string = `/v1/organization/usage/completions?${span}&group_by[]=tag:team${filter}`
            const { json } = await get(page === null ? path : `${path}&page=${page}`)
            for (const row of json.data.flatMap(({ results }: { results: unknown[] }) => results)) {
              sums.set(row.tags.team, (sums.get(row.tags.team) ?? 0) + row.num_model_requests)
            }
            page = json.next_page
          } while (page !== null)
          const summed = Array.from(sums, ([team, requests]) => ({ team, requests }))
          expect(summed.sort((a, b) => (a.team ?? 'z').localeCompare(b.team ?? 'z'))).toEqual(counted)
        }
        const [counted] = await proxy.query<{ requests: number }>(
          `select count(*)::integer as requests, count(*) filter (where cache_result <> 'MISS')::integer as hits,
            count(*) filter (where status >= 400)::integer as failed, sum(prompt_tokens)::integer as prompt_tokens from usage_records
            where recorded_at >= to_timestamp(${from}) and recorded_at < to_timestamp(${until}) and tags @> '{"env":"prod"}' having count(*) > 0`,
        )
        const { json } = await get(`/v1/usage?start_time=${from}&end_time=${until}&tags[]=env%3Dprod`)
        expect(json.totals).toMatchObject(counted ?? { requests: 0 })
        for (const shares of ['buckets', 'by_model', 'by_api_key']) {
          const sum = json[shares].reduce((total: number, row: { requests: number }) => total + row.requests, 0)
          expect([shares, sum]).toEqual([shares, counted?.requests ?? 0])
        }
        expect(json.by_tag.map(({ name }: { name: string }) => name)).toEqual(counted ? ['env=prod', 'team=ads'] : [])
        expect(json.totals.exact_hits).toBe(counted ? null : 0)
      }),
      { numRuns: SPANS },
    )
    const { json } = await get(`/v1/usage?start_time=${now - HOURS * 3600}&end_time=${now + 1}`)
    const [search] = await proxy.query<{ requests: number }>(
      `select count(*)::integer as requests from usage_records where tags->>'team' = 'search'`,
    )
    expect(json.by_tag.map(({ name }: { name: string }) => name).sort()).toEqual([
      'env=prod',
      'team=ads',
      'team=search',
    ])
    expect(json.by_tag).toContainEqual(expect.objectContaining({ name: 'team=search', requests: search?.requests }))
  })

  test.each(['group_by[]=tag:team&group_by[]=tag:env', 'group_by[]=tag:a%20b', 'tags[]=team', 'tags[]=%3Dsearch'])(
    'with %s are rejected',
    async query => {
      const { status, json } = await get(`/v1/organization/usage/completions?start_time=${now}&${query}`)
      expect([status, json.error.code]).toEqual([400, 'invalid_request_error'])
    },
  )

  test('an hour of a time zone with a half-hour offset has its own requests', async () => {
    for (const zone of ['Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns']) {
      const { json } = await get(
        `/v1/usage?start_time=${now - HOURS * 3600}&end_time=${now + 1}&width=hour&time_zone=${zone}`,
      )
      const counted = await proxy.query<{ at: number; requests: number }>(
        `select extract(epoch from date_trunc('hour', recorded_at, '${zone}'))::integer as at, count(*)::integer as requests
          from usage_records where recorded_at >= to_timestamp(${now - HOURS * 3600}) group by 1 order by 1`,
      )
      const reported = json.buckets.map((bucket: { start_time: number; requests: number }) => ({
        at: bucket.start_time,
        requests: bucket.requests,
      }))
      expect(reported).toEqual(counted)
    }
  })

  const SPAN = () => `start_time=${now - HOURS * 3600}&end_time=${now + 1}`

  test('each declared parameter changes the response, and any other is a 400', async () => {
    const description = (await get('/openapi.json')).json
    const changes: Record<string, string> = {
      start_time: `${now - 3600}`,
      end_time: `${now - 20 * 3600}`,
      bucket_width: '1h',
      limit: '1',
      group_by: 'project_id',
      tags: 'team%3Dsearch',
      project_ids: `proj_${projects[0]}`,
      api_key_ids: `key_${keys[0]}`,
      models: 'm1',
      line_items: 'm1',
      project_id: `proj_${projects[0]}`,
      api_key_id: `key_${keys[0]}`,
      key_type: 'project',
      model: 'm1',
      width: 'day',
      shares_by: 'tokens',
      grouping: 'model',
      time_zone: 'Asia/Kolkata',
    }
    const paths = [
      '/v1/usage',
      '/v1/usage/costs',
      '/v1/organization/costs',
      ...REPORTS.map(name => `/v1/organization/usage/${name}`),
    ]
    for (const path of paths) {
      const plain = (await get(`${path}?${SPAN()}`)).text
      const declared: { name: string }[] = description.paths[path].get.parameters
      for (const { name } of draw(declared)) {
        if (name === 'page' || name === 'month' || (name === 'bucket_width' && path.endsWith('costs'))) continue
        const value = changes[name]
        expect(`${name} ${value === undefined ? 'is unknown to this test' : 'is known'}`).toBe(`${name} is known`)
        const others = new URLSearchParams(SPAN())
        others.delete(name)
        const { text, status } = await get(`${path}?${others}&${name}=${value}`)
        expect([path, name, status, text !== plain]).toEqual([path, name, 200, true])
      }
      for (const ignored of ['user_ids=user_1', 'batch=true', 'group_by=user_id', 'page=page_999999999999']) {
        const { status, json } = await get(`${path}?${SPAN()}&${ignored}`)
        expect([path, ignored, status]).toEqual([path, ignored, 400])
        expect(json.error.param).toBe(ignored.split('=')[0])
      }
    }
    // A filter of usage is rejected for costs, and the other way round.
    expect((await get(`/v1/organization/costs?${SPAN()}&models=m1`)).status).toBe(400)
    expect((await get(`/v1/organization/usage/completions?${SPAN()}&line_items=m1`)).status).toBe(400)
  })

  test('every part of the overview applies the requested key and model', async () => {
    const { json } = await get(`/v1/usage?${SPAN()}&api_key_id=key_${keys[0]}&model=m1`)
    const requests = (rows: { requests: number }[]) => rows.reduce((total, row) => total + row.requests, 0)
    expect(json.totals.requests).toBeGreaterThan(0)
    expect([requests(json.by_model), requests(json.by_api_key)]).toEqual([json.totals.requests, json.totals.requests])
    expect(json.latency).toEqual([])
  })

  test('a response has at most 5,000 rows, and pages lose none', async () => {
    await proxy.query(`select issue_key('one', 'project', 'many')`)
    const [many] = await proxy.query<{ id: string }>(`select id::text as id from api_keys where name = 'many'`)
    await proxy.query(
      `insert into usage_records (recorded_at, request_id, project_id, key_id, endpoint, model, status, streamed, prompt_tokens,
          cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms)
        select to_timestamp(${now} - n % 180), 'x' || n, ${projects[0]}, ${many?.id}, 'chat', 'many' || n % 6001, 200, false, 1, 0, 1, 0, 0, 0, 1, 1
        from generate_series(1, 12000) n`,
    )
    const path = `/v1/organization/usage/completions?start_time=${now - 180}&end_time=${now + 1}&bucket_width=1m&api_key_ids=key_${many?.id}&group_by=model`
    let page = ''
    let rows = 0
    let requests = 0
    do {
      const { json } = await get(`${path}${page}`)
      const results = json.data.flatMap((bucket: { results: { num_model_requests: number }[] }) => bucket.results)
      expect(results.length).toBeLessThanOrEqual(5_000)
      rows += results.length
      for (const row of results) requests += row.num_model_requests
      page = json.next_page === null ? '' : `&page=${json.next_page}`
    } while (page !== '')
    expect(requests).toBe(12_000)
    expect(rows).toBeGreaterThan(11_000)
    // These records were inserted without sums, unlike those that the proxy writes.
    await proxy.query(`delete from usage_records where key_id = ${many?.id}`)
  })

  test('the overview separates test keys from project keys', async () => {
    const [counted] = await proxy.query<{ project: number; test: number }>(`
      select count(*) filter (where k.type = 'project')::integer as project, count(*) filter (where k.type = 'test')::integer as test
      from usage_records r join api_keys k on k.id = r.key_id`)
    expect(Math.min(counted?.project ?? 0, counted?.test ?? 0)).toBeGreaterThan(0)
    for (const [type, requests] of Object.entries(counted ?? {})) {
      const { json } = await get(`/v1/usage?${SPAN()}&key_type=${type}`)
      const shared = json.by_api_key.reduce((total: number, row: { requests: number }) => total + row.requests, 0)
      expect([type, json.totals.requests, shared]).toEqual([type, requests, requests])
    }
    for (const [filter, meaning] of [
      ['', 'true'],
      ['&model=m1', "model = 'm1'"],
    ])
      for (const type of ['project', 'test']) {
        const [tagged] = await proxy.query<{
          requests: number
        }>(`select count(*)::integer as requests from usage_records r
          where tags @> '{"env": "prod"}' and ${meaning} and key_id in (select id from api_keys where type = '${type}')`)
        const { json } = await get(`/v1/usage?${SPAN()}&key_type=${type}&tags[]=env%3Dprod${filter}`)
        const shared = [json.by_model, json.by_api_key].map((rows: { requests: number }[]) =>
          rows.reduce((total, row) => total + row.requests, 0),
        )
        expect([type, filter, json.totals.requests, ...shared]).toEqual([
          type,
          filter,
          ...Array(3).fill(tagged?.requests),
        ])
      }
    expect((await get(`/v1/usage?${SPAN()}&key_type=other`)).status).toBe(400)
  })

  test('the overview has the requests, costs and savings of the time range of equal length before', async () => {
    const [hour, half] = [3_600, (HOURS / 2) * 3_600]
    for (const filter of [
      '',
      '&key_type=test',
      '&key_type=project',
      '&model=m1',
      '&tags[]=env%3Dprod',
      `&project_id=proj_${projects[0]}`,
    ]) {
      for (const length of [half, 7 * hour + 123]) {
        const totalOf = async (from: number, until: number) => {
          const { json } = await get(`/v1/usage?start_time=${from}&end_time=${until}${filter}`)
          const rounded = (usd: number) => usd.toFixed(9)
          return [
            [json.totals.requests, rounded(json.totals.cost_usd), rounded(json.totals.saved_usd)],
            [json.previous_requests, rounded(json.previous_cost_usd), rounded(json.previous_saved_usd)],
          ]
        }
        const [[, previous], [total]] = await Promise.all([
          totalOf(now - length, now),
          totalOf(now - 2 * length, now - length),
        ])
        expect(total?.[0]).toBeGreaterThan(0)
        expect(Number(total?.[1])).toBeGreaterThan(0)
        expect([filter, previous]).toEqual([filter, total])
      }
    }
    expect((await get(`/v1/usage?start_time=0&end_time=${now}`)).json.previous_requests).toBe(0)
  })

  test('estimated costs are summed by reason, found, and settled', async () => {
    const [first, second] = ['client_left', 'provider_failed'] as const
    const estimated = [
      { ...recordOf(0), cost_estimated: first, cost_usd: 0.1, doubtful_usd: 2 },
      { ...recordOf(1), cost_estimated: second, cost_usd: 0.3 },
    ].map((record, n) => ({ ...record, request_id: `estimated-${n}`, project_id: projects[0] ?? 0 }))
    await recordUsage(proxy.stores.database, estimated, crypto.randomUUID())
    const span = `start_time=${now - HOURS * 3600}&end_time=${now + 60}&project_id=proj_${projects[0]}`
    const summed = async () => (await get(`/v1/usage?${span}`)).json.estimated
    const rest = { reason: second, requests: 1, cost_usd: 0.3, doubtful_usd: 0 }
    expect(await summed()).toEqual([rest, { reason: first, requests: 1, cost_usd: 0.1, doubtful_usd: 2 }])
    const found = (await get(`/v1/requests?${span}&outcome=estimated`)).json.data as {
      id: string
      request_id: string
    }[]
    expect(found.map(({ request_id }) => request_id).toSorted()).toEqual(['estimated-0', 'estimated-1'])
    const id = found.find(({ request_id }) => request_id === 'estimated-0')?.id
    const settle = (body: object) =>
      send(proxy, 'POST', `/v1/requests/${id}/settle`, {
        headers: { authorization: `Bearer ${adminKey}` },
        body: { project_id: `proj_${projects[0]}`, ...body },
      })
    expect((await settle({ cost_usd: -1 })).status).toBe(400)
    const settled = await settle({ cost_usd: 1.25, prompt_tokens: 7 })
    expect(settled.json).toMatchObject({
      id,
      cost_usd: 1.25,
      prompt_tokens: 7,
      cost_estimated: null,
      doubtful_usd: null,
    })
    expect(await summed()).toEqual([rest])
    expect((await settle({ cost_usd: 2 })).status).toBe(404)
  })
})
