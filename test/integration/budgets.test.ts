/** Budgets are never exceeded, in any concurrency and however requests end. Free requests continue when the budget is used up. */

import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { createBudgets } from '../../src/admission/budgets.ts'
import { serveMetrics } from '../../src/http/metrics-server.ts'
import { TARGETS_BY_PATH } from '../../src/http/paths.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { type Database, ReplyLost } from '../../src/postgres/database.ts'
import { recordUsage } from '../../src/postgres/record-usage.ts'
import type { ReservationRequest } from '../../src/postgres/spending.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { PASS_THROUGH_OPERATIONS } from '../../src/providers/pass-through-operations.ts'
import { readBudgetMetrics } from '../../src/telemetry/gauges.ts'
import { describeBackends, describeOnce } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, post, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { type ProxyOptions, startProxy, type TestProxy } from '../harness/proxy.ts'
import { sendSimultaneously } from '../harness/send-simultaneously.ts'
import { waitUntil } from '../harness/wait-until.ts'

const upstreams = duringTests(startUpstreams)

const MODEL = 'gpt-4o-mini'
const MOST_TOKENS = 1_000
const plain = (content: string) => ({
  ...question(content, { model: MODEL }),
  max_tokens: MOST_TOKENS,
  // Another tier may cost more, so it is set.
  service_tier: 'default',
})
/** The upper bound that a short question reserves, at 0.15 and 0.6 US dollars per million tokens. */
const mostUsd = (body: object) => mostUsdOf(JSON.stringify(body))
const mostUsdOf = (text: string) => (text.length * 0.15 + MOST_TOKENS * 0.6) / 1e6

describeBackends('budgets', backend => {
  const start = (stores: ProxyOptions['stores'], more: Partial<ProxyOptions> = {}) =>
    startProxy({ stores, environment: upstreams.environment, ...more })
  const proxy = duringTests(() => start(backend.open()))
  /** A proxy whose requests hardly wait for other reservations. */
  const impatient = duringTests(() => start(proxy.stores, { reservationWaitMs: 250 }))
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `b-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, provider, 'sk-own')
  })

  /** `more`: further arguments of set_budget(), in SQL. */
  async function setBudget(amount: number, { unit = 'usd', per = 'month', more = '' } = {}): Promise<number> {
    const [row] = await proxy.query<{ id: string }>(
      `select set_budget('${project}', '${unit}', ${amount}, '${per}'${more})::text as id`,
    )
    return Number(row?.id)
  }

  async function standOf(id: number) {
    await proxy.settle()
    const [row] = await proxy.query<{ spent: number; reserved: number; held: number }>(
      `select coalesce(sum(c.spent), 0)::float8 as spent, coalesce(sum(c.reserved), 0)::float8 as reserved,
        (select count(*)::integer from budget_reservations r where r.budget_id = ${id}) as held
      from budget_periods c where c.budget_id = ${id}`,
    )
    return row
  }

  async function recordedUsd(model?: string): Promise<number> {
    await proxy.settle()
    const [row] = await proxy.query<{
      usd: number
    }>(`select coalesce(sum(cost_usd), 0)::float8 as usd from usage_records
      where project_id = (select id from projects where name = '${project}')${model === undefined ? '' : ` and model = '${model}'`}`)
    return row?.usd ?? 0
  }

  test('a request’s cost is spent, and the rest of its reservation is released', async () => {
    const budget = await setBudget(0.01)
    const { status, headers } = await ask(proxy, key, plain('One?'))
    expect(status).toBe(200)
    expect(Number(headers.get('x-proxy-budget-remaining-usd'))).toBeCloseTo(0.01 - mostUsd(plain('One?')), 8)
    const usd = await recordedUsd()
    expect(usd).toBeGreaterThan(0)
    expect(await standOf(budget)).toEqual({ spent: usd, reserved: 0, held: 0 })
    const streamed = await ask(proxy, key, { ...plain('Two?'), stream: true })
    expect(streamed.status).toBe(200)
    expect(await standOf(budget)).toEqual({ spent: await recordedUsd(), reserved: 0, held: 0 })
  })

  test('of many simultaneous requests, sends only as many as the budget covers; then hits continue', async () => {
    const others = await start(proxy.stores, { reservationWaitMs: 250 })
    try {
      await ask(impatient, key, plain('Known?'))
      await impatient.settle()
      const most = mostUsd(plain('Number 100?'))
      const budget = await setBudget((await recordedUsd()) + most * 5.5)
      const askEither = (n: number) => ask(n % 2 ? others : impatient, key, plain(`Number ${100 + n}?`))
      const answers = await sendSimultaneously(upstreams.openai, 40, askEither)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(35)
      for (const { json, headers } of refused) {
        expect(json.error).toMatchObject({ code: 'budget_reserved', type: 'rate_limit_error' })
        expect(json.error.message).toMatch(
          /^Budget reserved by requests in flight: of [\d.]+ USD a month for this project, [\d.]+ USD is spent, and [\d.]+ USD is reserved by requests that are not settled yet\. This request may use up to [\d.]+ USD\. Try again in 5 seconds,/,
        )
        const { 'retry-after': retryAfter, 'x-should-retry': shouldRetry } = Object.fromEntries(headers)
        expect([retryAfter, shouldRetry]).toEqual(['5', undefined])
        expect(Number(headers.get('x-proxy-budget-remaining-usd'))).toBeLessThan(most)
      }
      await Promise.all([impatient.settle(), others.settle()])
      const { spent = 0, ...rest } = (await standOf(budget)) ?? {}
      expect(spent).toBeCloseTo(await recordedUsd(), 9)
      expect(rest).toEqual({ reserved: 0, held: 0 })
      await setBudget(0)
      expect(await ask(impatient, key, plain('Known?'))).toMatchObject({ status: 200, cache: 'HIT' })
      const { json, headers } = await ask(impatient, key, plain('Unknown?'))
      expect(json.error).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' })
      expect(json.error.message).toMatch(/^Budget exceeded: 0 USD a month for this project; it resets at /)
      expect(headers.get('x-should-retry')).toBe('false')
    } finally {
      await others.stop()
    }
  })

  test.each([false, true])(
    'a request waits for what another has reserved, and is served; streamed: %s',
    async stream => {
      const most = mostUsd({ ...plain('Number 1?'), stream })
      const budget = await setBudget(most * 1.5)
      const answering = Promise.withResolvers<void>()
      upstreams.openai.script(async () => {
        await answering.promise
        return { kind: 'answer' }
      })
      const [first, second] = [1, 2].map(n => ask(proxy, key, { ...plain(`Number ${n}?`), stream }))
      await waitUntil('one request reaches the provider', () => upstreams.openai.requests.length === 1)
      answering.resolve()
      expect([(await first)?.status, (await second)?.status]).toEqual([200, 200])
      expect(await standOf(budget)).toEqual({ spent: await recordedUsd(), reserved: 0, held: 0 })
    },
  )

  test('a client that disconnects while it waits for a reservation is neither served nor charged', async () => {
    const budget = await setBudget(mostUsd(plain('Number 1?')) * 1.5)
    const answering = Promise.withResolvers<void>()
    upstreams.openai.script(async () => {
      await answering.promise
      return { kind: 'answer' }
    })
    const first = ask(proxy, key, plain('Number 1?'))
    await waitUntil('one request reaches the provider', () => upstreams.openai.requests.length === 1)
    const leaving = new AbortController()
    const second = post(proxy, key, '/chat/completions', plain('Number 2?'), { signal: leaving.signal }).catch(
      () => null,
    )
    await Bun.sleep(100)
    leaving.abort()
    await second
    await Bun.sleep(100)
    answering.resolve()
    expect((await first).status).toBe(200)
    expect(upstreams.openai.requests).toHaveLength(1)
    expect(await standOf(budget)).toEqual({ spent: await recordedUsd(), reserved: 0, held: 0 })
  })

  test('a batch reserves what its lines may cost at half price until it ends; one that is too expensive is not started', async () => {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    const bodies = [plain('One?'), plain('Two?')]
    const lines = bodies.map((body, n) =>
      JSON.stringify({ custom_id: `${n}`, method: 'POST', url: '/v1/chat/completions', body }),
    )
    const file = await client.files.create({
      file: await toFile(Buffer.from(lines.join('\n')), 'in.jsonl'),
      purpose: 'batch',
    })
    const start = () =>
      client.batches.create(
        {
          input_file_id: file.id,
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
          metadata: { team: 'night', note: 'no tag: é' },
        },
        { headers: { 'x-proxy-tags': 'env=prod' } },
      )
    const most = lines.reduce((sum, line) => sum + mostUsdOf(line) / 2, 0)
    const budget = await setBudget(most * 0.9)
    await expect(start()).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' })
    expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0, held: 0 })

    await setBudget(most * 1.5)
    const tagged = await setBudget(most * 1.5, { more: `, of_tag => 'team=night'` })
    const batch = await start()
    expect(await standOf(budget)).toMatchObject({ spent: 0, held: 1 })
    expect((await standOf(budget))?.reserved).toBeCloseTo(most, 8)
    // A batch takes hours, so no request waits for its reservation.
    const refused = await start().catch(error => error)
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([429, 'budget_reserved', '60'])
    while ((await client.batches.retrieve(batch.id)).status !== 'completed');
    expect(await standOf(budget)).toEqual({ spent: await recordedUsd(), reserved: 0, held: 0 })
    expect(await recordedUsd()).toBeGreaterThan(0)
    expect(await standOf(tagged)).toEqual(await standOf(budget))
    const ofTag = await proxy.query<{ usd: number }>(`select sum(cost_usd)::float8 as usd from usage_records
      where project_id = find_project('${project}') and tags = '{"env": "prod", "team": "night"}'`)
    expect(ofTag[0]?.usd).toBeCloseTo(await recordedUsd(), 9)
  })

  test('a mostly spent and a fully spent budget raise one event each', async () => {
    await ask(proxy, key, plain('One?'))
    const usd = await recordedUsd()
    await proxy.query(`select set_setting('${project}', 'cache_mode', 'off')`)
    const budget = await setBudget(usd + mostUsd(plain('One?')) * 1.01)
    await proxy.query(`update budget_periods set spent = spent * 1000 where budget_id = ${budget}`)
    await setBudget(usd * 1_000 + mostUsd(plain('One?')) * 1.01)
    await ask(proxy, key, plain('Two?'))
    await proxy.settle()
    await setBudget(usd * 1_000 + mostUsd(plain('One?')) * 1.2)
    await ask(proxy, key, plain('Three?'))
    await proxy.settle()
    const events = await proxy.query(`select payload->>'percent' as percent from events e
      where kind = 'budget.threshold' and project_id = (select id from projects where name = '${project}')`)
    expect(events).toEqual([{ percent: '80' }])
  })

  test('an alert raises one event when a month has cost its amount, limits nothing, and raises another for another amount', async () => {
    const alert = async (amount: number, id = 'null') => {
      const [row] = await proxy.query<{ id: string }>(
        `select set_spend_alert('${project}', ${amount}, '{ops@example.org}', 'Money', ${id})::text as id`,
      )
      return row?.id ?? ''
    }
    // A limit in US dollars does not apply to a model without a price.
    const unpriced = { ...question('Once?', { model: 'acme/unheard-of' }), max_tokens: 5 }
    await alert(1_000)
    expect((await ask(proxy, key, unpriced)).status).toBe(200)
    const id = await alert(1e-9)
    const { status, headers } = await ask(proxy, key, plain('One?'))
    expect([status, headers.get('x-proxy-budget-remaining-usd')]).toEqual([200, null])
    await ask(proxy, key, plain('Two?'))
    const readEvents = async () => {
      await proxy.settle()
      return (
        await proxy.query<{ payload: object }>(`select payload from events
          where kind = 'budget.threshold' and project_id = (select id from projects where name = '${project}') order by raised_at`)
      ).map(({ payload }) => payload)
    }
    const event = {
      spend_alert_id: `spend_alert_${id}`,
      scope: 'project',
      percent: 100,
      unit: 'usd',
      per: 'month',
      notification_channel: { type: 'email', recipients: ['ops@example.org'], subject_prefix: 'Money' },
    }
    expect(await readEvents()).toMatchObject([event])
    await alert(2e-9, id)
    await ask(proxy, key, plain('Three?'))
    expect(await readEvents()).toMatchObject([event, { ...event, limit: 2e-9 }])
  })

  test('a budget of the organization applies to the total of all projects, and its alert reaches their webhooks', async () => {
    const other = `b-${crypto.randomUUID()}`
    const otherKey = await proxy.createKey({ project: other, type: 'project' })
    await storeKey(proxy.stores, other, 'openai', 'sk-own')
    try {
      const most = mostUsd(plain('Number 100?'))
      await proxy.query(`select set_budget(null, 'usd', ${most * 3.5}, 'total')`)
      await proxy.query(`select set_spend_alert(null, 1e-9, '{ops@example.org}')`)
      await proxy.query(`select add_webhook('${other}', 'https://127.0.0.1:1/', '{budget.threshold}', '')`)
      const askWithEither = (n: number) => ask(impatient, n % 2 ? otherKey : key, plain(`Number ${100 + n}?`))
      const answers = await sendSimultaneously(upstreams.openai, 20, askWithEither)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
      expect(answers.find(({ status }) => status === 429)?.json.error.message).toContain(
        'in total for this organization',
      )
      await impatient.settle()
      const events =
        await proxy.query(`select p.name, e.payload->>'scope' as scope from events e join projects p on p.id = e.project_id
        where e.kind = 'budget.threshold' and e.payload ? 'spend_alert_id' and p.name in ('${project}', '${other}')`)
      expect(events).toEqual([{ name: other, scope: 'organization' }])
      await expect(proxy.query(`select set_budget(null, 'usd', 1, 'day', of_model => 'x')`)).rejects.toThrow(
        /cannot have a key, model or tag/,
      )
    } finally {
      await proxy.query('delete from budgets where project_id is null')
      await proxy.query('update projects p set has_budgets = exists (select from budgets b where b.project_id = p.id)')
    }
  })

  test('a project may reject hits, too', async () => {
    await ask(proxy, key, plain('Known?'))
    await proxy.settle()
    await proxy.query(`select set_setting('${project}', 'when_exhausted', 'refuse')`)
    const budget = await setBudget(1)
    expect(await ask(proxy, key, plain('Known?'))).toMatchObject({ status: 200, cache: 'HIT' })
    expect(await standOf(budget)).toEqual({ spent: await recordedUsd(), reserved: 0, held: 0 })
    await setBudget(0)
    expect((await ask(proxy, key, plain('Known?'))).status).toBe(429)
    // Reserved amounts of other requests are not spent.
    await setBudget((await recordedUsd()) + mostUsd(plain('Number 1?')) * 1.5)
    const answering = Promise.withResolvers<void>()
    upstreams.openai.script(async () => {
      await answering.promise
      return { kind: 'answer' }
    })
    const before = upstreams.openai.requests.length
    const other = ask(proxy, key, plain('Number 1?'))
    await waitUntil('the request reaches the provider', () => upstreams.openai.requests.length > before)
    expect(await ask(impatient, key, plain('Known?'))).toMatchObject({ status: 200, cache: 'HIT' })
    answering.resolve()
    expect((await other).status).toBe(200)
  })

  const ENDPOINT_CASES: Record<string, Record<string, unknown>> = {
    '/chat/completions': plain('Once?'),
    '/completions': { model: 'gpt-3.5-turbo-instruct', prompt: 'Once' },
    '/responses': { model: MODEL, input: 'Once' },
    '/messages': { model: 'claude-haiku-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'Once?' }] },
    '/embeddings': { model: 'text-embedding-3-small', input: 'Once' },
    '/images/generations': { model: 'gpt-image-1', prompt: 'Once' },
    '/audio/speech': { model: 'tts-1', input: 'Once', voice: 'alloy' },
  }

  /** All endpoints that call a model, from the routing tables. Batches are tested above, and moderations are free. */
  const OTHER_DOORS = [
    ...Object.entries(TARGETS_BY_PATH).flatMap(([path, { kind }]) =>
      kind === 'endpoint' ? path.slice('/v1'.length) : [],
    ),
    ...Object.keys(PASS_THROUGH_OPERATIONS).map(operation => `/${operation}`),
  ].filter(path => !(path in ENDPOINT_CASES) && path !== '/moderations')

  test.each(draw(OTHER_DOORS))('no request passes %s without money, or without a price', async path => {
    await setBudget(0)
    const models = { '/images/edits': 'gpt-image-1', '/images/variations': 'dall-e-2', '/rerank': 'cohere/rerank-v3.5' }
    const model = models[path as keyof typeof models] ?? 'whisper-1'
    const body = { model, prompt: 'x', image: 'x', file: 'x', query: 'x', documents: ['x'] }
    const { status, json } = await readAnswer(await post(proxy, key, path, body))
    expect([status, json.error.code]).toEqual(status === 400 ? [400, 'model_not_priced'] : [429, 'insufficient_quota'])
    const calls = [upstreams.openai, upstreams.aggregator].flatMap(({ requests }) => requests)
    expect(calls).toEqual([])
  })

  test.each(draw(Object.entries(ENDPOINT_CASES)))('no request passes %s without money', async (path, body) => {
    await setBudget(0)
    const { status, json } = await readAnswer(await post(proxy, key, path, body))
    expect([status, json.error.code ?? json.error.type]).toEqual([
      429,
      path === '/messages' ? expect.anything() : 'insufficient_quota',
    ])
    const calls = [upstreams.openai, upstreams.anthropic, upstreams.aggregator].flatMap(({ requests }) => requests)
    expect(calls).toEqual([])
    await setBudget(5)
    expect((await readAnswer(await post(proxy, key, path, body))).status).toBe(200)
    await proxy.settle()
    const [held] = await proxy.query<{ held: number }>('select count(*)::integer as held from budget_reservations')
    expect(held).toEqual({ held: 0 })
  })

  test.each([
    ['/chat/completions', { ...question('Once?', { model: MODEL }), max_output_tokens: 1 }],
    ['/responses', { model: MODEL, input: 'Once', max_tokens: 1, max_completion_tokens: 1 }],
  ])('a limit of the response in the format of another endpoint is none at %s', async (path, body) => {
    // A thousand tokens cost this much, and the model may write 16,384.
    await setBudget(0.0006)
    expect((await post(proxy, key, path, body)).status).toBe(429)
  })

  test('free requests pass, and those without a price are rejected', async () => {
    const unpriced = { ...question('Once?', { model: 'acme/unheard-of' }), max_tokens: 5 }
    expect((await ask(proxy, key, unpriced)).status).toBe(200)
    await ask(proxy, key, plain('What costs?'))
    expect(await recordedUsd()).toBeGreaterThan(0)
    await setBudget(1)
    expect((await ask(proxy, key, { ...unpriced, seed: 1 })).json.error).toMatchObject({ code: 'model_not_priced' })
    await setBudget(0)
    const moderation = { model: 'omni-moderation-latest', input: 'Once' }
    expect((await post(proxy, key, '/moderations', moderation)).status).toBe(200)
    // A test key gets responses from the sandbox.
    const testKey = await proxy.createKey({ project, type: 'test' })
    expect((await ask(proxy, testKey, plain('Once?'))).status).toBe(200)
  })

  test('a budget of a key, a model or a tag applies to its requests alone, and is named', async () => {
    const other = await proxy.createKey({ project, type: 'project' })
    await setBudget(0, { more: `, of_key => find_key('${key}')`, per: 'day' })
    await setBudget(0, { more: `, of_model => 'gpt-4o'`, per: 'total' })
    await setBudget(0, { more: `, of_tag => 'team=search'`, per: 'week' })
    const messageOf = async (by: string, model: string, headers = {}) =>
      (await ask(proxy, by, { ...plain(crypto.randomUUID()), model }, headers)).json.error?.message
    expect(await messageOf(other, MODEL)).toBe(undefined)
    expect(await messageOf(other, MODEL, { 'x-proxy-tags': 'team=ads' })).toBe(undefined)
    expect(await messageOf(key, MODEL)).toContain('0 USD a day for this key; it resets at ')
    expect(await messageOf(other, 'gpt-4o')).toContain('0 USD in total for this model; it does not reset')
    expect(await messageOf(other, MODEL, { 'x-proxy-tags': 'team=search' })).toContain('0 USD a week for this tag')
  })

  test.each([
    [
      'gpt-4o-mini',
      ['gpt-4o-mini', 'openai/gpt-4o-mini', 'gpt-4o-mini-2024-07-18', 'fast', 'openai/gpt-4o-mini:nitro'],
      ['gpt-4o', 'claude-haiku-4-5'],
    ],
    ['openai/gpt-4o-mini', ['gpt-4o-mini', 'openai/gpt-4o-mini', 'fast'], ['gpt-4o']],
    [
      'claude-haiku-4.5',
      ['claude-haiku-4-5', 'claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4.5'],
      ['anthropic/claude-sonnet-4.5', 'fast'],
    ],
    ['gpt-4o-2024-05-13', ['gpt-4o-2024-05-13'], ['gpt-4o', 'fast']],
  ])('a budget of %s applies whatever name of the model is requested', async (budgeted, held, free) => {
    await proxy.query(`select set_setting('${project}', 'aliases', 'fast=gpt-4o-mini|gpt-4o')`)
    await setBudget(0, { more: `, of_model => '${budgeted}'` })
    for (const model of [...held, ...free]) {
      const { status } = await ask(proxy, key, { ...plain(crypto.randomUUID()), model })
      // A model without a price is rejected with 400.
      expect([model, status === 200]).toEqual([model, free.includes(model)])
    }
    await ask(proxy, key, { ...plain('Counted?'), model: free[0] })
    expect(await standOf(await setBudget(1, { per: 'day', more: `, of_model => '${free[0]}'` }))).toMatchObject({
      spent: await recordedUsd(free[0]),
    })
  })

  test('a fallback’s cost is charged to its own model’s budget', async () => {
    await proxy.query(`select set_setting('${project}', 'fallbacks', 'gpt-4o')`)
    const [wanted, fallback] = [
      await setBudget(1, { more: `, of_model => '${MODEL}'` }),
      await setBudget(1, { more: `, of_model => 'gpt-4o'` }),
    ]
    upstreams.openai.script(({ bodyText }) => (bodyText.includes(MODEL) ? { kind: 'error', status: 503 } : undefined))
    expect((await ask(proxy, key, plain('Falls?'))).status).toBe(200)
    const spent = await recordedUsd('gpt-4o')
    expect(spent).toBeGreaterThan(0)
    expect(await standOf(wanted)).toEqual({ spent: 0, reserved: 0, held: 0 })
    expect(await standOf(fallback)).toEqual({ spent, reserved: 0, held: 0 })
  })

  test('a budget for what no request can have is rejected', async () => {
    await proxy.query(`select set_setting('${project}', 'aliases', 'fast=gpt-4o-mini|gpt-4o')`)
    for (const [more, message] of [
      [
        `, of_model => 'fast'`,
        'model "fast" is an alias of this project, which counts as what it stands for: name "gpt-4o-mini"',
      ],
      [`, of_tag => 'team= search'`, 'tag "team= search" is not valid'],
      [`, of_tag => 'team=a  b'`, 'tag "team=a  b" is not valid'],
    ] as const)
      await expect(setBudget(1, { more })).rejects.toThrow(message)
    await expect(proxy.query(`select set_budget('${project}', 'usd', 999999999.9999999999, 'day')`)).rejects.toThrow(
      'US dollars from 0 to below 1,000,000,000',
    )
    await setBudget(1, { more: `, of_tag => 'team=a b'` })
  })

  /** Makes the provider wait until the test lets it respond. */
  function answerLater() {
    const mayAnswer = Promise.withResolvers<void>()
    upstreams.openai.script(async () => {
      await mayAnswer.promise
      return { kind: 'answer', content: 'one two three' }
    })
    return mayAnswer
  }

  test('a budget that is set, or set again, while a request is in flight includes that request’s cost', async () => {
    const before = await setBudget(5, { per: 'week' })
    await setBudget(5)
    const mayAnswer = answerLater()
    const responding = ask(proxy, key, plain('Under way?'))
    await waitUntil('a reservation is stored', async () => {
      const [row] = await proxy.query<{ held: number }>('select count(*)::integer as held from budget_reservations')
      return row?.held === 2
    })
    const total = await setBudget(5, { per: 'total' })
    await proxy.query(`select set_budget('${project}', 'usd', null, 'month')`)
    const month = await setBudget(5)
    mayAnswer.resolve()
    expect((await responding).status).toBe(200)
    const spent = await recordedUsd()
    expect(spent).toBeGreaterThan(0)
    for (const budget of [before, total, month]) expect(await standOf(budget)).toEqual({ spent, reserved: 0, held: 0 })
  })

  test('the first budget, and the first alert, include the cost of requests that were already in flight', async () => {
    const mayAnswer = answerLater()
    const responding = ask(proxy, key, plain('Under way?'))
    await waitUntil('the request reaches the provider', () => upstreams.openai.requests.length === 1)
    await proxy.query(`select set_spend_alert('${project}', 1e-9, '{ops@example.org}')`)
    const [total, ofModel, tokens] = [
      await setBudget(5, { per: 'total' }),
      await setBudget(5, { per: 'day', more: `, of_model => '${MODEL}'` }),
      await setBudget(5_000, { unit: 'tokens', per: 'total' }),
    ]
    const ofOther = await setBudget(5, { per: 'day', more: `, of_model => 'gpt-4o'` })
    mayAnswer.resolve()
    const { status, json } = await responding
    expect(status).toBe(200)
    const spent = await recordedUsd()
    expect(spent).toBeGreaterThan(0)
    for (const budget of [total, ofModel]) expect(await standOf(budget)).toEqual({ spent, reserved: 0, held: 0 })
    expect((await standOf(tokens))?.spent).toBe(json.usage.total_tokens)
    expect((await standOf(ofOther))?.spent).toBe(0)
    const events = await proxy.query(`select payload->>'spend_alert_id' is not null as is_alert from events
      where kind = 'budget.threshold' and project_id = find_project('${project}')`)
    expect(events).toEqual([{ is_alert: true }])
  })

  test('a request for more tokens than any number can hold is rejected, and no call is made with it', async () => {
    await setBudget(1)
    const beyond = [1e15, 1e21, 1e300].map(many => ({ ...plain(`For ${many}?`), max_tokens: many }))
    const usual = Array.from({ length: 12 }, (_, n) => plain(`Beside it, number ${n}?`))
    const answers = await Promise.all([...beyond, ...usual].map(body => ask(proxy, key, body)))
    expect(answers.map(({ status }) => status)).toEqual([...beyond.map(() => 429), ...usual.map(() => 200)])
  })

  test('an impossible usage report is not trusted, and the request is recorded', async () => {
    const budget = await setBudget(1)
    const usages = [{ cost: 1e30 }, { cost: -1 }, { cost: 'much' }, { prompt_tokens: -1e30, completion_tokens: 1.5 }]
    for (const [n, usage] of usages.entries()) {
      upstreams.openai.scriptOnce({ kind: 'answer', usage })
      expect((await ask(proxy, key, plain(`What of ${n}?`))).status).toBe(200)
    }
    const usd = await recordedUsd()
    const [{ rows = 0 } = {}] = await proxy.query<{ rows: number }>(
      `select count(*)::integer as rows from usage_records where project_id = (select id from projects where name = '${project}')`,
    )
    expect([rows, usd > 0, usd < 0.01]).toEqual([usages.length, true, true])
    expect(await standOf(budget)).toMatchObject({ reserved: 0, held: 0 })
  })

  test('tokens may be limited in place of dollars', async () => {
    const budget = await setBudget(2_000, { unit: 'tokens', per: 'total' })
    const { status, json } = await ask(proxy, key, plain('One?'))
    expect([status, (await standOf(budget))?.spent]).toEqual([200, json.usage.total_tokens])
    const { json: refused } = await ask(proxy, key, { ...plain('Two?'), max_tokens: 2_000 })
    expect(refused.error.message).toContain('2000 tokens in total for this project')
  })

  test('a failure releases its reservation; a stream that breaks off costs what arrived', async () => {
    const budget = await setBudget(0.01)
    upstreams.openai.scriptOnce({ kind: 'error', status: 400 })
    expect((await ask(proxy, key, plain('One?'))).status).toBe(400)
    expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0, held: 0 })
    upstreams.openai.scriptOnce({ kind: 'cut', after: 2 })
    await ask(proxy, key, { ...plain('Two?'), stream: true })
    const usd = await recordedUsd()
    expect(usd).toBeGreaterThan(0)
    expect(await standOf(budget)).toEqual({ spent: usd, reserved: 0, held: 0 })
  })

  test('identical requests in flight reserve once', async () => {
    const budget = await setBudget(mostUsd(plain('Same?')) * 1.5)
    upstreams.openai.script({ kind: 'answer', firstByteDelayMs: 300 })
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(proxy, key, plain('Same?'))))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect((await standOf(budget))?.spent).toBeCloseTo(await recordedUsd(), 9)
  })

  test('a client that disconnects during its reservation leaves nothing reserved once its response is read', async () => {
    const budget = await setBudget(0.01)
    upstreams.openai.script({ kind: 'answer', firstByteDelayMs: 500 })
    const leaving = new AbortController()
    const responding = post(proxy, key, '/chat/completions', plain('Gone?'), { signal: leaving.signal }).catch(
      () => null,
    )
    await waitUntil('the request reaches the provider', () => upstreams.openai.requests.length === 1)
    leaving.abort()
    await responding
    await waitUntil('the reservation is released', async () => (await standOf(budget))?.held === 0)
    expect(await standOf(budget)).toMatchObject({ spent: await recordedUsd(), reserved: 0 })
  })

  test('a budget of the current period begins with what the period has cost', async () => {
    await ask(proxy, key, plain('Before?'))
    const usd = await recordedUsd()
    expect(await standOf(await setBudget(1))).toMatchObject({ spent: usd })
    expect(await standOf(await setBudget(1, { more: `, of_tag => 'team=search'` }))).toMatchObject({ spent: 0 })
    expect(await standOf(await setBudget(1, { per: 'total' }))).toMatchObject({ spent: 0 })
  })

  test('a scrape reports what is left of each budget in dollars, and everything else if the database does not respond', async () => {
    const budget = await setBudget(2, { per: 'day' })
    await setBudget(100, { unit: 'tokens' })
    await ask(proxy, key, plain('One?'))
    const spent = await recordedUsd()
    const scrape = async (database: Database) => {
      const serving = serveMetrics({ host: '127.0.0.1', port: 0, token: null }, () => readBudgetMetrics(database))
      const text = await (await fetch(`http://127.0.0.1:${serving.port}/metrics`)).text()
      await serving.stop(true)
      return text.split('\n').filter(line => line.includes(project))
    }
    const { database } = proxy.stores
    const [line, ...others] = await scrape(database)
    expect(others).toEqual([])
    const labels = `project="${project}",budget="budget_${budget}",per="day"`
    expect(line?.startsWith(`model_proxy_budget_remaining_usd{${labels}} `)).toBe(true)
    expect(Number(line?.split(' ').at(-1))).toBeCloseTo(2 - spent, 8)
    const failing = { ...database, call: () => Promise.reject(new Error('It is away')) }
    expect(await scrape(failing)).toEqual([])
  })

  test('every period can be set after any other, in one session', async () => {
    for (const per of ['month', 'day', 'week', 'total', 'day', 'week', 'month', 'total', 'total', 'day', 'total'])
      expect([per, (await setBudget(1, { per })) > 0]).toEqual([per, true])
  })

  test('the judge is charged to the budgets of its project', async () => {
    await proxy.query(`update projects set semantic_judge_daily_usd = 1 where name = '${project}'`)
    const budget = await setBudget(0.5)
    const reserve = async () => {
      const [row] = await proxy.query<{ day: unknown }>(
        `select reserve_judgement(id, 0.3)::text as day from projects where name = '${project}'`,
      )
      return row?.day
    }
    expect([typeof (await reserve()), await reserve()]).toEqual(['string', null])
    expect(await standOf(budget)).toMatchObject({ spent: 0.3 })
    await proxy.query(`select settle_judgement(id, (now() at time zone 'utc')::date, -0.2, '', '', '',
      null, null, null, null, 'judge', null) from projects where name = '${project}'`)
    expect((await standOf(budget))?.spent).toBeCloseTo(0.1, 9)
  })

  describe('a reservation whose process fails', () => {
    let budget: number
    beforeEach(async () => {
      budget = await setBudget(1)
    })

    async function spending(usd = 0.4): Promise<ReservationRequest> {
      const [row] = await proxy.query<{ id: string }>(`select id::text from projects where name = '${project}'`)
      return {
        id: crypto.randomUUID(),
        project_id: Number(row?.id),
        key_id: 0,
        request_id: 'r',
        endpoint: 'chat',
        model: MODEL,
        tags: null,
        usd,
        tokens: 1,
      }
    }

    /** Budgets over a database whose replies are late or lost. The database itself always executes the statements. */
    function openBudgets(fate: 'late' | 'lost') {
      const held: (() => void)[] = []
      let isFailing = true
      const { database } = proxy.stores
      const unreliable: Database = {
        ...database,
        async call(text, values) {
          const rows = await database.call<never>(text, values)
          if (!isFailing || !text.includes('reserve_spending(')) return rows
          if (fate === 'lost') throw new ReplyLost('swallowed')
          await new Promise<void>(resolve => held.push(resolve))
          return rows
        },
      }
      return {
        budgets: createBudgets(unreliable, 500),
        recover() {
          isFailing = false
          for (const resolve of held) resolve()
        },
      }
    }

    test.each(['late', 'lost'] as const)('and its reply is %s: a 503, and it is released', async fate => {
      const { budgets, recover } = openBudgets(fate)
      await expect(budgets.reserve(await spending())).rejects.toMatchObject({ code: 'service_unavailable' })
      // The database executes the statement, but after the time limit.
      await waitUntil('the reservation is stored', async () => (await standOf(budget))?.held === 1)
      expect((await standOf(budget))?.reserved).toBeCloseTo(0.4, 9)
      recover()
      await waitUntil('the reservation is released', async () => (await standOf(budget))?.held === 0)
      await budgets.drain(10_000)
      expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0, held: 0 })
    })

    test('and its process dies: it stays reserved, a record names it, and its own record replaces that later', async () => {
      const budgets = createBudgets(proxy.stores.database)
      const crashed = await spending()
      expect(await budgets.reserve(crashed)).toBeCloseTo(0.6, 9)
      await callFunction(proxy.stores.database, 'expire_reservations', {})
      expect((await standOf(budget))?.held).toBe(1)
      await proxy.query(`update budget_reservations set expires_at = now() - interval '1 second'`)
      await callFunction(proxy.stores.database, 'expire_reservations', {})
      await callFunction(proxy.stores.database, 'expire_reservations', {})
      expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0.4, held: 1 })
      const other = { ...(await spending()), usd: 0.7 }
      await expect(budgets.reserve(other)).rejects.toMatchObject({ status: 429 })
      const ofRequest = () =>
        proxy.query(
          `select request_id, model, key_id::integer, cost_estimated, cost_usd::float8, doubtful_usd::float8 from usage_records
          where project_id = ${crashed.project_id}`,
        )
      const named = { request_id: 'r', model: MODEL, key_id: 0 }
      expect(await ofRequest()).toEqual([{ ...named, cost_estimated: 'proxy_stopped', cost_usd: 0, doubtful_usd: 0.4 }])
      const summed = async () => {
        await proxy.query('select roll_up_usage()')
        const [row] = await proxy.query<{ requests: number }>(
          `select sum(requests)::integer as requests from usage_sums where project_id = ${crashed.project_id} and grain = 'hour'`,
        )
        return row?.requests
      }
      expect(await summed()).toBe(1)
      const record = { ...(await costing(proxy, project, 0.25)), request_id: 'r', key_id: 0 }
      const spent = [{ id: crashed.id, model: MODEL, usd: 0.25, tokens: 10 }]
      await recordUsage(proxy.stores.database, [{ ...record, spent }], crypto.randomUUID())
      expect(await standOf(budget)).toEqual({ spent: 0.25, reserved: 0, held: 0 })
      expect(await ofRequest()).toEqual([{ ...named, cost_estimated: null, cost_usd: 0.25, doubtful_usd: null }])
      expect(await summed()).toBe(1)
    })

    test('and its cost is unknown for hours: it is released, and a later record is spent', async () => {
      const budgets = createBudgets(proxy.stores.database)
      const crashed = await spending()
      await budgets.reserve(crashed)
      for (let step = 0; step < 2; step++) {
        expect((await standOf(budget))?.held).toBe(1)
        await proxy.query(`update budget_reservations set expires_at = now() - interval '1 second'`)
        await callFunction(proxy.stores.database, 'expire_reservations', {})
      }
      expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0, held: 0 })
      const record = await costing(proxy, project, 0.25)
      const spent = [{ id: crashed.id, model: MODEL, usd: 0.25, tokens: 10 }]
      await recordUsage(proxy.stores.database, [{ ...record, spent }], crypto.randomUUID())
      expect((await standOf(budget))?.spent).toBeCloseTo(0.25, 9)
    })

    test('a batch of a slot that arrives again reserves nothing more', async () => {
      const reservations = JSON.stringify([await spending()])
      const slot = crypto.randomUUID()
      const send = (batch: number) =>
        proxy.query(`select verdict from reserve_spending('${reservations}', '${slot}', ${batch})`)
      expect([await send(2), await send(2), await send(1)]).toEqual([[{ verdict: 'granted' }], [], []])
      expect((await standOf(budget))?.reserved).toBeCloseTo(0.4, 9)
    })
  })
})

/** Zones whose clocks changed at midnight, by less than an hour, or by a day. */
const CHANGED_ZONES = [
  ...[
    'America/Sao_Paulo',
    'America/Havana',
    'America/Asuncion',
    'America/Santiago',
    'America/St_Johns',
    'Atlantic/Azores',
  ],
  ...[
    'Asia/Beirut',
    'Asia/Amman',
    'Asia/Tehran',
    'Asia/Pyongyang',
    'Africa/Cairo',
    'Australia/Lord_Howe',
    'Pacific/Apia',
  ],
]

async function costing(proxy: TestProxy, project: string, usd: number): Promise<UsageRecord> {
  const [row] = await proxy.query<{ id: string }>(`select id::text from projects where name = '${project}'`)
  const tokens = { prompt_tokens: 5, cached_prompt_tokens: 0, completion_tokens: 5, tokens_saved: 0 }
  return {
    ...tokens,
    recorded_at: new Date().toISOString(),
    request_id: 'r',
    project_id: Number(row?.id),
    key_id: 1,
    endpoint: 'chat',
    model: MODEL,
    provider: 'openai',
    cache_result: 'MISS',
    status: 200,
    streamed: false,
    cost_usd: usd,
    saved_usd: 0,
    latency_ms: 1,
    duration_ms: 1,
    spent: [{ id: null, model: MODEL, usd, tokens: 10 }],
  }
}

describeBackends('usage that is reported later', backend => {
  test('changes one record, whatever ended in the same millisecond', async () => {
    const proxy = await startProxy({ stores: await backend.open() })
    const project = `w-${crypto.randomUUID()}`
    await proxy.createKey({ project, type: 'project' })
    const record = { ...(await costing(proxy, project, 5)), cost_estimated: 'client_left' } as const
    const { project_id, recorded_at } = record
    const another = { ...record, request_id: 'another' }
    await recordUsage(proxy.stores.database, [record, record, another], crypto.randomUUID())
    await proxy.query(`select queue_reconciliation(${project_id}, 'resp', 'openai', 'r', '${recorded_at}', '${recorded_at}', 5),
      reconcile_response(${project_id}, 'resp', 3, 0, 1, 2)`)
    const rows = await proxy.query(`select cost_usd::float8, prompt_tokens, cost_estimated from usage_records
      where project_id = ${project_id} order by 1`)
    expect(rows).toEqual([
      { cost_usd: 2, prompt_tokens: 3, cost_estimated: null },
      ...Array(2).fill({ cost_usd: 5, prompt_tokens: 5, cost_estimated: 'client_left' }),
    ])
    await proxy.stop()
  })
})

describeOnce('periods of budgets', backend => {
  test.each([
    ['day', 'UTC', '2026-03-29T12:00:00Z', '2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
    // Days of 23 hours and of 25 hours.
    ['day', 'Europe/Vienna', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['day', 'Europe/Vienna', '2026-10-25T22:59:59Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['day', 'Asia/Kathmandu', '2026-01-01T18:15:00Z', '2026-01-01T18:15:00Z', '2026-01-02T18:15:00Z'],
    ['week', 'UTC', '2026-11-22T23:59:59Z', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['week', 'America/New_York', '2026-11-23T04:59:00Z', '2026-11-16T05:00:00Z', '2026-11-23T05:00:00Z'],
    ['month', 'UTC', '2026-02-28T23:59:59Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
    ['month', 'Pacific/Kiritimati', '2026-01-31T10:00:00Z', '2026-01-31T10:00:00Z', '2026-02-28T10:00:00Z'],
    // Midnight occurs twice. Time after the first one belongs to the new day, time before it to the day before.
    ['day', 'America/Havana', '2026-11-01T04:30:00Z', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
    ['day', 'America/Havana', '2026-11-01T03:59:59Z', '2026-10-31T04:00:00Z', '2026-11-01T04:00:00Z'],
    ['month', 'America/Havana', '2026-11-01T04:30:00Z', '2026-11-01T04:00:00Z', '2026-12-01T05:00:00Z'],
    // Midnight does not occur: the day begins at one.
    ['day', 'Asia/Beirut', '2026-03-28T22:00:00Z', '2026-03-28T22:00:00Z', '2026-03-29T21:00:00Z'],
    ['week', 'America/Sao_Paulo', '2018-11-04T03:00:00Z', '2018-10-29T03:00:00Z', '2018-11-05T02:00:00Z'],
    ['day', 'Africa/Cairo', '2026-04-23T21:59:59Z', '2026-04-22T22:00:00Z', '2026-04-23T22:00:00Z'],
    // A minute after midnight it is eleven again: the day that had begun continues.
    ['day', 'America/St_Johns', '2006-10-29T02:45:00Z', '2006-10-29T02:30:00Z', '2006-10-30T03:30:00Z'],
  ])('a %s of %s at %s begins at %s and ends at %s', async (per, zone, at, begins, ends) => {
    const { database } = await backend.open()
    const [row] = await database.call<{ begins: Date; ends: Date }>(
      `select begins, ends from budget_period_at('${per}', '${zone}', '${at}')`,
      [],
    )
    expect([row?.begins.toISOString(), row?.ends.toISOString()]).toEqual([
      begins.replace('Z', '.000Z'),
      ends.replace('Z', '.000Z'),
    ])
  })

  test.each(draw(CHANGED_ZONES))(
    'every moment of %s is in one period, and each ends where the next begins',
    async zone => {
      const { database } = await backend.open()
      const [found] = await database.call<{ tried: number; outside: number; torn: number }>(
        `with days as (
        select d.day, d.day at time zone $1 - lag(d.day) over (order by d.day) at time zone $1 as length
        from generate_series('2005-01-01Z'::timestamptz, '2019-01-01Z', '1 day') as d (day)
      )
      select
        count(*)::integer as tried,
        (count(*) filter (where not (p.begins <= m.at and m.at < p.ends)))::integer as outside,
        (count(*) filter (where next.begins <> p.ends))::integer as torn
      from days d
      cross join lateral generate_series(d.day - interval '26 hours', d.day + interval '26 hours', '97 minutes') as m (at)
      cross join unnest(array['day', 'week', 'month']) as u (per)
      cross join lateral budget_period_at(u.per, $1, m.at) p
      cross join lateral budget_period_at(u.per, $1, p.ends) next
      where d.length <> '1 day'`,
        [zone],
      )
      expect(found).toMatchObject({ outside: 0, torn: 0 })
      expect(found?.tried).toBeGreaterThan(0)
    },
  )

  test('a total has no end', async () => {
    const { database } = await backend.open()
    expect(
      await database.call(
        `select begins = 'epoch' and ends = 'infinity' as ok from budget_period_at('total', 'UTC', now())`,
        [],
      ),
    ).toEqual([{ ok: true }])
  })
})
