/** Alerts about usage: each is raised once, recovers, and may be raised again. The tests move the time at which usage is measured. */
import { beforeEach, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { describeOnce } from '../harness/backends.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** 10:07 of a UTC day: seven minutes into a quarter of an hour. */
const START_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS + (10 * 60 + 7) * MINUTE_MS

interface Usage {
  requests: number
  grain?: 'quarter' | 'hour' | 'day'
  provider?: string
  result?: 'HIT' | 'HIT-SEMANTIC' | 'MISS' | ''
  status?: number
  cost?: number
  key?: number
}

describeOnce('alerts', backend => {
  let database: Database
  let project: number
  let key: number
  let nowMs: number
  beforeEach(async () => {
    database = (await backend.open()).database
    nowMs = START_MS
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    project = await callFunction(database, 'find_project', { project: 'acme' })
    key = await createKey('project')
    await query(`select add_webhook('acme', 'https://example.com/', '{}', '')`)
    await query('delete from events')
    await query('update installation set alerts_measured_at = null')
    // The months of the tests have partitions, whatever the day.
    await query('select maintain_usage_partitions()')
  })

  const query = <Row>(text: string) => database.call<Row>(text, [])
  async function createKey(type: 'project' | 'test'): Promise<number> {
    const secret = await callFunction(database, 'issue_key', {
      project: 'acme',
      key_type: type,
      key_name: `${type} key`,
    })
    return callFunction(database, 'find_key', { key_or_prefix: secret })
  }
  /** Adds usage to the sums of a grain, in its period that contains the time. */
  async function use(
    atMs: number,
    { requests, grain = 'quarter', provider = 'openai', result = 'MISS', status = 2, cost = 0, key: of = key }: Usage,
  ) {
    const at = `'${new Date(atMs).toISOString()}'::timestamptz`
    const begins =
      grain === 'quarter'
        ? `date_bin('15 minutes', ${at}, '2000-01-01 00:00:00+00')`
        : `date_trunc('${grain}', ${at}, 'UTC')`
    await query(`insert into usage_sums as s (project_id, grain, at, key_id, endpoint, model, provider, cache_result, status_class, requests,
        prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms, slow_requests)
      values (${project}, '${grain}', ${begins}, ${of}, 'chat', 'm', '${provider}', '${result}', ${status}, ${requests}, 0, 0, 0, 0, ${cost}, 0, 0, 0, 0)
      on conflict (project_id, grain, at, key_id, endpoint, model, provider, cache_result, status_class)
      do update set requests = s.requests + excluded.requests, cost_usd = s.cost_usd + excluded.cost_usd`)
  }
  /** Adds requests and their cost to the hour and the day. */
  const spend = (atMs: number, requests: number, cost: number) =>
    Promise.all((['hour', 'day'] as const).map(grain => use(atMs, { grain, requests, cost })))
  /** Adds requests with a latency. Buckets are powers of the fourth root of 2. */
  const wait = (atMs: number, ms: number, requests: number) =>
    query(`insert into latency_counts as c (project_id, grain, at, cache_result, bucket, requests)
      values (${project}, 'quarter', date_bin('15 minutes', '${new Date(atMs).toISOString()}'::timestamptz, '2000-01-01 00:00:00+00'), 'MISS', ${Math.floor(4 * Math.log2(ms))}, ${requests})
      on conflict (project_id, grain, at, cache_result, bucket) do update set requests = c.requests + excluded.requests`)
  const set = (name: string, value: number) => query(`select set_setting('acme', '${name}', '${value}')`)
  /** Measures at the present time, and returns the events that this raised. */
  async function measure(): Promise<[kind: string, state: string, subject?: string][]> {
    await query('delete from events')
    await query('update installation set alerts_measured_at = null')
    await callFunction(database, 'update_alerts', { moment: new Date(nowMs).toISOString() })
    const events = await query<{ kind: string; payload: Record<string, string> }>(
      'select kind, payload from events order by kind',
    )
    return events.map(({ kind, payload }) =>
      payload.provider ? [kind, `${payload.state}`, payload.provider] : [kind, `${payload.state}`],
    )
  }
  const advance = (minutes: number) => {
    nowMs += minutes * MINUTE_MS
  }

  test('an error rate is reported once at its limit, and again after it has recovered', async () => {
    await use(nowMs, { requests: 91 })
    await use(nowMs, { requests: 9, status: 5 })
    expect(await measure()).toEqual([])
    // 10 of 100.
    await use(nowMs, { requests: 1, status: 5, provider: '' })
    await use(nowMs, { requests: -1 })
    expect(await measure()).toEqual([['error_rate.high', 'raised']])
    expect(await measure()).toEqual([])
    // 9 of 100 is below the limit, but not by a fifth.
    advance(45)
    await use(nowMs, { requests: 91 })
    await use(nowMs, { requests: 9, status: 5 })
    expect(await measure()).toEqual([])
    advance(45)
    await use(nowMs, { requests: 92 })
    await use(nowMs, { requests: 8, status: 5 })
    expect(await measure()).toEqual([['error_rate.high', 'recovered']])
    expect(await measure()).toEqual([])
    await use(nowMs, { requests: 20, status: 5 })
    expect(await measure()).toEqual([['error_rate.high', 'raised']])
  })

  test('too few requests, errors of clients and test keys raise nothing', async () => {
    await use(nowMs, { requests: 49, status: 5 })
    expect(await measure()).toEqual([])
    await use(nowMs, { requests: 500, status: 5, key: await createKey('test') })
    await use(nowMs, { requests: 500, status: 4, result: '', provider: '' })
    expect(await measure()).toEqual([])
    // An hour ago.
    await use(nowMs - 60 * MINUTE_MS, { requests: 1000, status: 5 })
    expect(await measure()).toEqual([])
  })

  test('limits and the minimum are settings of the project, and 0 turns an alert off', async () => {
    await use(nowMs, { requests: 12 })
    await use(nowMs, { requests: 8, status: 5 })
    expect(await measure()).toEqual([])
    await set('alert_min_requests', 20)
    await set('alert_error_percent', 41)
    expect(await measure()).toEqual([])
    await set('alert_error_percent', 0)
    expect(await measure()).toEqual([])
    await set('alert_error_percent', 40)
    expect(await measure()).toEqual([['error_rate.high', 'raised']])
  })

  test('two processes raise an alert once', async () => {
    await use(nowMs, { requests: 100, status: 5, provider: '' })
    const moment = new Date(nowMs).toISOString()
    await Promise.all([1, 2, 3].map(() => callFunction(database, 'update_alerts', { moment })))
    expect(await query('select kind from events')).toEqual([{ kind: 'error_rate.high' }])
  })

  test('one process measures in a minute, whatever the clock', async () => {
    const at = (seconds: number) =>
      callFunction(database, 'update_alerts', { moment: new Date(nowMs + seconds * 1_000).toISOString() })
    const raised = () => query('select kind from events')
    await at(0)
    await use(nowMs, { requests: 100, status: 5, provider: '' })
    await at(30)
    expect(await raised()).toEqual([])
    await at(60)
    expect(await raised()).toHaveLength(1)
    // A process that does not measure forgets nothing.
    await query(`update active_alerts set seen_at = seen_at - interval '2 days'`)
    await at(90)
    expect(await query('select kind from active_alerts')).toHaveLength(1)
    await set('alert_error_percent', 0)
    await use(nowMs, { requests: 100, status: 5 })
    await at(59)
    expect(await raised()).toHaveLength(2)
  })

  test('a provider is down when all requests to it fail, and up when a fifth succeeds', async () => {
    await set('alert_error_percent', 0)
    await use(nowMs, { requests: 60, status: 5 })
    await use(nowMs, { requests: 100, provider: 'groq' })
    // A hit of a response that the provider sent before.
    await use(nowMs, { requests: 100, result: 'HIT' })
    expect(await measure()).toEqual([['provider.down', 'raised', 'openai']])
    await use(nowMs, { requests: 10 })
    expect(await measure()).toEqual([])
    await use(nowMs, { requests: 5 })
    expect(await measure()).toEqual([['provider.down', 'recovered', 'openai']])
    advance(45)
    await use(nowMs, { requests: 1 })
    await use(nowMs, { requests: 99, status: 5 })
    expect(await measure()).toEqual([])
  })

  test('a latency is reported by its 95th percentile', async () => {
    await wait(nowMs, 100, 96)
    await wait(nowMs, 60_000, 4)
    expect(await measure()).toEqual([])
    await wait(nowMs, 60_000, 2)
    expect(await measure()).toEqual([['latency.high', 'raised']])
    expect(await measure()).toEqual([])
    advance(45)
    // Too few to say that it has recovered.
    await wait(nowMs, 100, 49)
    expect(await measure()).toEqual([])
    await wait(nowMs, 100, 1)
    expect(await measure()).toEqual([['latency.high', 'recovered']])
  })

  test('a cache that stops hitting is compared with the week', async () => {
    const week = (share: number, requests: number) =>
      Promise.all([
        use(nowMs - 2 * DAY_MS, { grain: 'day', requests: requests * share, result: 'HIT' }),
        use(nowMs - 2 * DAY_MS, { grain: 'day', requests: requests * (1 - share) }),
      ])
    await week(0.4, 1000)
    // 21%: more than half of 40%.
    await use(nowMs, { requests: 21, result: 'HIT-SEMANTIC' })
    await use(nowMs, { requests: 79 })
    expect(await measure()).toEqual([])
    await use(nowMs, { requests: 5 })
    expect(await measure()).toEqual([['hit_rate.low', 'raised']])
    expect(await measure()).toEqual([])
    // 24%: half of 40%, but not more by a fifth of it.
    await use(nowMs, { requests: 4, result: 'HIT' })
    expect(await measure()).toEqual([])
    await use(nowMs, { requests: 10, result: 'HIT' })
    expect(await measure()).toEqual([['hit_rate.low', 'recovered']])
  })

  test('no hits at all are reported, but not of a cache that seldom hits, or while a provider fails', async () => {
    await use(nowMs - 2 * DAY_MS, { grain: 'day', requests: 9, result: 'HIT' })
    await use(nowMs - 2 * DAY_MS, { grain: 'day', requests: 91 })
    await use(nowMs, { requests: 100 })
    expect(await measure()).toEqual([])
    await use(nowMs - 2 * DAY_MS, { grain: 'day', requests: 2, result: 'HIT' })
    expect(await measure()).toEqual([['hit_rate.low', 'raised']])
    advance(24 * 60)
    await set('alert_error_percent', 0)
    await use(nowMs, { requests: 40, result: 'HIT' })
    await use(nowMs, { requests: 10 })
    await use(nowMs, { requests: 900, status: 5, result: 'MISS' })
    expect((await measure()).map(([kind, state]) => `${kind} ${state}`)).toEqual(['hit_rate.low recovered'])
  })

  test('spending is compared with the usual day', async () => {
    const days = [9, 1, 10, 12, 500]
    for (const [index, cost] of days.entries())
      await use(nowMs - (index + 2) * DAY_MS, { grain: 'day', requests: 100, cost })
    // Tests cost nothing, and their days are no usual ones.
    const test = await createKey('test')
    for (const day of [7, 8, 9, 10, 11, 12]) await use(nowMs - day * DAY_MS, { grain: 'day', requests: 100, key: test })
    // The median is $11 with yesterday, so the limit is $33, over the 24 hours until now.
    await spend(nowMs - 23 * 60 * MINUTE_MS, 50, 20)
    await spend(nowMs, 50, 12.99)
    await spend(nowMs - 25 * 60 * MINUTE_MS, 50, 1000)
    await use(nowMs, { grain: 'hour', requests: 100, cost: 1, key: test })
    expect(await measure()).toEqual([])
    await spend(nowMs, 1, 0.01)
    expect(await measure()).toEqual([['spend.unusual', 'raised']])
    expect(await measure()).toEqual([])
    advance(60)
    await spend(nowMs, 60, 1)
    expect(await measure()).toEqual([['spend.unusual', 'recovered']])
  })

  test('small spending, few requests and a new project raise nothing', async () => {
    for (const day of [2, 3]) await use(nowMs - day * DAY_MS, { grain: 'day', requests: 100, cost: 0.1 })
    await spend(nowMs, 100, 50)
    expect(await measure()).toEqual([])
    await use(nowMs - 4 * DAY_MS, { grain: 'day', requests: 100, cost: 0.1 })
    expect(await measure()).toEqual([['spend.unusual', 'raised']])
    advance(2 * 24 * 60)
    // The alert is forgotten.
    expect(await measure()).toEqual([])
    await spend(nowMs, 49, 50)
    expect(await measure()).toEqual([])
    await spend(nowMs, 1, -49.01)
    expect(await measure()).toEqual([])
  })

  test('an alert without further requests is forgotten after a day, without a report', async () => {
    await use(nowMs, { requests: 100, status: 5, provider: '' })
    expect(await measure()).toEqual([['error_rate.high', 'raised']])
    advance(23 * 60)
    expect(await measure()).toEqual([])
    await use(nowMs, { requests: 100, status: 5, provider: '' })
    expect(await measure()).toEqual([])
    advance(25 * 60)
    expect(await measure()).toEqual([])
    await use(nowMs, { requests: 100, status: 5, provider: '' })
    expect(await measure()).toEqual([['error_rate.high', 'raised']])
  })

  test('a project without a destination is not measured', async () => {
    await query('delete from webhooks')
    await use(nowMs, { requests: 100, status: 5 })
    expect(await measure()).toEqual([])
  })
})
