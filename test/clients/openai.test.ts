import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionTool } from 'openai/resources/chat/completions'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const MODEL = 'openai/gpt-4o-mini'
const WEATHER: ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', minLength: 3 }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
      required: ['city', 'unit'],
      additionalProperties: false,
    },
  },
}
const WeatherArguments = z.strictObject({ city: z.string().min(3), unit: z.enum(['celsius', 'fahrenheit']) })
const Recipe = z.object({
  title: z.string(),
  minutes: z.number().int(),
  steps: z.array(z.object({ text: z.string(), isOptional: z.boolean() })),
  difficulty: z.enum(['easy', 'hard']),
})

const ask = (content: string) => ({ model: MODEL, messages: [{ role: 'user' as const, content }] })

/** Returns the X-Proxy headers of a response by name, without the prefix. */
function readProxyHeaders({ headers }: Response): Record<string, string> {
  const found = [...headers].filter(([name]) => name.startsWith('x-proxy-') && !/-(id|reason)$/.test(name))
  return Object.fromEntries(found.map(([name, value]) => [name.slice('x-proxy-'.length), value]))
}

async function readChunks(stream: AsyncIterable<ChatCompletionChunk>): Promise<{ id: string; content: string }> {
  let id = ''
  let content = ''
  for await (const chunk of stream) {
    id = chunk.id
    content += chunk.choices[0]?.delta.content ?? ''
  }
  return { id, content }
}

const LATENCY = expect.stringMatching(/^\d+\.\d+$/)
const SECONDS = expect.stringMatching(/^\d$/)

describeOnce('the official openai client', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator', apiKey: 'vendor-key' }))
  const proxy = duringTests(() =>
    startProxy({
      stores: backend.open(),
      environment: { ...fakeProvider.environment, AGGREGATOR_NAME: 'fake-provider' },
    }),
  )

  beforeAll(async () => {
    await proxy.stores.database.runScript(`
      insert into plans (
        name, requests_per_minute_per_key, requests_per_minute_per_address, requests_per_month,
        test_requests_per_minute, test_requests_per_month
      )
      values ('two-a-minute', 2, 1000, 1000, 2, 1000), ('one-a-month', 1000, 1000, 1, 1000, 1)`)
  })

  /** Creates a client as a program does: only the base URL and the key are set. */
  const connect = (apiKey: string) => new OpenAI({ baseURL: proxy.baseUrl, apiKey })

  /** The proxy stores a response while the client reads it, or slightly later under load. Waits until every search can find it. */
  async function waitUntilStored(apiKey: string, id: string): Promise<void> {
    const entries = `
      select e.id from cache_entries e join api_keys k on k.project_id = e.project_id
      where k.prefix = '${apiKey.slice(0, 17)}' and e.response like '%"${id}"%'`
    await expect.poll(async () => (await proxy.query(entries)).length, { interval: 5 }).toBe(1)
  }

  describe.each([
    { type: 'test', provider: 'sandbox', missCost: /^0$/ },
    { type: 'project', provider: 'fake-provider', missCost: /^0\.0*[1-9]\d*$/ },
  ] as const)('with $provider', ({ type, provider, missCost }) => {
    let key: string
    let client: OpenAI
    beforeAll(async () => {
      key = await proxy.createKey({ type })
      client = connect(key)
    })

    test('a chat completion', async () => {
      const completion = await client.chat.completions.create(ask('Name a river.'))
      expect(completion).toMatchObject({ object: 'chat.completion', model: MODEL })
      const [choice] = completion.choices
      expect(choice?.finish_reason).toBe('stop')
      expect(choice?.message.content).toContain('Name a river.')
      const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = completion.usage ?? {}
      expect(prompt_tokens).toBeGreaterThan(0)
      expect(completion_tokens).toBeGreaterThan(0)
      expect(total_tokens).toBe(prompt_tokens + completion_tokens)
    })

    test('a streamed one, chunk by chunk, with usage if it was requested', async () => {
      const stream = await client.chat.completions.create({
        ...ask('Name a lake.'),
        stream: true,
        stream_options: { include_usage: true },
      })
      const chunks: ChatCompletionChunk[] = []
      for await (const chunk of stream) chunks.push(chunk)
      expect(chunks.length).toBeGreaterThan(3)
      expect(chunks.map(chunk => chunk.choices[0]?.delta.content ?? '').join('')).toContain('Name a lake.')
      expect(chunks.findLast(chunk => chunk.choices.length > 0)?.choices[0]?.finish_reason).toBe('stop')
      expect(chunks.at(-1)?.usage?.prompt_tokens).toBeGreaterThan(0)
      expect(chunks.at(-1)?.choices).toEqual([])
    })

    test('a streamed one without usage that was not requested', async () => {
      const stream = await client.chat.completions.create({ ...ask('Name a sea.'), stream: true })
      for await (const chunk of stream) {
        expect(chunk.usage ?? null).toBe(null)
        expect(chunk.choices.length).toBeGreaterThan(0)
      }
    })

    test('the stream helper', async () => {
      const helper = client.chat.completions.stream(ask('Name a mountain.'))
      let snapshot = ''
      helper.on('content', (_, text) => {
        snapshot = text
      })
      const completion = await helper.finalChatCompletion()
      expect(completion.choices[0]?.message.content).toContain('Name a mountain.')
      expect(snapshot).toBe(completion.choices[0]?.message.content)
    })

    test.each([false, true])('a tool call, streamed: %s', async stream => {
      const params = {
        ...ask(`Is it raining in Oslo? Call get_weather (${stream}).`),
        tools: [WEATHER],
        tool_choice: 'required' as const,
      }
      const completion: ChatCompletion = stream
        ? await client.chat.completions.stream(params).finalChatCompletion()
        : await client.chat.completions.create(params)
      const [choice] = completion.choices
      expect(choice?.finish_reason).toBe('tool_calls')
      const [call] = choice?.message.tool_calls ?? []
      if (call?.type !== 'function') throw new Error('No function was called')
      expect(call.id).toMatch(/^call_/)
      expect(call.function.name).toBe('get_weather')
      WeatherArguments.parse(JSON.parse(call.function.arguments))
    })

    test.each([false, true])('the tool runner, streamed: %s', async stream => {
      // The fake provider does not react to tool results, so its responses are scripted. The sandbox reacts to them.
      if (type === 'project') {
        fakeProvider.scriptOnce(
          { kind: 'answer', toolCalls: [{ name: 'get_weather', arguments: { city: 'Bergen', unit: 'celsius' } }] },
          { kind: 'answer', content: 'It rains.' },
        )
      }
      const called: unknown[] = []
      const runnable = {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          description: 'The weather in a city.',
          parameters: WEATHER.type === 'function' ? (WEATHER.function.parameters ?? {}) : {},
          parse: (text: string) => WeatherArguments.parse(JSON.parse(text)),
          function: (found: z.infer<typeof WeatherArguments>) => {
            called.push(found)
            return 'rain'
          },
        },
      }
      const params = { ...ask(`And in Bergen? Call get_weather (${stream}).`), tools: [runnable] }
      const text = stream
        ? await client.chat.completions.runTools({ ...params, stream }).finalContent()
        : await client.chat.completions.runTools({ ...params, stream }).finalContent()
      expect(called.length).toBe(1)
      expect(text).toMatch(type === 'project' ? /^It rains\.$/ : /rain/)
    })

    test('a structured output, parsed', async () => {
      const response_format = zodResponseFormat(Recipe, 'recipe')
      const completion = await client.chat.completions.parse({ ...ask('A recipe for bread.'), response_format })
      const parsed: z.infer<typeof Recipe> | null | undefined = completion.choices[0]?.message.parsed
      expect(Recipe.parse(parsed)).toEqual(parsed)
    })

    test('a structured output, streamed and parsed', async () => {
      const response_format = zodResponseFormat(Recipe, 'recipe')
      const helper = client.chat.completions.stream({ ...ask('A recipe for rolls.'), response_format })
      const parsed = (await helper.finalChatCompletion()).choices[0]?.message.parsed
      expect(Recipe.parse(parsed)).toEqual(parsed)
    })

    test('a JSON object', async () => {
      const completion = await client.chat.completions.create({
        ...ask('Answer in JSON: a recipe for cake.'),
        response_format: { type: 'json_object' },
      })
      expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual(expect.any(Object))
    })

    test('several choices', async () => {
      const completion = await client.chat.completions.create({ ...ask('Name an island.'), n: 3 })
      expect(completion.choices.map(({ index }) => index)).toEqual([0, 1, 2])
    })

    test('a legacy completion', async () => {
      const completion = await client.completions.create({ model: MODEL, prompt: 'Once upon a time', max_tokens: 64 })
      expect(completion.object).toBe('text_completion')
      expect(completion.choices[0]?.text).not.toBe('')
    })

    test('embeddings, the same ones from the cache', async () => {
      const params = { model: 'openai/text-embedding-3-small', input: ['a stone', 'a bird'], dimensions: 64 }
      const first = await client.embeddings.create(params).withResponse()
      const second = await client.embeddings.create(params).withResponse()
      expect(first.data.data.map(({ embedding }) => embedding.length)).toEqual([64, 64])
      expect(second.data).toEqual(first.data)
      expect([first, second].map(({ response }) => response.headers.get('x-proxy-cache'))).toEqual(['MISS', 'HIT'])
    })

    test('MISS, HIT, HIT-SEMANTIC, with all documented headers', async () => {
      const question = 'Explain how photosynthesis works in green plants'
      const miss = await client.chat.completions.create(ask(question)).withResponse()
      expect(readProxyHeaders(miss.response)).toEqual({
        cache: 'MISS',
        'cache-age': '0',
        'cost-usd': expect.stringMatching(missCost),
        'latency-ms': LATENCY,
        provider,
        'tokens-saved': '0',
      })
      const served = {
        'cache-age': SECONDS,
        'cache-scope': 'project',
        'cost-usd': '0',
        'latency-ms': LATENCY,
        provider,
        'tokens-saved': String(miss.data.usage?.prompt_tokens),
      }

      await waitUntilStored(key, miss.data.id)

      const hit = await client.chat.completions.create(ask(question)).withResponse()
      expect(readProxyHeaders(hit.response)).toEqual({ cache: 'HIT', ...served })
      expect(hit.data).toEqual(miss.data)

      const sameWords = await client.chat.completions
        .create(ask(`Could you please ${question.toLowerCase()}?`))
        .withResponse()
      expect(readProxyHeaders(sameWords.response)).toEqual({
        cache: 'HIT-SEMANTIC',
        'cache-similarity': '1.0000',
        ...served,
      })
      expect(sameWords.data).toEqual(miss.data)

      const ids = [miss, hit, sameWords].map(({ request_id }) => request_id)
      expect(new Set(ids).size).toBe(3)
      for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
    })

    test('the same, streamed, on entries shared with plain requests', async () => {
      const question = 'What are the benefits of drinking green tea every morning?'
      const stream = (content: string) =>
        client.chat.completions.create({ ...ask(content), stream: true }).withResponse()
      const served = {
        'cache-age': SECONDS,
        'cache-scope': 'project',
        'cost-usd': '0',
        'latency-ms': LATENCY,
        provider,
        'tokens-saved': expect.stringMatching(/^[1-9]\d*$/),
      }

      const miss = await stream(question)
      expect(miss.response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      expect(readProxyHeaders(miss.response)).toEqual({
        cache: 'MISS',
        'cache-age': '0',
        // The final cost is not known yet. The header has an estimate, a plain decimal number like the others.
        'cost-usd': expect.stringMatching(/^\d+(\.\d+)?$/),
        'latency-ms': LATENCY,
        provider,
        'tokens-saved': '0',
      })
      const first = await readChunks(miss.data)
      expect(first.content).not.toBe('')
      await waitUntilStored(key, first.id)

      const hit = await stream(question)
      expect(hit.response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      expect(readProxyHeaders(hit.response)).toEqual({ cache: 'HIT', ...served })
      expect(await readChunks(hit.data)).toEqual(first)

      const similar = await stream('Please, what are the benefits of drinking green tea every morning?')
      expect(readProxyHeaders(similar.response)).toEqual({
        cache: 'HIT-SEMANTIC',
        'cache-similarity': '1.0000',
        ...served,
      })
      expect(await readChunks(similar.data)).toEqual(first)

      const plain = await client.chat.completions.create(ask(question)).withResponse()
      expect(readProxyHeaders(plain.response)).toEqual({ cache: 'HIT', ...served })
      expect({ id: plain.data.id, content: plain.data.choices[0]?.message.content }).toEqual(first)
    })
  })

  describe('typed errors', () => {
    /** Creates a client that counts its attempts. */
    function connectCounting(apiKey: string, maxRetries?: number) {
      let attempts = 0
      const client = new OpenAI({
        baseURL: proxy.baseUrl,
        apiKey,
        ...(maxRetries === undefined ? {} : { maxRetries }),
        fetch: (input, init) => {
          attempts++
          return fetch(input, init)
        },
      })
      return { client, countAttempts: () => attempts }
    }

    /** Returns the error of a request that must fail. */
    async function fail(request: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
      const error = await request.then(
        () => new Error('The request succeeded'),
        (thrown: unknown) => thrown,
      )
      if (error instanceof OpenAI.APIError) return error
      throw error
    }

    test('AuthenticationError for an unknown key, not retried', async () => {
      const { client, countAttempts } = connectCounting('lgw_proj_nobodyHasEverIssuedThisKey00')
      const error = await fail(client.chat.completions.create(ask('Hello?')))
      expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
      expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error', param: null })
      expect(error.message).toBe('401 Invalid API key')
      expect(countAttempts()).toBe(1)
    })

    test('AuthenticationError for a key of another service, and for an expired one', async () => {
      const key = await proxy.createKey()
      await proxy.query(`update api_keys set expires_at = now() where prefix = '${key.slice(0, 17)}'`)
      for (const apiKey of ['sk-proj-abcdefghijklmnopqrstuvwxyz', key]) {
        const error = await fail(connect(apiKey).chat.completions.create(ask('Hello?')))
        expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
        expect(error.message).toBe('401 Invalid API key')
      }
    })

    test('AuthenticationError for no key', async () => {
      const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: 'x', defaultHeaders: { authorization: null } })
      const error = await fail(client.chat.completions.create(ask('Hello?')))
      expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
      expect(error).toMatchObject({ status: 401, code: 'missing_api_key' })
      expect(error.message).toBe('401 Missing API key')
    })

    test('PermissionDeniedError from the next request after deactivation, not retried', async () => {
      const key = await proxy.createKey()
      const { client, countAttempts } = connectCounting(key)
      await client.chat.completions.create(ask('Hello?'))
      await proxy.query(`select deactivate_key('${key}')`)
      const error = await fail(client.chat.completions.create(ask('Hello?')))
      expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError)
      expect(error).toMatchObject({ status: 403, code: 'api_key_disabled', type: 'permission_error' })
      expect(error.message).toBe('403 API key disabled')
      expect(countAttempts()).toBe(2)
    })

    test('RateLimitError for too many requests a minute, with Retry-After', async () => {
      const { client } = connectCounting(await proxy.createKey({ plan: 'two-a-minute' }), 0)
      for (let i = 0; i < 2; i++) await client.chat.completions.create(ask('Hello?'))
      const error = await fail(client.chat.completions.create(ask('Hello?')))
      expect(error).toBeInstanceOf(OpenAI.RateLimitError)
      expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' })
      expect(error.message).toBe('429 Rate limit exceeded')
      const retryAfter = Number(error.headers?.get('retry-after'))
      expect(retryAfter).toBeGreaterThan(55)
      expect(retryAfter).toBeLessThanOrEqual(61)
      expect(error.headers?.get('x-ratelimit-limit-requests')).toBe('2')
      expect(error.headers?.get('x-ratelimit-remaining-requests')).toBe('0')
      expect(error.headers?.get('x-ratelimit-reset-requests')).toBe(`${retryAfter}s`)
    })

    test('RateLimitError for the monthly quota, which the client does not retry', async () => {
      const { client, countAttempts } = connectCounting(await proxy.createKey({ plan: 'one-a-month' }))
      await client.chat.completions.create(ask('Hello?'))
      const error = await fail(client.chat.completions.create(ask('Hello again?')))
      expect(error).toBeInstanceOf(OpenAI.RateLimitError)
      expect(error).toMatchObject({ status: 429, code: 'monthly_quota_exceeded' })
      expect(error.message).toBe('429 Monthly quota exceeded')
      expect(error.headers?.get('x-should-retry')).toBe('false')
      expect(countAttempts()).toBe(2)
    })

    test('NotFoundError for an unknown model', async () => {
      const client = connect(await proxy.createKey())
      const error = await fail(client.chat.completions.create({ ...ask('Hello?'), model: 'no-such-model' }))
      expect(error).toBeInstanceOf(OpenAI.NotFoundError)
      expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' })
      expect(error.message).toContain('<vendor>/<model>')
    })

    test('NotFoundError for an unknown endpoint', async () => {
      const error = await fail(connect(await proxy.createKey()).fineTuning.jobs.list())
      expect(error).toBeInstanceOf(OpenAI.NotFoundError)
      expect(error).toMatchObject({ code: 'not_found', type: 'invalid_request_error' })
    })

    test('BadRequestError that names the field or the header', async () => {
      const client = connect(await proxy.createKey())
      const noMessages = await fail(client.chat.completions.create({ model: MODEL, messages: [] }))
      expect(noMessages).toBeInstanceOf(OpenAI.BadRequestError)
      expect(noMessages).toMatchObject({ status: 400, param: 'messages', type: 'invalid_request_error' })
      const tooHot = await fail(client.chat.completions.create({ ...ask('Hello?'), temperature: 3 }))
      expect(tooHot).toBeInstanceOf(OpenAI.BadRequestError)
      expect(tooHot.param).toBe('temperature')
      const badHeader = await fail(
        client.chat.completions.create(ask('Hello?'), { headers: { 'x-proxy-cache-ttl': 'soon' } }),
      )
      expect(badHeader).toBeInstanceOf(OpenAI.BadRequestError)
      expect(badHeader.param).toBe('X-Proxy-Cache-TTL')
    })

    test('an upstream’s own error, forwarded unchanged', async () => {
      fakeProvider.scriptOnce({ kind: 'error', status: 402, message: 'Insufficient credits.' })
      const { client } = connectCounting(await proxy.createKey({ type: 'project' }), 0)
      const error = await fail(client.chat.completions.create(ask('What does it cost?')))
      expect(error).toMatchObject({ status: 402, code: 402 })
      expect(error.message).toBe('402 Insufficient credits.')
      expect(error.headers?.get('x-proxy-cache')).toBe('MISS')
    })

    test('a rejected stream is an error, before anything is streamed', async () => {
      const client = connect('lgw_test_nobodyHasEverIssuedThisKey00')
      const error = await fail(client.chat.completions.create({ ...ask('Hello?'), stream: true }))
      expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
    })
  })
})
