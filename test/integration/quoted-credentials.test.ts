/** Providers that quote the credential they were called with: in any form, at any place, in any encoding, with any status. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startRealtime } from '../fake-provider/realtime.ts'
import { describeOnce } from '../harness/backends.ts'
import { get, post, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { containsCredential, ENCODINGS } from '../harness/quote-credential.ts'
import { createMemoryLog } from './hostile/memory-log.ts'

/** The provider's response; `quoted` is a credential inside a JSON string. */
interface Form {
  status?: number
  headers?: (quoted: string) => Record<string, string>
  type?: string
  body(quoted: string): string
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const data = (...events: object[]) => events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
const typed = (...events: { type: string }[]) =>
  events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
/** A placeholder in JSON that is already encoded. The quoted credential replaces it, escaped already. */
const QUOTED = 'THE-QUOTATION'
const quoting = (value: string | object) => (quoted: string) =>
  (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(QUOTED, () => quoted)

const message = (content: string) => ({ role: 'assistant', content })
const chat = (choice: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [choice],
  usage: USAGE,
})
const chunk = (choice: object) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [choice],
})
const anthropicMessage = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
})
const response = (text: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  error: null,
  output: [
    {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
})
const STREAM = 'text/event-stream'

/** The places in the chat response of an OpenAI-compatible provider. */
const CHAT: Record<string, Form> = {
  'an error': {
    status: 400,
    body: quoting({ error: { message: `No: ${QUOTED}.`, type: 't', param: null, code: 'c' } }),
  },
  'a refused key': { status: 401, body: quoting({ error: { message: `No: ${QUOTED}.`, code: 'invalid_api_key' } }) },
  'an error that is temporary': { status: 503, body: quoting({ error: { message: QUOTED } }) },
  'an error as text': { status: 500, type: 'text/html', body: quoting(`<html>${QUOTED}</html>`) },
  'an error within a 200': { body: quoting({ error: { message: QUOTED, code: 401 } }) },
  'an error with what another provider said': {
    status: 502,
    body: quoting({
      error: {
        code: 502,
        message: 'Provider returned error',
        metadata: { raw: `{"error":"${QUOTED}"}`, provider_name: 'x' },
      },
    }),
  },
  'an error of a choice': {
    body: quoting(
      chat({ index: 0, message: message('A'), finish_reason: 'error', error: { code: 401, message: QUOTED } }),
    ),
  },
  'an answer': { body: quoting(chat({ index: 0, message: message(`It is ${QUOTED}.`), finish_reason: 'stop' })) },
  'a header of an answer': {
    headers: quoted => ({ 'x-request-id': quoted, 'x-ratelimit-limit-requests': quoted, 'openai-version': quoted }),
    body: quoting(chat({ index: 0, message: message('Fine.'), finish_reason: 'stop' })),
  },
  'a header of an error': {
    status: 429,
    headers: quoted => ({ 'request-id': `a ${quoted} b`, 'x-should-retry': 'false' }),
    body: quoting({ error: { message: 'Slower.' } }),
  },
  'an event of a stream': {
    type: STREAM,
    body: quoting(
      `${data(
        chunk({ index: 0, delta: message(`It is ${QUOTED}`) }),
        chunk({ index: 0, delta: {}, finish_reason: 'stop' }),
      )}data: [DONE]\n\n`,
    ),
  },
  'an error in a stream': {
    type: STREAM,
    body: quoting(data(chunk({ index: 0, delta: message('It') }), { error: { message: QUOTED, code: 401 } })),
  },
  'an error event': { type: STREAM, body: quoting(`event: error\n${data({ message: QUOTED })}`) },
  'a comment in a stream': {
    type: STREAM,
    body: quoting(`: ${QUOTED}\n\n${data(chunk({ index: 0, delta: message('It') }))}`),
  },
}

const MESSAGES: Record<string, Form> = {
  'an error': {
    status: 400,
    body: quoting({ type: 'error', error: { type: 'invalid_request_error', message: QUOTED } }),
  },
  'a refused key': {
    status: 401,
    body: quoting({ type: 'error', error: { type: 'authentication_error', message: QUOTED } }),
  },
  'an answer': { body: quoting(anthropicMessage(QUOTED)) },
  'a header': {
    headers: quoted => ({ 'anthropic-ratelimit-requests-limit': quoted }),
    body: quoting(anthropicMessage('A')),
  },
  'a stream that begins with an error': {
    type: STREAM,
    body: quoting(
      typed({ type: 'error', error: { type: 'authentication_error', message: QUOTED } } as { type: string }),
    ),
  },
  'an event of a stream': {
    type: STREAM,
    body: quoting(
      typed(
        { type: 'message_start', message: { ...anthropicMessage(''), content: [], stop_reason: null } } as {
          type: string
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: QUOTED } } as { type: string },
        { type: 'error', error: { type: 'overloaded_error', message: QUOTED } } as { type: string },
      ),
    ),
  },
}

const RESPONSES: Record<string, Form> = {
  'an error': CHAT['an error'] as Form,
  'an answer': { body: quoting(response(`It is ${QUOTED}`)) },
  'an event of a stream': {
    type: STREAM,
    body: quoting(typed({ type: 'response.completed', response: response(`It is ${QUOTED}`) } as { type: string })),
  },
  'a failure in a stream': {
    type: STREAM,
    body: quoting(
      typed({
        type: 'response.failed',
        response: { ...response('A'), status: 'failed', error: { message: QUOTED } },
      } as { type: string }),
    ),
  },
}

const PASSED: Record<string, Form> = {
  'an error': CHAT['an error'] as Form,
  'an error within a 200': CHAT['an error within a 200'] as Form,
  'a result': {
    body: quoting({ id: 'modr-1', model: 'm', results: [{ flagged: false, note: QUOTED }], data: [{ url: QUOTED }] }),
  },
  'bytes of another kind': { type: 'audio/mpeg', body: quoting(`ID3 ${QUOTED} `.repeat(3)) },
  'an event': { type: STREAM, body: quoting(data({ type: 'x', note: QUOTED })) },
}

const EMBEDDINGS: Record<string, Form> = {
  'an error': CHAT['an error'] as Form,
  'an answer': {
    body: quoting({
      object: 'list',
      model: QUOTED,
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }],
      usage: USAGE,
    }),
  },
}

const ask = (model: string) => ({ model, messages: [{ role: 'user', content: crypto.randomUUID() }] })
type Provider = 'aggregator' | 'openai' | 'anthropic' | 'groq'

/** Each endpoint with each of its providers, and the forms of that provider's responses. */
const ENDPOINTS: [
  path: string,
  provider: Provider,
  body: () => Record<string, unknown>,
  forms: Record<string, Form>,
][] = [
  ['/chat/completions', 'aggregator', () => ask('openai/gpt-4o-mini'), CHAT],
  ['/chat/completions', 'openai', () => ask('gpt-4o-mini'), CHAT],
  ['/chat/completions', 'groq', () => ask('llama-3.3-70b-versatile'), CHAT],
  ['/chat/completions', 'anthropic', () => ask('claude-haiku-4-5'), MESSAGES],
  ['/completions', 'aggregator', () => ({ model: 'openai/gpt-3.5-turbo-instruct', prompt: crypto.randomUUID() }), CHAT],
  ['/messages', 'anthropic', () => ({ ...ask('claude-haiku-4-5'), max_tokens: 9 }), MESSAGES],
  ['/messages', 'aggregator', () => ({ ...ask('openai/gpt-4o-mini'), max_tokens: 9 }), CHAT],
  ['/messages', 'openai', () => ({ ...ask('gpt-4o-mini'), max_tokens: 9 }), RESPONSES],
  ['/messages/count_tokens', 'anthropic', () => ask('claude-haiku-4-5'), MESSAGES],
  ['/responses', 'openai', () => ({ model: 'gpt-4o-mini', input: crypto.randomUUID() }), RESPONSES],
  ['/responses', 'aggregator', () => ({ model: 'openai/gpt-4o-mini', input: crypto.randomUUID() }), CHAT],
  ['/embeddings', 'openai', () => ({ model: 'text-embedding-3-small', input: crypto.randomUUID() }), EMBEDDINGS],
  ['/audio/speech', 'openai', () => ({ model: 'tts-1', voice: 'alloy', input: crypto.randomUUID() }), PASSED],
  ['/images/generations', 'openai', () => ({ model: 'gpt-image-1', prompt: crypto.randomUUID() }), PASSED],
  ['/moderations', 'openai', () => ({ input: crypto.randomUUID() }), PASSED],
  ['/rerank', 'aggregator', () => ({ model: 'cohere/rerank', query: crypto.randomUUID(), documents: ['a'] }), PASSED],
]

/** Some of the encodings in the filter's own test. */
const USUAL = ['plain', 'escaped whole', 'JSON in JSON', 'for an address', 'base64 of Bearer']
const PIECE_BYTES = 60

describeOnce('a credential that a provider quotes', backend => {
  const log = createMemoryLog()
  let upstream: Bun.Server<undefined>
  let proxy: TestProxy
  let project: string
  let key: string
  let secrets: Record<Provider, string>
  let form: Form
  let spelling: keyof typeof ENCODINGS
  let calls = 0
  /** Responses that precede the tested one. */
  let before: Form[] = []
  /** Quoted instead of the credential that was sent. */
  let another: string | null

  beforeAll(async () => {
    upstream = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: quote })
    const address = `http://127.0.0.1:${upstream.port}/v1`
    secrets = {
      aggregator: `sk-or-${crypto.randomUUID()}`,
      openai: `sk-proj-${crypto.randomUUID()}`,
      anthropic: `sk-ant-${crypto.randomUUID()}`,
      groq: `gsk_${crypto.randomUUID()}`,
    }
    const environment = {
      AGGREGATOR_BASE_URL: address,
      AGGREGATOR_API_KEY: secrets.aggregator,
      OPENAI_BASE_URL: address,
      GROQ_BASE_URL: address,
      ANTHROPIC_BASE_URL: address,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      UPSTREAM_MAX_RETRIES: '0',
      CIRCUIT_FAILURES: '1000000',
      LOG_LEVEL: 'debug',
    }
    proxy = await startProxy({ stores: await backend.open(), environment, log })
  })
  beforeEach(async () => {
    another = null
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })
  afterAll(async () => {
    await proxy.stop()
    await upstream.stop(true)
  })

  /** Sends the response in pieces, so that a quoted credential is split. */
  function quote(request: Request): Response {
    calls++
    const { status = 200, type = 'application/json', headers, body: write } = before.shift() ?? form
    const sent = request.headers.get('x-api-key') ?? request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    const secret = another ?? sent
    const quoted = (ENCODINGS[spelling] as (secret: string) => string)(secret)
    const bytes = Buffer.from(write(quoted))
    const body = new ReadableStream({
      async start(controller) {
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          controller.enqueue(bytes.subarray(at, at + PIECE_BYTES))
          await new Promise(resolve => setImmediate(resolve))
        }
        controller.close()
      },
    })
    return new Response(body, { status, headers: { 'content-type': type, ...headers?.(quoted) } })
  }

  const storeKeys = async () => {
    for (const provider of ['openai', 'anthropic', 'groq'] as const)
      await storeKey(proxy.stores, project, provider, secrets[provider])
  }

  /** Sends a request. Returns everything that its client sees. */
  async function readAll(path: string, body: Record<string, unknown>): Promise<string> {
    const { text, headers } = await readAnswer(await post(proxy, key, path, body))
    return `${JSON.stringify([...headers])}\n${text}`
  }

  const answers = ENDPOINTS.flatMap(([path, provider, body, forms]) =>
    Object.entries(forms).map(([name, form]) => [path, provider, name, body, form] as const),
  )
  test.each(draw(answers))('%s by %s in %s, however it is encoded', async (path, provider, _, body, answer) => {
    if (provider !== 'aggregator') await storeKeys()
    form = answer
    const streamed = form.type === STREAM && !path.startsWith('/embeddings') ? { stream: true } : {}
    for (spelling of USUAL) {
      const request = { ...body(), ...streamed }
      expect([spelling, containsCredential(await readAll(path, request), secrets[provider])]).toEqual([spelling, false])
      // A credential in a header is not stored with the response.
      if (spelling !== 'plain' || form.body('x') === form.body('y')) continue
      const callsBefore = calls
      await proxy.settle()
      expect(containsCredential(await readAll(path, request), secrets[provider])).toBe(false)
      expect(calls).toBe(callsBefore + 1)
    }
  })

  test('is in nothing that was stored, recorded or logged', async () => {
    await proxy.settle()
    const tables = await proxy.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    )
    for (const secret of Object.values(secrets)) {
      for (const { name } of tables) {
        const [found] = await proxy.query<{ rows: number }>(
          `select count(*)::integer as rows from ${name} t where t::text like '%${secret.slice(-12)}%'`,
        )
        expect([name, found?.rows]).toEqual([name, 0])
      }
    }
    const lines = log.take()
    expect(lines).not.toEqual([])
    for (const line of lines)
      for (const secret of Object.values(secrets)) expect(line.includes(secret.slice(-12))).toBe(false)
  })

  test.each([
    ['/chat/completions', 'an answer'],
    ['/chat/completions', 'an event of a stream'],
    ['/messages', 'an answer'],
    ['/messages', 'an event of a stream'],
  ])(
    'a key of several that was rejected before is redacted in the response to another, at %s in %s',
    async (path, name) => {
      const keys = ['first', 'second'].map(name => ({ name, secret: `sk-${name}-${crypto.randomUUID()}` }))
      for (const { name, secret } of keys) await storeKey(proxy.stores, project, 'openai', secret, { name, weight: 1 })
      spelling = 'plain'
      form = (path === '/messages' ? RESPONSES : CHAT)[name] as Form
      const refuse = (quoted: string) => {
        another = quoted
        return '{"error":{"message":"Slower."}}'
      }
      before = [{ status: 429, body: refuse }]
      const { model, messages } = ask('gpt-4o-mini')
      const text = await readAll(path, { model, messages, max_tokens: 90, stream: form.type === STREAM })
      expect(text).toContain('It is [redacted]')
      expect(keys.map(({ secret }) => containsCredential(text, secret))).toEqual([false, false])
    },
  )

  test.each(['aggregator', 'anthropic'] as const)('in parts is redacted, and not stored, by %s', async provider => {
    await storeKeys()
    const parts = [secrets[provider].slice(0, 20), secrets[provider].slice(20)]
    const chunks = parts.map(content => chunk({ index: 0, delta: { content } }))
    const deltas = parts.map(text => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }))
    const start = { ...anthropicMessage(''), content: [], stop_reason: null }
    const streams = {
      aggregator: `${data(...chunks, chunk({ index: 0, delta: {}, finish_reason: 'stop' }))}data: [DONE]\n\n`,
      anthropic: typed(
        ...([
          { type: 'message_start', message: start },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          ...deltas,
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
          { type: 'message_stop' },
        ] as { type: string }[]),
      ),
    }
    spelling = 'plain'
    form = { type: STREAM, body: () => streams[provider] }
    const request = { ...ask(provider === 'anthropic' ? 'claude-haiku-4-5' : 'openai/gpt-4o-mini'), stream: true }
    const callsBefore = calls
    for (let repeat = 0; repeat < 2; repeat++) {
      const text = await readAll('/chat/completions', request)
      expect(text).toContain('"finish_reason":"stop"')
      expect(text).toContain('"content":"[redacted]"')
      expect(text).not.toContain(parts[0])
      expect(text).not.toContain(parts[1])
      await proxy.settle()
    }
    expect(calls).toBe(callsBefore + 2)
  })

  test('in a realtime session’s events, and in the reason of its end', async () => {
    const realtime = startRealtime()
    const environment = { OPENAI_BASE_URL: realtime.baseUrl, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY }
    const sessions = await startProxy({ stores: proxy.stores, environment })
    await storeKeys()
    const address = `ws://127.0.0.1:${sessions.port}/v1/realtime?model=gpt-realtime`
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${key}` } } as never)
    const events: string[] = []
    const end = Promise.withResolvers<string>()
    socket.onmessage = ({ data }) => void events.push(String(data))
    socket.onclose = ({ reason }) => end.resolve(reason)
    await expect.poll(() => events.length).toBe(1)
    const spelled = Object.values(ENCODINGS).map(spell => spell(secrets.openai))
    for (const quoted of spelled) realtime.send({ type: 'error', error: { message: quoted } })
    await expect.poll(() => events.length).toBe(spelled.length + 1)
    for (const event of events.slice(1)) {
      expect(event).toContain('[redacted]')
      expect(containsCredential(event, secrets.openai)).toBe(false)
    }
    const deltas = [secrets.openai.slice(0, 20), secrets.openai.slice(20), ' It ends: sk-proj-']
    for (const delta of deltas) realtime.send({ type: 'response.output_text.delta', response_id: 'r', delta })
    await expect.poll(() => events.length).toBe(spelled.length + 3)
    expect(events.slice(-2).map(event => JSON.parse(event).delta)).toEqual(['[redacted]', ''])
    realtime.close(3000, `No: ${secrets.openai}`)
    expect(await end.promise).toBe('No: [redacted]')
    expect(JSON.parse(events.at(-1) ?? '').delta).toBe(deltas[2])
    await sessions.stop()
    await realtime.stop()
  })

  test('in a file, and its content', async () => {
    await storeKeys()
    for (spelling of draw(Object.keys(ENCODINGS))) {
      const id = `file-${crypto.randomUUID()}`
      form = { body: quoting({ id, object: 'file', bytes: 1, created_at: 1, filename: QUOTED, purpose: 'batch' }) }
      const upload = new FormData()
      upload.set('purpose', 'user_data')
      upload.set('file', new Blob(['x']), 'x.txt')
      const authorization = `Bearer ${key}`
      const made = await fetch(`${proxy.baseUrl}/files`, { method: 'POST', headers: { authorization }, body: upload })
      expect(made.status).toBe(200)
      expect(containsCredential(await made.text(), secrets.openai)).toBe(false)
      form = { type: 'application/octet-stream', body: quoting(`{"custom_id":"1","error":"${QUOTED}"}\n`.repeat(3)) }
      const content = await get(proxy, `/files/${id}/content`, key)
      expect(content.status).toBe(200)
      expect(containsCredential(await content.text(), secrets.openai)).toBe(false)
    }
  })
})
