import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { type Answer, ask, get, post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const hello = (fields: Record<string, unknown> = {}) => ({
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: `Hello ${crypto.randomUUID()}` }],
  ...fields,
})

/** Longer than any test takes. */
const OPEN_MS = 60_000

let passedMs = 0
const readClock = performance.now.bind(performance)
/** Advances the clock that circuits use. */
function letPass(ms: number): void {
  passedMs += ms
  vi.spyOn(performance, 'now').mockImplementation(() => readClock() + passedMs)
}
afterEach(() => {
  vi.restoreAllMocks()
  passedMs = 0
})

const upstreams = duringTests(startUpstreams)
beforeEach(() => upstreams.reset())

describeOnce('the upstream layer', backend => {
  let stores: Stores
  let proxy: TestProxy
  let project: string
  let key: string

  async function start(environment: Record<string, string> = {}): Promise<void> {
    if (proxy) await proxy.stop()
    stores = await backend.open()
    proxy = await startProxy({ stores, environment: { ...upstreams.environment, ...environment } })
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  }
  afterAll(() => proxy.stop())

  async function readAccounts() {
    await proxy.settle()
    const [counted] = await proxy.query<{ requests: number }>(
      'select coalesce(sum(requests), 0)::integer as requests from monthly_counters',
    )
    const records = await proxy.query<{
      model: string
      provider: string
      status: number
      cost: number
      doubtful: number
    }>(
      `select model, provider, status, cost_usd::float8 as cost, coalesce(doubtful_usd, 0)::float8 as doubtful from usage_records
      order by recorded_at`,
    )
    return { counted: counted?.requests, records }
  }

  describe('retries', () => {
    beforeEach(() => start())

    test.each([false, true])(
      'a call that failed before its response began is retried, and counts once (stream: %s)',
      async stream => {
        upstreams.aggregator.scriptOnce({ kind: 'error', status: 503 }, { kind: 'cut', after: 'nothing' })
        const answer = await ask(proxy, key, hello({ stream }))
        expect(answer.status).toBe(200)
        if (stream) expect(answer.text.trimEnd().endsWith('data: [DONE]')).toBe(true)
        expect(upstreams.aggregator.requests).toHaveLength(3)
        const [first, ...others] = upstreams.aggregator.requests.map(request => request.bodyText)
        expect(others).toEqual([first, first])
        const { counted, records } = await readAccounts()
        expect(counted).toBe(1)
        expect(records).toMatchObject([{ status: 200, provider: 'openrouter' }])
      },
    )

    test('after the last one, the upstream’s own error is returned, with its Retry-After', async () => {
      upstreams.aggregator.script({
        kind: 'error',
        status: 429,
        headers: { 'retry-after-ms': '5', 'retry-after': '1' },
      })
      const answer = await ask(proxy, key, hello())
      expect(answer.status).toBe(429)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(answer.json.error.message).toBe('Rate limit reached for requests.')
      expect(upstreams.aggregator.requests).toHaveLength(3)
      expect(await readAccounts()).toMatchObject({ counted: 0, records: [{ status: 429, cost: 0 }] })
    })

    test('nothing is repeated once a response has begun', async () => {
      upstreams.aggregator.script({ kind: 'cut', after: 4 })
      const streamed = await ask(proxy, key, hello({ stream: true }))
      expect(streamed.status).toBe(200)
      expect(streamed.text).toContain('"code":"upstream_error"')
      expect(streamed.text).not.toContain('[DONE]')
      const plain = await ask(proxy, key, hello())
      expect([plain.status, plain.json.error.code]).toEqual([502, 'upstream_error'])
      expect(upstreams.aggregator.requests).toHaveLength(2)
      expect(await readAccounts()).toMatchObject({ counted: 0, records: [{ status: 502 }, { status: 502 }] })
    })

    test('a client that disconnects ends the waiting', async () => {
      upstreams.aggregator.script({ kind: 'error', status: 503, retryAfterSeconds: 1 })
      const leaving = new AbortController()
      const asked = post(proxy, key, '/chat/completions', hello(), { signal: leaving.signal }).catch(() => 'left')
      await waitUntil('it is asked', () => upstreams.aggregator.requests.length === 1)
      leaving.abort()
      expect(await asked).toBe('left')
      // A request that is recorded is over, and is not tried again.
      await waitUntil('it is recorded', async () => (await readAccounts()).records.length === 1)
      expect(upstreams.aggregator.requests).toHaveLength(1)
    })
  })

  describe('forwarding', () => {
    beforeEach(() => start())

    test('a provider’s rate limit headers are returned on misses', async () => {
      const headers = { 'x-ratelimit-remaining-requests': '7', 'x-ratelimit-reset-tokens': '6ms', 'set-cookie': 'a=b' }
      upstreams.aggregator.script({ kind: 'answer', headers })
      const body = hello()
      const miss = await ask(proxy, key, body)
      // For requests, the client sees the limits of its own key.
      expect(miss.headers.get('x-ratelimit-remaining-requests')).toMatch(/^9{9}$/)
      expect(miss.headers.get('x-ratelimit-reset-tokens')).toBe('6ms')
      expect(miss.headers.get('set-cookie')).toBeNull()
      const hit = await ask(proxy, key, body)
      expect([hit.cache, hit.headers.get('x-ratelimit-reset-tokens')]).toEqual(['HIT', null])
    })

    test('connections are kept and reused', async () => {
      const before = upstreams.aggregator.openConnections
      for (let i = 0; i < 20; i++) expect((await ask(proxy, key, hello({ stream: i % 2 === 0 }))).status).toBe(200)
      expect(upstreams.aggregator.openConnections - before).toBeLessThanOrEqual(2)
    })

    test('a redirect is neither followed nor retried', async () => {
      const location = `${upstreams.openai.baseUrl}/chat/completions`
      upstreams.aggregator.script({ kind: 'raw', status: 307, headers: { location }, parts: [''] })
      const answer = await ask(proxy, key, hello())
      expect(answer.status).toBe(502)
      expect(answer.json.error.message).toContain('redirect, which is not followed')
      expect([upstreams.aggregator.requests.length, upstreams.openai.requests.length]).toEqual([1, 0])
    })
  })

  describe('circuits', () => {
    const environment = {
      UPSTREAM_MAX_RETRIES: '0',
      UPSTREAM_CIRCUIT_FAILURES: '3',
      UPSTREAM_CIRCUIT_OPEN_MS: String(OPEN_MS),
    }
    beforeEach(() => start(environment))

    const readHealth = async () => {
      const response = await get(proxy, '/health')
      return (await response.json()) as { status: string; dependencies: unknown; upstreams: unknown }
    }
    async function fail(times: number, asking = key): Promise<void> {
      for (let i = 0; i < times; i++) expect((await ask(proxy, asking, hello())).status).toBe(500)
    }
    /** Opens the circuit: the last failure follows when failures have lasted for half of the time that a circuit is open. */
    async function openCircuit(): Promise<void> {
      upstreams.aggregator.script({ kind: 'error', status: 500 })
      await fail(2)
      letPass(OPEN_MS / 2 + 1)
      await fail(1)
    }

    test('open after failures in a row, report how long, and close again', async () => {
      await openCircuit()
      const refused = await ask(proxy, key, hello())
      expect(refused.status).toBe(503)
      expect(refused.json.error.code).toBe('service_unavailable')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(OPEN_MS / 2_000)
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(OPEN_MS / 1_000)
      expect(refused.headers.get('x-proxy-provider')).toBe('openrouter')
      expect(refused.cache).toBe('MISS')
      expect(upstreams.aggregator.requests).toHaveLength(3)
      expect(await readAccounts()).toMatchObject({ counted: 0 })

      upstreams.aggregator.script({ kind: 'answer' })
      letPass(OPEN_MS)
      expect((await ask(proxy, key, hello())).status).toBe(200)
      expect((await readHealth()).upstreams).toEqual({ openrouter: { status: 'up', openCircuits: 0 } })
    })

    test('are shown in health, which stays ok, and reveal nothing of a key', async () => {
      expect(await readHealth()).toMatchObject({ status: 'ok', upstreams: {} })
      await openCircuit()
      const health = await readHealth()
      expect(health).toMatchObject({
        status: 'ok',
        dependencies: { postgres: { status: 'up' }, redis: { status: 'up' } },
      })
      expect(health.upstreams).toEqual({ openrouter: { status: 'down', openCircuits: 1 } })
    })

    test('are separate for each provider and project', async () => {
      await storeKey(stores, project, 'openai', 'sk-own')
      const other = await proxy.createKey({ type: 'project' })
      await openCircuit()
      expect((await ask(proxy, key, hello())).status).toBe(503)
      expect((await ask(proxy, key, hello({ model: 'gpt-4o-mini' }))).status).toBe(200)
      await fail(1, other)
      expect((await readHealth()).upstreams).toEqual({
        openrouter: { status: 'partial', openCircuits: 1 },
        openai: { status: 'up', openCircuits: 0 },
      })
    })

    test('are separate for each model of a key', async () => {
      upstreams.aggregator.script(({ body }) =>
        (body as { model: string }).model === 'openai/gpt-4o' ? { kind: 'error', status: 500 } : { kind: 'answer' },
      )
      for (let i = 0; i < 20; i++) {
        expect((await ask(proxy, key, hello({ model: 'openai/gpt-4o' }))).status).toBe(i < 3 ? 500 : 503)
        expect((await ask(proxy, key, hello())).status).toBe(200)
        if (i === 1) letPass(OPEN_MS / 2 + 1)
      }
      expect(upstreams.aggregator.requests).toHaveLength(23)
      expect((await readHealth()).upstreams).toEqual({
        openrouter: { status: 'partial', openCircuits: 1, openModels: ['openai/gpt-4o'] },
      })
    })

    test.each([
      ['is cut', { kind: 'cut', after: 4 }],
      ['ends with an error', { kind: 'errorInAnswer', afterChunks: 4, shape: 'bare' }],
    ] as const)('open after streams of which each one %s after its first part', async (_, scenario) => {
      upstreams.aggregator.script(scenario)
      for (let i = 0; i < 3; i++) {
        expect((await ask(proxy, key, hello({ stream: true }))).status).toBe(200)
        // A stream is judged at its end.
        await proxy.settle()
        if (i === 1) letPass(OPEN_MS / 2 + 1)
      }
      await waitUntil('the circuit is open', async () => {
        const { upstreams: shown } = await readHealth()
        return (shown as Record<string, { openCircuits: number }>).openrouter?.openCircuits === 1
      })
      expect((await ask(proxy, key, hello({ stream: true }))).status).toBe(503)
      expect(upstreams.aggregator.requests).toHaveLength(3)
    })

    test('stay closed while clients disconnect from streams', async () => {
      upstreams.aggregator.script({ kind: 'answer', chunkPauseMs: 20, content: 'one two three four five six seven' })
      for (let i = 0; i < 4; i++) {
        const leaving = new AbortController()
        const response = await post(proxy, key, '/chat/completions', hello({ stream: true }), {
          signal: leaving.signal,
        })
        await response.body?.getReader().read()
        leaving.abort()
        await proxy.settle()
        letPass(OPEN_MS / 2 + 1)
      }
      expect(upstreams.aggregator.requests).toHaveLength(4)
      expect((await readHealth()).upstreams).toEqual({ openrouter: { status: 'up', openCircuits: 0 } })
    })

    test('a new key starts with a closed one', async () => {
      await storeKey(stores, project, 'openai', 'sk-old')
      upstreams.openai.script({ kind: 'error', status: 500 })
      for (let i = 0; i < 4; i++) {
        await ask(proxy, key, hello({ model: 'gpt-4o-mini' }))
        if (i === 0) letPass(OPEN_MS / 2 + 1)
      }
      expect(upstreams.openai.requests).toHaveLength(3)
      upstreams.openai.script({ kind: 'answer' })
      await storeKey(stores, project, 'openai', 'sk-new')
      expect((await ask(proxy, key, hello({ model: 'gpt-4o-mini' }))).status).toBe(200)
    })

    test('leave hits alone', async () => {
      const body = hello()
      await ask(proxy, key, body)
      await openCircuit()
      expect((await ask(proxy, key, hello())).status).toBe(503)
      expect((await ask(proxy, key, body)).cache).toBe('HIT')
    })
  })

  describe('a rate limit', () => {
    beforeEach(() => start())

    test('with a long Retry-After lets the model of the project’s only key rest', async () => {
      await storeKey(stores, project, 'openai', 'sk-own')
      upstreams.openai.scriptOnce({ kind: 'error', status: 429, retryAfterSeconds: 3_600, message: 'The day is over.' })
      const first = await ask(proxy, key, hello({ model: 'gpt-4o-mini' }))
      expect([first.status, first.json.error.message, first.headers.get('retry-after')]).toEqual([
        ...[429, 'The day is over.', '3600'],
      ])
      letPass(1_800_000)
      const second = await ask(proxy, key, hello({ model: 'gpt-4o-mini' }))
      expect([second.status, second.json.error.code]).toEqual([429, 'rate_limit_exceeded'])
      const seconds = Number(second.headers.get('retry-after'))
      expect([seconds > 1_700, seconds <= 1_800, upstreams.openai.requests.length]).toEqual([true, true, 1])
      expect((await ask(proxy, key, hello({ model: 'gpt-4o' }))).status).toBe(200)
      letPass(3_601_000)
      expect((await ask(proxy, key, hello({ model: 'gpt-4o-mini' }))).status).toBe(200)
      const { counted, records } = await readAccounts()
      expect([counted, records.filter(({ status }) => status === 429).map(({ cost }) => cost)]).toEqual([2, [0, 0]])
    })

    test('lets the aggregator’s model rest for one project', async () => {
      const other = await proxy.createKey({ type: 'project', project: `p-${crypto.randomUUID()}` })
      upstreams.aggregator.scriptOnce({ kind: 'error', status: 429, retryAfterSeconds: 60 })
      expect([(await ask(proxy, key, hello())).status, (await ask(proxy, key, hello())).status]).toEqual([429, 429])
      expect(upstreams.aggregator.requests).toHaveLength(1)
      expect((await ask(proxy, other, hello())).status).toBe(200)
    })

    test('sends requests to the fallback meanwhile, without a call', async () => {
      await storeKey(stores, project, 'openai', 'sk-own')
      await storeKey(stores, project, 'groq', 'sk-own')
      await proxy.query(`select set_setting('${project}', 'fallbacks', 'llama-3.1-8b-instant')`)
      upstreams.openai.script({ kind: 'error', status: 429, headers: { 'x-ratelimit-reset-requests': '6m0s' } })
      for (let i = 0; i < 3; i++) {
        const answer = await ask(proxy, key, hello({ model: 'gpt-4o-mini' }))
        expect([answer.status, answer.headers.get('x-proxy-provider')]).toEqual([200, 'groq'])
      }
      expect(upstreams.openai.requests).toHaveLength(1)
    })

    test('of an exhausted quota is not retried', async () => {
      const message = 'You exceeded your current quota, please check your plan and billing details.'
      upstreams.aggregator.script({ kind: 'error', status: 429, code: 'insufficient_quota', message })
      const answer = await ask(proxy, key, hello())
      expect([answer.status, answer.json.error.message, upstreams.aggregator.requests.length]).toEqual([
        429,
        message,
        1,
      ])
    })
  })

  describe('fallbacks', () => {
    beforeEach(async () => {
      await start({ UPSTREAM_MAX_RETRIES: '0' })
      await storeKey(stores, project, 'openai', 'sk-own')
      await storeKey(stores, project, 'groq', 'sk-own')
    })
    const fallBackTo = (models: string) => proxy.query(`select set_setting('${project}', 'fallbacks', '${models}')`)
    const wanted = (fields: Record<string, unknown> = {}) => hello({ model: 'gpt-4o-mini', ...fields })
    const whoAnswered = ({ headers, json, cache }: Answer) => [cache, headers.get('x-proxy-provider'), json?.model]

    test('serve a body that a worker has to read', async () => {
      await fallBackTo('llama-3.1-8b-instant')
      upstreams.openai.script({ kind: 'error', status: 503 })
      const messages = [{ role: 'user', content: 'all work and no play. '.repeat(15_000) }]
      const answer = await ask(proxy, key, wanted({ temperature: 0.5, messages }))
      expect(whoAnswered(answer)).toEqual(['MISS', 'groq', 'llama-3.1-8b-instant'])
      const sent = { model: 'llama-3.1-8b-instant', temperature: 0.5, messages }
      expect(upstreams.groq.requests[0]?.body).toMatchObject(sent)
      expect((await ask(proxy, key, wanted(sent))).cache).toBe('HIT')
    })

    test.each([
      ['errors of the server', { kind: 'error', status: 503 }, false],
      ['a rate limit', { kind: 'error', status: 429 }, false],
      ['a cut connection', { kind: 'cut', after: 'nothing' }, true],
      ['a response that breaks off before anything is forwarded', { kind: 'cut', after: 2 }, true],
    ] as const)('replace a model that is unavailable: %s', async (_, scenario, mayHaveCost) => {
      await fallBackTo('llama-3.1-8b-instant')
      upstreams.openai.script(scenario)
      upstreams.groq.script({ kind: 'answer', usage: { prompt_tokens: 1_000_000, completion_tokens: 1 } })
      const answer = await ask(proxy, key, wanted({ temperature: 0.5 }))
      expect(answer.status).toBe(200)
      expect(whoAnswered(answer)).toEqual(['MISS', 'groq', 'llama-3.1-8b-instant'])
      expect(answer.headers.get('x-proxy-cost-usd')).toBe('0.05000008')
      expect(upstreams.groq.requests[0]?.body).toMatchObject({ model: 'llama-3.1-8b-instant', temperature: 0.5 })
      const { counted, records } = await readAccounts()
      expect(counted).toBe(1)
      expect(records).toMatchObject([{ model: 'llama-3.1-8b-instant', provider: 'groq', status: 200 }])
      // The requested model may have completed its response.
      const [{ cost, doubtful } = { cost: 0, doubtful: 0 }] = records
      expect([cost >= 0.05, cost < 0.0501, doubtful > 0.005]).toEqual([true, true, mayHaveCost])
    })

    test('are stored as what they are, never as the requested model’s response', async () => {
      await fallBackTo('llama-3.1-8b-instant')
      upstreams.openai.script({ kind: 'error', status: 503 })
      const body = wanted()
      expect(whoAnswered(await ask(proxy, key, body))).toEqual(['MISS', 'groq', 'llama-3.1-8b-instant'])
      // While the requested model is unavailable, the fallback's stored response is found.
      expect(whoAnswered(await ask(proxy, key, body))).toEqual(['HIT', 'groq', 'llama-3.1-8b-instant'])
      const direct = await ask(proxy, key, { ...body, model: 'llama-3.1-8b-instant' })
      expect(whoAnswered(direct)).toEqual(['HIT', 'groq', 'llama-3.1-8b-instant'])
      expect(upstreams.groq.requests).toHaveLength(1)

      upstreams.openai.script({ kind: 'answer' })
      expect(whoAnswered(await ask(proxy, key, body))).toEqual(['MISS', 'openai', 'gpt-4o-mini'])
      expect(whoAnswered(await ask(proxy, key, body))).toEqual(['HIT', 'openai', 'gpt-4o-mini'])
    })

    test('stream', async () => {
      await fallBackTo('llama-3.1-8b-instant')
      upstreams.openai.script({ kind: 'error', status: 500 })
      const answer = await ask(proxy, key, wanted({ stream: true }))
      expect(answer.headers.get('x-proxy-provider')).toBe('groq')
      expect(answer.text).toContain('"model":"llama-3.1-8b-instant"')
      expect(answer.text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    })

    test('do not take over a stream that has begun', async () => {
      await fallBackTo('llama-3.1-8b-instant')
      upstreams.openai.script({ kind: 'cut', after: 2 })
      const answer = await ask(proxy, key, wanted({ stream: true }))
      expect(answer.text).toContain('"code":"upstream_error"')
      expect(upstreams.groq.requests).toHaveLength(0)
    })

    test('are tried in order; one without a route, or that fails or rejects, is skipped', async () => {
      await fallBackTo('no-such-model, llama-3.1-8b-instant, openai/gpt-oss-20b, openai/gpt-4o-mini')
      upstreams.openai.script({ kind: 'error', status: 500 })
      upstreams.groq.script({ kind: 'error', status: 400 })
      const answer = await ask(proxy, key, wanted())
      expect(whoAnswered(answer)).toEqual(['MISS', 'openrouter', 'openai/gpt-4o-mini'])
      expect(upstreams.groq.requests.map(request => (request.body as { model: string }).model)).toEqual([
        'llama-3.1-8b-instant',
        'openai/gpt-oss-20b',
      ])
    })

    test('if all fail, the requested model’s own failure is returned, and counts once', async () => {
      await fallBackTo('llama-3.1-8b-instant,openai/gpt-4o-mini')
      upstreams.openai.script({ kind: 'error', status: 503, retryAfterSeconds: 9, message: 'OpenAI is overloaded.' })
      upstreams.groq.script({ kind: 'error', status: 500 })
      upstreams.aggregator.script({ kind: 'error', status: 402 })
      const answer = await ask(proxy, key, wanted())
      expect(answer.status).toBe(503)
      expect(answer.json.error.message).toBe('OpenAI is overloaded.')
      expect(answer.headers.get('retry-after')).toBe('9')
      expect(answer.headers.get('x-proxy-provider')).toBe('openai')
      expect(await readAccounts()).toEqual({
        counted: 0,
        records: [{ model: 'gpt-4o-mini', provider: 'openai', status: 503, cost: 0, doubtful: 0 }],
      })
    })

    test.each([
      [
        'a full context',
        400,
        { code: 'context_length_exceeded', message: 'This model’s maximum context length is 8 tokens.' },
      ],
      ['a rejected key', 401, {}],
      ['an empty balance', 402, {}],
      ['a suspended account', 403, { message: 'Your account has been suspended.' }],
      ['a model without access', 403, { message: 'You are not allowed to sample from this model' }],
      ['an unknown model', 404, {}],
      ['a request that is too large', 413, { message: 'Request Entity Too Large' }],
      ['an overloaded model', 529, {}],
      ['an exhausted quota', 429, { code: 'insufficient_quota', message: 'You exceeded your current quota.' }],
    ])('are called after an error about the model, the key, the account or the size: %s', async (_, status, error) => {
      upstreams.openai.script({ kind: 'error', status, ...error })
      const alone = await ask(proxy, key, wanted())
      expect(alone.status).toBe(status)
      await fallBackTo('llama-3.1-8b-instant')
      for (const stream of [false, true]) {
        const answer = await ask(proxy, key, wanted({ stream }))
        expect([answer.status, answer.headers.get('x-proxy-model')]).toEqual([200, 'llama-3.1-8b-instant'])
      }
      expect(upstreams.openai.requests).toHaveLength(3)
      // The rejected calls cost nothing.
      const { counted, records } = await readAccounts()
      expect(counted).toBe(2)
      expect(records[0]).toMatchObject({ provider: 'openai', status, cost: 0, doubtful: 0 })
      for (const record of records.slice(1)) {
        expect(record).toMatchObject({ provider: 'groq', status: 200, doubtful: 0 })
        expect(record.cost).toBeLessThan(0.0001)
      }
    })

    test('are called after such an error inside a stream, before its first part', async () => {
      await fallBackTo('llama-3.1-8b-instant')
      const error = { message: 'This model’s maximum context length is 8 tokens.', code: 'context_length_exceeded' }
      upstreams.openai.script({
        kind: 'raw',
        headers: { 'content-type': 'text/event-stream' },
        parts: [`data: ${JSON.stringify({ error })}\n\n`],
      })
      expect(whoAnswered(await ask(proxy, key, wanted()))).toEqual(['MISS', 'groq', 'llama-3.1-8b-instant'])
      const streamed = await ask(proxy, key, wanted({ stream: true }))
      expect([streamed.status, streamed.headers.get('x-proxy-model')]).toEqual([200, 'llama-3.1-8b-instant'])
    })

    test.each([
      ['the form', 400, {}],
      ['an invalid field', 422, {}],
      ['a content filter', 400, { code: 'content_filter', message: 'The prompt was filtered.' }],
      ['moderation', 403, { message: 'Your input was flagged by moderation.' }],
    ])('are not called after a rejection of the request itself: %s', async (_, status, error) => {
      await fallBackTo('llama-3.1-8b-instant')
      upstreams.openai.script({ kind: 'error', status, ...error })
      expect((await ask(proxy, key, wanted())).status).toBe(status)
      expect(upstreams.groq.requests).toHaveLength(0)
    })

    test('an open circuit is one, without a call', async () => {
      await start({
        UPSTREAM_MAX_RETRIES: '0',
        UPSTREAM_CIRCUIT_FAILURES: '2',
        UPSTREAM_CIRCUIT_OPEN_MS: String(OPEN_MS),
      })
      await storeKey(stores, project, 'openai', 'sk-own')
      await fallBackTo('openai/gpt-4o-mini')
      upstreams.openai.script({ kind: 'error', status: 500 })
      for (let i = 0; i < 5; i++) {
        expect(whoAnswered(await ask(proxy, key, wanted()))).toEqual(['MISS', 'openrouter', 'openai/gpt-4o-mini'])
        if (i === 0) letPass(OPEN_MS / 2 + 1)
      }
      expect(upstreams.openai.requests).toHaveLength(2)
    })

    describe('beside an open circuit', () => {
      beforeEach(async () => {
        await start({ UPSTREAM_MAX_RETRIES: '0', UPSTREAM_CIRCUIT_FAILURES: '2', UPSTREAM_CIRCUIT_OPEN_MS: '5000' })
        await storeKey(stores, project, 'openai', 'sk-own')
        await storeKey(stores, project, 'groq', 'sk-own')
        await fallBackTo('llama-3.1-8b-instant')
        upstreams.openai.script({ kind: 'error', status: 500 })
        for (let i = 0; i < 2; i++) {
          await ask(proxy, key, wanted())
          if (i === 0) letPass(2_600)
        }
        expect(upstreams.openai.requests).toHaveLength(2)
      })
      const countTrials = () => upstreams.openai.requests.length - 2
      const readRecords = async () => (await readAccounts()).records.map(({ provider, status }) => [provider, status])

      test('a trial is sent while the fallback responds, even if the provider is silent', async () => {
        upstreams.openai.script({ kind: 'hang', after: 'nothing' })
        letPass(5_000)
        for (let i = 0; i < 5; i++) expect(whoAnswered(await ask(proxy, key, wanted()))[1]).toBe('groq')
        await waitUntil('a trial is sent', () => countTrials() === 1)
        expect(upstreams.groq.requests).toHaveLength(7)
      })

      test.each([false, true])('a successful trial closes the circuit, and has a record (stream: %s)', async stream => {
        upstreams.openai.script({ kind: 'answer', content: 'It works again.' })
        letPass(5_000)
        expect((await ask(proxy, key, wanted({ stream }))).headers.get('x-proxy-provider')).toBe('groq')
        await waitUntil('the trial has succeeded', async () => {
          const answer = await ask(proxy, key, wanted({ stream }))
          return answer.headers.get('x-proxy-provider') === 'openai'
        })
        const { counted } = await readAccounts()
        const records = await readRecords()
        // The trial is recorded beside the requests, and does not count.
        expect(records.filter(([provider]) => provider === 'openai')).toHaveLength(2)
        expect(records).toHaveLength((counted ?? 0) + 1)
      })

      test('a streamed trial is cancelled at its first part', async () => {
        upstreams.openai.script({ kind: 'hang', after: 4 })
        letPass(5_000)
        await ask(proxy, key, wanted({ stream: true }))
        await waitUntil('the trial is cancelled', () => countTrials() === 1 && upstreams.openai.counts.active === 0)
        expect(upstreams.openai.counts.aborted).toBe(1)
      })

      test('trials that fail cost nothing, are not recorded, and come every 15 s at the latest', async () => {
        for (let i = 0; i < 30; i++) {
          letPass(5_000)
          expect((await ask(proxy, key, wanted())).headers.get('x-proxy-provider')).toBe('groq')
          await waitUntil('the trial has failed', async () => {
            const response = await get(proxy, '/health')
            const { upstreams: shown } = (await response.json()) as { upstreams: { openai: { openCircuits: number } } }
            return shown.openai.openCircuits === 1
          })
        }
        // 5 s, 10 s, then 15 s within 150 s.
        expect(countTrials()).toBeGreaterThanOrEqual(10)
        expect(countTrials()).toBeLessThanOrEqual(12)
        const { counted } = await readAccounts()
        expect([counted, (await readRecords()).length]).toEqual([32, 32])
      })

      test('a request that would be stored twice is the trial itself', async () => {
        letPass(5_000)
        const answer = await ask(proxy, key, wanted({ store: true }))
        expect([answer.headers.get('x-proxy-provider'), countTrials()]).toEqual(['groq', 1])
        expect(upstreams.openai.requests).toHaveLength(3)
      })
    })

    test('identical requests in flight share one, plain and streamed', async () => {
      await fallBackTo('llama-3.1-8b-instant')
      upstreams.openai.script({ kind: 'error', status: 500, firstByteDelayMs: 30 })
      upstreams.groq.script({ kind: 'answer', firstByteDelayMs: 100 })
      const body = wanted()
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => ask(proxy, key, { ...body, stream: i % 2 === 0 })),
      )
      expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]))
      expect(new Set(answers.map(answer => answer.headers.get('x-proxy-provider')))).toEqual(new Set(['groq']))
      expect([upstreams.openai.requests.length, upstreams.groq.requests.length]).toEqual([1, 1])
      expect(await readAccounts()).toMatchObject({ counted: 40 })
    })

    test('do not exist for vectors, because another model’s would be useless', async () => {
      await fallBackTo('openai/text-embedding-3-small')
      upstreams.openai.script({ kind: 'error', status: 500 })
      const response = await post(proxy, key, '/embeddings', { model: 'text-embedding-3-small', input: 'a text' })
      expect(response.status).toBe(500)
      await response.arrayBuffer()
      expect(upstreams.aggregator.requests).toHaveLength(0)
    })

    test.each(['a,,b', 'a,a', 'a,b,c,d,e,f', 'two words', 'a\tb', ','])(
      'an invalid list is rejected: %j',
      async value => {
        const refused = proxy.query(`select set_setting('${project}', 'fallbacks', E'${value.replace('\t', '\\t')}')`)
        await expect(refused).rejects.toThrow(
          /is not valid for setting fallbacks: use up to 5 different model names with commas between them, or nothing/,
        )
      },
    )

    test('an empty list ends them', async () => {
      await fallBackTo('llama-3.1-8b-instant')
      await fallBackTo('')
      upstreams.openai.script({ kind: 'error', status: 500 })
      expect((await ask(proxy, key, wanted())).status).toBe(500)
    })
  })
})
