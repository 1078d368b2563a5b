/** Charges for responses that end early: at least what the provider bills, and at most one and a half times that. */
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
  'gpt-5': [1.25, 10],
  'gpt-5.5': [5, 30],
  'gpt-4o': [2.5, 10],
  'claude-sonnet-4-6': [3, 15],
}
const EVENTS = 12
const MOST_RATIO = 1.5
/** Each word is a token. */
const content = 'seven '.repeat(60)
const blocks = [{ type: 'text' as const, text: content, citations: null }]

const messages = [
  { role: 'user', content: 'What is the answer to all of it, and who asked for it in the first place?' },
]
const input = messages[0]?.content

interface Call {
  path: string
  body: Record<string, unknown>
}
const chat = (model: string, more: object = {}): Call => ({
  path: '/chat/completions',
  body: { model, messages, stream: true, ...more },
})
const CALLS: Record<string, Call> = {
  'o3 at chat': chat('o3'),
  'o3 at responses': { path: '/responses', body: { model: 'o3', input, stream: true } },
  'gpt-5': chat('gpt-5'),
  'gpt-5.5 without effort': chat('gpt-5.5', { reasoning_effort: 'none' }),
  'gpt-5.5 without effort at responses': {
    path: '/responses',
    body: { model: 'gpt-5.5', input, reasoning: { effort: 'none' }, stream: true },
  },
  'Claude Sonnet without thinking': {
    path: '/messages',
    body: { model: 'claude-sonnet-4-6', messages, stream: true, max_tokens: 64_000 },
  },
  'Claude Sonnet at chat': chat('claude-sonnet-4-6'),
  'Claude Sonnet with effort none': chat('claude-sonnet-4-6', { reasoning_effort: 'none' }),
  'gpt-4o': chat('gpt-4o'),
}
/**
 * Calls whose usage follows from the events that arrived, so they are not read on. A translated stream has other events than the
 * provider's.
 */
const SEEN = Object.entries(CALLS).filter(([name]) => /without|4o/.test(name))
const THINKING = Object.entries(CALLS).filter(([name]) => /^o3|gpt-5$/.test(name))

describeBackends('responses that end early', backend => {
  const upstreams = duringTests(startUpstreams)
  let options: ProxyOptions
  const proxy = duringTests(async () => {
    const environment = { ...upstreams.environment, UPSTREAM_IDLE_TIMEOUT_MS: '20000' }
    options = { stores: await backend.open(), environment }
    return startProxy(options)
  })
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `e-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, provider, 'sk-own')
  })

  const requests = () => [upstreams.openai, upstreams.anthropic].flatMap(each => each.requests as RecordedRequest[])

  function billedUsd(): number {
    return requests().reduce((sum, { body, billed = { input: 0, output: 0 } }) => {
      const [read, written] = PRICES[(body as { model: string }).model] ?? [0, 0]
      return sum + (billed.input * read + billed.output * written) / 1e6
    }, 0)
  }

  async function record() {
    const read = async () => {
      await proxy.settle()
      return proxy.query<{ usd: number; estimated: string | null }>(
        `select cost_usd::float8 as usd, cost_estimated as estimated from usage_records where project_id = find_project('${project}')`,
      )
    }
    await waitUntil('the request is recorded', async () => (await read()).length === 1)
    return (await read())[0] as { usd: number; estimated: string | null }
  }

  async function expectFair(): Promise<void> {
    const { usd } = await record()
    expect(billedUsd()).toBeGreaterThan(0)
    expect(usd).toBeGreaterThanOrEqual(billedUsd() - 1e-9)
    expect(usd).toBeLessThanOrEqual(billedUsd() * MOST_RATIO)
  }

  const ask = async ({ path, body }: Call) => (await post(proxy, key, path, body)).text()

  describe.each(Object.entries(CALLS))('%s', (_, call) => {
    test('an error event of the provider is charged as far as the response arrived', async () => {
      upstreams.openai.script({ kind: 'errorInAnswer', afterChunks: EVENTS, shape: 'bare', content })
      upstreams.anthropic.script({
        kind: 'errorInStream',
        afterEvents: EVENTS,
        type: 'overloaded_error',
        content: blocks,
      })
      await ask(call)
      await expectFair()
    })

    test('a response that the provider breaks off is charged as far as it arrived', async () => {
      upstreams.openai.script({ kind: 'cut', after: EVENTS, content })
      upstreams.anthropic.script({ kind: 'cut', after: EVENTS, content: blocks })
      await ask(call).catch(() => {})
      await expectFair()
    })
  })

  /** Disconnects after this many events. */
  async function leave({ path, body }: Call, events: number): Promise<void> {
    const leaving = new AbortController()
    const reader = (await post(proxy, key, path, body, { signal: leaving.signal })).body?.getReader()
    const decoder = new TextDecoder()
    for (let text = ''; text.split('\n\n').length <= events; ) {
      const read = await reader?.read()
      if (!read || read.done) break
      text += decoder.decode(read.value, { stream: true })
    }
    leaving.abort()
  }

  test.each(SEEN)('%s: a client that disconnects is charged for what arrived', async (_, call) => {
    // The provider sends nothing more. Otherwise it would write an unknown amount before it notices the disconnect.
    upstreams.openai.script({ kind: 'hang', after: EVENTS, content })
    upstreams.anthropic.script({ kind: 'hang', after: EVENTS, content: blocks })
    await leave(call, EVENTS)
    await expectFair()
    expect(await record()).toMatchObject({ estimated: expect.any(String) })
    await waitUntil("the provider's connections are closed", () =>
      requests().every(({ abortedAtMs }) => abortedAtMs !== null),
    )
  })

  test.each(THINKING)('%s: a client that disconnects is charged exactly, without a budget', async (_, call) => {
    upstreams.openai.script({ kind: 'answer', thinkingTokens: 3_000, chunkPauseMs: 5 })
    await leave(call, 3)
    const { usd, estimated } = await record()
    expect(estimated).toBeNull()
    expect(usd).toBeCloseTo(billedUsd(), 9)
  })

  test.each(['gpt-4o', 'o3'])(
    '%s: a client that disconnects before a plain response is charged exactly',
    async model => {
      upstreams.openai.script({ kind: 'answer', firstByteDelayMs: 200 })
      const leaving = new AbortController()
      const { path, body } = chat(model, { stream: false })
      const asking = post(proxy, key, path, body, { signal: leaving.signal }).catch(() => {})
      await waitUntil('the provider is called', () => requests().length === 1)
      leaving.abort()
      await asking
      const { usd, estimated } = await record()
      expect(estimated).toBeNull()
      expect(usd).toBeCloseTo(billedUsd(), 9)
    },
  )

  test('requests the cost of a cut response from an aggregator that knows it, until it is reported', async () => {
    const id = `gen-${crypto.randomUUID()}`
    const chunk = { id, object: 'chat.completion.chunk', created: 1, model: 'google/gemini-2.5-pro' }
    const delta = { choices: [{ index: 0, delta: { role: 'assistant', content: 'Seven' }, finish_reason: null }] }
    const known = {
      id,
      model: 'google/gemini-2.5-pro',
      total_cost: 0.0125,
      native_tokens_prompt: 20,
      native_tokens_completion: 1_500,
    }
    let lookups = 0
    upstreams.aggregator.script(({ method }) => {
      if (method !== 'GET')
        return { kind: 'raw', parts: [`data: ${JSON.stringify({ ...chunk, ...delta })}\n\n`], afterwards: 'cut' }
      if (lookups++ === 0) return { kind: 'error', status: 404 }
      return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [JSON.stringify({ data: known })] }
    })
    await proxy.query(`select set_budget('${project}', 'usd', 5, 'total')`)
    await ask(chat('google/gemini-2.5-pro')).catch(() => {})
    expect(await record()).toMatchObject({ estimated: 'provider_failed' })
    const following = await startProxy({ ...options, reconcileEveryMs: 50 })
    await waitUntil('the aggregator has reported the usage', async () => (await record()).estimated === null)
    await following.stop()
    expect((await record()).usd).toBeCloseTo(0.0125, 9)
    const [get] = upstreams.aggregator.requests.filter(({ method }) => method === 'GET')
    expect(get?.path).toMatch(/\/generation$/)
    expect(
      await proxy.query(`select spent::float8 as spent, reserved::float8 as reserved from budget_periods c
      join budgets b on b.id = c.budget_id where b.project_id = find_project('${project}')`),
    ).toEqual([{ spent: 0.0125, reserved: 0 }])
  })

  test('requests from OpenAI the usage of a stored chat completion, and of no other', async () => {
    const id = `chatcmpl-${crypto.randomUUID()}`
    const named = { id, created: 1, model: 'o3-2025-04-16' }
    const delta = { choices: [{ index: 0, delta: { role: 'assistant', content: 'Seven' }, finish_reason: null }] }
    const chunk = JSON.stringify({ ...named, object: 'chat.completion.chunk', ...delta })
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Seven' }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 20, completion_tokens: 1_500, total_tokens: 1_520 }
    const stored = JSON.stringify({ ...named, object: 'chat.completion', choices, usage, service_tier: 'default' })
    let lookups = 0
    upstreams.openai.script(({ method }) => {
      if (method !== 'GET') return { kind: 'raw', parts: [`data: ${chunk}\n\n`], afterwards: 'cut' }
      if (lookups++ === 0) return { kind: 'error', status: 404 }
      return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [stored] }
    })
    const followed = () =>
      proxy.query(`select id from unreconciled_responses where project_id = find_project('${project}')`)
    await ask(chat('o3')).catch(() => {})
    expect(await record()).toMatchObject({ estimated: 'provider_failed' })
    expect(await followed()).toEqual([])
    await proxy.query(`delete from usage_records where project_id = find_project('${project}')`)
    await proxy.query(`select set_budget('${project}', 'usd', 5, 'total')`)
    await ask(chat('o3', { store: true })).catch(() => {})
    expect(await record()).toMatchObject({ estimated: 'provider_failed' })
    await waitUntil('the response is to be reconciled', async () => (await followed()).length === 1)
    const following = await startProxy({ ...options, reconcileEveryMs: 50 })
    await waitUntil('the provider has reported the usage', async () => (await record()).estimated === null)
    await following.stop()
    const usd = (20 * 2 + 1_500 * 8) / 1e6
    expect((await record()).usd).toBeCloseTo(usd, 9)
    const paths = upstreams.openai.requests.filter(({ method }) => method === 'GET').map(({ path }) => path)
    expect(paths).toContain(`/v1/chat/completions/${id}`)
    expect(
      await proxy.query(`select spent::float8 as spent, reserved::float8 as reserved from budget_periods c
      join budgets b on b.id = c.budget_id where b.project_id = find_project('${project}')`),
    ).toEqual([{ spent: expect.closeTo(usd, 9), reserved: 0 }])
  })
})
