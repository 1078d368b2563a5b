/** Questions that were paid for again: each reason makes a row, and the sums are those of the records. */
import { beforeAll, describe, expect, test } from 'vitest'
import { recordUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'

import { startFakeProvider } from '../../fake-provider/server.ts'
import { describeBackends } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, logIn, send } from './people.ts'

const MINUTE = 60
const DAY = 86_400

interface Row {
  reason: string
  difference: string | null
  action: string | null
  requests: number
  cost_usd: number
  last_request_id: string
  question: string | null
  verdict: string | null
}

describeBackends('questions that were paid for again', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(async () => {
    const stores = await backend.open()
    const environment = { ...fakeProvider.environment, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY }
    return startProxy({ dashboard: true, stores, environment })
  })
  let adminKey: string
  const now = Math.floor(Date.now() / 1000)

  beforeAll(async () => {
    await addUser(proxy, 'all@example.org', 'owner')
    adminKey = await issueAdminKey(proxy, 'all@example.org')
  })

  /** Creates a project with two project keys and a test key. Returns its id and those of the keys. */
  async function createProject(cacheScope = 'project') {
    const name = `p-${crypto.randomUUID().slice(0, 8)}`
    await proxy.query(`select create_project('${name}', 'pro')`)
    await proxy.query(`select set_setting('${name}', 'cache_scope', '${cacheScope}')`)
    for (const [index, type] of ['project', 'project', 'test'].entries())
      await proxy.query(`select issue_key('${name}', '${type}', 'k${index}')`)
    const rows = await proxy.query<{ project: number; key: number }>(
      `select p.id::integer as project, k.id::integer as key from projects p join api_keys k on k.project_id = p.id where p.name = '${name}' order by k.id`,
    )
    return { name, id: rows[0]?.project ?? 0, keys: rows.map(({ key }) => key) }
  }

  async function read(project: number, query = '', from = now - DAY) {
    const path = `/v1/usage/paid_again?project_id=proj_${project}&start_time=${from}&end_time=${now + 3_600}${query}`
    const { status, json } = await send(proxy, 'GET', path, { headers: { authorization: `Bearer ${adminKey}` } })
    expect([status, json.object]).toEqual([200, 'usage.paid_again'])
    return json as { since: number | null; requests: number; cost_usd: number; questions: Row[] }
  }

  let made = 0
  /** A record of a paid request that was answered at `at`, in seconds before now. */
  function record(
    project: { id: number; keys: number[] },
    at: number,
    changes: Partial<UsageRecord> = {},
  ): UsageRecord {
    return {
      recorded_at: new Date((now - at) * 1000).toISOString(),
      request_id: `r${made++}`,
      project_id: project.id,
      key_id: project.keys[0] ?? 0,
      endpoint: 'chat',
      model: 'gpt-5.4',
      provider: 'openai',
      cache_result: 'MISS',
      cache_reason: 'no-candidate',
      asked_id: 'a',
      lookup_ms: 1,
      status: 200,
      streamed: false,
      ...{ prompt_tokens: 10, cached_prompt_tokens: 0, completion_tokens: 5, tokens_saved: 0 },
      ...{ cost_usd: 0.25, saved_usd: 0, latency_ms: 1, duration_ms: 1000 },
      ...changes,
    }
  }
  const store = (records: UsageRecord[]) => recordUsage(proxy.stores.database, records, crypto.randomUUID())

  describe('identical requests', () => {
    test.each<[reason: string, action: string | null, scope: string, first: Partial<UsageRecord>, again: object]>([
      ['no_cache', 'remove_no_cache', 'project', {}, { refreshed: true, cache_reason: 'no-store', lookup_ms: null }],
      ['no_cache', 'remove_no_cache', 'project', {}, { cache_reason: 'no-store', lookup_ms: null }],
      ['cache_off', 'enable_cache', 'project', {}, { cache_reason: 'off', lookup_ms: null }],
      ['not_stored', null, 'project', {}, { cache_reason: 'off' }],
      ['old_version', null, 'project', {}, { cache_reason: 'old-version' }],
      ['rejected_by_hook', null, 'project', {}, { cache_reason: 'refused' }],
      ['tools', null, 'project', {}, { cache_reason: 'tools' }],
      ['not_stored', null, 'project', {}, {}],
      ['not_stored', null, 'project', { end_user: 'alice' }, { end_user: 'bob' }],
      ['other_scope', 'widen_scope', 'user', { end_user: 'alice' }, { end_user: 'bob' }],
      ['not_stored', null, 'user', { end_user: 'alice' }, { end_user: 'alice' }],
    ])('%s (%s, scope %s)', async (reason, action, scope, first, again) => {
      const project = await createProject(scope)
      const [one, other] = [record(project, 10 * MINUTE, first), record(project, MINUTE, again)]
      await store([one, other, record(project, MINUTE, { asked_id: 'once' })])
      const found = await read(project.id)
      expect(found).toMatchObject({ since: null, requests: 1, cost_usd: 0.25 })
      expect(found.questions).toMatchObject([
        { reason, action, requests: 1, cost_usd: 0.25, last_request_id: other.request_id, question: null },
      ])
    })

    test('with another key of a key’s own scope, and after the responses expired', async () => {
      const project = await createProject('key')
      await store([record(project, 10 * MINUTE), record(project, MINUTE, { key_id: project.keys[1] ?? 0 })])
      expect((await read(project.id)).questions.map(({ reason }) => reason)).toEqual(['other_scope'])
      const other = await createProject()
      // Responses are stored for a week. A hit does not prolong that, and a request with no-store does not store one.
      await store([
        record(other, 8 * DAY),
        record(other, 2 * DAY, { cache_result: 'HIT', cost_usd: 0 }),
        record(other, 2 * DAY, { cache_reason: 'no-store', lookup_ms: null }),
        record(other, MINUTE),
      ])
      expect((await read(other.id)).questions).toMatchObject([{ reason: 'expired', action: 'extend_ttl', requests: 1 }])
    })

    test('that were not answered before, cost nothing or failed are not listed', async () => {
      const project = await createProject()
      await store([
        record(project, 10 * MINUTE),
        // Sent before the first one was answered.
        record(project, 9 * MINUTE, { duration_ms: 2 * MINUTE * 1000 }),
        record(project, 8 * MINUTE, { cache_result: 'HIT', cost_usd: 0 }),
        record(project, 7 * MINUTE, { cost_usd: 0 }),
        record(project, 6 * MINUTE, { status: 502 }),
        record(project, 5 * MINUTE, { asked_id: null }),
        // Test keys have a cache of their own.
        record(project, 4 * MINUTE, { key_id: project.keys[2] ?? 0 }),
        record(project, 3 * MINUTE, { asked_id: 'b', status: 500 }),
        record(project, 2 * MINUTE, { asked_id: 'b' }),
      ])
      expect(await read(project.id)).toMatchObject({ requests: 0, cost_usd: 0, questions: [] })
    })

    test('count by key, type of key, model and tag, within the time alone', async () => {
      const project = await createProject()
      await store([
        record(project, 3 * DAY),
        record(project, 2 * DAY),
        record(project, 5 * MINUTE, { model: 'other', tags: { team: 'search' } }),
        record(project, 4 * MINUTE, { key_id: project.keys[1] ?? 0 }),
        record(project, 3 * MINUTE, { key_id: project.keys[2] ?? 0 }),
        record(project, 2 * MINUTE, { key_id: project.keys[2] ?? 0 }),
      ])
      const counts = async (query: string) => (await read(project.id, query)).requests
      expect(await counts('')).toBe(3)
      expect(await counts('&model=other')).toBe(1)
      expect(await counts(`&api_key_id=key_${project.keys[1]}`)).toBe(1)
      expect(await counts('&key_type=test')).toBe(1)
      expect(await counts('&key_type=project')).toBe(2)
      expect(await counts('&tags[]=team=search')).toBe(1)
      expect((await read(project.id, '', now - 10 * DAY)).requests).toBe(4)
    })

    test('sum up to the records, of each question and in total', async () => {
      const project = await createProject('key')
      const records = Array.from({ length: 300 }, (_, n) =>
        record(project, 300 * MINUTE - n * MINUTE + (n % 7), {
          asked_id: `q${(n * n) % 23}`,
          key_id: project.keys[n % 2] ?? 0,
          cost_usd: n % 5 === 0 ? 0 : n / 64,
          cache_result: n % 4 === 0 ? 'HIT' : 'MISS',
          refreshed: n % 11 === 0 || null,
        }),
      )
      await store(records)
      const expected = new Map<string, { requests: number; cost: number; last: string }>()
      for (const [n, one] of records.entries()) {
        if (one.cache_result === 'HIT' || one.cost_usd === 0) continue
        const earlier = records.slice(0, n).filter(({ asked_id }) => asked_id === one.asked_id)
        if (earlier.length === 0) continue
        const isSameScope = earlier.some(({ key_id }) => key_id === one.key_id)
        const name = `${one.asked_id} ${one.refreshed ? 'no_cache' : isSameScope ? 'not_stored' : 'other_scope'}`
        const { requests, cost } = expected.get(name) ?? { requests: 0, cost: 0 }
        expected.set(name, { requests: requests + 1, cost: cost + one.cost_usd, last: one.request_id })
      }
      const rows = [...expected.values()].toSorted((a, b) => b.cost - a.cost)
      const found = await read(project.id)
      expect(found.requests).toBe(rows.reduce((sum, { requests }) => sum + requests, 0))
      expect(found.cost_usd).toBe(rows.reduce((sum, { cost }) => sum + cost, 0))
      expect(rows.length).toBeGreaterThan(20)
      expect(found.questions.map(({ cost_usd }) => cost_usd)).toEqual(rows.slice(0, 20).map(({ cost }) => cost))
      for (const { requests, cost_usd, last_request_id } of found.questions)
        expect(rows).toContainEqual({ requests, cost: cost_usd, last: last_request_id })
    })

    test('are in the request log, by the hash of the request', async () => {
      const project = await createProject()
      const records = [
        record(project, 3 * MINUTE),
        record(project, 2 * MINUTE),
        record(project, MINUTE, { asked_id: 'b' }),
      ]
      await store(records)
      const path = `/v1/requests?project_id=proj_${project.id}&asked_id=a`
      const { json } = await send(proxy, 'GET', path, { headers: { authorization: `Bearer ${adminKey}` } })
      expect(json.data.map((row: { request_id: string }) => row.request_id)).toEqual([
        records[1]?.request_id,
        records[0]?.request_id,
      ])
    })
  })

  test('are found among the newest 50,000 records, and since says so', async () => {
    const project = await createProject()
    await proxy.query(`insert into usage_records (recorded_at, project_id, request_id, status, endpoint, model, cache_result, asked_id,
        streamed, prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms, key_id)
      select to_timestamp(${now} - n * 0.01), ${project.id}, 'n' || n, 200, 'chat', 'm', 'MISS', case when n in (1, 49990) then 'near'
          when n in (2, 50010) then 'far' else n::text end, false, 0, 0, 0, 0, 1, 0, 1, 1, ${project.keys[0]}
      from generate_series(1, 50010) n`)
    const found = await read(project.id)
    expect(found).toMatchObject({ since: now - 500, requests: 1, questions: [{ last_request_id: 'n1' }] })
  })

  describe('through the proxy', () => {
    const model = 'openai/gpt-4o-mini'
    const questionOf = (content: string, user?: string) => ({
      model,
      messages: [{ role: 'user', content }],
      ...(user && { user }),
    })

    test('no-cache, with the text where it is stored, for members', async () => {
      const name = `p-${crypto.randomUUID().slice(0, 8)}`
      const key = await proxy.createKey({ project: name, type: 'project', settings: { log_content: 'sealed' } })
      const [{ id } = { id: 0 }] = await proxy.query<{ id: number }>(`select find_project('${name}')::integer as id`)
      await ask(proxy, key, questionOf('What is a widget?'))
      await ask(proxy, key, questionOf('What is a widget?'))
      await ask(proxy, key, questionOf('What is a widget?'), { 'cache-control': 'no-cache', 'x-request-id': 'fresh' })
      await ask(proxy, key, questionOf('What is a gadget?'))
      await proxy.settle()
      expect((await read(id)).questions).toMatchObject([
        { reason: 'no_cache', requests: 1, last_request_id: 'fresh', question: 'What is a widget?' },
      ])
      for (const [role, question] of [
        ['viewer', null],
        ['member', 'What is a widget?'],
      ] as const) {
        await addUser(proxy, `${role}@example.org`, 'reader')
        await proxy.query(`select add_member('${name}', '${role}@example.org', '${role}')`)
        const path = `/v1/usage/paid_again?project_id=proj_${id}&start_time=${now - DAY}&end_time=${now + DAY}`
        const { json } = await (await logIn(proxy, `${role}@example.org`)).send('GET', path)
        expect(json.questions).toMatchObject([{ last_request_id: 'fresh', question }])
      }
    })

    test('a similar question that shadow mode did not serve', async () => {
      const name = `p-${crypto.randomUUID().slice(0, 8)}`
      const key = await proxy.createKey({ project: name, type: 'project', settings: { semantic_mode: 'shadow' } })
      const [{ id } = { id: 0 }] = await proxy.query<{ id: number }>(`select find_project('${name}')::integer as id`)
      await ask(proxy, key, questionOf('What is the capital of France?'))
      await ask(proxy, key, questionOf('Please, what is the capital of France?'), { 'x-request-id': 'shadow' })
      await proxy.settle()
      expect((await read(id)).questions).toMatchObject([
        { reason: 'shadow', action: 'enable_semantic_cache', difference: null, last_request_id: 'shadow' },
      ])
    })

    test('a near miss that is sent again counts once, as an identical request', async () => {
      const name = `p-${crypto.randomUUID().slice(0, 8)}`
      const key = await proxy.createKey({ project: name, type: 'project', settings: { semantic_threshold: '0.5' } })
      const [{ id } = { id: 0 }] = await proxy.query<{ id: number }>(`select find_project('${name}')::integer as id`)
      await ask(proxy, key, questionOf('What is the capital of France?'))
      for (const request of ['near', 'again']) {
        const headers = { 'x-request-id': request, 'x-proxy-cache-ttl': '0' }
        await ask(proxy, key, questionOf('What is the pretty capital of France?'), headers)
        await proxy.settle()
      }
      // A record is tolerated as written up to 20 ms late; these requests follow each other faster.
      await proxy.query(
        `update usage_records set recorded_at = recorded_at + interval '1 second' where request_id = 'again'`,
      )
      const found = await read(id)
      expect(found.requests).toBe(2)
      expect(found.questions.map(row => [row.last_request_id, row.reason]).toSorted()).toEqual([
        ['again', 'not_stored'],
        ['near', expect.stringMatching(/^(difference|too_far)$/)],
      ])
    })

    test('a near miss, until somebody says that it differs', async () => {
      const name = `p-${crypto.randomUUID().slice(0, 8)}`
      const key = await proxy.createKey({ project: name, type: 'project', settings: { semantic_threshold: '0.5' } })
      const [{ id } = { id: 0 }] = await proxy.query<{ id: number }>(`select find_project('${name}')::integer as id`)
      await ask(proxy, key, questionOf('What is the capital of France?'))
      await ask(proxy, key, questionOf('What is the pretty capital of France?'), { 'x-request-id': 'near' })
      await proxy.settle()
      const [near, ...others] = (await read(id)).questions
      expect(others).toEqual([])
      expect(near).toMatchObject({ action: 'confirm_same', requests: 1, last_request_id: 'near', verdict: null })
      expect(['difference', 'too_far']).toContain(near?.reason)
      await proxy.query(`select give_feedback('${name}', 'near', 'right')`)
      expect((await read(id)).questions).toMatchObject([{ action: null, verdict: 'same' }])
      await proxy.query(`select give_feedback('${name}', 'near', 'wrong')`)
      expect(await read(id)).toMatchObject({ requests: 0, questions: [] })
    })
  })
})
