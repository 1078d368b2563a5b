/** Message batches of Anthropic's package, at a gateway's base URL: counted, checked, owned and charged like other requests. */
import Anthropic from '@anthropic-ai/sdk'
import { beforeEach, describe, expect, test } from 'vitest'
import { MAX_MAIN_THREAD_BYTES, workerPool } from '../../src/event-loop/worker-pool.ts'
import { describeOnce } from '../harness/backends.ts'
import { get, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const PATH = '/messages/batches'
const MODEL = 'claude-haiku-4-5'
type Requests = Anthropic.Messages.BatchCreateParams['requests']
const one = (custom_id: string, model = MODEL, content = `${custom_id}?`): Requests[number] => ({
  custom_id,
  params: { model, max_tokens: 100, messages: [{ role: 'user', content }] },
})

describeOnce('message batches', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let project: string
  let key: string
  let client: Anthropic

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    client = connect(key)
    await storeKey(proxy.stores, project, 'anthropic', 'sk-ant-shared')
  })

  const connect = (apiKey: string) => new Anthropic({ baseURL: `${proxy.rootUrl}/anthropic`, apiKey, maxRetries: 0 })
  const create = (requests: Requests, by = client) => by.messages.batches.create({ requests })

  /** Retrieves the batch until it has ended. */
  async function ended(id: string): Promise<Anthropic.Messages.MessageBatch> {
    let batch = await client.messages.batches.retrieve(id)
    while (batch.processing_status !== 'ended') batch = await client.messages.batches.retrieve(id)
    return batch
  }

  async function resultsOf(id: string): Promise<string[]> {
    const results: string[] = []
    for await (const { custom_id, result } of await client.messages.batches.results(id))
      results.push(`${custom_id} ${result.type}`)
    return results
  }

  async function listed(by: Anthropic, query: Anthropic.Messages.BatchListParams = {}): Promise<string[]> {
    const ids: string[] = []
    for await (const { id } of by.messages.batches.list(query)) ids.push(id)
    return ids
  }

  async function counted(): Promise<number> {
    await proxy.settle()
    const [row] = await proxy.query<{ used: number }>(`
      select coalesce(sum(c.requests), 0)::integer as used from monthly_counters c
      join projects p on p.id = c.project_id where p.name = '${project}'`)
    return row?.used ?? 0
  }

  /** Reads the usage of each model's results and its cost. Batches cost half of the usual price. */
  async function recorded() {
    await proxy.settle()
    return proxy.query<{ endpoint: string; model: string; prompt: number; answered: number; usd: number }>(`
      select endpoint, model, prompt_tokens as prompt, completion_tokens as answered, cost_usd::float8 as usd
      from usage_records u join projects p on p.id = u.project_id
      where p.name = '${project}' and prompt_tokens > 0 order by model`)
  }

  test('created, followed to the end, results read, usage recorded once per model', async () => {
    const batch = await create([one('a'), one('b', 'claude-opus-4-5'), one('c-bad'), one('d')])
    expect(batch).toMatchObject({ type: 'message_batch', processing_status: 'in_progress', results_url: null })
    const done = await ended(batch.id)
    expect(done.request_counts).toMatchObject({ succeeded: 3, errored: 1 })
    expect(done.results_url).toBe(`/v1/messages/batches/${batch.id}/results`)
    expect(await recorded()).toEqual([])
    const results = ['a succeeded', 'b succeeded', 'c-bad errored', 'd succeeded']
    expect(await resultsOf(batch.id)).toEqual(results)
    expect(await resultsOf(batch.id)).toEqual(results)
    const records = await recorded()
    expect(records).toMatchObject([
      { endpoint: 'message_batches', model: MODEL },
      { endpoint: 'message_batches', model: 'claude-opus-4-5' },
    ])
    // Half of 1 and 5 US dollars per million.
    const [haiku] = records
    expect(haiku?.usd).toBeCloseTo(((haiku?.prompt ?? 0) * 1 + (haiku?.answered ?? 0) * 5) / 2 / 1e6, 9)
    expect(await counted()).toBe(4)
    const usedKeys = upstreams.anthropic.requests.map(({ headers }) => headers['x-api-key'])
    expect(new Set(usedKeys)).toEqual(new Set(['sk-ant-shared']))
  })

  test('records results that a client leaves unread', async () => {
    const long = 'word '.repeat(60_000)
    const { id } = await create(Array.from({ length: 20 }, (_, n) => one(`${n}`, MODEL, long)))
    await ended(id)
    const response = await get(proxy, `${PATH}/${id}/results`, key)
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await expect.poll(recorded).toHaveLength(1)
  })

  test('cancelled, deleted', async () => {
    const { id } = await create([one('a')])
    expect((await client.messages.batches.cancel(id)).processing_status).toBe('canceling')
    await ended(id)
    expect(await resultsOf(id)).toEqual(['a canceled'])
    expect(await recorded()).toEqual([])
    expect(await client.messages.batches.delete(id)).toEqual({ id, type: 'message_batch_deleted' })
    await expect(client.messages.batches.retrieve(id)).rejects.toMatchObject({ status: 404 })
    expect(await listed(client)).toEqual([])
  })

  test('listed page by page, the newest first, before and after', async () => {
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) ids.unshift((await create([one(name)])).id)
    expect(await listed(client)).toEqual(ids)
    expect(await listed(client, { limit: 1 })).toEqual(ids)
    const [, second = '', third = ''] = ids
    const page = async (query: object) => (await client.messages.batches.list(query)).data.map(({ id }) => id)
    expect(await page({ after_id: second, limit: 1 })).toEqual([third])
    expect(await page({ before_id: third })).toEqual(ids.slice(0, 2))
    expect(await page({ before_id: third, limit: 1 })).toEqual([second])
  })

  test('another project has none of it, in the same account', async () => {
    const name = `p-${crypto.randomUUID()}`
    const other = connect(await proxy.createKey({ project: name, type: 'project' }))
    await storeKey(proxy.stores, name, 'anthropic', 'sk-ant-shared')
    const { id } = await create([one('a')])
    upstreams.anthropic.requests.length = 0
    const { batches } = other.messages
    for (const way of ['retrieve', 'cancel', 'delete', 'results'] as const)
      await expect(batches[way](id)).rejects.toMatchObject({ status: 404 })
    expect((await get(proxy, `${PATH}/${id}/results`, other.apiKey ?? '')).status).toBe(404)
    expect(await listed(other)).toEqual([])
    expect(upstreams.anthropic.requests).toEqual([])
    // A container id that contains the other project's name belongs to that project.
    const within = (container: string) => [{ ...one('a'), params: { ...one('a').params, container } }]
    await expect(create(within(`container_${name}`))).rejects.toThrow('Extra inputs')
    await expect(create(within(`container_${name}`), other)).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('requests[0].params.container'),
    })
  })

  test('only with a key for Anthropic, and for models that the project allows', async () => {
    const bare = connect(await proxy.createKey({ type: 'project' }))
    await expect(create([one('a')], bare)).rejects.toThrow('no key')
    await expect(create([one('a')], connect(await proxy.createKey({ type: 'test' })))).rejects.toThrow('The sandbox')
    await proxy.query(`select set_setting('${project}', 'allowed_models', 'claude-haiku*')`)
    await expect(create([one('a'), one('b', 'claude-opus-4-5')])).rejects.toMatchObject({ status: 403 })
    expect(upstreams.anthropic.requests).toEqual([])
    expect(await counted()).toBe(0)
    await create([one('a')])
  })

  test('an error names the request, and nothing is counted', async () => {
    const bad: [body: string, named: string][] = [
      ['{}', 'requests must be a list'],
      ['{"requests":[]}', 'requests must be a list'],
      ['{"requests":{}}', 'requests must be a list'],
      [JSON.stringify({ requests: [one('a'), { params: {} }] }), 'requests[1] must have custom_id'],
      [JSON.stringify({ requests: [{ custom_id: 'a', params: 'x' }] }), 'requests[0] must have custom_id'],
      [JSON.stringify({ requests: [{ custom_id: 'a', params: {} }] }), 'requests[0].params must name a model'],
      [`{"requests":[],"requests":[${JSON.stringify(one('a'))}]}`, 'same key twice'],
      ['[', 'could not parse'],
    ]
    for (const [body, named] of bad) {
      const { status, json } = await readAnswer(await post(proxy, key, PATH, body))
      expect([status, json.type, json.error.message]).toEqual([400, 'error', expect.stringContaining(named)])
    }
    expect(upstreams.anthropic.requests).toEqual([])
    // Anthropic's own errors are forwarded unchanged.
    await expect(create([{ ...one('a'), params: { ...one('a').params, seed: 1 } as never }])).rejects.toThrow(
      'requests.0.params.seed: Extra inputs',
    )
    expect(await counted()).toBe(0)
  })

  test('a batch counts as many requests as it contains, or is not started', async () => {
    await proxy.stores.database.runScript(`
      insert into plans (
        name, requests_per_minute_per_key, requests_per_minute_per_address, requests_per_month,
        test_requests_per_minute, test_requests_per_month
      )
      values ('ten-in-all', 1000, 1000, 10, 1000, 1) on conflict do nothing`)
    project = `p-${crypto.randomUUID()}`
    client = connect(await proxy.createKey({ project, type: 'project', plan: 'ten-in-all' }))
    await storeKey(proxy.stores, project, 'anthropic', 'sk-ant-own')
    const many = (count: number) => Array.from({ length: count }, (_, n) => one(`${n}`))
    await expect(create(many(11))).rejects.toThrow('Monthly quota exceeded')
    expect(await counted()).toBe(0)
    await create(many(8))
    expect(await counted()).toBe(8)
    await expect(create(many(3))).rejects.toMatchObject({ status: 429 })
    expect(await counted()).toBe(8)
  })

  test('the worker reads a long body and a long result', async () => {
    const given = (job: string) => workerPool.jobCounts.get(job) ?? 0
    const before = [given('readMessageBatchJob'), given('readBatchResultJob')]
    const { id } = await create([one('a'), one('b', MODEL, 'x'.repeat(MAX_MAIN_THREAD_BYTES))])
    expect(given('readMessageBatchJob')).toBe((before[0] ?? 0) + 1)
    await ended(id)
    const message = { model: MODEL, usage: { input_tokens: 7, output_tokens: 1 }, x: 'x'.repeat(MAX_MAIN_THREAD_BYTES) }
    const body = `${JSON.stringify({ custom_id: 'a', result: { type: 'succeeded', message } })}`
    upstreams.anthropic.scriptOnce({ kind: 'raw', status: 200, headers: {}, body })
    const results = await get(proxy, `${PATH}/${id}/results`, key)
    expect((await results.text()).length).toBe(body.length)
    expect(given('readBatchResultJob')).toBe((before[1] ?? 0) + 1)
    expect(await recorded()).toMatchObject([{ model: MODEL, prompt: 7, answered: 1 }])
  })

  describe('in a project with a budget', () => {
    const MOST_TOKENS = 100
    const mostUsd = ({ params }: Requests[number]) => (JSON.stringify(params).length * 2 + MOST_TOKENS * 5) / 2 / 1e6

    async function setBudget(usd: number, more = ''): Promise<number> {
      const [row] = await proxy.query<{ id: string }>(
        `select set_budget('${project}', 'usd', ${usd}, 'month'${more})::text as id`,
      )
      return Number(row?.id)
    }

    async function standOf(budget: number) {
      await proxy.settle()
      const [row] = await proxy.query<{ spent: number; reserved: number }>(`
        select coalesce(sum(spent), 0)::float8 as spent, coalesce(sum(reserved), 0)::float8 as reserved
        from budget_periods where budget_id = ${budget}`)
      return row
    }

    test.each([
      ['one model', [one('a'), one('b')]],
      ['several models', [one('a'), one('b', 'claude-opus-4-5')]],
    ])(
      'reserves half the price for %s, settles by the results; does not start a batch that is too expensive',
      async (_, requests) => {
        const least = requests.reduce((sum, request) => sum + mostUsd(request), 0)
        const budget = await setBudget(least / 4)
        await expect(create(requests)).rejects.toMatchObject({ status: 429 })
        expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0 })
        await setBudget(1)
        const { id } = await create(requests)
        expect((await standOf(budget))?.reserved).toBeGreaterThan(least / 2)
        await ended(id)
        expect((await standOf(budget))?.spent).toBe(0)
        await resultsOf(id)
        const usd = (await recorded()).reduce((sum, record) => sum + record.usd, 0)
        expect(usd).toBeGreaterThan(0)
        const { spent = 0, reserved } = (await standOf(budget)) ?? {}
        expect([spent, reserved]).toEqual([expect.closeTo(usd, 9), 0])
      },
    )

    test('pays each model from its own budget, and all of them from the tag’s', async () => {
      const tagged = await setBudget(1, `, of_tag => 'team=batches'`)
      const [haiku, opus] = [
        await setBudget(1, `, of_model => '${MODEL}'`),
        await setBudget(1, `, of_model => 'claude-opus-4-5'`),
      ]
      const requests = [one('a'), one('b', 'claude-opus-4-5')]
      const { id } = await client.messages.batches.create({ requests }, { headers: { 'x-proxy-tags': 'team=batches' } })
      await ended(id)
      await resultsOf(id)
      const usd = Object.fromEntries((await recorded()).map(record => [record.model, record.usd]))
      const spent = async (budget: number) => (await standOf(budget))?.spent
      expect(await spent(haiku)).toBeCloseTo(usd[MODEL] ?? 0, 9)
      expect(await spent(opus)).toBeCloseTo(usd['claude-opus-4-5'] ?? 0, 9)
      expect(await spent(tagged)).toBeCloseTo((usd[MODEL] ?? 0) + (usd['claude-opus-4-5'] ?? 0), 9)
      expect((await standOf(tagged))?.reserved).toBe(0)
      const untagged = await proxy.query(`select from usage_records
        where project_id = find_project('${project}') and cost_usd > 0 and tags is distinct from '{"team": "batches"}'`)
      expect(untagged).toHaveLength(0)
    })

    test('releases the reservation if no request was processed', async () => {
      const budget = await setBudget(1)
      const { id } = await create([one('a-bad')])
      expect((await standOf(budget))?.reserved).toBeGreaterThan(0)
      await ended(id)
      expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0 })
    })
  })
})
