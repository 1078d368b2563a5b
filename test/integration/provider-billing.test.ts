/**
 * Reservations cover the most that a provider can bill: hosts, plugins, presets, fees and limits of aggregators; tiers, tools and thinking
 * of OpenAI.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

type Body = Record<string, unknown>
type LimitMode = 'honours' | 'ignores' | 'rejects' | 'ignoresBoth'

/** The catalogue's prices, from the aggregator's list: those of its cheapest host. */
const MODEL = 'openai/gpt-4o-mini'
const PROMPT_USD = 0.15 / 1e6
const COMPLETION_USD = 0.6 / 1e6
const LONGEST = 16_384
/** The price of another host of the same model, as a multiple. */
const DEAR = 12
const PAGES = 1_000
const PAGE_USD = 0.002
const PRESET_USD = 15
const FEE_USD = 0.01

const objectOf = (value: unknown): Body => (typeof value === 'object' && value !== null ? (value as Body) : {})

/** Bills a request as OpenRouter does; null if no host is left. */
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

/** Mistral's response to an unknown field. */
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

  test.each(draw(Object.entries(CASES)))(
    '%s: many simultaneous requests are billed no more than their budget',
    async (_, fields) => {
      // Far less than all requests cost at another host.
      const usd = 'provider' in fields ? 0.005 : 1
      for (const proxy of [openRouter, other]) {
        bodies = []
        billedUsd = 0
        await budget((await spent()) + usd)
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => send(proxy, fields)))
        for (const { status, text } of answers) expect([200, 400, 404, 429], text).toContain(status)
        expect(billedUsd).toBeLessThanOrEqual(usd)
      }
    },
  )

  test('text is bounded by its bytes and its limit', async () => {
    const most = (JSON.stringify(chat()).length * PROMPT_USD + 100 * COMPLETION_USD) * 1.01
    for (const proxy of [openRouter, other]) {
      await budget((await spent()) + most)
      expect((await send(proxy)).status).toBe(200)
    }
  })

  test('a PDF for a free engine is bounded by the context, and one that may cost by the page is rejected', async () => {
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

  test('if a budget applies, OpenRouter gets the highest prices, and the client’s own apply if they are lower', async () => {
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

  test('a model with a fee per request reserves it', async () => {
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

  test('embeddings have the limits, too', async () => {
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

  test('another aggregator gets no prices, and may choose no host if a budget applies', async () => {
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
  ])('%s alone is sent under both names if it is unknown which one counts', async (_, fields) => {
    await send(other, fields)
    expect(bodies).toMatchObject([{ max_tokens: 100, max_completion_tokens: 100 }])
    await send(openRouter, fields)
    expect(bodies[1]).toEqual(JSON.parse(JSON.stringify(chat(fields))))
    await send(other, { max_tokens: undefined })
    expect(bodies[2]).not.toHaveProperty('max_tokens')
    await send(other, { max_tokens: 7, max_completion_tokens: 9 })
    expect(bodies[3]).toMatchObject({ max_tokens: 7, max_completion_tokens: 9 })
  })

  test('a limit under the name that a vendor ignores applies', async () => {
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

  test('a model that exceeds its limit is marked so in all processes, and reserves its longest response', async () => {
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

/** US dollars per million tokens, of input and of output, by tier. `picture`: tokens of one in the largest size and quality. */
const OPENAI = {
  'gpt-4o-mini': { context: 128_000, longest: 16_384, default: [0.15, 0.6], priority: [0.25, 1] },
  'gpt-5-mini': { context: 400_000, longest: 128_000, flex: [0.125, 1], default: [0.25, 2], priority: [0.45, 3.6] },
  'gpt-image-1-mini': { context: 0, longest: 6_240, default: [2, 8] },
} as const
const SEARCH_USD = 0.01
const USUAL_SEARCHES = 10
const isLarge = (body: Body) => /"type":"(?:image_url|file|input_image|input_file)"/.test(JSON.stringify(body))

/**
 * The highest bill that OpenAI may write for a request: the tier of its project, and the most searches and the longest response that the
 * request allows.
 */
function billOpenAi(body: Body) {
  const model = OPENAI[body.model as keyof typeof OPENAI]
  const {
    service_tier,
    tools = [],
    max_tool_calls,
    n = 1,
  } = body as Record<string, number | undefined> & { tools?: Body[] }
  const requestedTier = service_tier as string | undefined
  const tier =
    requestedTier === undefined || requestedTier === 'auto'
      ? 'priority' in model
        ? 'priority'
        : 'default'
      : requestedTier
  const [read, written] = (model as unknown as Record<string, number[]>)[tier] ?? [0, 0]
  const hasSearch = (tools as Body[]).some(({ type }) => type === 'web_search')
  const searches = hasSearch ? Math.min(max_tool_calls ?? USUAL_SEARCHES, USUAL_SEARCHES) : 0
  const limit = (body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens ?? model.longest) as number
  const text = JSON.stringify([body.messages, body.input, body.prompt, body.tools]).length
  // Search results may fill the context.
  const input = (isLarge(body) || hasSearch ? model.context : text) * (1 + searches)
  const output = limit * n
  return {
    tier,
    searches,
    input,
    output,
    usd: (input * (read ?? 0) + output * (written ?? 0)) / 1e6 + searches * SEARCH_USD,
  }
}

function answerOpenAi(
  path: string,
  body: Body,
  { tier, searches, input, output }: ReturnType<typeof billOpenAi>,
): Body {
  const { model } = body
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  if (path.endsWith('/images/generations')) {
    const data = Array.from({ length: (body.n as number | undefined) ?? 1 }, () => ({ b64_json: 'eA==' }))
    return { created: 1, data, usage: { ...usage, input_tokens_details: { text_tokens: input, image_tokens: 0 } } }
  }
  if (path.endsWith('/responses')) {
    const action = { type: 'search', query: 'q' }
    const found = Array.from({ length: searches }, (_, i) => ({
      type: 'web_search_call',
      id: `ws_${i}`,
      status: 'completed',
      action,
    }))
    const content = [{ type: 'output_text', text: 'Hi', annotations: [] }]
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }
    const head = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model, service_tier: tier }
    return { ...head, output: [...found, message], usage }
  }
  const message = { role: 'assistant', content: 'Hi' }
  const choices = Array.from({ length: (body.n as number | undefined) ?? 1 }, (_, index) => ({
    index,
    message,
    finish_reason: 'stop',
  }))
  const counts = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, choices, service_tier: tier, usage: counts }
}

describeOnce('what OpenAI can bill', backend => {
  let upstream: ReturnType<typeof Bun.serve>
  let proxy: TestProxy
  let project: string
  let key: string
  let billedUsd = 0

  beforeAll(async () => {
    upstream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        if (request.method === 'GET') return Response.json({ data: [] })
        const body = (await request.json()) as Body
        const billed = billOpenAi(body)
        billedUsd += billed.usd
        // Leaves time for other reservations.
        await Bun.sleep(20)
        return Response.json(answerOpenAi(new URL(request.url).pathname, body, billed))
      },
    })
    const environment = { OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY }
    proxy = await startProxy({ stores: await backend.open(), environment })
  })
  beforeEach(async () => {
    billedUsd = 0
    project = `o-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    await proxy.query(`select set_setting('${project}', 'cache_mode', 'off')`)
    await proxy.query(`select set_budget('${project}', 'usd', 1, 'total')`)
  })
  afterAll(async () => {
    await proxy.stop()
    await upstream.stop(true)
  })

  const CHAT = '/chat/completions'
  const RESPONSES = '/responses'
  const ask = (...parts: Body[]) => ({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Why?' }, ...parts] }],
  })
  const chat = (fields: Body = {}) => ({ model: 'gpt-4o-mini', ...ask(), max_tokens: 16_000, ...fields })
  const thinking = (fields: Body = {}) => ({ model: 'gpt-5-mini', ...ask(), ...fields })
  const respond = (fields: Body = {}) => ({ model: 'gpt-5-mini', input: 'Why?', max_output_tokens: 20_000, ...fields })
  const picture = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const file = { type: 'file', file: { file_id: 'file-1' } }
  const sound = { type: 'input_audio', input_audio: { data: 'eA==', format: 'wav' } }
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }
  const search = { type: 'web_search' }
  const seen = [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }]

  const CASES: Record<string, [path: string, body: Body]> = {
    'text with a limit': [CHAT, chat()],
    'text without a limit': [CHAT, chat({ max_tokens: undefined })],
    'several answers': [CHAT, chat({ n: 8 })],
    'tools of the client’s own': [CHAT, chat({ tools: [tool] })],
    'a picture': [CHAT, chat(ask(picture))],
    'several pictures': [CHAT, chat(ask(picture, picture, picture))],
    'audio and a picture': [CHAT, chat(ask(sound, picture))],
    'a model that thinks, without a limit': [CHAT, thinking()],
    'high effort': [CHAT, thinking({ reasoning_effort: 'high', max_completion_tokens: 50_000 })],
    'no effort': [CHAT, thinking({ reasoning_effort: 'none', max_completion_tokens: 50_000 })],
    'the flexible tier': [CHAT, thinking({ service_tier: 'flex' })],
    'the standard tier': [CHAT, thinking({ service_tier: 'default' })],
    'the priority tier': [CHAT, thinking({ service_tier: 'priority' })],
    'the tier of the project': [CHAT, thinking({ service_tier: 'auto' })],
    'a tier that nobody knows': [CHAT, thinking({ service_tier: 'warp' })],
    'a response': [RESPONSES, respond()],
    'a response without a limit': [RESPONSES, respond({ max_output_tokens: undefined })],
    'a response with high effort': [RESPONSES, respond({ reasoning: { effort: 'high' } })],
    searches: [RESPONSES, respond({ tools: [search] })],
    'two searches at most': [RESPONSES, respond({ tools: [search], max_tool_calls: 2 })],
    'a response to a picture': [RESPONSES, respond({ input: seen })],
    'a PDF': [CHAT, thinking({ ...ask(file), max_completion_tokens: 100 })],
    'pictures that are made': [
      '/images/generations',
      { model: 'gpt-image-1-mini', prompt: 'A tree', n: 4, size: '1536x1024', quality: 'high' },
    ],
  }
  /** Cases whose tier or audio has no price. */
  const REJECTED = new Set(['audio and a picture', 'a tier that nobody knows'])
  /** Cases of which a single request may cost more than the budget. */
  const TOO_DEAR = new Set(['searches'])
  const AT_ONCE = 30

  test.each(draw(Object.keys(CASES)))(
    '%s: many simultaneous requests are billed no more than their budget, and some are served',
    async name => {
      const [path, body] = CASES[name] ?? ['', {}]
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, async () => readAnswer(await post(proxy, key, path, body))),
      )
      for (const { status, text } of answers) expect(REJECTED.has(name) ? [400] : [200, 429], text).toContain(status)
      expect(answers.some(({ status }) => status === 200)).toBe(!REJECTED.has(name) && !TOO_DEAR.has(name))
      expect(billedUsd).toBeLessThanOrEqual(1)
      await proxy.settle()
      const [row] = await proxy.query<{ spent: number; reserved: number }>(
        `select c.spent::float8 as spent, c.reserved::float8 as reserved from budget_periods c join budgets b on b.id = c.budget_id
      where b.project_id = find_project('${project}')`,
      )
      expect(row?.reserved ?? 0).toBe(0)
      expect(row?.spent ?? 0).toBeCloseTo(billedUsd, 6)
    },
  )
})
