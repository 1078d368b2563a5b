/** Disconnecting early is not free: whichever side ends a request, and whenever, the charge is never below the provider's bill. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import { describeBackends } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { type ProxyOptions, startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

/** US dollars per million tokens, of input and of output. */
const PRICES: Record<string, [input: number, output: number]> = {
  o3: [2, 8],
  'gpt-4o-mini': [0.15, 0.6],
  'gpt-3.5-turbo-instruct': [1.5, 2],
  'claude-haiku-4-5': [1, 5],
  'gpt-image-1': [5, 40],
  'tts-1': [15, 0],
}
const THOUGHT = 20_000
const LIMIT = 25_000
/** Long enough that a stalled machine does not reach the end of the text early. */
const LONG = 'seven '.repeat(60)
const messages = [{ role: 'user', content: 'What is the answer to all of it?' }]
const thinking = { type: 'enabled', budget_tokens: 10_000 }
const usual = { service_tier: 'default', stream: true }

interface Call {
  path: string
  body: Record<string, unknown>
}
const THINKING: Record<string, Call> = {
  chat: { path: '/chat/completions', body: { ...usual, model: 'o3', messages, max_completion_tokens: LIMIT } },
  'chat without a limit': { path: '/chat/completions', body: { ...usual, model: 'o3', messages } },
  'chat, plain': { path: '/chat/completions', body: { ...usual, model: 'o3', messages, stream: false } },
  'chat, translated': {
    path: '/chat/completions',
    body: { ...usual, model: 'claude-haiku-4-5', messages, max_tokens: LIMIT, reasoning_effort: 'high' },
  },
  responses: { path: '/responses', body: { ...usual, model: 'o3', input: 'What is it?', max_output_tokens: LIMIT } },
  'responses, not kept': { path: '/responses', body: { ...usual, model: 'o3', input: 'What is it?', store: false } },
  messages: {
    path: '/messages',
    body: { stream: true, model: 'claude-haiku-4-5', messages, max_tokens: LIMIT, thinking },
  },
}
const PLAIN: Record<string, Call> = {
  chat: { path: '/chat/completions', body: { ...usual, model: 'gpt-4o-mini', messages } },
  responses: { path: '/responses', body: { ...usual, model: 'gpt-4o-mini', input: 'What is it?' } },
  completions: { path: '/completions', body: { stream: true, model: 'gpt-3.5-turbo-instruct', prompt: 'What is it?' } },
  pictures: {
    path: '/images/generations',
    body: { model: 'gpt-image-1', prompt: 'What is it?', stream: true, partial_images: 3 },
  },
  speech: { path: '/audio/speech', body: { model: 'tts-1', input: 'What is it? '.repeat(40), voice: 'alloy' } },
}

describeBackends('clients that disconnect', backend => {
  const upstreams = duringTests(startUpstreams)
  let options: ProxyOptions
  const proxy = duringTests(async () => {
    const environment = {
      ...upstreams.environment,
      UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '4000',
      UPSTREAM_IDLE_TIMEOUT_MS: '1500',
      UPSTREAM_MAX_RETRIES: '0',
    }
    options = { stores: await backend.open(), environment }
    return startProxy(options)
  })
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `l-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, provider, 'sk-own')
  })

  /** The requests for responses. Usage of a response is requested later with GET. */
  const postedRequests = () =>
    [upstreams.openai, upstreams.anthropic]
      .flatMap(({ requests }) => requests as RecordedRequest[])
      .filter(({ method }) => method === 'POST')

  function billedUsd(): number {
    return postedRequests().reduce((sum, { body, billed = { input: 0, output: 0 } }) => {
      const [input, output] = PRICES[(body as { model: string }).model] ?? [0, 0]
      return sum + (billed.input * input + billed.output * output) / 1e6
    }, 0)
  }

  function script(scenario: { thinkingTokens?: number; firstByteDelayMs?: number }, pauseMs: number): void {
    upstreams.openai.script({ kind: 'answer', content: LONG, ...scenario, chunkPauseMs: pauseMs })
    const content = [{ type: 'text' as const, text: LONG, citations: null }]
    upstreams.anthropic.script({ kind: 'answer', content, ...scenario, eventPauseMs: pauseMs })
  }

  async function records() {
    await proxy.settle()
    return proxy.query<{ usd: number; doubtful: number; tokens: number; estimated: string | null; status: number }>(
      `select cost_usd::float8 as usd, coalesce(doubtful_usd, 0)::float8 as doubtful, prompt_tokens + completion_tokens as tokens,
        cost_estimated as estimated, status from usage_records
      where project_id = find_project('${project}') order by recorded_at`,
    )
  }

  async function recorded() {
    await waitUntil('the request is recorded', async () => (await records()).length === 1)
    return (await records())[0] ?? { usd: 0, doubtful: 0, tokens: 0, estimated: null, status: 0 }
  }

  async function setBudget(usd: number): Promise<void> {
    await proxy.query(`select set_budget('${project}', 'usd', ${usd}, 'total')`)
  }

  async function stand() {
    await proxy.settle()
    const [row] = await proxy.query<{ spent: number; reserved: number }>(
      `select spent::float8 as spent, reserved::float8 as reserved from budget_periods c join budgets b on b.id = c.budget_id
      where b.project_id = find_project('${project}') and b.per = 'total'`,
    )
    return row ?? { spent: 0, reserved: 0 }
  }

  /** Disconnects after this many pieces of the response; with none, before its head. */
  async function leaveAfter({ path, body }: Call, pieces: number): Promise<void> {
    const leaving = new AbortController()
    const before = postedRequests().length
    // The response is not read from the cache: one that was read to its end after its client disconnected is stored.
    const asking = post(proxy, key, path, body, { signal: leaving.signal, headers: { 'cache-control': 'no-cache' } })
    if (pieces === 0) await waitUntil('the request reaches the provider', () => postedRequests().length > before)
    else {
      const reader = (await asking).body?.getReader()
      for (let piece = 0; piece < pieces; piece++) if ((await reader?.read())?.done) break
    }
    leaving.abort()
    await asking.then(response => response.body?.cancel()).catch(() => {})
  }

  const MOMENTS = { 'before its head': 0, 'after its first event': 1, 'in the middle': 8 }

  describe.each(Object.entries(THINKING))('a model that reasons: %s', (name, door) => {
    const moments = Object.entries(MOMENTS).filter(([, pieces]) => pieces === 0 || door.body.stream === true)

    const cases = moments.flatMap(([moment, pieces]) => [
      { moment, pieces, budget: 'without a budget' },
      { moment, pieces, budget: 'under a budget' },
    ])

    test.each(cases)('left $moment $budget, it is read to its end, and costs its usage', async ({ pieces, budget }) => {
      const isBudgeted = budget === 'under a budget'
      if (isBudgeted) await setBudget(5)
      script({ thinkingTokens: THOUGHT, firstByteDelayMs: pieces === 0 ? 1_000 : 0 }, 10)
      await leaveAfter(door, pieces)
      const { usd, estimated, status } = await recorded()
      expect({ estimated, status }).toEqual({ estimated: null, status: 499 })
      expect(usd).toBeCloseTo(billedUsd(), 9)
      expect(usd).toBeGreaterThan(0.09)
      expect(await stand()).toEqual({ spent: isBudgeted ? usd : 0, reserved: 0 })
    })

    const after = name === 'chat, plain' ? 'nothing' : 2

    test('silent, it is charged what arrived, and its remaining possible cost stays reserved', async () => {
      upstreams.openai.script({ kind: 'hang', after, thinkingTokens: THOUGHT })
      upstreams.anthropic.script({ kind: 'hang', after: after === 2 ? 4 : after, thinkingTokens: THOUGHT })
      const ask = () =>
        post(proxy, key, door.path, door.body).then(
          response => response.text(),
          () => {},
        )
      await ask()
      const { usd, doubtful, estimated } = await recorded()
      expect(estimated).toBe('provider_silent')
      expect(usd).toBeLessThan(0.001)
      expect(usd + doubtful).toBeGreaterThanOrEqual(billedUsd())
      expect(billedUsd()).toBeGreaterThan(0.09)
      await setBudget(5)
      await ask()
      await waitUntil('the budget is charged', async () => (await stand()).spent > 0)
      expect((await records()).at(-1)).toMatchObject({ estimated })
      const { spent, reserved } = await stand()
      expect(spent).toBeCloseTo(usd, 9)
      expect(reserved).toBeCloseTo(doubtful, 9)
    })

    test('cut, it is charged what arrived, and the rest stays reserved', async () => {
      const begun = after === 'nothing' ? after : 8
      upstreams.openai.script({ kind: 'cut', after: begun, thinkingTokens: THOUGHT })
      // The connection is cut before the event with the thinking tokens.
      upstreams.anthropic.script({ kind: 'cut', after: begun === 8 ? 4 : begun, thinkingTokens: THOUGHT })
      await post(proxy, key, door.path, door.body).then(
        response => response.text(),
        () => {},
      )
      const { usd, doubtful, estimated } = await recorded()
      expect(estimated).toBe('provider_failed')
      expect(usd).toBeLessThan(0.001)
      expect(usd + doubtful).toBeGreaterThanOrEqual(billedUsd())
    })
  })

  test('a plain response that breaks in its body is charged its prompt, and the rest stays reserved', async () => {
    const { path, body } = THINKING['chat, plain'] as Call
    upstreams.openai.script({ kind: 'cut', after: 1, thinkingTokens: THOUGHT })
    await post(proxy, key, path, body).then(
      response => response.text(),
      () => {},
    )
    const { estimated, usd, doubtful } = await recorded()
    expect(estimated).toBe('provider_failed')
    expect(usd).toBeLessThan(0.001)
    expect(usd + doubtful).toBeGreaterThanOrEqual(billedUsd())
  })

  describe.each(Object.entries(PLAIN))('a model that does not reason: %s', (name, door) => {
    const isText = name !== 'pictures' && name !== 'speech'

    test.each(Object.entries(MOMENTS))(
      'left %s, it is charged, or keeps reserved, no less than what was billed',
      async (_, pieces) => {
        for (const isBudgeted of [false, true]) {
          if (isBudgeted) await setBudget(5)
          // A provider may write any amount before it notices a disconnect, so it stops by itself.
          if (pieces === 0 || !isText) script({ firstByteDelayMs: pieces === 0 ? 1_000 : 0 }, 20)
          else upstreams.openai.script({ kind: 'hang', after: pieces, content: LONG, chunkPauseMs: 20 })
          const before = (await records()).length
          await leaveAfter(door, pieces)
          await waitUntil('the request is recorded', async () => (await records()).length > before)
        }
        await waitUntil('every response is billed', () => postedRequests().every(({ billed }) => billed !== undefined))
        const usd = (await records()).reduce((sum, record) => sum + record.usd + record.doubtful, 0)
        expect(usd).toBeGreaterThanOrEqual(billedUsd() - 1e-12)
        expect(billedUsd()).toBeGreaterThan(0)
        const last = (await records()).at(-1)
        expect(await stand()).toEqual({ spent: last?.usd, reserved: last?.doubtful })
      },
    )

    test.skipIf(!isText)('what arrived of a stream bounds its cost', async () => {
      script({}, 20)
      await leaveAfter(door, 5)
      const { usd, estimated, tokens } = await recorded()
      expect([estimated, tokens < 2_500, usd < 0.002]).toEqual(['client_left', true, true])
    })
  })

  test('speech priced by the character costs its text, and nothing is estimated', async () => {
    script({}, 100)
    await leaveAfter(PLAIN.speech as Call, 1)
    expect(await recorded()).toMatchObject({ estimated: null, usd: (12 * 40 * 15) / 1e6 })
  })

  test('an error, or no connection, costs nothing', async () => {
    await setBudget(5)
    const call = THINKING.chat as Call
    for (const status of [400, 401, 500, 503]) {
      upstreams.openai.script({ kind: 'error', status })
      await (await post(proxy, key, call.path, call.body)).text()
    }
    expect((await records()).map(({ usd, estimated }) => [usd, estimated])).toEqual(Array(4).fill([0, null]))
    expect(await stand()).toEqual({ spent: 0, reserved: 0 })
  })

  test('a model’s possible cost counts beside its fallback’s cost, each in its own budget', async () => {
    await proxy.query(`select set_setting('${project}', 'fallbacks', 'gpt-4o-mini')`)
    await setBudget(5)
    for (const model of ['o3', 'gpt-4o-mini'])
      await proxy.query(`select set_budget('${project}', 'usd', 5, 'day', of_model => '${model}')`)
    upstreams.openai.script(({ bodyText }) =>
      bodyText.includes('"o3"') ? { kind: 'cut', after: 'nothing', thinkingTokens: THOUGHT } : { kind: 'answer' },
    )
    const call = THINKING['chat, plain'] as Call
    const response = await post(proxy, key, call.path, { ...call.body, max_completion_tokens: LIMIT })
    expect([response.status, response.headers.get('x-proxy-model')]).toEqual([200, 'gpt-4o-mini'])
    const { usd, doubtful, estimated } = await recorded()
    expect(estimated).toBe('provider_failed')
    expect(usd + doubtful).toBeGreaterThanOrEqual(billedUsd())
    const { spent: spentInAll, reserved } = await stand()
    expect(spentInAll).toBeCloseTo(usd, 9)
    expect(reserved).toBeCloseTo(doubtful, 9)
    const spent = await proxy.query<{ model: string; spent: number; reserved: number }>(
      `select b.model, c.spent::float8 as spent, c.reserved::float8 as reserved from budgets b join budget_periods c on c.budget_id = b.id
      where b.project_id = find_project('${project}') and b.model is not null order by b.model desc`,
    )
    expect(spent.map(({ model }) => model)).toEqual(['o3', 'gpt-4o-mini'])
    expect(spent[0]?.reserved).toBeGreaterThanOrEqual((THOUGHT * 8) / 1e6)
    expect(spent[1]?.reserved).toBe(0)
    expect(spent[1]?.spent).toBeGreaterThan(0)
    expect((spent[0]?.spent ?? 0) + (spent[1]?.spent ?? 0)).toBeCloseTo(usd, 9)
  })

  test('usage that was not reported because of its client is doubtful', async () => {
    script({ thinkingTokens: THOUGHT }, 0)
    // The body is forwarded unchanged, because parsing would round the number. So the proxy does not request usage either.
    const body = `{"model":"o3","stream":true,"stream_options":{},"seed":9007199254740993,"messages":${JSON.stringify(messages)}}`
    await (await post(proxy, key, '/chat/completions', body)).text()
    const { usd, doubtful, estimated, status } = await recorded()
    expect([estimated, status]).toEqual(['not_reported', 200])
    expect(usd + doubtful).toBeGreaterThanOrEqual(billedUsd())
    expect(usd).toBeLessThan(0.01)
  })

  test('usage that a speech response does not report is charged at most', async () => {
    const body = { model: 'gpt-4o-mini-tts', input: 'What is it?', voice: 'alloy' }
    await (await post(proxy, key, '/audio/speech', body)).arrayBuffer()
    const { usd, estimated, status } = await recorded()
    expect([estimated, status, usd > 0]).toEqual(['not_reported', 200, true])
  })

  test('in whatever order clients leave, a shared call is charged once, and in full', async () => {
    script({ thinkingTokens: THOUGHT }, 30)
    const call = THINKING.chat as Call
    const leaving = new AbortController()
    const first = await post(proxy, key, call.path, call.body, { signal: leaving.signal })
    await first.body?.getReader().read()
    const second = await post(proxy, key, call.path, call.body)
    leaving.abort()
    expect(await second.text()).toContain('[DONE]')
    await waitUntil('both requests are recorded', async () => (await records()).length === 2)
    expect(postedRequests()).toHaveLength(1)
    const all = await records()
    expect(all.map(({ estimated }) => estimated)).toEqual([null, null])
    expect(all.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(billedUsd(), 9)
  })

  describe('a response that its provider stores', () => {
    const background = { model: 'o3', input: 'What is it?', service_tier: 'default', background: true }
    /** Runs a proxy that requests the usage of unsettled responses from their providers, until this is true. */
    async function follow(what: string, holds: () => Promise<boolean>): Promise<void> {
      const following = await startProxy({ ...options, reconcileEveryMs: 100 })
      await waitUntil(what, holds)
      await following.stop()
    }

    const sums = async () => {
      await proxy.settle()
      await proxy.query('select roll_up_usage()')
      const [row] = await proxy.query<{ usd: number; requests: number }>(
        `select sum(cost_usd)::float8 as usd, sum(requests)::integer as requests from usage_sums
        where project_id = find_project('${project}') and grain = 'hour'`,
      )
      return row
    }

    test.each([false, true])(
      'created in the background, is doubtful until its provider reports its usage, with a budget: %s',
      async isBudgeted => {
        if (isBudgeted) await setBudget(5)
        script({ thinkingTokens: THOUGHT }, 0)
        const response = await post(proxy, key, '/responses', background)
        expect((await response.json()) as object).toMatchObject({ status: 'queued', usage: null })
        const first = await recorded()
        expect(first).toMatchObject({ estimated: expect.any(String), status: 200 })
        expect(first.usd).toBeLessThan(0.01)
        expect(first.usd + first.doubtful).toBeGreaterThanOrEqual(billedUsd())
        // A new budget by day begins with the charged amount, a `total` budget with nothing.
        await proxy.query(`select set_budget('${project}', 'usd', 5, 'day')`)
        if (!isBudgeted) await setBudget(5)
        const total = `budget_id in (select id from budgets where project_id = find_project('${project}') and per = 'total')`
        if (!isBudgeted) await proxy.query(`update budget_periods set spent = 1 where ${total}`)
        if (isBudgeted) expect(await stand()).toEqual({ spent: first.usd, reserved: first.doubtful })
        await follow('the provider has reported the usage', async () => (await recorded()).estimated === null)
        const { usd } = await recorded()
        expect(usd).toBeCloseTo(billedUsd(), 9)
        expect(usd).toBeGreaterThan(0.15)
        const { spent, reserved } = await stand()
        expect(reserved).toBe(0)
        expect(spent).toBeCloseTo(isBudgeted ? usd : 1, 9)
        const [day] = await proxy.query<{ spent: number }>(
          `select c.spent::float8 as spent from budget_periods c join budgets b on b.id = c.budget_id
        where b.project_id = find_project('${project}') and b.per = 'day'`,
        )
        expect(day?.spent).toBeCloseTo(usd, 9)
        expect(await sums()).toEqual({ usd: expect.closeTo(usd, 9), requests: 1 })
        expect(
          await proxy.query(`select 1 from unreconciled_responses where project_id = find_project('${project}')`),
        ).toEqual([])
      },
    )

    test('left after its first event, is read to its end if it is created in the background', async () => {
      script({ thinkingTokens: THOUGHT }, 20)
      await leaveAfter({ path: '/responses', body: { ...background, stream: true } }, 1)
      const { usd, estimated, status } = await recorded()
      expect({ estimated, status }).toEqual({ estimated: null, status: 499 })
      expect(usd).toBeCloseTo(billedUsd(), 9)
    })

    test('that its provider no longer has stays estimated, and is requested no more', async () => {
      script({ thinkingTokens: THOUGHT }, 0)
      upstreams.openai.script(({ method }) =>
        method === 'GET' ? { kind: 'error', status: 404 } : { kind: 'answer', thinkingTokens: THOUGHT },
      )
      await (await post(proxy, key, '/responses', background)).text()
      await recorded()
      const open = () =>
        proxy.query(`select 1 from unreconciled_responses where project_id = find_project('${project}')`)
      await waitUntil('the response is to be reconciled', async () => (await open()).length === 1)
      await follow('the reconciliation has ended', async () => (await open()).length === 0)
      expect(await recorded()).toMatchObject({ estimated: expect.any(String) })
    })
  })

  test('a budget is exceeded by at most the cost of one request, however many clients disconnect', async () => {
    await setBudget(3)
    script({ thinkingTokens: THOUGHT }, 10)
    const call = THINKING.chat as Call
    const statuses: number[] = []
    for (let n = 0; n < 24; n++) {
      const leaving = new AbortController()
      const body = { ...call.body, messages: [{ role: 'user', content: `Number ${n}?` }] }
      const response = await post(proxy, key, call.path, body, { signal: leaving.signal }).catch(() => null)
      statuses.push(response?.status ?? 0)
      await response?.body?.getReader().read()
      leaving.abort()
    }
    await waitUntil('no reservation is left', async () => (await stand()).reserved === 0)
    expect(statuses).toContain(429)
    expect(billedUsd()).toBeLessThanOrEqual(3 + (LIMIT * 8 + 5_000) / 1e6)
    expect((await stand()).spent).toBeGreaterThanOrEqual(billedUsd() - 1e-9)
  })
})
