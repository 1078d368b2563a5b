/** Anthropic through a client of OpenAI's API: the `openai` package, the provider, and a fake provider with Anthropic's format. */
import OpenAI from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ProxyError } from '../../src/errors/errors.ts'
import { chatFormat } from '../../src/formats/chat/chat-format.ts'
import type { Endpoint } from '../../src/formats/endpoint.ts'
import { EventChunk } from '../../src/formats/sse/event-chunk.ts'
import { createEventSplitter } from '../../src/formats/sse/split-events.ts'
import { createClientStream } from '../../src/pipeline/response/client-stream.ts'
import { createAnthropicProvider } from '../../src/providers/anthropic/create-anthropic-provider.ts'
import { createConnectionProbe } from '../../src/providers/connection-probe.ts'
import type { Provider, UpstreamResponse } from '../../src/providers/upstream.ts'
import { startFakeAnthropic } from '../fake-anthropic/server.ts'
import { post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { freeRecorder } from '../harness/free-recorder.ts'

const KEY = 'sk-ant-fake'
const PIXEL = 'data:image/png;base64,iVBORw0KGgo='
const QUESTION: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Why?' }]

const fakeProvider = duringTests(() => startFakeAnthropic({ apiKey: KEY }))
let proxy: ReturnType<typeof serve>
let client: OpenAI

beforeAll(async () => {
  proxy = serve(createProvider(fakeProvider.baseUrl))
  client = new OpenAI({ baseURL: `http://127.0.0.1:${proxy.port}/v1`, apiKey: 'lgw_proj_client', maxRetries: 0 })
})
beforeEach(() => fakeProvider.reset())
afterAll(() => proxy.stop(true))

function createProvider(baseUrl: string, apiKey = KEY): Provider {
  return createAnthropicProvider({
    name: 'anthropic',
    kind: 'anthropic',
    pricedAs: 'anthropic',
    clientHeaders: ['anthropic-beta'],
    title: 'Anthropic',
    passThroughPaths: [],
    baseUrl,
    apiKey,
    projectId: 1,
    limits: {
      connectTimeoutMs: 5_000,
      firstByteTimeoutMs: 1_500,
      idleTimeoutMs: 1_500,
      maxEventBytes: 1e6,
      maxResponseBytes: 1e6,
    },
    probe: createConnectionProbe(),
    maxOutputTokensOf: model => (model === 'claude-haiku-4-5' ? 64_000 : null),
  })
}

const ENDPOINTS: Record<string, Endpoint> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/embeddings': 'embeddings',
}

/** Serves a provider over HTTP, without keys or a cache. */
function serve(provider: Provider) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const bodyText = await request.text()
      const body = JSON.parse(bodyText)
      const { headers, signal, url } = request
      const endpoint = ENDPOINTS[new URL(url).pathname] ?? 'chat'
      try {
        const answer = await provider.send({ endpoint, bodyText, body, headers, stream: body.stream === true, signal })
        return new Response(relay(answer, body.stream_options?.include_usage !== true), answer)
      } catch (error) {
        if (!(error instanceof ProxyError)) throw error
        return Response.json(error.toBody(), { status: error.status, headers: error.headers })
      }
    },
  })
}

/** Forwards the response to the client as the pipeline does. */
function relay({ status, headers, body }: UpstreamResponse, dropUsage: boolean): ReadableStream<Uint8Array> {
  if (status !== 200 || !headers.get('content-type')?.includes('event-stream')) return body
  const reader = body.getReader()
  const splitter = createEventSplitter()
  const subscriber = {
    async read() {
      const { value } = await reader.read()
      return value ? new EventChunk(splitter.push(value)) : null
    },
    onDisconnected() {},
    leave: () => void reader.cancel('left').catch(() => {}),
  }
  return createClientStream(subscriber, {
    includeUsage: !dropUsage,
    writeFailure: error => chatFormat.writeFailure(error, 'req_1', null),
    recorder: freeRecorder(),
  }).body
}

function lastBody(): Record<string, unknown> {
  return fakeProvider.requests.at(-1)?.body as Record<string, unknown>
}

const TOOLS: ChatCompletionTool[] = ['get_weather', 'get_time'].map(name => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}))

describe('a conversation with an image', () => {
  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You see well.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: PIXEL } },
      ],
    },
    { role: 'assistant', content: 'A pixel.' },
    { role: 'user', content: 'What colour?' },
  ]

  test('gets a response', async () => {
    const answer = await client.chat.completions.create({ model: 'claude-opus-5-5', messages })
    expect(answer).toMatchObject({ object: 'chat.completion', model: 'claude-opus-5-5' })
    expect(answer.choices[0]).toMatchObject({
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: expect.stringContaining('What colour?'), refusal: null },
    })
    expect(answer.usage?.total_tokens).toBe((answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0))
    expect(lastBody().messages).toHaveLength(3)
    expect(lastBody().system).toEqual([{ type: 'text', text: 'You see well.' }])
  })

  test('is streamed chunk by chunk, with usage at the end', async () => {
    fakeProvider.scriptOnce({ kind: 'answer', pings: true })
    const sent = { model: 'claude-opus-5-5', messages }
    const stream = await client.chat.completions.create({
      ...sent,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await Array.fromAsync(stream)
    const content = chunks.map(chunk => chunk.choices[0]?.delta.content ?? '').join('')
    const whole = await client.chat.completions.create(sent)
    expect(content).toBe(whole.choices[0]?.message.content)
    expect(chunks.length).toBeGreaterThan(5)
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
  })
})

describe('headers', () => {
  test('contain only the provider’s key, and the version that the request needs', async () => {
    const { response } = await client.chat.completions
      .create(
        { model: 'claude-haiku-4-5', messages: QUESTION, temperature: 0.2 },
        { headers: { 'anthropic-beta': 'b' } },
      )
      .withResponse()
    await client.chat.completions.create({ model: 'claude-haiku-4-5', messages: QUESTION })
    const [sampled, current] = fakeProvider.requests.map(request => request.headers)
    expect(sampled).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01', 'anthropic-beta': 'b' })
    expect(sampled).not.toHaveProperty('authorization')
    expect(current).toMatchObject({ 'anthropic-version': '2026-10-21' })
    expect(response.headers.get('anthropic-ratelimit-requests-remaining')).toBe('3999')
    expect(response.headers.get('x-upstream-request-id')).toMatch(/^req_fake/)
  })

  test.each(['', '/', '/v1', '/v1/'])('the base address may end in %j', async end => {
    const provider = createProvider(`${fakeProvider.baseUrl}${end}`)
    const body = { model: 'claude-opus-5-5', messages: QUESTION }
    const signal = new AbortController().signal
    const sent = {
      endpoint: 'chat',
      bodyText: JSON.stringify(body),
      body,
      headers: new Headers(),
      stream: false,
      signal,
    } as const
    expect((await provider.send(sent)).status).toBe(200)
    expect(provider).toMatchObject({ name: 'anthropic', pricedAs: 'anthropic' })
  })
})

describe('streamed parallel calls and their results', () => {
  const ask: ChatCompletionMessageParam = { role: 'user', content: 'Use get_weather and get_time for Rome' }

  /** The fake provider signs thinking blocks over everything before them, and rejects a block that was changed or moved. */
  test.each([
    ['claude-opus-5-5', {}],
    ['claude-opus-5-5', { reasoning_effort: 'high' as const }],
    ['claude-sonnet-4-6', { reasoning_effort: 'low' as const }],
    ['claude-haiku-4-5', { reasoning_effort: 'low' as const }],
    ['claude-haiku-4-5', {}],
  ])('%s, %j', async (model, fields) => {
    const messages: ChatCompletionMessageParam[] = [{ role: 'system', content: 'Be exact.' }, ask]
    const stream = client.chat.completions.stream({ model, messages, tools: TOOLS, ...fields })
    const first = await stream.finalChatCompletion()
    expect(first.choices[0]?.finish_reason).toBe('tool_calls')
    const message = first.choices[0]?.message
    expect(message?.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"fake-provider"}' } },
      { type: 'function', function: { name: 'get_time', arguments: '{"city":"fake-provider"}' } },
    ])
    if (message) messages.push(message)
    for (const call of message?.tool_calls ?? []) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: `Result of ${call.id}` })
    }
    const second = await client.chat.completions
      .stream({ model, messages, tools: TOOLS, ...fields })
      .finalChatCompletion()
    const ids = message?.tool_calls?.map(call => call.id) ?? []
    expect(second.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: `The results are: ${ids.map(id => `Result of ${id}`).join(' | ')}` },
    })
    messages.push(
      { role: 'assistant', content: second.choices[0]?.message.content ?? '' },
      { role: 'user', content: 'Thanks' },
    )
    const third = await client.chat.completions.create({ model, messages, tools: TOOLS, ...fields })
    expect(third.choices[0]?.message.content).toContain('Thanks')
  })

  test('reasoning is visible if it was requested', async () => {
    const sent = { model: 'claude-opus-5-5', messages: QUESTION, reasoning_effort: 'medium' as const }
    const shown = await client.chat.completions.create(sent)
    expect(shown.choices[0]?.message).toMatchObject({ reasoning_content: expect.stringContaining('Let me think') })
    const chunks = await Array.fromAsync(await client.chat.completions.create({ ...sent, stream: true }))
    const deltas = chunks.map(chunk => chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)
    expect(deltas.map(delta => delta?.reasoning_content ?? '').join('')).toContain('Let me think')
    expect(lastBody()).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } })
  })

  test('one at a time, if the client says so', async () => {
    const sent = { model: 'claude-opus-5-5', messages: [ask], tools: TOOLS, parallel_tool_calls: false }
    const answer = await client.chat.completions.create(sent)
    expect(answer.choices[0]?.message.tool_calls).toHaveLength(1)
  })

  test('a named call is made', async () => {
    const tool_choice = { type: 'function', function: { name: 'get_time' } } as const
    const answer = await client.chat.completions.create({
      model: 'claude-haiku-5-5',
      messages: QUESTION,
      tools: TOOLS,
      tool_choice,
    })
    expect(answer.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'get_time' } }])
  })

  test('a schema keeps numbers that JavaScript cannot represent', async () => {
    const bound = '"maximum":9223372036854775807'
    const tool = `{"type":"function","function":{"name":"f","parameters":{"properties":{"n":{${bound}}}}}}`
    const answer = await post(
      { baseUrl: `http://127.0.0.1:${proxy.port}/v1` },
      'unused',
      '/chat/completions',
      `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"Why?"}],"tools":[${tool}]}`,
    )
    expect(answer.status).toBe(200)
    expect(fakeProvider.requests[0]?.bodyText).toContain(bound)
  })

  test('legacy functions are called and return in their form', async () => {
    const functions = [{ name: 'get_weather', parameters: { type: 'object', properties: {} } }]
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'get_weather!' }]
    const first = await client.chat.completions.create({ model: 'claude-opus-5-5', messages, functions })
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'get_weather', arguments: '{}' } },
    })
    const message = first.choices[0]?.message
    if (message) messages.push(message, { role: 'function', name: 'get_weather', content: 'Sun' })
    const second = await client.chat.completions.create({ model: 'claude-opus-5-5', messages, functions })
    expect(second.choices[0]?.message.content).toBe('The results are: Sun')
  })
})

describe('structured output', () => {
  test('follows a schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string', minLength: 1 }, day: { type: 'integer' } } }
    const answer = await client.chat.completions.create({
      model: 'claude-fable-5-1',
      messages: QUESTION,
      response_format: { type: 'json_schema', json_schema: { name: 'trip', strict: true, schema } },
    })
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ city: 'fake-provider', day: 1 })
  })

  test('is bare JSON, plain and streamed, although the model fenced it', async () => {
    const content = [{ type: 'text' as const, text: '```json\n{"a": [1, 2]}\n```', citations: null }]
    fakeProvider.script({ kind: 'answer', content })
    const sent = { model: 'claude-opus-5-5', messages: QUESTION, response_format: { type: 'json_object' as const } }
    const plain = await client.chat.completions.create(sent)
    expect(plain.choices[0]?.message.content).toBe('{"a": [1, 2]}')
    const streamed = await client.chat.completions.stream(sent).finalContent()
    expect(streamed).toBe('{"a": [1, 2]}')
  })
})

describe('a response that ends otherwise', () => {
  test('a refusal is one to OpenAI’s clients, plain and streamed', async () => {
    const stopDetails = { type: 'refusal' as const, category: 'cyber' as const, explanation: 'That could do harm.' }
    fakeProvider.script({ kind: 'answer', content: [], stopReason: 'refusal', stopDetails })
    const plain = await client.chat.completions.create({ model: 'claude-opus-5-5', messages: QUESTION })
    const expected = { finish_reason: 'content_filter', message: { content: null, refusal: 'That could do harm.' } }
    expect(plain.choices[0]).toMatchObject(expected)
    const streamed = client.chat.completions.stream({ model: 'claude-opus-5-5', messages: QUESTION })
    expect((await streamed.finalChatCompletion()).choices[0]).toMatchObject(expected)
  })

  test('max_tokens reached', async () => {
    const sent = { model: 'claude-opus-5-5', messages: QUESTION, max_completion_tokens: 3 }
    const plain = await client.chat.completions.create(sent)
    expect(plain.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Answer to text:' } })
    const chunks = await Array.fromAsync(await client.chat.completions.create({ ...sent, stream: true }))
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('length')
  })

  test('a stop sequence reached', async () => {
    const answer = await client.chat.completions.create({ model: 'claude-opus-5-5', messages: QUESTION, stop: ['Why'] })
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Answer to text: ' } })
  })
})

describe('an error before the first chunk', () => {
  const sent = { model: 'claude-opus-5-5', messages: QUESTION }

  test.each([
    [400, 'invalid_request_error', OpenAI.BadRequestError],
    [401, 'authentication_error', OpenAI.AuthenticationError],
    [403, 'permission_error', OpenAI.PermissionDeniedError],
    [404, 'not_found_error', OpenAI.NotFoundError],
    [429, 'rate_limit_error', OpenAI.RateLimitError],
    [500, 'api_error', OpenAI.InternalServerError],
    [529, 'overloaded_error', OpenAI.InternalServerError],
  ])('%i %s is the client’s own error', async (status, type, kind) => {
    fakeProvider.script({
      kind: 'error',
      status,
      type,
      message: 'As Anthropic put it.',
      headers: { 'retry-after': '3' },
    })
    for (const stream of [false, true]) {
      const error = await client.chat.completions.create({ ...sent, stream }).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(kind)
      expect(error).toMatchObject({ status, type, message: expect.stringContaining('As Anthropic put it.') })
      expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('3')
    }
  })

  test('the client itself retries overload', async () => {
    const overload = {
      kind: 'error',
      status: 529,
      type: 'overloaded_error',
      headers: { 'retry-after-ms': '1' },
    } as const
    fakeProvider.scriptOnce(overload, { kind: 'errorInStream', afterEvents: 0, type: 'overloaded_error' })
    const patient = client.withOptions({ maxRetries: 2 })
    const content = await patient.chat.completions.stream(sent).finalContent()
    expect(content).toContain('Answer to')
    expect(fakeProvider.counts.total).toBe(3)
  })

  test('a stream that begins with an error has its status', async () => {
    fakeProvider.script({ kind: 'errorInStream', afterEvents: 0, type: 'overloaded_error', message: 'Overloaded' })
    await expect(client.chat.completions.create({ ...sent, stream: true })).rejects.toMatchObject({
      status: 529,
      code: 'overloaded',
    })
  })

  test('what Anthropic does not support is a 400 that names the field, and never sent', async () => {
    const error = client.chat.completions.create({ ...sent, n: 2 })
    await expect(error).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(error).rejects.toMatchObject({ param: 'n' })
    expect(fakeProvider.counts.total).toBe(0)
  })

  test('what Anthropic itself rejects is its own 400', async () => {
    await expect(
      client.chat.completions.create({ ...sent, tools: TOOLS, tool_choice: 'required' }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('tool_choice "any" is not supported') })
    await expect(client.chat.completions.create({ ...sent, temperature: 0.2 })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('`temperature` is deprecated for this model.'),
    })
  })

  test('other endpoints are rejected, with the name of the supported one', async () => {
    const completion = client.completions.create({ model: 'claude-opus-5-5', prompt: 'x' })
    await expect(completion).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('/v1/chat/completions'),
    })
    const embedding = client.embeddings.create({ model: 'claude-opus-5-5', input: 'x' })
    await expect(embedding).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('/v1/chat/completions'),
    })
  })

  test.each([
    [{ kind: 'cut', after: 'nothing' }, 502],
    [{ kind: 'cut', after: 1 }, 502],
    [{ kind: 'hang', after: 'nothing' }, 504],
    [{ kind: 'answer', firstByteDelayMs: 4_000 }, 504],
    [{ kind: 'raw', status: 200, headers: { 'content-type': 'application/json' }, body: '{"type":"mess' }, 502],
    [{ kind: 'raw', status: 503, headers: { 'content-type': 'text/html' }, body: '<html>' }, 503],
  ] as const)('%j is reported with status %i', async (scenario, status) => {
    fakeProvider.script(scenario)
    await expect(client.chat.completions.create(sent)).rejects.toMatchObject({ status })
  })

  test('waits for a slow first byte, up to the limit', async () => {
    fakeProvider.script({ kind: 'answer', firstByteDelayMs: 150 })
    expect((await client.chat.completions.create(sent)).choices).toHaveLength(1)
  })
})

describe('an error after the first chunk', () => {
  const sent = { model: 'claude-opus-5-5', messages: QUESTION, stream: true } as const

  async function readUntilError(): Promise<{ said: string; error: unknown }> {
    let said = ''
    try {
      for await (const chunk of await client.chat.completions.create(sent))
        said += chunk.choices[0]?.delta.content ?? ''
      return { said, error: null }
    } catch (error) {
      return { said, error }
    }
  }

  test('of Anthropic is thrown where the stream is read, with its message', async () => {
    fakeProvider.script({ kind: 'errorInStream', afterEvents: 8, type: 'overloaded_error', message: 'Overloaded' })
    const { said, error } = await readUntilError()
    expect(said).toMatch(/^Answer to/)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({
      type: 'overloaded_error',
      code: 'overloaded',
      message: expect.stringContaining('Overloaded'),
    })
  })

  test.each([
    [{ kind: 'cut', after: 8 }, 'broke off'],
    [{ kind: 'endEarly', after: 8 }, 'before it was whole'],
    [{ kind: 'hang', after: 8 }, 'timed out'],
  ] as const)('%j is never treated as the end', async (scenario, message) => {
    fakeProvider.script(scenario)
    const { said, error } = await readUntilError()
    expect(said).toMatch(/^Answer to/)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
  })

  test('a client that disconnects ends Anthropic’s work', async () => {
    fakeProvider.script({ kind: 'answer', eventPauseMs: 50 })
    const stream = await client.chat.completions.create(sent)
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
    await expect.poll(() => fakeProvider.counts.aborted).toBe(1)
  })
})
