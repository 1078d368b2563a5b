/** Anthropic's package and the requests of Claude Code, with Claude models and others. */
import Anthropic from '@anthropic-ai/sdk'
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const WEATHER: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a place.',
  input_schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
}

describeOnce('Anthropic’s package requests messages', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let client: Anthropic
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    client = connect({ apiKey: key })
    await storeKey(proxy.stores, project, 'anthropic', 'sk-ant-own')
  })

  /** Anthropic's clients append /v1 to the base URL. */
  function connect(options: { apiKey?: string | null; authToken?: string | null }): Anthropic {
    return new Anthropic({ baseURL: proxy.rootUrl, maxRetries: 0, ...options })
  }

  function ask(model: string, content = `Hello ${crypto.randomUUID()}`): MessageCreateParamsNonStreaming {
    return { model, max_tokens: 1_000, messages: [{ role: 'user', content }] }
  }

  async function create(body: MessageCreateParamsNonStreaming) {
    const { data, response } = await client.messages.create(body).withResponse()
    return { answer: data, cache: response.headers.get('x-proxy-cache'), headers: response.headers }
  }

  describe.each([
    ['claude-haiku-4-5', 'anthropic', '/v1/messages'],
    ['openai/gpt-4o-mini', 'openrouter', '/v1/chat/completions'],
    ['gpt-4o-mini', 'openrouter', '/v1/chat/completions'],
  ] as const)('from %s', (model, provider, path) => {
    const fakeProvider = () => (provider === 'openrouter' ? upstreams.aggregator : upstreams.anthropic)

    test('a model that is not Claude works without tools that only Anthropic runs', async () => {
      const tools = [WEATHER, { type: 'web_search_20250305' as const, name: 'web_search' as const }]
      const { headers } = await create({ ...ask('openai/gpt-4o-mini'), tools })
      expect(headers.get('x-proxy-dropped-tools')).toBe('web_search_20250305')
      expect(upstreams.aggregator.requests.at(-1)?.body).toMatchObject({ tools: [expect.anything()] })
      const run = [{ type: 'bash_20250124' as const, name: 'bash' as const }]
      await expect(create({ ...ask('openai/gpt-4o-mini'), tools: run })).rejects.toMatchObject({ status: 400 })
    })

    test('plain, and again from the cache, plain and streamed', async () => {
      const body = ask(model)
      const first = await create(body)
      expect(first.answer).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' })
      expect(first.answer.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/.{10}/) })
      expect(first.answer.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) })
      expect([first.cache, first.headers.get('x-proxy-provider')]).toEqual(['MISS', provider])
      expect(first.headers.get('request-id')).toBe(first.headers.get('x-request-id'))
      const again = await create(body)
      expect([again.cache, again.answer]).toEqual(['HIT', first.answer])
      const streamed = await client.messages.stream(body).finalMessage()
      expect(streamed).toMatchObject(first.answer)
      expect(fakeProvider().requests.map(request => request.path)).toEqual([path])
    })

    test('streamed, and again from the cache, streamed and plain', async () => {
      const body = ask(model)
      const types: string[] = []
      const stream = client.messages.stream(body).on('streamEvent', event => types.push(event.type))
      const first = await stream.finalMessage()
      expect(types[0]).toBe('message_start')
      expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop'])
      expect(await client.messages.stream(body).finalMessage()).toEqual(first)
      const { answer, cache } = await create(body)
      expect(cache).toBe('HIT')
      expect(first).toMatchObject(answer)
      expect(fakeProvider().requests).toHaveLength(1)
    })

    test('calls a tool, and continues with its result', async () => {
      const body = { ...ask(model, `get_weather ${crypto.randomUUID()}`), tools: [WEATHER] }
      body.tool_choice = { type: 'tool', name: 'get_weather' }
      const first = await client.messages.stream(body).finalMessage()
      expect(first.stop_reason).toBe('tool_use')
      const call = first.content.find(block => block.type === 'tool_use')
      if (!call) throw new Error('no call')
      expect(call.input).toMatchObject({ place: expect.any(String) })
      const { answer } = await create({
        ...body,
        tool_choice: { type: 'auto' },
        messages: [
          ...body.messages,
          { role: 'assistant', content: JSON.parse(JSON.stringify(first.content, dropParsed)) },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'Sunny' }] },
        ],
      })
      expect(answer.type).toBe('message')
      expect(fakeProvider().requests).toHaveLength(2)
    })

    test('is recorded and priced', async () => {
      const { headers } = await create(ask(model))
      expect(Number(headers.get('x-proxy-cost-usd'))).toBeGreaterThan(0)
      await proxy.settle()
      const rows = await proxy.query<{ endpoint: string; cost_usd: string; completion_tokens: number }>(
        `select endpoint, cost_usd, completion_tokens from usage_records u join projects p on p.id = u.project_id where p.name = '${project}'`,
      )
      expect(rows.map(row => [row.endpoint, Number(row.cost_usd) > 0, row.completion_tokens > 0])).toEqual([
        ['messages', true, true],
      ])
    })

    test('counts tokens', async () => {
      const { messages } = ask(model, 'Hello there')
      const { input_tokens } = await client.messages.countTokens({ model, messages })
      expect(input_tokens).toBeGreaterThan(1)
      if (provider === 'anthropic') expect(input_tokens).toBe(42)
    })
  })

  test('accepts a key as x-api-key and as Bearer', async () => {
    for (const options of [{ apiKey: key }, { apiKey: null, authToken: key }]) {
      expect(await connect(options).messages.create(ask('claude-haiku-4-5'))).toMatchObject({ type: 'message' })
    }
    const bad = connect({ apiKey: 'lgw_proj_none' }).messages.create(ask('claude-haiku-4-5'))
    await expect(bad).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
    await expect(bad).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
      requestID: expect.any(String),
    })
  })

  test('sends Anthropic the unchanged body, version and betas, and the project’s own key', async () => {
    const body = {
      ...ask('claude-haiku-4-5'),
      system: [{ type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } }],
    }
    await client.messages.create(body, { headers: { 'anthropic-beta': 'context-management-2025-06-27' } })
    const [request] = upstreams.anthropic.requests
    expect(request?.body).toEqual(body)
    expect(request?.headers).toMatchObject({
      'x-api-key': 'sk-ant-own',
      'anthropic-beta': 'context-management-2025-06-27',
      'anthropic-version': expect.stringMatching(/^20/),
    })
    expect(JSON.stringify(request)).not.toContain(key)
  })

  test('Claude Code’s request reaches any model', async () => {
    const mark = { cache_control: { type: 'ephemeral' as const } }
    const stream = client.beta.messages.stream({
      model: 'openai/gpt-4o-mini',
      max_tokens: 64_000,
      betas: ['claude-code-20250219', 'interleaved-thinking-2025-05-14'],
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.0' },
        { type: 'text', text: 'You are Claude Code.', ...mark },
      ],
      metadata: { user_id: `user_${'0'.repeat(64)}_account__session_${crypto.randomUUID()}` },
      thinking: { type: 'adaptive' },
      tools: [{ ...WEATHER, ...mark }],
      messages: [{ role: 'user', content: [{ type: 'text', text: `Hello ${crypto.randomUUID()}`, ...mark }] }],
    })
    expect(await stream.finalMessage()).toMatchObject({ type: 'message', stop_reason: 'end_turn' })
    expect(upstreams.aggregator.requests[0]?.body).toMatchObject({
      max_completion_tokens: 16_384,
      messages: [{ role: 'system' }, { role: 'user', content: [{ type: 'text', ...mark }] }],
      tools: [{ type: 'function', function: { name: 'get_weather' }, ...mark }],
    })
  })

  test('keeps the counts of Anthropic’s own cache, streamed or not', async () => {
    const usage = { cache_creation_input_tokens: 300, cache_read_input_tokens: 4_000, input_tokens: 12 }
    upstreams.anthropic.script({ kind: 'answer', usage })
    const body = ask('claude-haiku-4-5')
    expect((await client.messages.stream(body).finalMessage()).usage).toMatchObject(usage)
    const { answer, cache } = await create(body)
    expect([cache, answer.usage]).toMatchObject(['HIT', usage])
    expect((await client.messages.stream(body).finalMessage()).usage).toMatchObject(usage)
  })

  test.each([
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'any' } }, 'tools[0].type'],
    [{ container: 'c_1' }, 'container'],
  ])('a model that needs translation rejects %j', async (fields, param) => {
    const rejected = client.messages.create({
      ...ask('openai/gpt-4o-mini'),
      ...fields,
    } as MessageCreateParamsNonStreaming)
    await expect(rejected).rejects.toThrow(param)
    await expect(rejected).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' })
  })

  test.each(['claude-haiku-4-5', 'openai/gpt-4o-mini'])(
    'forwards an upstream’s own error of %s in Anthropic’s format',
    async model => {
      upstreams.aggregator.scriptOnce({ kind: 'error', status: 402, message: 'No credits.' })
      upstreams.anthropic.scriptOnce({ kind: 'error', status: 402, type: 'billing_error', message: 'No credits.' })
      const rejected = client.messages.create(ask(model))
      await expect(rejected).rejects.toMatchObject({ status: 402, type: 'billing_error' })
      await expect(rejected).rejects.toThrow('No credits.')
    },
  )

  test.each(['claude-haiku-4-5', 'openai/gpt-4o-mini'])('a stream of %s that breaks off is an error', async model => {
    upstreams.aggregator.scriptOnce({ kind: 'cut', after: 6 })
    upstreams.anthropic.scriptOnce({ kind: 'cut', after: 4 })
    const body = ask(model)
    await expect(client.messages.stream(body).finalMessage()).rejects.toBeInstanceOf(Anthropic.AnthropicError)
    expect((await create(body)).cache).toBe('MISS')
  })

  test('an unknown model is Anthropic’s 404', async () => {
    await expect(client.messages.create(ask('no-such-model'))).rejects.toBeInstanceOf(Anthropic.NotFoundError)
  })

  test('the sandbox answers test keys', async () => {
    client = connect({ apiKey: await proxy.createKey({ project, type: 'test' }) })
    expect((await create(ask('claude-haiku-4-5'))).answer).toMatchObject({ type: 'message', stop_reason: 'end_turn' })
  })
})

/** Removes the field that the client adds to a streamed response. */
function dropParsed(key: string, value: unknown): unknown {
  return key === 'parsed_output' ? undefined : value
}
