/** Responses of OpenAI's package, from OpenAI itself and from models whose providers support only chat or Messages. */
import OpenAI from 'openai'
import type { Response, ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const WEATHER = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a place.',
  parameters: {
    type: 'object',
    properties: { place: { type: 'string' } },
    required: ['place'],
    additionalProperties: false,
  },
  strict: true,
}

describeOnce('the openai package requests responses', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let client: OpenAI
  let project: string

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    client = await connect('project')
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    await storeKey(proxy.stores, project, 'anthropic', 'sk-ant-own')
  })

  async function connect(type: 'project' | 'test'): Promise<OpenAI> {
    const apiKey = await proxy.createKey({ project, type })
    return new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
  }

  const ask = (model: string, input = `Hello ${crypto.randomUUID()}`) => ({ model, input })

  async function create(body: ResponseCreateParamsNonStreaming) {
    const { data, response } = await client.responses.create(body).withResponse()
    return { answer: data, cache: response.headers.get('x-proxy-cache'), headers: response.headers }
  }

  describe.each([
    ['gpt-5-mini', 'openai', '/v1/responses'],
    ['openai/gpt-5-mini', 'openrouter', '/v1/chat/completions'],
    ['claude-haiku-4-5', 'anthropic', '/v1/messages'],
  ] as const)('from %s', (model, provider, path) => {
    const fakeProvider = () => upstreams[provider === 'openrouter' ? 'aggregator' : provider]

    test('with an input that a worker has to read', async () => {
      const input = `Sum up: ${'all work and no play. '.repeat(15_000)}`
      const { answer } = await create(ask(model, input))
      expect(answer).toMatchObject({ status: 'completed', model })
      expect(JSON.stringify(fakeProvider().requests.at(-1)?.body)).toContain(input)
    })

    test('plain, and again from the cache, plain and streamed', async () => {
      const body = ask(model)
      const first = await create(body)
      expect(first.answer).toMatchObject({ object: 'response', status: 'completed', model, error: null })
      expect(first.answer.output_text.length).toBeGreaterThan(10)
      expect(first.answer.usage?.total_tokens).toBeGreaterThan(2)
      expect([first.cache, first.headers.get('x-proxy-provider')]).toEqual(['MISS', provider])
      const again = await create(body)
      expect(again.cache).toBe('HIT')
      expect(again.answer).toEqual(first.answer)
      const streamed = await client.responses.stream(body).finalResponse()
      expect(streamed).toMatchObject({ id: first.answer.id, output: first.answer.output, usage: first.answer.usage })
      expect(fakeProvider().requests.map(request => request.path)).toEqual([path])
    })

    test('streamed, and again from the cache, streamed and plain', async () => {
      const body = ask(model)
      const types: string[] = []
      let text = ''
      const stream = client.responses.stream(body)
      for await (const event of stream) {
        types.push(event.type)
        if (event.type === 'response.output_text.delta') text += event.delta
      }
      const first = await stream.finalResponse()
      expect(text).toBe(first.output_text)
      expect(types.slice(0, 4)).toEqual([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
      ])
      expect(types.slice(-4)).toEqual([
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ])
      const again = await client.responses.stream(body).finalResponse()
      expect(again).toEqual(first)
      const { answer, cache } = await create(body)
      expect(cache).toBe('HIT')
      expect(answer).toMatchObject({ id: first.id, output: JSON.parse(JSON.stringify(first.output, dropParsed)) })
      expect(fakeProvider().requests).toHaveLength(1)
    })

    describe('echoes a client’s own fields, which are not part of the cache key', () => {
      const mine = { metadata: { team: 'ads' }, prompt_cache_key: 'k1', safety_identifier: 's1', user: 'u1' }
      const others = { ...mine, metadata: { team: 'search' }, user: 'u2' }
      const none = { metadata: {}, prompt_cache_key: null, safety_identifier: null, user: null }

      async function streamed(body: ResponseCreateParamsNonStreaming) {
        const repeated: unknown[] = []
        for await (const event of await client.responses.create({ ...body, stream: true })) {
          if ('response' in event) repeated.push(event.response)
        }
        return repeated
      }

      test.each([true, false])('of a hit, plain and streamed, with store %s', async store => {
        const body = { ...ask(model), store }
        const first = await create({ ...body, ...mine })
        expect([first.cache, first.answer]).toEqual(['MISS', expect.objectContaining(mine)])
        for (const [given, shown] of [[others, others] as const, [{}, none] as const, [mine, mine] as const]) {
          const { cache, answer } = await create({ ...body, ...given })
          expect([cache, answer]).toEqual(['HIT', { ...first.answer, ...shown }])
          const events = await streamed({ ...body, ...given })
          expect(events.length).toBeGreaterThan(2)
          for (const response of events) expect(response).toMatchObject(shown)
        }
        expect(fakeProvider().requests).toHaveLength(1)
        expect(fakeProvider().requests[0]?.body).toMatchObject(provider === 'openai' ? mine : {})
      })

      test('of a call that several requests share as it is streamed', async () => {
        const body = ask(model)
        const each = [mine, {}, others]
        const all = await Promise.all(each.map(given => streamed({ ...body, ...given })))
        for (const [index, shown] of [mine, none, others].entries()) {
          expect(all[index]?.length).toBeGreaterThan(2)
          for (const response of all[index] ?? []) expect(response).toMatchObject(shown)
        }
        expect(fakeProvider().requests).toHaveLength(1)
        expect((await create(body)).answer).toMatchObject(none)
      })
    })

    test('calls a tool, and continues with its result', async () => {
      const input = [{ role: 'user' as const, content: `get_weather ${crypto.randomUUID()}` }]
      const first = await client.responses.stream({ model, input, tools: [WEATHER], store: false }).finalResponse()
      const call = first.output.find(item => item.type === 'function_call')
      if (!call) throw new Error('no call')
      expect(JSON.parse(call.arguments)).toMatchObject({ place: expect.any(String) })
      const { answer } = await create({
        model,
        store: false,
        tools: [WEATHER],
        input: [
          ...input,
          { type: 'function_call', call_id: call.call_id, name: call.name, arguments: call.arguments },
          { type: 'function_call_output', call_id: call.call_id, output: 'Sunny' },
        ],
      })
      expect(answer.status).toBe('completed')
      expect(fakeProvider().requests).toHaveLength(2)
    })

    test('ends for the requested reason', async () => {
      const { answer } = await create({ ...ask(model, `Count ${'a b c '.repeat(20)}`), max_output_tokens: 16 })
      expect(['completed', 'incomplete']).toContain(answer.status)
      if (answer.status === 'incomplete') expect(answer.incomplete_details?.reason).toBe('max_output_tokens')
    })

    test('is recorded and priced', async () => {
      const { headers } = await create(ask(model))
      expect(Number(headers.get('x-proxy-cost-usd'))).toBeGreaterThan(0)
      await proxy.settle()
      const rows = await proxy.query<{ endpoint: string; cost_usd: string; completion_tokens: number }>(
        `select endpoint, cost_usd, completion_tokens from usage_records u join projects p on p.id = u.project_id where p.name = '${project}'`,
      )
      expect(rows.map(row => [row.endpoint, Number(row.cost_usd) > 0, row.completion_tokens > 0])).toEqual([
        ['responses', true, true],
      ])
    })

    test('counts input tokens', async () => {
      const counted = await client.responses.inputTokens.count({ model, input: 'Hello there' })
      expect(counted).toMatchObject({ object: 'response.input_tokens' })
      expect(counted.input_tokens).toBeGreaterThan(1)
      expect(fakeProvider().requests).toHaveLength(provider === 'openai' ? 1 : 0)
    })
  })

  test('what OpenAI stores reaches OpenAI each time', async () => {
    const body = { ...ask('gpt-5-mini'), previous_response_id: 'resp_1' }
    for (let turn = 0; turn < 2; turn++) expect((await create(body)).cache).toBe('MISS')
    expect(upstreams.openai.requests[1]?.body).toMatchObject({ previous_response_id: 'resp_1' })
  })

  test('a response is no hit under another key of OpenAI, unless nothing in it refers back there', async () => {
    const kept = ask('gpt-5-mini')
    const unkept = { ...ask('gpt-5-mini'), store: false }
    for (const body of [kept, unkept]) await create(body)
    await storeKey(proxy.stores, project, 'openai', 'sk-other')
    expect((await create(kept)).cache).toBe('MISS')
    expect((await create(unkept)).cache).toBe('HIT')
  })

  test('store matters: with it, the response can be referred to later', async () => {
    const body = ask('gpt-5-mini')
    for (const store of [true, false]) expect((await create({ ...body, store })).cache).toBe('MISS')
  })

  test('what OpenAI stores is read and deleted there, and forgotten here', async () => {
    const body = ask('gpt-5-mini')
    const { answer } = await create(body)
    expect(await client.responses.retrieve(answer.id)).toMatchObject({ id: answer.id, object: 'response' })
    expect(await client.responses.inputItems.list(answer.id)).toMatchObject({ data: [{ id: 'msg_1' }] })
    expect((await create(body)).cache).toBe('HIT')
    await client.responses.delete(answer.id)
    expect(upstreams.openai.requests.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /v1/responses/${answer.id}`,
      `GET /v1/responses/${answer.id}/input_items`,
      `DELETE /v1/responses/${answer.id}`,
    ])
    expect(upstreams.openai.requests.at(-1)?.headers.authorization).toBe('Bearer sk-own')
    expect((await create(body)).cache).toBe('MISS')
  })

  test('a response that no provider stores is not found', async () => {
    const { answer } = await create(ask('openai/gpt-5-mini'))
    client = await connect('test')
    await expect(client.responses.retrieve(answer.id)).rejects.toMatchObject({ status: 404, code: 'not_found' })
    await expect(client.responses.retrieve('../files')).rejects.toMatchObject({ status: 404 })
  })

  test('two simultaneous requests share a call', async () => {
    const body = ask('openai/gpt-5-mini')
    const [one, two] = await Promise.all([create(body), create(body)])
    expect(one.answer).toEqual(two.answer)
    expect(upstreams.aggregator.requests).toHaveLength(1)
  })

  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ tools: [{ type: 'web_search' as const }], tool_choice: 'required' as const }, 'tools[0].type'],
    [{ background: true }, 'background'],
  ])('a model that needs translation rejects %j', async (fields, param) => {
    const rejected = client.responses.create({ ...ask('openai/gpt-5-mini'), ...fields })
    await expect(rejected).rejects.toMatchObject({ status: 400, param })
    expect(upstreams.aggregator.requests).toHaveLength(0)
  })

  test.each(['openai/gpt-5-mini', 'claude-haiku-4-5'])('%s works without tools that only OpenAI runs', async model => {
    const tools = [WEATHER, { type: 'web_search' as const }, { type: 'image_generation' as const }]
    const { answer, headers } = await create({ ...ask(model), tools })
    expect(headers.get('x-proxy-dropped-tools')).toBe('web_search, image_generation')
    expect(answer.tools).toHaveLength(3)
    const fakeProvider = model.includes('/') ? upstreams.aggregator : upstreams.anthropic
    expect(fakeProvider.requests.at(-1)?.body).toMatchObject({ tools: [expect.anything()] })
    const { response } = await client.responses
      .create({ ...ask(model), tools: tools.slice(1), stream: true })
      .withResponse()
    expect(response.headers.get('x-proxy-dropped-tools')).toBe('web_search, image_generation')
    await response.body?.cancel()
    expect(fakeProvider.requests.at(-1)?.body).not.toHaveProperty('tools')
    const allowed = { type: 'allowed_tools' as const, mode: 'auto' as const, tools: [{ type: 'web_search' }] }
    expect((await create({ ...ask(model), tools, tool_choice: allowed })).answer.status).toBe('completed')
    await proxy.query(`select set_setting('${project}', 'unsupported_tools', 'refuse')`)
    const refused = { status: 400, param: 'tools[1].type', message: expect.stringContaining('unsupported_tools') }
    await expect(create({ ...ask(model), tools })).rejects.toMatchObject(refused)
  })

  test('an upstream’s own error keeps its status', async () => {
    upstreams.aggregator.scriptOnce({ kind: 'error', status: 402 })
    await expect(client.responses.create(ask('openai/gpt-5-mini'))).rejects.toMatchObject({ status: 402 })
  })

  test.each(['gpt-5-mini', 'openai/gpt-5-mini'])('a stream of %s that breaks off is an error', async model => {
    const fakeProvider = model === 'gpt-5-mini' ? upstreams.openai : upstreams.aggregator
    fakeProvider.scriptOnce({ kind: 'cut', after: 6 })
    await expect(client.responses.stream(ask(model)).finalResponse()).rejects.toBeInstanceOf(OpenAI.APIError)
    const { cache } = await create(ask(model))
    expect(cache).toBe('MISS')
  })

  test('an aggregator with native responses gets the request unchanged', async () => {
    const speaking = await startProxy({
      stores: proxy.stores,
      environment: { ...upstreams.environment, AGGREGATOR_SPEAKS: 'all' },
    })
    const asking = new OpenAI({
      baseURL: speaking.baseUrl,
      apiKey: await speaking.createKey({ project, type: 'project' }),
    })
    const body = { ...ask('openai/gpt-5-mini'), tools: [{ type: 'web_search' as const }] }
    expect(await asking.responses.create(body)).toMatchObject({ status: 'completed' })
    expect(upstreams.aggregator.requests.map(({ path }) => path)).toEqual(['/v1/responses'])
    await speaking.stop()
  })

  test.each([
    ['short', 1],
    ['that a worker has to read', 300_000],
  ])(
    'an error of the translation names the client’s own field, and a provider’s keeps its message, in an input %s',
    async (_, length) => {
      const image = { type: 'input_image' as const, image_url: 'http://here/a.png', detail: 'auto' as const }
      const input = [
        { role: 'user' as const, content: 'a'.repeat(length) },
        { role: 'user' as const, content: [{ type: 'input_text' as const, text: 'b' }, image] },
      ]
      const tools = [{ type: 'web_search' as const }]
      await expect(create({ model: 'claude-haiku-4-5', input, tools })).rejects.toMatchObject({
        status: 400,
        param: 'input[1].content[1].image_url',
        message: expect.stringContaining('input[1].content[1].image_url is an http:// address'),
      })
      upstreams.aggregator.script({ kind: 'error', status: 400, message: "Unsupported: 'max_completion_tokens'." })
      const params = { model: 'openai/gpt-5-mini', input: 'a'.repeat(length), max_output_tokens: 9 }
      await expect(create(params)).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining("Unsupported: 'max_completion_tokens'."),
      })
    },
  )

  test('the sandbox answers test keys, with a schema too', async () => {
    client = await connect('test')
    const format = { type: 'json_schema' as const, name: 'n', schema: WEATHER.parameters, strict: true }
    const { answer } = await create({ ...ask('gpt-5-mini'), text: { format } })
    expect(JSON.parse(answer.output_text)).toMatchObject({ place: expect.any(String) })
    const streamed: Response = await client.responses.stream(ask('gpt-5-mini')).finalResponse()
    expect(streamed.status).toBe('completed')
  })
})

/** Removes the fields that the client adds to a streamed response. */
function dropParsed(key: string, value: unknown): unknown {
  return key === 'parsed' || key === 'parsed_arguments' ? undefined : value
}
