/**
 * Stored and shared responses at each endpoint: those that fit the request, are complete, and may be stored by their provider's headers.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

type Fields = Record<string, unknown>
type At = 'aggregator' | 'openai' | 'anthropic'

const JSON_TYPE = { 'content-type': 'application/json' }
const STREAM_TYPE = { 'content-type': 'text/event-stream' }
const typed = (events: ({ type: string } & Fields)[]) =>
  events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

const completion = (texts: number) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'm',
  choices: Array.from({ length: texts }, (_, index) => ({ index, text: 'A', logprobs: null, finish_reason: 'stop' })),
  usage: USAGE,
})
const moderation = (results: number) => ({
  id: 'modr-1',
  model: 'omni-moderation-latest',
  results: Array.from({ length: results }, () => ({ flagged: false, categories: {}, category_scores: {} })),
})
const message = (content: object[], stop_reason: string | null = 'tool_use') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
})
const LOOK_UP = { name: 'look_up', input_schema: { type: 'object' } }
const TOOL_USE = { type: 'tool_use', id: 'toolu_1', name: 'look_up' }
/** A stream of a tool's input as text. `ends`: its block ends. */
const callStream = (input: string, ends = true) =>
  typed([
    { type: 'message_start', message: message([], null) },
    { type: 'content_block_start', index: 0, content_block: { ...TOOL_USE, input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: input } },
    ...(ends ? [{ type: 'content_block_stop', index: 0 }] : []),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ])
const response = (output: object[]) => ({
  id: `resp_${crypto.randomUUID()}`,
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  error: null,
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
})
const call = (args: string) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c',
  name: 'f',
  arguments: args,
  status: 'completed',
})

interface Case {
  title: string
  path: string
  at: At
  /** The request's fields, with a text that is unique to it. */
  asks: (text: string) => Fields
  answers: { status?: number; headers?: Record<string, string>; body: string }
  isStored: boolean
}

const completions = (n: object, texts: number, isStored: boolean): Case => ({
  title: `${JSON.stringify(n)}, and ${texts} choices`,
  path: '/completions',
  at: 'aggregator',
  asks: text => ({ model: 'openai/gpt-3.5-turbo-instruct', prompt: [text, 'b'], ...n }),
  answers: { headers: JSON_TYPE, body: JSON.stringify(completion(texts)) },
  isStored,
})
const moderations = (input: (text: string) => unknown, results: number, isStored: boolean): Case => ({
  title: `${JSON.stringify(input('…'))}, and ${results} results`,
  path: '/moderations',
  at: 'openai',
  asks: text => ({ input: input(text) }),
  answers: { headers: JSON_TYPE, body: JSON.stringify(moderation(results)) },
  isStored,
})
const claude = (title: string, stream: boolean, body: string, isStored: boolean, more: Fields = {}): Case => ({
  title,
  path: '/messages',
  at: 'anthropic',
  asks: text => ({
    model: 'claude-haiku-4-5',
    max_tokens: 99,
    messages: [{ role: 'user', content: text }],
    tools: [LOOK_UP],
    ...more,
    stream,
  }),
  answers: { headers: stream ? STREAM_TYPE : JSON_TYPE, body },
  isStored,
})
const openAi = (title: string, output: object[], isStored: boolean, more: Fields = {}): Case => ({
  title,
  path: '/responses',
  at: 'openai',
  asks: text => ({ model: 'gpt-4o-mini', input: text, ...more }),
  answers: { headers: JSON_TYPE, body: JSON.stringify(response(output)) },
  isStored,
})
const speech = (status: number, isStored: boolean): Case => ({
  title: `sound with status ${status}`,
  path: '/audio/speech',
  at: 'openai',
  asks: text => ({ model: 'tts-1', voice: 'alloy', input: text }),
  answers: { status, headers: { 'content-type': 'audio/mpeg' }, body: 'ID3 sound' },
  isStored,
})

const say = (text: string) => [{ type: 'text', text }]
const JSON_WANTED = { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }
const outputMessage = (text: string) => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const SCHEMA_WANTED = { text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' } } } }

const CASES: readonly Case[] = [
  completions({}, 2, true),
  completions({}, 1, false),
  completions({ n: 2 }, 4, true),
  completions({ n: 2, best_of: 3 }, 3, false),
  moderations(text => text, 1, true),
  moderations(text => [text, 'b'], 2, true),
  moderations(text => [text, 'b'], 1, false),
  moderations(
    text => [
      { type: 'text', text },
      { type: 'text', text: 'b' },
    ],
    1,
    true,
  ),
  claude('a call', false, JSON.stringify(message([{ ...TOOL_USE, input: { city: 'Paris' } }])), true),
  claude('a call without an input', false, JSON.stringify(message([TOOL_USE])), false),
  claude('a streamed call', true, callStream('{"city": "Paris"}'), true),
  claude('a streamed call that is cut', true, callStream('{"city": "Par'), false),
  claude('a block that does not end', true, callStream('{"city": "Paris"}', false), false),
  claude('no call where one must be', false, JSON.stringify(message(say('No.'), 'end_turn')), false, {
    tool_choice: { type: 'any' },
  }),
  claude('JSON', false, JSON.stringify(message(say('{"a": 1}'), 'end_turn')), true, JSON_WANTED),
  claude('no JSON', false, JSON.stringify(message(say('{"a": '), 'max_tokens')), false, JSON_WANTED),
  openAi('a call', [call('{"city": "Paris"}')], true),
  openAi('a call that is cut', [call('{"city": "Par')], false),
  openAi('JSON', [outputMessage('{"a": 1}')], true, SCHEMA_WANTED),
  openAi('no JSON', [outputMessage('{"a": ')], false, SCHEMA_WANTED),
  speech(200, true),
  speech(206, false),
]

/** Each endpoint with a request whose usual response from the fake provider is stored. */
const ENDPOINT_CASES: [path: string, at: At, asks: (text: string) => Fields][] = [
  [
    '/chat/completions',
    'aggregator',
    text => ({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: text }] }),
  ],
  [
    '/chat/completions',
    'aggregator',
    text => ({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: text }], stream: true }),
  ],
  [
    '/chat/completions',
    'anthropic',
    text => ({ model: 'claude-haiku-4-5', messages: [{ role: 'user', content: text }] }),
  ],
  [
    '/chat/completions',
    'anthropic',
    text => ({ model: 'claude-haiku-4-5', messages: [{ role: 'user', content: text }], stream: true }),
  ],
  ['/completions', 'aggregator', text => ({ model: 'openai/gpt-3.5-turbo-instruct', prompt: text })],
  [
    '/messages',
    'anthropic',
    text => ({ model: 'claude-haiku-4-5', max_tokens: 9, messages: [{ role: 'user', content: text }] }),
  ],
  [
    '/messages',
    'aggregator',
    text => ({ model: 'openai/gpt-4o-mini', max_tokens: 9, messages: [{ role: 'user', content: text }], stream: true }),
  ],
  ['/responses', 'openai', text => ({ model: 'gpt-4o-mini', input: text })],
  ['/responses', 'aggregator', text => ({ model: 'openai/gpt-4o-mini', input: text })],
  ['/embeddings', 'openai', text => ({ model: 'text-embedding-3-small', input: text })],
  ['/moderations', 'openai', text => ({ input: text })],
  ['/audio/speech', 'openai', text => ({ model: 'tts-1', voice: 'alloy', input: text })],
]

describeOnce('complete responses', backend => {
  const upstreams = duringTests(startUpstreams)
  let proxy: TestProxy
  let front: Bun.Server<undefined>
  let key: string
  /** Replaces the fake provider's response. */
  let answers: Case['answers'] | null
  /** A Cache-Control header that is added to the response. */
  let control: string | null
  let asked: number

  beforeAll(async () => {
    front = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 60, fetch: answer })
    const at = (name: At) => `http://127.0.0.1:${front.port}/${name}/v1`
    const environment = {
      ...upstreams.environment,
      AGGREGATOR_BASE_URL: at('aggregator'),
      OPENAI_BASE_URL: at('openai'),
      ANTHROPIC_BASE_URL: at('anthropic'),
    }
    proxy = await startProxy({ stores: await backend.open(), environment })
  })
  beforeEach(async () => {
    answers = null
    control = null
    asked = 0
    const project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, provider, 'sk-own')
  })
  afterAll(async () => {
    await proxy.stop()
    await front.stop(true)
  })

  async function answer(request: Request): Promise<Response> {
    asked++
    if (answers) return new Response(answers.body, { status: answers.status ?? 200, headers: answers.headers ?? {} })
    const { pathname } = new URL(request.url)
    const [, name, rest = ''] = /^\/(\w+)\/v1(\/.*)$/.exec(pathname) ?? []
    const { baseUrl } = upstreams[name as At]
    const to = `${baseUrl.replace(/\/v1$/, '')}/v1${rest}`
    const response = await fetch(to, { method: 'POST', headers: request.headers, body: await request.text() })
    const headers = new Headers(response.headers)
    if (control !== null) headers.set('cache-control', control)
    return new Response(response.body, { status: response.status, headers })
  }

  const ask = async (path: string, body: Fields) => {
    const response = await readAnswer(await post(proxy, key, path, body))
    await proxy.settle()
    return response
  }

  describe('with the requested output', () => {
    test.each(CASES.map(each => [each.path, each.title, each] as const))('%s: %s', async (path, _, each) => {
      answers = each.answers
      const body = each.asks(`x ${crypto.randomUUID()}`)
      const first = await ask(path, body)
      const second = await ask(path, body)
      expect([first.status, second.status]).toEqual(Array(2).fill(each.answers.status ?? 200))
      expect([first.cache, second.cache, asked]).toEqual(each.isStored ? ['MISS', 'HIT', 1] : ['MISS', 'MISS', 2])
      // The client gets the response in any case.
      if (each.path !== '/responses') expect(first.text).toBe(each.answers.body)
    })
  })

  describe.each(ENDPOINT_CASES)('what %s by %s may store', (path, _, asks) => {
    test.each([
      [null, true],
      ['private, no-cache', true],
      ['no-cache, No-Store', false],
    ])('with Cache-Control: %s', async (header, isStored) => {
      control = header
      const body = asks(`Why is ${crypto.randomUUID()} so?`)
      const responses = [await ask(path, body), await ask(path, body)]
      expect(responses.map(({ status }) => status)).toEqual([200, 200])
      expect([...responses.map(({ cache }) => cache), asked]).toEqual(
        isStored ? ['MISS', 'HIT', 1] : ['MISS', 'MISS', 2],
      )
    })
  })

  test('a response that may not be stored is not shared: each simultaneous request makes its own call', async () => {
    control = 'no-store'
    const text = crypto.randomUUID()
    const body = { model: 'text-embedding-3-small', input: text }
    const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] }
    for (const [path, each] of [
      ['/embeddings', body],
      ['/chat/completions', chat],
    ] as const) {
      asked = 0
      const responses = await Promise.all([1, 2, 3].map(() => ask(path, each)))
      expect(responses.map(({ status, cache }) => [status, cache])).toEqual(Array(3).fill([200, 'MISS']))
      expect(asked).toBe(3)
    }
  })
})
