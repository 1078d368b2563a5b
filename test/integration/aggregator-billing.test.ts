/** What is reserved is what an aggregator can bill: hosts, plugins, presets, fees, and limits that it does not honour. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

type Body = Record<string, unknown>
type LimitMode = 'honours' | 'ignores' | 'rejects' | 'ignoresBoth'

/** The catalogue's prices, which the aggregator's list has: of its cheapest host. */
const MODEL = 'openai/gpt-4o-mini'
const PROMPT_USD = 0.15 / 1e6
const COMPLETION_USD = 0.6 / 1e6
const LONGEST = 16_384
/** Another host of the same model. */
const DEAR = 12
const PAGES = 1_000
const PAGE_USD = 0.002
const PRESET_USD = 15
const FEE_USD = 0.01

const objectOf = (value: unknown): Body => (typeof value === 'object' && value !== null ? (value as Body) : {})

/** Bills a request as OpenRouter does; null where no host is left. */
function bill(body: Body, limit: number): number | null {
  const routing = objectOf(body.provider)
  const most = objectOf(routing.max_price)
  const isWithin = (name: string, price: number) => most[name] === undefined || price <= Number(most[name])
  const isDear = routing.only !== undefined || routing.order !== undefined || routing.sort !== undefined
  const times = isDear ? DEAR : 1
  const fee = isDear ? FEE_USD : 0
  const { prompt, completion } = { prompt: PROMPT_USD * times * 1e6, completion: COMPLETION_USD * times * 1e6 }
  if (!isWithin('prompt', prompt) || !isWithin('completion', completion) || !isWithin('request', fee)) return null
  const text = JSON.stringify(body.messages)
  const engine = objectOf(objectOf((body.plugins as unknown[])?.[0]).pdf).engine
  const ocr = /"type":"file"/.test(text) && engine === undefined ? PAGES * PAGE_USD : 0
  const preset = body.preset === undefined ? 0 : PRESET_USD
  const isText = !/"type":"(?:image_url|file|hologram)"/.test(text)
  const tokens = isText && body.hologram === undefined ? text.length : 127_000
  const written = body.hologram === undefined ? limit : LONGEST
  return tokens * PROMPT_USD * times + written * COMPLETION_USD * times + ocr + preset + fee
}

function limitOf(body: Body, mode: LimitMode): number {
  const { max_tokens, max_completion_tokens } = body as Record<string, number | undefined>
  const limits = mode === 'ignoresBoth' ? [] : mode === 'honours' ? [max_tokens, max_completion_tokens] : [max_tokens]
  return Math.min(LONGEST, ...limits.flatMap(limit => limit ?? []))
}

function answerOf(tokens: number, cost: number): Body {
  const usage = { prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens, cost }
  const message = { role: 'assistant', content: 'Hi' }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return { id: 'gen-1', object: 'chat.completion', created: 1, model: MODEL, choices, usage }
}

function refuse(status: number, body: Body): Response {
  return Response.json(body, { status })
}

/** As Mistral answers to a field that it does not know. */
const UNKNOWN_FIELD = {
  object: 'error',
  message: {
    detail: [
      { type: 'extra_forbidden', loc: ['body', 'max_completion_tokens'], msg: 'Extra inputs are not permitted' },
    ],
  },
}

describeOnce('what an aggregator can bill', backend => {
  let upstream: ReturnType<typeof Bun.serve>
  let openRouter: TestProxy
  let other: TestProxy
  let mode: LimitMode = 'honours'
  let bodies: Body[] = []
  let billedUsd = 0

  beforeAll(async () => {
    upstream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        if (request.method === 'GET') return Response.json({ data: [] })
        const body = (await request.json()) as Body
        bodies.push(body)
        if (mode === 'rejects' && body.max_completion_tokens !== undefined) return refuse(422, UNKNOWN_FIELD)
        const limit = limitOf(body, mode)
        const usd = bill(body, limit)
        if (usd === null) return refuse(404, { error: { message: 'No endpoints found', code: 404 } })
        billedUsd += usd
        await Bun.sleep(100)
        return Response.json(answerOf(limit, usd))
      },
    })
    const stores = await backend.open()
    const start = (path: string) => {
      const AGGREGATOR_BASE_URL = `http://127.0.0.1:${upstream.port}/${path}`
      return startProxy({ stores, environment: { AGGREGATOR_BASE_URL, AGGREGATOR_API_KEY: 'sk-aggregator' } })
    }
    ;[openRouter, other] = await Promise.all([start('openrouter/api/v1'), start('v1')])
  })
  let project: string
  let key: string
  beforeEach(async () => {
    mode = 'honours'
    bodies = []
    billedUsd = 0
    project = `a-${crypto.randomUUID()}`
    key = await openRouter.createKey({ project, type: 'project' })
    await openRouter.query(`select set_setting('${project}', 'cache_mode', 'off')`)
    await openRouter.query(`update models set exceeded_limit_at = null`)
  })
  afterAll(async () => {
    await openRouter.stop()
    await other.stop()
    await upstream.stop(true)
  })

  const budget = (usd: number | null) => openRouter.query(`select set_budget('${project}', 'usd', ${usd}, 'month')`)
  const chat = (fields: Body = {}): Body => ({
    model: MODEL,
    messages: [{ role: 'user', content: 'Hello?' }],
    max_tokens: 100,
    ...fields,
  })
  const send = async (proxy: TestProxy, fields: Body = {}) =>
    readAnswer(await post(proxy, key, '/chat/completions', chat(fields)))
  const part = (given: Body) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Read.' }, given] }] })
  const PDF = part({ type: 'file', file: { filename: 'a.pdf', file_data: 'https://example.com/a.pdf' } })
  const parser = (pdf: Body) => ({ plugins: [{ id: 'file-parser', pdf }] })

  async function spent(): Promise<number> {
    await openRouter.settle()
    await other.settle()
    const [row] = await openRouter.query<{ usd: number }>(
      `select coalesce(sum(cost_usd), 0)::float8 as usd from usage_records where project_id = find_project('${project}')`,
    )
    return row?.usd ?? 0
  }

  const CASES: Record<string, Body> = {
    'a PDF without a plugin': PDF,
    'a PDF whose plugin names no engine': { ...PDF, ...parser({}) },
    'a PDF for a free engine': { ...PDF, ...parser({ engine: 'native' }) },
    'one dear host': { provider: { only: ['dear'] } },
    'a dear host first': { provider: { order: ['dear'], allow_fallbacks: false } },
    'the fastest host': { provider: { sort: 'throughput' } },
    'a dear host, with a limit that is higher': {
      provider: { only: ['dear'], max_price: { prompt: 100, request: '5' } },
    },
    'a preset': { preset: 'costly' },
    'a picture': part({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }),
    'a part that nobody knows': part({ type: 'hologram', url: 'https://example.com/a' }),
    'a field that nobody knows': { hologram: 1 },
    text: {},
  }
  const AT_ONCE = 30

  test.each(Object.entries(CASES))('%s: many at once are billed no more than their budget', async (_, fields) => {
    // Far less than all of them cost at another host.
    const usd = 'provider' in fields ? 0.005 : 1
    for (const proxy of [openRouter, other]) {
      bodies = []
      billedUsd = 0
      await budget((await spent()) + usd)
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => send(proxy, fields)))
      for (const { status, text } of answers) expect([200, 400, 404, 429], text).toContain(status)
      expect(billedUsd).toBeLessThanOrEqual(usd)
    }
  })

  test('text is bounded by its bytes and its limit', async () => {
    const most = (JSON.stringify(chat()).length * PROMPT_USD + 100 * COMPLETION_USD) * 1.01
    for (const proxy of [openRouter, other]) {
      await budget((await spent()) + most)
      expect((await send(proxy)).status).toBe(200)
    }
  })

  test('a PDF for a free engine is bounded by the context, and one that may be paid by the page is rejected', async () => {
    await budget(1)
    expect((await send(openRouter, { ...PDF, ...parser({ engine: 'pdf-text' }) })).status).toBe(200)
    for (const fields of [
      PDF,
      { ...PDF, ...parser({ engine: 'mistral-ocr' }) },
      { plugins: [{ id: 'web' }] },
      { preset: 'x' },
    ]) {
      const { status, json } = await send(openRouter, fields)
      expect([status, json.error.code]).toEqual([400, 'model_not_priced'])
    }
  })

  const limits = () => objectOf(objectOf(bodies.at(-1)?.provider).max_price)

  test('where a budget applies, OpenRouter is told the highest prices, and the client’s own hold where they are lower', async () => {
    await budget(1)
    await send(openRouter)
    expect(bodies).toEqual([{ ...chat(), provider: { max_price: { prompt: 0.15, completion: 0.6, request: 0 } } }])
    const own = { prompt: '0.1', completion: 5, image: 3 }
    await send(openRouter, { provider: { sort: 'price', max_price: own } })
    expect(objectOf(bodies.at(-1)?.provider).sort).toBe('price')
    expect(limits()).toEqual({ prompt: '0.1', completion: 0.6, request: 0, image: 3 })
    await send(openRouter, { models: ['openai/gpt-4o'] })
    expect(limits()).toEqual({ prompt: 2.5, completion: 10, request: 0 })
    await send(openRouter, { model: 'perplexity/sonar' })
    expect(limits()).toEqual({ prompt: 1, completion: 1, request: 0.005 })
  })

  test('a model whose requests have a fee reserves it', async () => {
    await budget(0.0049)
    expect((await send(openRouter, { model: 'perplexity/sonar' })).status).toBe(429)
    await budget(0.0056)
    expect((await send(openRouter, { model: 'perplexity/sonar' })).status).toBe(200)
  })

  test('a translated request has the limits, too', async () => {
    await budget(1)
    const body = { model: MODEL, max_tokens: 9, messages: chat().messages }
    expect((await readAnswer(await post(openRouter, key, '/messages', body))).status).toBe(200)
    expect(limits()).toEqual({ prompt: 0.15, completion: 0.6, request: 0 })
  })

  test('so have embeddings', async () => {
    await budget(1)
    await post(openRouter, key, '/embeddings', { model: 'openai/text-embedding-3-small', input: 'Hello?' })
    expect(limits()).toEqual({ prompt: 0.02, completion: 0, request: 0 })
  })

  test('without a budget nothing is added, and the cached response is the same', async () => {
    const body = chat({ provider: { only: ['dear'] }, max_completion_tokens: 100 })
    await openRouter.query(`select set_setting('${project}', 'cache_mode', 'all')`)
    const ask = () => post(openRouter, key, '/chat/completions', body)
    expect((await ask()).headers.get('x-proxy-cache')).toBe('MISS')
    expect(bodies).toEqual([body])
    await budget(1)
    expect((await ask()).headers.get('x-proxy-cache')).toBe('HIT')
  })

  test('another aggregator is told no prices, and may choose no host where a budget applies', async () => {
    await budget(1)
    const { status, json } = await send(other, { provider: { only: ['dear'] } })
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('provider')])
    expect((await send(other)).status).toBe(200)
    expect(bodies.map(body => body.provider)).toEqual([undefined])
    await budget(null)
    expect((await send(other, { provider: { only: ['dear'] } })).status).toBe(200)
  })

  const LIMITED = { max_tokens: undefined, max_completion_tokens: 100 }

  test.each([
    ['max_tokens', { max_tokens: 100 }],
    ['max_completion_tokens', LIMITED],
  ])('%s alone is sent under both names where it is not known which one counts', async (_, fields) => {
    await send(other, fields)
    expect(bodies).toMatchObject([{ max_tokens: 100, max_completion_tokens: 100 }])
    await send(openRouter, fields)
    expect(bodies[1]).toEqual(JSON.parse(JSON.stringify(chat(fields))))
    await send(other, { max_tokens: undefined })
    expect(bodies[2]).not.toHaveProperty('max_tokens')
    await send(other, { max_tokens: 7, max_completion_tokens: 9 })
    expect(bodies[3]).toMatchObject({ max_tokens: 7, max_completion_tokens: 9 })
  })

  test('a limit under the name that a vendor ignores is honoured', async () => {
    mode = 'ignores'
    await budget(1)
    await Promise.all(Array.from({ length: AT_ONCE }, () => send(other, LIMITED)))
    expect(bodies.length).toBe(AT_ONCE)
    expect(billedUsd).toBeLessThan(AT_ONCE * 2 * 100 * COMPLETION_USD)
    expect(await spent()).toBeCloseTo(billedUsd, 6)
  })

  test.each([
    ['max_tokens', { max_tokens: 100 }],
    ['max_completion_tokens', LIMITED],
  ])('%s reaches a vendor that rejects the newer name', async (_, fields) => {
    mode = 'rejects'
    await budget(1)
    expect((await send(other, fields)).status).toBe(200)
    expect(bodies.at(-1)).toMatchObject({ max_tokens: 100 })
    expect(bodies.at(-1)).not.toHaveProperty('max_completion_tokens')
  })

  test('a model that exceeds its limit is known to do so, in all processes, and reserves its longest response', async () => {
    mode = 'ignoresBoth'
    await budget(1)
    expect((await send(other)).status).toBe(200)
    await expect
      .poll(() => openRouter.query(`select model from models where exceeded_limit_at is not null`))
      .toEqual([{ model: MODEL }])
    const most = (JSON.stringify(chat()).length * PROMPT_USD + LONGEST * COMPLETION_USD) * 1.01
    const before = await spent()
    await budget(before + most * 0.9)
    expect((await send(other)).status).toBe(429)
    await budget(before + most)
    expect((await send(other)).status).toBe(200)
    const again = await startProxy({
      stores: openRouter.stores,
      environment: {
        AGGREGATOR_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
        AGGREGATOR_API_KEY: 'sk-aggregator',
      },
    })
    await budget((await spent()) + most * 0.9)
    expect((await send(again)).status).toBe(429)
    await again.stop()
  })
})
