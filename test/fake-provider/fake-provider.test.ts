import OpenAI, { AuthenticationError, RateLimitError } from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { waitUntil } from '../harness/wait-until.ts'
import { assembleBytes } from './assemble-bytes.ts'
import type { JsonObject } from './scenario.ts'
import { type FakeProvider, type FakeProviderOptions, startFakeProvider } from './server.ts'

const running: FakeProvider[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map(fakeProvider => fakeProvider.stop()))
})

async function start(options?: FakeProviderOptions): Promise<FakeProvider> {
  const fakeProvider = await startFakeProvider(options)
  running.push(fakeProvider)
  return fakeProvider
}

function clientOf(fakeProvider: FakeProvider): OpenAI {
  return new OpenAI({ baseURL: fakeProvider.baseUrl, apiKey: 'sk-fake', maxRetries: 0 })
}

function ask(content = 'Hello?'): { model: string; messages: { role: 'user'; content: string }[] } {
  return { model: 'fake/small', messages: [{ role: 'user', content }] }
}

function post(fakeProvider: FakeProvider, body: object, init: RequestInit = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${fakeProvider.baseUrl}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    ...init,
  })
}

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' }, unit: { enum: ['c', 'f'] } } },
  },
}

describe('responses', () => {
  test('depend only on the question, have their own ids, and are recorded', async () => {
    const fakeProvider = await start()
    const bodies = await Promise.all(
      ['a', 'a', 'b'].map(async question => (await (await post(fakeProvider, ask(question))).json()) as JsonObject),
    )
    const contents = bodies.map(body => JSON.stringify(body.choices))
    expect(contents[0]).toBe(contents[1])
    expect(contents[0]).not.toBe(contents[2])
    expect(new Set(bodies.map(body => body.id)).size).toBe(3)
    expect(fakeProvider.requests).toHaveLength(3)
    expect(fakeProvider.requests[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions', body: ask('a') })
    await waitUntil('all are answered', () => fakeProvider.counts.answered === 3)
  })

  test('streamed, equal the plain one, with usage if it is requested', async () => {
    const fakeProvider = await start()
    const client = clientOf(fakeProvider)
    const plain = await client.chat.completions.create(ask())
    const stream = client.chat.completions.stream({ ...ask(), stream_options: { include_usage: true } })
    const streamed = await stream.finalChatCompletion()
    expect(streamed.choices[0]?.message.content).toBe(plain.choices[0]?.message.content)
    expect(streamed.usage).toEqual(plain.usage)
    expect(await (await post(fakeProvider, { ...ask(), stream: true })).text()).not.toContain('usage')
  })

  test('call every tool that the user names, at once and in fragments', async () => {
    const fakeProvider = await start()
    const time = { ...weather, function: { ...weather.function, name: 'get_time' } }
    const request = { ...ask('Use get_weather and get_time.'), tools: [weather, time] }
    const plain = await clientOf(fakeProvider).chat.completions.create(request)
    const streamed = await clientOf(fakeProvider).chat.completions.stream(request).finalChatCompletion()
    expect(plain.choices[0]?.finish_reason).toBe('tool_calls')
    expect(plain.choices[0]?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"fake-provider","unit":"c"}' } },
      { type: 'function', function: { name: 'get_time' } },
    ])
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(plain.choices[0]?.message.tool_calls ?? [])
  })

  test('follow a schema, a number of choices, a limit, and a request for log probabilities', async () => {
    const client = clientOf(await start())
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } }
    const response_format = { type: 'json_schema' as const, json_schema: { name: 's', schema } }
    const shaped = await client.chat.completions.create({ ...ask(), response_format })
    expect(shaped.choices[0]?.message.content).toBe('{"ok":true}')
    const several = await client.chat.completions.create({
      ...ask(),
      n: 3,
      max_tokens: 2,
      logprobs: true,
      top_logprobs: 1,
    })
    expect(several.choices.map(choice => choice.finish_reason)).toEqual(['length', 'length', 'length'])
    expect(several.choices[2]?.logprobs?.content?.map(entry => entry.token).join('')).toBe(
      several.choices[2]?.message.content,
    )
  })

  test('follow a scenario', async () => {
    const fakeProvider = await start()
    const client = clientOf(fakeProvider)
    fakeProvider.script({
      kind: 'answer',
      refusal: 'No.',
      finishReason: 'content_filter',
      fields: { odd: 1 },
      usage: null,
    })
    for (const stream of [false, true]) {
      const text = await (await post(fakeProvider, { ...ask(), stream })).text()
      const body = stream ? assembleBytes(new TextEncoder().encode(text)).body : JSON.parse(text)
      expect(body).toMatchObject({
        odd: 1,
        choices: [{ message: { refusal: 'No.' }, finish_reason: 'content_filter' }],
      })
      expect(body).not.toHaveProperty('usage')
    }
    fakeProvider.script(request => (request.bodyText.includes('second') ? { kind: 'answer', content: '2' } : undefined))
    fakeProvider.scriptOnce({ kind: 'answer', functionCall: { name: 'f', arguments: { a: 1 } } })
    const answers = [await client.chat.completions.create(ask()), await client.chat.completions.create(ask('second'))]
    expect(answers[0]?.choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'f' } },
    })
    expect(answers[1]?.choices[0]?.message.content).toBe('2')
    fakeProvider.reset()
    expect(fakeProvider.requests).toEqual([])
  })

  test('have the extensions of the aggregator and of Groq', async () => {
    const aggregator = await start({ flavour: 'aggregator' })
    const groq = await start({ flavour: 'groq' })
    const events = await (await post(aggregator, { ...ask(), stream: true })).text()
    expect(events).toMatch(/^: OPENROUTER PROCESSING\n\n/)
    const { body } = assembleBytes(new TextEncoder().encode(events))
    expect(body).toMatchObject({ provider: 'FakeProvider', usage: { cost: expect.any(Number) } })
    const plain = await (await post(aggregator, ask())).text()
    expect(plain).toMatch(/^\s+\{/)
    expect(JSON.parse(plain).choices).toEqual(
      (body.choices as JsonObject[]).map(choice => ({
        ...choice,
        message: expect.objectContaining({ role: 'assistant' }),
      })),
    )
    expect(await (await post(groq, { ...ask(), stream: true })).text()).toContain(
      '"x_groq":{"id":"req_fake1","usage":{',
    )
  })

  test('are sent gzipped, and in any size that a slow reader needs', async () => {
    const fakeProvider = await start()
    fakeProvider.scriptOnce({ kind: 'answer', gzip: true }, { kind: 'answer', contentChars: 400_000 })
    const zipped = await post(fakeProvider, ask(), { decompress: false } as RequestInit)
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(Bun.gunzipSync(await zipped.arrayBuffer()).length).toBeGreaterThan(100)
    const stream = await post(fakeProvider, { ...ask(), stream: true })
    // By then the buffers between them are full, and it waits for its reader.
    await Bun.sleep(50)
    const { body } = assembleBytes(await stream.bytes())
    expect(body).toMatchObject({ choices: [{ message: { content: 'gigantic '.repeat(44_445).slice(0, 400_000) } }] })
  })
})

describe('other endpoints', () => {
  test('embed texts, closer if they share words, in both encodings', async () => {
    const client = clientOf(await start())
    const input = ['how tall is the tower', 'how tall is that tower', 'bake some bread']
    const floats = await client.embeddings.create({ model: 'e', input, dimensions: 64, encoding_format: 'float' })
    const decoded = await client.embeddings.create({ model: 'e', input, dimensions: 64 })
    const [first = [], second = [], third = []] = floats.data.map(entry => entry.embedding)
    const similarity = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
    expect(similarity(first, first)).toBeCloseTo(1, 5)
    expect(similarity(first, second)).toBeGreaterThan(0.6)
    expect(similarity(first, third)).toBeLessThan(0.5)
    expect(decoded.data[0]?.embedding.map(value => value.toFixed(5))).toEqual(first.map(value => value.toFixed(5)))
  })

  test('complete in the legacy way, plain and streamed', async () => {
    const client = clientOf(await start())
    const request = { model: 'fake/small', prompt: 'Once', logprobs: 1 }
    const plain = await client.completions.create(request)
    let text = ''
    for await (const chunk of await client.completions.create({ ...request, stream: true })) {
      text += chunk.choices[0]?.text ?? ''
    }
    expect(text).toBe(plain.choices[0]?.text)
    expect(plain.choices[0]?.logprobs?.tokens?.join('')).toBe(text)
  })

  test('list models, with prices if the aggregator has them', async () => {
    const client = clientOf(await start())
    expect((await client.models.list()).data.map(model => model.id)).toContain('fake/small')
    expect((await client.models.retrieve('fake/large')).id).toBe('fake/large')
    const aggregator = await start({ flavour: 'aggregator' })
    const listed = (await (await fetch(`${aggregator.baseUrl}/models`)).json()) as { data: JsonObject[] }
    expect(listed.data[0]).toMatchObject({ id: 'fake/small', pricing: { prompt: '0.000001' } })
  })
})

describe('failures', () => {
  test('have the vendor’s envelope, with Retry-After', async () => {
    const fakeProvider = await start({ apiKey: 'the-key' })
    await expect(clientOf(fakeProvider).chat.completions.create(ask())).rejects.toBeInstanceOf(AuthenticationError)
    const client = new OpenAI({ baseURL: fakeProvider.baseUrl, apiKey: 'the-key', maxRetries: 0 })
    fakeProvider.script({ kind: 'error', status: 429, retryAfterSeconds: 7 })
    const error = await client.chat.completions.create(ask()).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(RateLimitError)
    expect((error as RateLimitError).headers?.get('retry-after')).toBe('7')
    for (const status of [400, 404, 500, 503, 529]) {
      fakeProvider.script({ kind: 'error', status })
      await expect(client.chat.completions.create(ask())).rejects.toMatchObject({ status })
    }
  })

  test.each(['bare', 'choice', 'event'] as const)('are inside a 200: %s', async shape => {
    const fakeProvider = await start({ flavour: 'aggregator' })
    fakeProvider.script({ kind: 'errorInAnswer', afterChunks: 3, shape })
    const bytes = await (await post(fakeProvider, { ...ask(), stream: true })).bytes()
    expect(assembleBytes(bytes)).toMatchObject({
      error: { code: 502 },
      completeness: 'error_in_stream',
      sawDone: false,
    })
    expect(await (await post(fakeProvider, ask())).text()).toContain('"error":{"message":"Provider returned error"')
  })

  test('cut the connection before the headers', async () => {
    const fakeProvider = await start()
    fakeProvider.script({ kind: 'cut', after: 'nothing' })
    await expect(post(fakeProvider, ask())).rejects.toThrow()
    await waitUntil('none is left', () => fakeProvider.counts.active === 0)
    expect(fakeProvider.counts).toMatchObject({ aborted: 0, answered: 0, total: 1 })
  })

  test('cut the connection in mid-stream, and in a plain body', async () => {
    const fakeProvider = await start()
    fakeProvider.script({ kind: 'cut', after: 3 })
    const read: string[] = []
    const response = await post(fakeProvider, { ...ask(), stream: true })
    const decoder = new TextDecoder()
    const reading = (async () => {
      for await (const part of response.body ?? []) read.push(decoder.decode(part))
    })()
    await expect(reading).rejects.toThrow()
    // Bytes that the client had not read before the cut are lost.
    expect((read.join('').match(/data: /g) ?? []).length).toBeLessThanOrEqual(3)
    expect(read.join('')).not.toContain('[DONE]')
    await expect(post(fakeProvider, ask()).then(plain => plain.text())).rejects.toThrow()
    expect(fakeProvider.counts).toMatchObject({ aborted: 0, answered: 0 })
  })

  test('omit [DONE], and send a body that is not JSON', async () => {
    const fakeProvider = await start()
    fakeProvider.scriptOnce({ kind: 'answer', withoutDone: true }, { kind: 'invalidJson' })
    const bytes = await (await post(fakeProvider, { ...ask(), stream: true })).bytes()
    expect(assembleBytes(bytes)).toMatchObject({ sawDone: false, completeness: 'whole' })
    await expect(post(fakeProvider, ask()).then(plain => plain.json())).rejects.toThrow()
  })

  test('send any bytes at all, part by part', async () => {
    const fakeProvider = await start()
    fakeProvider.script({ kind: 'raw', parts: ['data: {"a', '":1}\r\r'], headers: { 'x-odd': 'yes' }, chunkPauseMs: 1 })
    const response = await post(fakeProvider, { ...ask(), stream: true })
    expect(response.headers.get('x-odd')).toBe('yes')
    expect(await response.text()).toBe('data: {"a":1}\r\r')
  })
})

describe('clients that disconnect', () => {
  test.each(['nothing', 2] as const)('are noticed while an upstream hangs after %s', async after => {
    const fakeProvider = await start()
    fakeProvider.script({ kind: 'hang', after })
    const controller = new AbortController()
    const request = post(fakeProvider, { ...ask(), stream: true }, { signal: controller.signal }).then(response =>
      response.text(),
    )
    request.catch(() => undefined)
    await waitUntil('it is asked', () => fakeProvider.counts.active === 1)
    controller.abort()
    await waitUntil('it is seen', () => fakeProvider.counts.aborted === 1)
    expect(fakeProvider.requests[0]?.abortedAtMs).not.toBeNull()
    expect(fakeProvider.counts.active).toBe(0)
    await waitUntil('the connection is closed', () => fakeProvider.openConnections === 0)
  })

  test('end a slow stream', async () => {
    const fakeProvider = await start()
    fakeProvider.script({ kind: 'answer', contentChars: 50_000, chunkPauseMs: 5, firstByteDelayMs: 10 })
    const controller = new AbortController()
    const response = await post(fakeProvider, { ...ask(), stream: true }, { signal: controller.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    controller.abort()
    await waitUntil('it is seen', () => fakeProvider.counts.aborted === 1)
    expect(fakeProvider.requests[0]?.isAnswered).toBe(false)
  })
})

test('runs as its own process, which counts and accepts scenarios', async () => {
  const child = Bun.spawn([process.execPath, `${import.meta.dirname}/main.ts`, '--flavour', 'groq'], { stdout: 'pipe' })
  try {
    const { value } = await child.stdout.getReader().read()
    const { baseUrl } = JSON.parse(new TextDecoder().decode(value)) as { baseUrl: string }
    const origin = new URL(baseUrl).origin
    const send = () => fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: JSON.stringify(ask()) })
    expect((await send()).status).toBe(200)
    await fetch(`${origin}/__script`, { method: 'PUT', body: JSON.stringify({ kind: 'error', status: 503 }) })
    expect((await send()).status).toBe(503)
    expect(await (await fetch(`${origin}/__counts`)).json()).toMatchObject({
      total: 2,
      byPath: { '/v1/chat/completions': 2 },
    })
    await fetch(`${origin}/__script`, { method: 'DELETE' })
    expect((await send()).status).toBe(200)
  } finally {
    child.kill()
    await child.exited
  }
})
