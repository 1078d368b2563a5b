/**
 * The charge for a response at each endpoint: the usage that its provider reports, in any field names, and nothing for an invalid response.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { describeEmbedded } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

type Fields = Record<string, unknown>

interface Charged {
  prompt: number
  cached: number
  completion: number
  usd: number
  estimated: string | null
}

const MODELS = { aggregator: 'openai/gpt-4o-mini', openai: 'gpt-4o-mini', anthropic: 'claude-haiku-4-5' }
const ASKED: Record<string, (text: string) => Fields> = {
  chat: text => ({ messages: [{ role: 'user', content: text }], max_tokens: 100 }),
  responses: text => ({ input: text, max_output_tokens: 100 }),
  messages: text => ({ messages: [{ role: 'user', content: text }], max_tokens: 100 }),
}
const PATHS: Record<string, string> = { chat: '/chat/completions', responses: '/responses', messages: '/messages' }
const ENDPOINTS = Object.keys(PATHS)
const JSON_TYPE = { 'content-type': 'application/json' }
const STREAM_TYPE = { 'content-type': 'text/event-stream' }

const HEAD = { id: 'chatcmpl-1', created: 1, model: 'gpt-4o-mini' }
const chunk = (fields: Fields) => ({ ...HEAD, object: 'chat.completion.chunk', choices: [], ...fields })
const choice = (delta: Fields, fields: Fields = {}) => ({ index: 0, delta, finish_reason: null, ...fields })
const END = { finish_reason: 'stop' }
const asEvents = (chunks: Fields[]) =>
  `${chunks.map(each => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`

/** A chat stream with some text, and these chunks after it. */
const streamed = (...last: Fields[]) =>
  asEvents([chunk({ choices: [choice({ role: 'assistant', content: 'Hi' })] }), ...last])
const closing = (usage: unknown) => [chunk({ choices: [choice({}, END)] }), chunk({ usage })]
const plain = (usage: unknown) =>
  JSON.stringify({
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { content: 'Hi' }, ...END }],
    usage,
  })

const CHAT = { prompt_tokens: 1_000, completion_tokens: 100 }
const WHOLE = { prompt: 1_000, completion: 100, usd: 0.00021 }
const USAGES: [title: string, usage: unknown, expected: Fields][] = [
  ['names of the other API', { input_tokens: 1_000, output_tokens: 100 }, WHOLE],
  ['counts as text', { prompt_tokens: '1000', completion_tokens: '100' }, WHOLE],
  ['cached tokens beside the prompt’s', { ...CHAT, cached_tokens: 600 }, { ...WHOLE, cached: 600, usd: 0.000165 }],
  ['reasoning in the total alone', { ...CHAT, total_tokens: 3_100 }, { ...WHOLE, completion: 2_100, usd: 0.00141 }],
  ['a cost of 0', { ...CHAT, cost: 0 }, WHOLE],
]
const STREAMS: [title: string, last: Fields[]][] = [
  ['within a choice', [chunk({ choices: [choice({}, { ...END, usage: CHAT })] })]],
  ['of Groq’s', [chunk({ choices: [choice({}, END)], x_groq: { usage: CHAT } })]],
  [
    'before zeros',
    [chunk({ choices: [choice({}, END)], usage: CHAT }), chunk({ usage: { prompt_tokens: 0, completion_tokens: 0 } })],
  ],
  ['before nulls', [chunk({ choices: [choice({}, END)], usage: CHAT }), chunk({ usage: { prompt_tokens: null } })]],
  [
    'in parts',
    [
      chunk({ choices: [choice({}, END)], usage: { prompt_tokens: 1_000 } }),
      chunk({ usage: { completion_tokens: 100 } }),
    ],
  ],
]
const UNREADABLE: unknown[] = [
  {},
  [],
  '1100',
  { total_tokens: 90 },
  { completion_tokens: 50 },
  { prompt_tokens: 0, completion_tokens: 0 },
]
const NO_RESPONSES: [title: string, headers: Record<string, string>, body: string][] = [
  ['an error in a body', JSON_TYPE, JSON.stringify({ error: { code: 502, message: 'Provider returned error' } })],
  ['an empty body', JSON_TYPE, ''],
  ['a page', { 'content-type': 'text/html' }, '<html>Bad gateway</html>'],
  ['JSON that is cut', JSON_TYPE, '{"id":"chatcmpl-1","choi'],
  ['an error in a stream', STREAM_TYPE, asEvents([{ error: { code: 502, message: 'Provider returned error' } }])],
  ['an end alone', STREAM_TYPE, 'data: [DONE]\n\n'],
]

describeEmbedded('charged usage', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `u-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })

  async function charged(endpoint: string, stream: boolean, who: keyof typeof MODELS = 'aggregator') {
    const body = { model: MODELS[who], stream, ...ASKED[endpoint]?.(crypto.randomUUID()) }
    await (await post(proxy, key, PATHS[endpoint] ?? '', body)).text()
    await proxy.settle()
    const records = await proxy.query<Charged>(
      `select prompt_tokens as prompt, cached_prompt_tokens as cached, completion_tokens as completion, cost_usd::float8 as usd, cost_estimated as estimated
      from usage_records where project_id = find_project('${project}')`,
    )
    expect(records).toHaveLength(1)
    return records[0] as Charged
  }

  const script = (headers: Record<string, string>, body: string) =>
    upstreams.aggregator.script({ kind: 'raw', headers, parts: [body] })

  describe.each(ENDPOINTS)('at %s', endpoint => {
    test.each(USAGES.flatMap(row => [true, false].map(stream => [...row, stream] as const)))(
      'a usage with %s',
      async (_, usage, expected, stream) => {
        if (stream) script(STREAM_TYPE, streamed(...closing(usage)))
        else script(JSON_TYPE, plain(usage))
        const { usd, ...record } = await charged(endpoint, stream)
        const { usd: expectedUsd, ...counts } = expected
        expect(record).toMatchObject({ estimated: null, cached: 0, ...counts })
        expect(usd).toBeCloseTo(expectedUsd as number, 12)
      },
    )

    test.each(STREAMS)('usage in a stream, %s', async (_, last) => {
      script(STREAM_TYPE, streamed(...last))
      expect(await charged(endpoint, true)).toMatchObject(WHOLE)
    })

    test.each(UNREADABLE)('the usage %j is unknown', async usage => {
      script(JSON_TYPE, plain(usage))
      const { usd, prompt, completion } = await charged(endpoint, false)
      expect([usd > 0, prompt > 0, completion > 0]).toEqual([true, true, true])
    })

    // A translation turns an end alone into a response.
    const isTranslated = endpoint === 'responses'
    test.each(NO_RESPONSES.filter(([title]) => !isTranslated || title !== 'an end alone'))(
      '%s costs nothing',
      async (_, headers, body) => {
        script(headers, body)
        const stream = headers === STREAM_TYPE
        expect(await charged(endpoint, stream)).toMatchObject({ usd: 0, estimated: null })
      },
    )

    test('a stream of Claude’s that ends early costs no less than its start reports', async () => {
      await storeKey(proxy.stores, project, 'anthropic', 'sk-own')
      const usage = { input_tokens: 1, cache_creation_input_tokens: 100_000, output_tokens: 1 }
      const message = { id: 'msg_1', type: 'message', role: 'assistant', model: MODELS.anthropic, content: [], usage }
      const events = [
        { type: 'message_start', message },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
      ]
      const body = events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
      upstreams.anthropic.script({ kind: 'raw', status: 200, headers: STREAM_TYPE, body })
      const { usd, prompt } = await charged(endpoint, true, 'anthropic')
      expect(prompt).toBe(100_001)
      expect(usd).toBeGreaterThanOrEqual(0.125)
      expect(usd).toBeLessThan(0.126)
    })
  })

  test('does not trust a cost of a vendor that reports none', async () => {
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    upstreams.openai.script({ kind: 'raw', headers: JSON_TYPE, parts: [plain({ ...CHAT, cost: 5 })] })
    expect(await charged('chat', false, 'openai')).toMatchObject(WHOLE)
  })

  test('adds OpenRouter’s charge to what its customer’s key was charged', async () => {
    const details = { upstream_inference_cost: 0.03 }
    script(JSON_TYPE, plain({ ...CHAT, cost: 0.0015, is_byok: true, cost_details: details }))
    expect((await charged('chat', false)).usd).toBeCloseTo(0.0315, 12)
  })
})
