/** An upstream's error at every endpoint: in the codes and words that its clients know, with the upstream's own text. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

type Endpoint = 'chat' | 'responses' | 'messages'

const messages = [{ role: 'user', content: 'Hi' }]
const ENDPOINTS: Record<Endpoint, [path: string, body: Record<string, unknown>]> = {
  chat: ['/chat/completions', { messages }],
  responses: ['/responses', { input: 'Hi' }],
  messages: ['/messages', { messages, max_tokens: 9 }],
}
const NAMES = Object.keys(ENDPOINTS) as Endpoint[]
const SENDS = NAMES.flatMap((endpoint): [Endpoint, boolean][] => [
  [endpoint, false],
  [endpoint, true],
])

const OPENAIS =
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens."
const VLLMS =
  "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion."
const ANTHROPICS = 'prompt is too long: 215692 tokens > 200000 maximum'
const FULL: [status: number, body: unknown, message: string, begins: string][] = [
  [
    400,
    { error: { message: OPENAIS, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' } },
    OPENAIS,
    'prompt is too long: 150000 tokens > 128000 maximum',
  ],
  [
    400,
    { object: 'error', type: 'BadRequestError', message: VLLMS, code: 400 },
    VLLMS,
    'input length and `max_tokens` exceed context limit: 230462 + 32000 > 262144',
  ],
  [400, { type: 'error', error: { type: 'invalid_request_error', message: ANTHROPICS } }, ANTHROPICS, ANTHROPICS],
  [
    413,
    { detail: 'Input is too long for requested model.' },
    'Input is too long for requested model.',
    'prompt is too',
  ],
  [
    400,
    [{ error: { code: 400, message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).' } }],
    'The input token count (9) exceeds the maximum number of tokens allowed (8).',
    'prompt is too long: 9 tokens > 8 maximum',
  ],
]

interface Expected {
  status: number
  /** The code in OpenAI's format. */
  code?: string
  /** The type in Anthropic's format. */
  type?: string
}

/** Statuses and codes of translated requests. */
const OTHERS: [status: number, body: unknown, text: string, openai: Expected, anthropic: Expected][] = [
  [
    400,
    {
      error: {
        message: 'Rejected by our safety system.',
        type: 'invalid_request_error',
        code: 'content_policy_violation',
      },
    },
    'Rejected by our safety system.',
    { status: 400, code: 'content_policy_violation' },
    { status: 400, type: 'invalid_request_error' },
  ],
  [
    429,
    { message: 'You exceeded your current quota.', type: 'insufficient_quota' },
    'You exceeded your current quota.',
    { status: 429, code: 'insufficient_quota' },
    { status: 402, type: 'billing_error' },
  ],
  [
    402,
    { error: 'Insufficient Balance' },
    'Insufficient Balance',
    { status: 402, code: 'insufficient_quota' },
    { status: 402, type: 'billing_error' },
  ],
  [
    400,
    { errors: [{ code: 7, message: 'x/y is not a valid model ID' }] },
    'x/y is not a valid model ID',
    { status: 404, code: 'model_not_found' },
    { status: 404, type: 'not_found_error' },
  ],
  [
    500,
    { Message: 'The model is overloaded.' },
    'The model is overloaded.',
    { status: 503, code: 'overloaded' },
    { status: 529, type: 'overloaded_error' },
  ],
  [
    429,
    'Slow down, please.',
    'Slow down, please.',
    { status: 429, code: 'rate_limit_exceeded' },
    { status: 429, type: 'rate_limit_error' },
  ],
  [
    400,
    { detail: [{ loc: ['body', 'top_p'], msg: "Set thinking to 'none' and reasoning_effort to 1." }] },
    "Set thinking to 'none' and reasoning_effort to 1.",
    { status: 400 },
    { status: 400, type: 'invalid_request_error' },
  ],
  [502, '<html><title>Bad gateway</title></html>', 'Bad gateway', { status: 502 }, { status: 502, type: 'api_error' }],
]

describeOnce('an upstream’s error', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => {
    const once = { UPSTREAM_MAX_RETRIES: '0', UPSTREAM_CIRCUIT_FAILURES: '1000' }
    return startProxy({ stores: backend.open(), environment: { ...upstreams.environment, ...once } })
  })
  let key: string
  let ownKey: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project', project: 'shared' })
    ownKey = await proxy.createKey({ type: 'project', project: 'own' })
    await storeKey(proxy.stores, 'own', 'anthropic', 'sk-ant-fake')
    await storeKey(proxy.stores, 'own', 'openai', 'sk-fake')
  })
  beforeEach(() => upstreams.reset())

  const send = async (endpoint: Endpoint, stream: boolean, asked = { key, model: 'openai/gpt-4o-mini' }) => {
    const [path, fields] = ENDPOINTS[endpoint]
    return readAnswer(await post(proxy, asked.key, path, { model: asked.model, stream, ...fields }))
  }
  const write = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))

  function answer(status: number, body: unknown): void {
    const headers = { 'content-type': 'application/json', 'retry-after': '7' }
    upstreams.aggregator.script({ kind: 'raw', status, headers, parts: [write(body)] })
    upstreams.anthropic.script({ kind: 'raw', status, headers, body: write(body) })
  }

  test.each(FULL.flatMap(full => SENDS.map(sent => [...sent, ...full] as const)))(
    'at %s (stream %s) of status %i: %j is an exceeded context length',
    async (endpoint, stream, status, body, message, begins) => {
      answer(status, body)
      const given = await send(endpoint, stream)
      const { error } = given.json
      expect([given.status, given.headers.get('retry-after')]).toEqual([400, '7'])
      expect(error.type).toBe('invalid_request_error')
      if (endpoint !== 'messages') return expect(error).toMatchObject({ code: 'context_length_exceeded', message })
      expect(error.message.startsWith(begins)).toBe(true)
      expect(error.message.endsWith(message)).toBe(true)
      expect(given.json).toMatchObject({ type: 'error', request_id: expect.stringMatching(/^req_/) })
    },
  )

  test.each(OTHERS.flatMap(other => SENDS.map(sent => [...sent, ...other] as const)))(
    'at %s (stream %s) of status %i: %j keeps its text',
    async (endpoint, stream, status, body, text, openai, anthropic) => {
      answer(status, body)
      const given = await send(endpoint, stream)
      expect(given.headers.get('retry-after')).toBe('7')
      // The aggregator supports chat completions itself, so its own error is forwarded unchanged.
      if (endpoint === 'chat') return expect([given.status, given.text]).toEqual([status, write(body)])
      const expected = endpoint === 'messages' ? anthropic : openai
      expect(given.status).toBe(expected.status)
      expect(given.json.error.message).toContain(text)
      expect(given.json.error).toMatchObject(
        endpoint === 'messages' ? { type: expected.type } : 'code' in expected ? { code: expected.code } : {},
      )
    },
  )

  test.each(SENDS)(
    'of Anthropic at %s (stream %s) is an exceeded context length under the project’s own key',
    async (endpoint, stream) => {
      const body = { type: 'error', error: { type: 'invalid_request_error', message: ANTHROPICS }, request_id: 'req_9' }
      answer(400, body)
      const given = await send(endpoint, stream, { key: ownKey, model: 'claude-haiku-4-5' })
      expect(given.status).toBe(400)
      if (endpoint === 'messages') expect(given.text).toBe(JSON.stringify(body))
      else expect(given.json.error).toMatchObject({ code: 'context_length_exceeded', message: ANTHROPICS })
    },
  )

  test.each([400, 413])('of status %i at a count of tokens is an exceeded context length', async status => {
    const error = { type: 'request_too_large', message: 'Input is too long for requested model.' }
    const headers = { 'content-type': 'application/json', 'retry-after': '7' }
    const body = write({ type: 'error', error })
    upstreams.anthropic.scriptOnce({ kind: 'raw', status, headers, body })
    upstreams.openai.scriptOnce({ kind: 'raw', status, headers, parts: [body] })
    const count = async (path: string, fields: Record<string, unknown>) =>
      readAnswer(await post(proxy, ownKey, path, fields))
    const atMessages = await count('/messages/count_tokens', { model: 'claude-haiku-4-5', messages })
    const atResponses = await count('/responses/input_tokens', { model: 'gpt-4o-mini', input: 'Hi' })
    expect(atMessages.json.error.message).toBe(`prompt is too long. ${error.message}`)
    expect(atResponses.json.error).toMatchObject({ code: 'context_length_exceeded', message: error.message })
    for (const given of [atMessages, atResponses]) {
      expect([given.status, given.headers.get('retry-after')]).toEqual([400, '7'])
      expect(given.json.error.type).toBe('invalid_request_error')
    }
  })

  test('names the client’s field in its param, and keeps the upstream’s message', async () => {
    const message = "Invalid 'messages[0].content': set reasoning_effort to 'none'."
    answer(400, {
      error: { message, type: 'invalid_request_error', param: 'messages[0].content', code: 'invalid_value' },
    })
    expect((await send('responses', false)).json.error).toEqual({
      message,
      type: 'invalid_request_error',
      param: 'input',
      code: 'invalid_value',
    })
    expect((await send('messages', false)).json.error.message).toBe(message)
  })

  test('keeps its other fields if only its code is added', async () => {
    const error = { message: OPENAIS, code: 400, metadata: { provider_name: 'P' } }
    answer(400, { error, user_id: 'u' })
    const written = { ...error, type: 'invalid_request_error', param: null, code: 'context_length_exceeded' }
    expect((await send('chat', false)).json).toEqual({ error: written, user_id: 'u' })
  })

  test.each(NAMES.slice(1))('inside a stream at %s has its code and message', async endpoint => {
    const chunk = { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'So' }, finish_reason: null }] }
    const parts = [chunk, { error: { message: OPENAIS, code: 400 } }].map(each => `data: ${JSON.stringify(each)}\n\n`)
    upstreams.aggregator.script({ kind: 'raw', headers: { 'content-type': 'text/event-stream' }, parts })
    const { text } = await send(endpoint, true)
    const events = text.split('\n').filter(line => line.startsWith('data: {'))
    const last = JSON.parse((events.at(-1) ?? '').slice('data: '.length))
    if (endpoint === 'responses')
      expect(last).toMatchObject({ type: 'response.failed', response: { error: { code: 'context_length_exceeded' } } })
    else expect(last.error).toMatchObject({ type: 'invalid_request_error', message: `${FULL[0]?.[3]}. ${OPENAIS}` })
  })

  test('is recorded with the status of both', async () => {
    answer(429, { error: { message: 'No.', code: 'insufficient_quota' } })
    const given = await send('messages', false)
    await proxy.settle()
    const [record] = await proxy.query(
      `select status, upstream_status from usage_records where request_id = '${given.headers.get('x-request-id')}'`,
    )
    expect(given.status).toBe(402)
    expect(record).toMatchObject({ status: 402, upstream_status: 429 })
  })

  test('leaves retries and fallbacks to the upstream’s own status', async () => {
    const falling = await proxy.createKey({ type: 'project', settings: { fallbacks: 'openai/gpt-4o' } })
    const quota = { error: { message: 'No.', code: 'insufficient_quota' } }
    upstreams.aggregator.scriptOnce({
      kind: 'raw',
      status: 429,
      headers: { 'content-type': 'application/json' },
      parts: [write(quota)],
    })
    const given = await send('messages', false, { key: falling, model: 'openai/gpt-4o-mini' })
    expect([given.status, given.headers.get('x-proxy-model')]).toEqual([200, 'openai/gpt-4o'])
  })
})
