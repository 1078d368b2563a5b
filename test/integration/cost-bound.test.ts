/**
 * The reservation covers the request that is sent: concurrent requests never spend more than their budget, however the provider treats
 * them.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

type Body = Record<string, unknown>

interface Case {
  path: string
  /** A string is sent unchanged. */
  body: Body | string | (() => FormData)
  /** The usage that the provider reports. */
  usage: Body
  /** The provider's price of one response, in US dollars. */
  usd: number
  answer?: Body
}

const hello = [{ role: 'user', content: 'Hello?' }]
const chat = (fields: Body = {}): Body => ({
  model: 'gpt-4o-mini',
  messages: hello,
  max_tokens: 100,
  service_tier: 'default',
  ...fields,
})
const claude = (fields: Body = {}): Body => ({ model: 'claude-opus-5', messages: hello, max_tokens: 1_000, ...fields })
const asked = (prompt_tokens: number, completion_tokens: number): Body => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
})
const took = (input_tokens: number, output_tokens: number, more: Body = {}): Body => ({
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
  ...more,
})

function form(fields: readonly (readonly [string, string | Uint8Array<ArrayBuffer>])[]) {
  return () => {
    const data = new FormData()
    for (const [name, value] of fields) {
      if (typeof value === 'string') data.append(name, value)
      else data.append(name, new Blob([value]), 'file.flac')
    }
    return data
  }
}

/** An hour of silence: the header says 16 kHz, and a frame of 65,535 samples takes a dozen bytes. */
const SILENCE = new Uint8Array(7_000)
SILENCE.set(Buffer.from('664c614380000022ffffffff', 'hex'))
const PICTURES = took(10, 62_400, { input_tokens_details: { text_tokens: 10, image_tokens: 0 } })

const CASES: Record<string, Case> = {
  'an escaped name of a picture': {
    path: '/chat/completions',
    body: JSON.stringify(
      chat({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] }] }),
    ).replaceAll('image_url', 'image_\\u0075rl'),
    usage: asked(100_000, 100),
    usd: 0.01506,
  },
  'an escaped name in a request that a worker reads': {
    path: '/chat/completions',
    body: JSON.stringify(
      chat({
        messages: [
          { role: 'user', content: 'word '.repeat(20_000) },
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] },
        ],
      }),
    ).replaceAll('image_url', 'image_\\u0075rl'),
    usage: asked(128_000, 100),
    usd: 0.01926,
  },
  'a part that nobody knows': {
    path: '/chat/completions',
    body: chat({ messages: [{ role: 'user', content: [{ type: 'hologram', at: 'https://a/b' }] }] }),
    usage: asked(100_000, 100),
    usd: 0.01506,
  },
  'a number as text': {
    path: '/chat/completions',
    body: chat({ max_tokens: '100000', max_completion_tokens: 10 }),
    usage: asked(10, 100_000),
    usd: 0.0600015,
  },
  'many prompts': {
    path: '/completions',
    body: { model: 'gpt-3.5-turbo-instruct', prompt: Array(50).fill('Once'), max_tokens: 1_000 },
    usage: asked(50, 50_000),
    usd: 0.100075,
  },
  'a prediction that is refused': {
    path: '/chat/completions',
    body: chat({ prediction: { type: 'content', content: 'Hello. '.repeat(1_000) } }),
    usage: asked(10, 7_100),
    usd: 0.0042615,
  },
  'tools that an item brings': {
    path: '/responses',
    body: {
      model: 'gpt-4o-mini',
      input: [
        { role: 'user', content: 'Hello?' },
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] },
      ],
      max_output_tokens: 100,
      service_tier: 'default',
    },
    usage: took(500_000, 100),
    answer: { output: Array(5).fill({ type: 'web_search_call' }) },
    usd: 0.12506,
  },
  'pictures that a model has made': {
    path: '/responses',
    body: {
      model: 'gpt-4o-mini',
      input: 'Draw.',
      tools: [{ type: 'image_generation', model: 'gpt-image-1' }],
      max_output_tokens: 100,
      service_tier: 'default',
    },
    usage: took(10, 100),
    answer: { tools: [{ type: 'image_generation', model: 'gpt-image-1' }], tool_usage: { image_gen: took(50, 6_240) } },
    usd: 0.2499115,
  },
  'ten pictures of a form': {
    path: '/images/edits',
    body: form([
      ['model', 'gpt-image-1'],
      ['prompt', 'Draw.'],
      ['n', '10'],
      ['image', new Uint8Array(9)],
    ]),
    usage: PICTURES,
    answer: { data: [{ b64_json: '' }], created: 1 },
    usd: 2.49605,
  },
  'one picture, then ten': {
    path: '/images/edits',
    body: form([
      ['model', 'gpt-image-1'],
      ['prompt', 'Draw.'],
      ['n', '10'],
      ['n', '1'],
      ['image', new Uint8Array(9)],
    ]),
    usage: PICTURES,
    answer: { data: [{ b64_json: '' }], created: 1 },
    usd: 2.49605,
  },
  'hours of silence': {
    path: '/audio/transcriptions',
    body: form([
      ['model', 'whisper-1'],
      ['file', SILENCE],
    ]),
    usage: { type: 'duration', seconds: 3_600 },
    answer: { text: '' },
    usd: 0.36,
  },
  'fast mode': {
    path: '/messages',
    body: claude({ speed: 'fast' }),
    usage: took(10, 1_000, { speed: 'fast' }),
    usd: 0.0501,
  },
  'fast mode of a model that has no price for it': {
    path: '/messages',
    body: claude({ model: 'claude-haiku-4-5', speed: 'fast' }),
    usage: took(10, 1_000, { speed: 'fast' }),
    usd: 1,
  },
  'a region': {
    path: '/messages',
    body: claude({ inference_geo: 'us' }),
    usage: took(10, 1_000, { inference_geo: 'us' }),
    usd: 0.027555,
  },
  'the workspace’s region': {
    path: '/messages',
    body: claude(),
    usage: took(10, 1_000, { inference_geo: 'us' }),
    usd: 0.027555,
  },
  'a summary before the answer': {
    path: '/messages',
    body: claude({ context_management: { edits: [{ type: 'compact_20260112' }] } }),
    usage: took(1_000, 1_000, {
      iterations: [
        { type: 'compaction', ...took(150_000, 10_000) },
        { type: 'message', ...took(1_000, 1_000) },
      ],
    }),
    usd: 1.03,
  },
  'an advisor of another model': {
    path: '/messages',
    body: claude({
      model: 'claude-haiku-4-5',
      tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5', max_uses: 1 }],
    }),
    usage: took(1_000, 1_000, {
      iterations: [
        { type: 'message', ...took(1_000, 1_000) },
        { type: 'advisor_message', model: 'claude-opus-5', ...took(100_000, 20_000) },
      ],
    }),
    usd: 1.006,
  },
  'a dearer fallback': {
    path: '/messages',
    body: claude({ model: 'claude-haiku-4-5', fallbacks: [{ model: 'claude-opus-5' }] }),
    usage: took(10, 1_000),
    answer: { model: 'claude-opus-5' },
    usd: 0.02505,
  },
}

const AT_ONCE = 8

function answerOf({ path, usage, answer }: Case): Body {
  if (path === '/chat/completions' || path === '/completions')
    return {
      id: 'c1',
      object: path === '/completions' ? 'text_completion' : 'chat.completion',
      created: 1,
      model: 'gpt-4o-mini',
      choices: [{ index: 0, text: 'Hi', message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage,
    }
  if (path === '/responses')
    return {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'gpt-4o-mini',
      output: [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: '' }],
      usage,
      ...answer,
    }
  if (path === '/messages')
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
      ...answer,
    }
  return { ...answer, usage }
}

/** Events in Anthropic's order: input usage first, output usage and its iterations last. */
function inEvents({ usage, ...message }: Body & { usage?: Body }): string {
  const { iterations, output_tokens, ...first } = usage ?? {}
  const events = [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { ...first, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { iterations, output_tokens },
    },
    { type: 'message_stop' },
  ]
  return events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

describeOnce('the cost bound of a request', backend => {
  const upstreams = duringTests(startUpstreams)
  let proxy: TestProxy
  let project: string
  let key: string
  /** Accepts newer requests than the fake provider, which rejects unknown fields, and sends `claudesAnswer`. */
  let claudes: ReturnType<typeof Bun.serve>
  let claudesAnswer = ''
  let claudesRequests: unknown[] = []

  beforeAll(async () => {
    claudes = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { stream } = (await request.json()) as Body
        claudesRequests.push(stream)
        await Bun.sleep(300)
        const type = stream === true ? 'text/event-stream' : 'application/json'
        const answer = stream === true ? inEvents(JSON.parse(claudesAnswer)) : claudesAnswer
        return new Response(answer, { headers: { 'content-type': type } })
      },
    })
    const environment = { ...upstreams.environment, ANTHROPIC_BASE_URL: `http://127.0.0.1:${claudes.port}` }
    proxy = await startProxy({ stores: await backend.open(), environment })
  })
  beforeEach(async () => {
    upstreams.reset()
    project = `l-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, provider, 'sk-own')
    await proxy.query(`select set_setting('${project}', 'cache_mode', 'off')`)
  })
  afterAll(async () => {
    await proxy.stop()
    await claudes.stop(true)
  })

  async function spent(): Promise<number> {
    await proxy.settle()
    const [row] = await proxy.query<{ usd: number }>(
      `select coalesce(sum(cost_usd), 0)::float8 as usd from usage_records where project_id = find_project('${project}')`,
    )
    return row?.usd ?? 0
  }

  async function send({ path, body }: Case) {
    if (typeof body !== 'function') return readAnswer(await post(proxy, key, path, body))
    const headers = { authorization: `Bearer ${key}` }
    return readAnswer(await fetch(`${proxy.baseUrl}${path}`, { method: 'POST', headers, body: body() }))
  }

  /** Makes the provider respond to every request as the case says. */
  function script(each: Case) {
    const bytes = JSON.stringify(answerOf(each))
    const headers = { 'content-type': 'application/json' }
    claudesAnswer = bytes
    claudesRequests = []
    upstreams.openai.script({ kind: 'raw', status: 200, headers, parts: [bytes], firstByteDelayMs: 300 })
    return each.path === '/messages' ? claudesRequests : upstreams.openai.requests
  }

  test.each(draw(Object.entries(CASES)))(
    '%s: many simultaneous requests cost no more than their budget',
    async (_, each) => {
      const requests = script(each)
      const budget = each.usd * 2.5
      await proxy.query(`select set_budget('${project}', 'usd', ${budget}, 'month')`)
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => send(each)))
      for (const { status, text } of answers) expect([200, 400, 429], text).toContain(status)
      expect(requests.length * each.usd).toBeLessThanOrEqual(budget)
      // Sent requests are charged at the provider's price.
      expect(await spent()).toBeCloseTo(requests.length * each.usd, 6)
    },
  )

  test.each(draw(Object.entries(CASES)))(
    '%s: one is charged as its vendor does, or rejected by name',
    async (name, each) => {
      const requests = script(each)
      await proxy.query(`select set_budget('${project}', 'usd', 1000, 'month')`)
      const { status, json } = await send(each)
      const isRefused = name in REFUSED
      expect([status, requests.length]).toEqual(isRefused ? [400, 0] : [200, 1])
      if (isRefused) expect(json.error.message).toContain(REFUSED[name])
      else expect(await spent()).toBeCloseTo(each.usd, 6)
    },
  )

  const CLAUDES = Object.entries(CASES).filter(([name, { path }]) => path === '/messages' && !name.includes('no price'))

  test.each(
    draw(
      CLAUDES.flatMap(([name, each]) =>
        (['streamed', 'from chat’s door', 'streamed from chat’s door'] as const).map(how => [name, how, each] as const),
      ),
    ),
  )('%s, %s, is charged as its vendor does', async (_, how, each) => {
    script(each)
    await proxy.query(`select set_budget('${project}', 'usd', 1000, 'month')`)
    const path = how.includes('chat') ? '/chat/completions' : each.path
    const stream = how.includes('streamed')
    const { status, text } = await send({ ...each, path, body: { ...(each.body as Body), stream } })
    expect([status, text.includes('Hi')], text).toEqual([200, true])
    expect(await spent()).toBeCloseTo(each.usd, 6)
  })

  const REFUSED: Record<string, string> = {
    'a number as text': 'max_tokens must be a whole number',
    'one picture, then ten': 'one n',
    'fast mode of a model that has no price for it': 'the tier fast with claude-haiku-4-5',
  }

  test.each([
    ['/chat/completions', chat({ model: 'acme/unheard-of' }), 'No price is known for acme/unheard-of.'],
    ['/chat/completions', chat({ plugins: [{ id: 'web' }] }), 'a price of plugin with gpt-4o-mini'],
    [
      '/chat/completions',
      chat({ modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }),
      'audio output',
    ],
    ['/chat/completions', chat({ service_tier: 'ultrafast' }), 'the tier ultrafast'],
    ['/responses', { model: 'gpt-4o-mini', input: 'x', multi_agent: { enabled: true } }, 'a price of multi_agent'],
    ['/responses', { model: 'gpt-5', input: 'x', reasoning: { mode: 'pro' } }, 'a price of reasoning.mode'],
    [
      '/responses',
      { model: 'gpt-4o-mini', input: 'x', tools: [{ type: 'image_generation' }] },
      'a price of gpt-image-2',
    ],
    ['/messages', claude({ fallbacks: 'default' }), 'a price of default'],
    ['/messages', claude({ inference_geo: 'eu' }), 'the region eu'],
  ])('at %s, %j is rejected if a budget applies, and otherwise forwarded', async (path, body, missing) => {
    await proxy.query(`select set_budget('${project}', 'usd', 1000, 'month')`)
    const { status, json } = await readAnswer(await post(proxy, key, path, body))
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(missing)])
    await proxy.query(`select set_budget('${project}', 'usd', null, 'month')`)
    upstreams.openai.script({ kind: 'answer' })
    const free = await readAnswer(await post(proxy, key, path, body))
    expect(free.json?.error?.code).not.toBe('model_not_priced')
  })

  test('a long request reserves for its content, as a short one does', async () => {
    const long = chat({ messages: [{ role: 'user', content: 'word '.repeat(20_000) }] })
    const most = (JSON.stringify(long).length * 0.15 + 100 * 0.6) / 1e6
    await proxy.query(`select set_budget('${project}', 'usd', ${most * 1.01}, 'month')`)
    expect((await readAnswer(await post(proxy, key, '/chat/completions', long))).status).toBe(200)
  })

  test('a minute of WAV or MP3 is reserved by its samples, or its lowest rate', async () => {
    const wav = new Uint8Array(44 + 60 * 32_000)
    wav.set(Buffer.from('524946460000000057415645666d74201000000001000100803e0000007d00000200100064617461', 'hex'))
    const mp3 = new Uint8Array(60 * 1_000)
    mp3.set([0xff, 0xfb, 0x90, 0x00])
    await proxy.query(`select set_budget('${project}', 'usd', 0.0065, 'month')`)
    for (const [n, file] of [wav, mp3].entries()) {
      await proxy.query(`select set_budget('${project}', 'usd', ${0.0065 + n * 0.001}, 'month')`)
      const { status, text } = await send({
        path: '/audio/transcriptions',
        body: form([
          ['model', 'whisper-1'],
          ['file', file],
        ]),
        usage: {},
        usd: 0,
      })
      expect([status, text]).toEqual([200, expect.stringContaining('text')])
    }
  })
})
