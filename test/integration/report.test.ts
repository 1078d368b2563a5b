/** The monthly report contains the recorded data. */

import { beforeAll, expect, test } from 'vitest'
import { type MonthlyReport, renderReport } from '../../src/admin/render-report.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { recordUsage, rollUpUsage } from '../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'

const NOW = new Date()
const MONTH = NOW.toISOString().slice(0, 7)

describeBackends('a month’s report', backend => {
  let stores: Stores
  beforeAll(async () => {
    stores = await backend.open()
    await callFunction(stores.database, 'maintain_usage_partitions', {})
    for (const name of ['acme', 'other']) {
      await callFunction(stores.database, 'create_project', { project: name, plan: 'free' })
      await callFunction(stores.database, 'issue_key', { project: name, key_type: 'test', key_name: 'ci' })
    }
    const acme = await callFunction(stores.database, 'find_project', { project: 'acme' })
    const other = await callFunction(stores.database, 'find_project', { project: 'other' })
    const team = (name: string) => ({ tags: { env: 'prod', team: name } })
    await recordUsage(
      stores.database,
      [
        record(acme, { cost_usd: 1.25, cache_reason: 'no-candidate', ...team('search') }),
        record(acme, { cost_usd: 0.5, cache_reason: 'unverified:negation', ...team('search') }),
        record(acme, { cost_usd: 0.25, cache_reason: 'unverified:negation', model: '<b>bold</b>' }),
        record(acme, { saved_usd: 2.5, cache_result: 'HIT', cache_reason: 'exact', ...team('support') }),
        record(acme, { saved_usd: 0.5, cache_result: 'HIT-SEMANTIC', cache_reason: 'verified' }),
        record(acme, { status: 502, cache_result: null }),
        record(other, { cost_usd: 40 }),
      ],
      crypto.randomUUID(),
    )
    while ((await stores.database.call<{ n: number }>('select roll_up_usage()::int as n', []))[0]?.n)
      await rollUpUsage(stores.database)
    await stores.database.call(`select raise_event($1::bigint, 'cache.wrong_hit', '{}', 'a')`, [acme])
  })

  let made = 0
  function record(projectId: number, changes: Partial<UsageRecord>): UsageRecord {
    return {
      recorded_at: NOW.toISOString(),
      request_id: `r-${made++}`,
      project_id: projectId,
      key_id: projectId,
      endpoint: 'chat',
      model: 'gpt-5.4',
      provider: 'openai',
      cache_result: 'MISS',
      status: 200,
      streamed: false,
      prompt_tokens: 10,
      cached_prompt_tokens: 0,
      completion_tokens: 5,
      tokens_saved: 0,
      cost_usd: 0,
      saved_usd: 0,
      latency_ms: 1,
      duration_ms: 1,
      ...changes,
    }
  }

  const report = async (asked: { project?: string; month?: string }) =>
    (await callFunction(stores.database, 'monthly_report', { project: '', month: '', ...asked })) as MonthlyReport

  test('of one project: its cost, its teams, its misses by reason, and its wrong hits', async () => {
    const acmes = await report({ project: 'acme' })
    expect(acmes).toMatchObject({ month: MONTH, projects: ['acme'], wrong_hits: 1 })
    expect(acmes.days).toMatchObject([
      { requests: 6, exact_hits: 1, semantic_hits: 1, misses: 3, server_errors: 1, cost_usd: 2, saved_usd: 3 },
    ])
    expect(acmes.misses).toEqual([
      { name: 'no-candidate', requests: 1, cost_usd: 1.25 },
      { name: 'unverified:negation', requests: 2, cost_usd: 0.75 },
    ])
    expect(acmes.tags.map(({ name, cost_usd, saved_usd }) => [name, cost_usd, saved_usd])).toEqual([
      ['env=prod', 1.75, 2.5],
      ['team=search', 1.75, 0],
      ['team=support', 0, 2.5],
    ])
    expect(acmes.teams.map(({ name, cost_usd, saved_usd }) => [name, cost_usd, saved_usd])).toEqual([
      ['search', 1.75, 0],
      ['', 0.25, 0.5],
      ['support', 0, 2.5],
    ])
    const html = renderReport(acmes)
    for (const part of [
      '$2.00',
      '$3.00',
      '40.0 %',
      'search',
      'Without a team',
      '$1.75',
      'The most similar cached question differs: negation.',
      '&lt;b&gt;bold',
    ]) {
      expect(html).toContain(part)
    }
    expect(html).not.toMatch(/<script|https?:\/\/|<b>bold/)
  })

  test('of all projects, of a month without requests, and of an unknown project', async () => {
    const all = await report({ month: MONTH })
    expect([all.projects, all.days[0]?.cost_usd]).toEqual([['acme', 'other'], 42])
    const empty = await report({ month: '2020-01' })
    expect(empty).toMatchObject({ month: '2020-01', days: [], misses: [] })
    expect(renderReport(empty)).toContain('There were no requests.')
    await expect(report({ project: 'nobody' })).rejects.toThrow('"nobody" does not exist')
    await expect(report({ month: 'May' })).rejects.toThrow('write it as 2026-10')
  })
})
