/** Sessions of agents: each row and sum equals the plain sum of its records, and each session's requests can be listed. */
import { beforeAll, expect, test } from 'vitest'
import { recordUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { describeBackends } from '../../harness/backends.ts'
import { post } from '../../harness/client.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

const MINUTE = 60
const RECORDS = 400

describeBackends('sessions of agents', backend => {
  const upstream = duringTests(startFakeProvider)
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: upstream.environment }),
  )
  let adminKey: string
  let project: number
  let keys: number[]
  const now = Math.floor(Date.now() / 1000)
  const span = `start_time=${now - 7_200}&end_time=${now + 3_600}`

  beforeAll(async () => {
    await addUser(proxy, 'all@example.org', 'owner')
    adminKey = await issueAdminKey(proxy, 'all@example.org')
    await proxy.query(`select create_project('agents', 'pro')`)
    for (const type of ['project', 'test']) await proxy.query(`select issue_key('agents', '${type}', '${type}')`)
    const rows = await proxy.query<{ project: number; key: number }>(
      `select project_id::integer as project, id::integer as key from api_keys where project_id = find_project('agents') order by id`,
    )
    project = rows[0]?.project ?? 0
    keys = rows.map(({ key }) => key)
    const records = Array.from({ length: RECORDS }, (_, n) => recordOf(n))
    await recordUsage(proxy.stores.database, records, crypto.randomUUID())
  })

  /** Every fifth record belongs to no session, and every seventh to another project. */
  function recordOf(n: number, changes: Partial<UsageRecord> = {}): UsageRecord {
    const session = n % 5 === 0 ? null : `s${(n * n) % 23}`
    const isWritten = n % 4 === 1
    return {
      recorded_at: new Date((now - 6 * MINUTE - ((n * 7919) % 5_000)) * 1000).toISOString(),
      request_id: `r${n}`,
      project_id: n % 7 === 0 ? project + 1_000 : project,
      key_id: keys[n % 3 === 0 ? 1 : 0] ?? 0,
      endpoint: 'chat',
      model: ['opus', 'haiku'][n % 2] ?? '',
      provider: 'anthropic',
      cache_result: ([null, 'HIT', 'HIT-SEMANTIC', 'MISS'] as const)[n % 4] ?? null,
      status: [200, 200, 429][n % 3] ?? 200,
      streamed: false,
      ...{ prompt_tokens: n, cached_prompt_tokens: session === 's1' || !isWritten ? 0 : n % 9, completion_tokens: 1 },
      ...{ tokens_saved: 0, cost_usd: (n % 11) / 8, saved_usd: (n % 3) / 4, latency_ms: 1, duration_ms: 500 },
      end_user: n % 23 === 1 ? 'alice' : n % 2 === 0 ? 'bob' : null,
      session,
      cache_write_tokens: isWritten ? n : null,
      prompt_cache_saved_usd: isWritten ? (n % 5) / 16 - 0.125 : null,
      ...changes,
    }
  }

  const get = (path: string) => send(proxy, 'GET', path, { headers: { authorization: `Bearer ${adminKey}` } })
  async function read(query = '') {
    const { status, json } = await get(`/v1/usage/sessions?project_id=proj_${project}&${span}${query}`)
    expect([query, status]).toEqual([query, 200])
    return json
  }

  const SUMS = `
    count(*)::integer as requests, (count(*) filter (where status >= 400))::integer as failed,
    (count(*) filter (where cache_result like 'HIT%'))::integer as hits,
    (count(*) filter (where cache_result = 'MISS'))::integer as misses, sum(prompt_tokens)::integer as prompt_tokens,
    sum(cached_prompt_tokens)::integer as cached_prompt_tokens, coalesce(sum(cache_write_tokens), 0)::integer as cache_write_tokens,
    sum(completion_tokens)::integer as completion_tokens, sum(cost_usd)::float8 as cost_usd, sum(saved_usd)::float8 as saved_usd,
    coalesce(sum(prompt_cache_saved_usd), 0)::float8 as prompt_cache_saved_usd`
  const plain = (condition: string) =>
    proxy.query<Record<string, number>>(`
      select session as id, ${SUMS}, extract(epoch from max(recorded_at))::integer as ended_at,
        sum(coalesce(cache_write_tokens, 0)) > 0 and sum(cached_prompt_tokens) = 0 as is_unread
      from usage_records where project_id = ${project} and session is not null and ${condition} group by session`)

  test.each([
    ['', 'true'],
    ['&key_type=test', `key_id in (select id from api_keys where type = 'test')`],
    ['&key_type=project', `key_id not in (select id from api_keys where type = 'test')`],
    ['&api_key_id=KEY', 'key_id = KEY'],
    ['&end_user=alice', `end_user = 'alice'`],
  ])('equal the sums of their records%s', async (query, condition) => {
    const key = String(keys[0])
    const rows = await plain(condition.replace('KEY', key))
    const filter = `${query.replace('KEY', `key_${key}`)}&limit=100`
    const found = await read(filter)
    expect(rows.length).toBeGreaterThan(0)
    const byId = (a: Record<string, unknown>, b: Record<string, unknown>) => String(a.id).localeCompare(String(b.id))
    const listed = found.data.map(
      ({ models: _, end_user: __, started_at: ___, ...row }: Record<string, unknown>) => row,
    )
    expect(listed.sort(byId)).toEqual(rows.sort(byId))
    const sum = (of: (row: Record<string, number>) => number) => rows.reduce((total, row) => total + of(row), 0)
    const unread = rows.filter(row => row.is_unread)
    expect(found).toMatchObject({ since: null, sessions: rows.length, unread_sessions: unread.length, has_more: false })
    expect(found.cost_usd).toBeCloseTo(sum(row => row.cost_usd ?? 0))
    expect(found.prompt_cache_saved_usd).toBeCloseTo(sum(row => row.prompt_cache_saved_usd ?? 0))
    expect(found.unread_usd).toBeCloseTo(unread.reduce((total, row) => total - (row.prompt_cache_saved_usd ?? 0), 0))
  })

  test.each(['newest', 'dearest'])('are paged without a gap, %s first', async sort => {
    const all = (await read(`&sort=${sort}&limit=100`)).data
    const measure = sort === 'newest' ? 'ended_at' : 'cost_usd'
    for (const [at, row] of all.entries()) if (at > 0) expect(row[measure]).toBeLessThanOrEqual(all[at - 1][measure])
    const paged = []
    for (let after = ''; ; ) {
      const { data, has_more, last_id } = await read(`&sort=${sort}&limit=3${after}`)
      paged.push(...data)
      if (!has_more) break
      after = `&after=${encodeURIComponent(last_id)}`
    }
    expect(paged).toEqual(all)
  })

  test('those that wrote the prompt cache without reading it are listed apart, once they can no longer read it', async () => {
    const isUnread = ({ is_unread }: { is_unread: boolean }) => is_unread
    const all = (await read('&limit=100')).data
    expect(all.filter(isUnread).map(({ id }: { id: string }) => id)).toContain('s1')
    expect(all.every(isUnread)).toBe(false)
    expect((await read('&unread=true&limit=100')).data).toEqual(all.filter(isUnread))
    const recent = new Date((now - 1) * 1000).toISOString()
    const changes = { project_id: project, session: 'running', cache_write_tokens: 9, cached_prompt_tokens: 0 }
    await recordUsage(proxy.stores.database, [recordOf(2, { ...changes, recorded_at: recent })], crypto.randomUUID())
    expect((await read()).data[0]).toMatchObject({ id: 'running', is_unread: false })
  })

  test('their requests can be listed', async () => {
    const [row] = (await read('&sort=dearest')).data
    const { json } = await get(`/v1/requests?project_id=proj_${project}&${span}&session=${row.id}&limit=100`)
    expect(json.data.length).toBe(row.requests)
    expect(json.data.every(({ session }: { session: string }) => session === row.id)).toBe(true)
    expect(row.models).toEqual([...new Set(json.data.map(({ model }: { model: string }) => model))].sort())
  })

  test('only the newest 50,000 requests are read, and the response says since when', async () => {
    const at = new Date((now - 2 * 86_400) * 1000).toISOString()
    const [row] = await proxy.query<{ name: string }>(`select name from projects where id = ${project}`)
    await proxy.query(`
      insert into usage_records (
        recorded_at, project_id, request_id, status, endpoint, model, streamed, prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved,
        cost_usd, saved_usd, latency_ms, duration_ms, key_id, session)
      select '${at}'::timestamptz - g * interval '1 millisecond', find_project('${row?.name}'), 'm' || g, 200, 'chat', 'm', false, 1, 0, 1, 0, 0, 0, 1, 1, ${keys[0]}, case when g > 50000 then 'before' else 'long' end
      from generate_series(1, 50100) g`)
    const { status, json } = await get(
      `/v1/usage/sessions?project_id=proj_${project}&start_time=0&end_time=${now - 86_400}`,
    )
    expect(status).toBe(200)
    expect(json.data).toMatchObject([{ id: 'long', requests: 50_000 }])
    expect(json.since).toBe(Math.floor(now - 2 * 86_400 - 50))
  })

  test('a request through the proxy is recorded with its session', async () => {
    const key = await proxy.createKey({ project: 'agents', type: 'project' })
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Fix the tests' }] }
    const response = await post(proxy, key, '/chat/completions', body, { headers: { 'x-session-id': 'by header' } })
    expect(response.status).toBe(200)
    await response.text()
    await proxy.settle()
    const rows = await proxy.query(`select session from usage_records where session = 'by header'`)
    expect(rows).toEqual([{ session: 'by header' }])
  })
})
