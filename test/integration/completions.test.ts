import OpenAI from 'openai'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

type Fields = Record<string, unknown>
type Choice = OpenAI.CompletionChoice

const model = 'openai/gpt-3.5-turbo-instruct'

interface Completion {
  status: number
  headers: Headers
  cache: string | null
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  json: any
}

/** Every form of prompt, and every field with its own form. */
const FORMS: [string, Fields][] = [
  ['a text', { prompt: 'Once upon a time' }],
  ['texts', { prompt: ['Once upon a time', 'Call me'] }],
  ['tokens', { prompt: [7454, 5304, 257, 640] }],
  [
    'lists of tokens',
    {
      prompt: [
        [7454, 5304],
        [257, 640, 11],
      ],
    },
  ],
  ['n', { prompt: 'Once', n: 3 }],
  ['best_of', { prompt: 'Once', n: 2, best_of: 4 }],
  ['echo', { prompt: 'Once upon', echo: true }],
  ['logprobs', { prompt: 'Once upon', logprobs: 2, max_tokens: 5 }],
  ['echo and logprobs', { prompt: 'Once upon', echo: true, logprobs: 1, max_tokens: 5 }],
  ['a suffix', { prompt: 'def add(a, b):', suffix: 'return sum' }],
  ['a stop', { prompt: 'Once', stop: 'was' }],
  ['stops', { prompt: 'Once', stop: ['was', 'there'] }],
  ['n for each of several texts', { prompt: ['Once', 'Twice'], n: 2, max_tokens: 4 }],
]

describeOnce('legacy completions', backend => {
  const upstreams = duringTests(startUpstreams)
  let stores: Stores
  let proxy: TestProxy
  let project: string
  let key: string

  beforeEach(async () => {
    await proxy?.stop()
    upstreams.reset()
    stores = await backend.open()
    proxy = await startProxy({ stores, environment: upstreams.environment })
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })
  afterAll(() => proxy.stop())

  async function complete(body: Fields, { asKey = key, headers = {} } = {}): Promise<Completion> {
    const response = await post(proxy, asKey, '/completions', { model, ...body }, { headers })
    const text = await response.text()
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    return {
      status: response.status,
      headers: response.headers,
      cache: response.headers.get('x-proxy-cache'),
      text,
      json: isStream ? null : JSON.parse(text),
    }
  }

  /** Assembles the choices of a streamed response as the plain response has them. */
  function assemble(stream: string): Partial<Choice>[] {
    const choices: Choice[] = []
    for (const event of stream.split('\n\n').filter(text => text.startsWith('data: {'))) {
      for (const part of JSON.parse(event.slice(6)).choices as Choice[]) {
        const before = choices[part.index]
        if (!before) choices[part.index] = structuredClone(part)
        else addPart(before, part)
      }
    }
    return choices
  }

  function addPart(choice: Choice, part: Choice): void {
    choice.text += part.text
    choice.finish_reason = part.finish_reason ?? choice.finish_reason
    if (!part.logprobs) return
    if (!choice.logprobs) choice.logprobs = structuredClone(part.logprobs)
    else
      for (const [field, list] of Object.entries(part.logprobs))
        (choice.logprobs as Record<string, unknown[]>)[field]?.push(...list)
  }

  describe.each(draw(FORMS))('%s', (_, body) => {
    test('is forwarded unchanged, then a hit with the same body', async () => {
      const cold = await complete(body)
      expect(cold).toMatchObject({ status: 200, cache: 'MISS', json: { object: 'text_completion' } })
      expect(upstreams.aggregator.requests.map(request => request.path)).toEqual(['/v1/completions'])
      expect(upstreams.aggregator.requests[0]?.body).toEqual({ model, ...body })
      const warm = await complete(body)
      expect(warm.cache).toBe('HIT')
      expect(warm.text).toBe(cold.text)
      expect(upstreams.aggregator.requests).toHaveLength(1)
    })

    test('is created in the sandbox, plain and streamed from one entry', async () => {
      const asKey = await proxy.createKey({ project, type: 'test' })
      const plain = await complete(body, { asKey })
      if ('logprobs' in body || 'echo' in body) {
        expect(plain).toMatchObject({
          status: 400,
          json: { error: { param: 'logprobs' in body ? 'logprobs' : 'echo' } },
        })
        return
      }
      expect(plain).toMatchObject({ status: 200, cache: 'MISS' })
      expect(plain.headers.get('x-proxy-provider')).toBe('sandbox')
      const streamed = await complete({ ...body, stream: true }, { asKey })
      expect(streamed.cache).toBe('HIT')
      expect(streamed.text.endsWith('data: [DONE]\n\n')).toBe(true)
      expect(assemble(streamed.text)).toEqual(plain.json.choices)
    })

    test('a streamed response serves a plain request', async () => {
      const streamed = await complete({ ...body, stream: true })
      expect(streamed.cache).toBe('MISS')
      const plain = await complete(body)
      expect(plain.cache).toBe('HIT')
      expect(plain.json.object).toBe('text_completion')
      expect(plain.json.choices).toEqual(assemble(streamed.text))
      expect(plain.json.usage).toMatchObject({ prompt_tokens: expect.any(Number) })
      expect(upstreams.aggregator.requests).toHaveLength(1)
    })
  })

  test.each([
    ['prompt', { prompt: 'Twice' }],
    ['form of the prompt', { prompt: ['Once'] }],
    ['n', { n: 2 }],
    ['best_of', { best_of: 2 }],
    ['echo', { echo: true }],
    ['logprobs', { logprobs: 1 }],
    ['suffix', { suffix: 'the end' }],
    ['stop', { stop: 'x' }],
    ['max_tokens', { max_tokens: 17 }],
    ['temperature', { temperature: 0.5 }],
    ['seed', { seed: 1 }],
    ['model', { model: 'openai/davinci-002' }],
    ['unknown field', { whatever: 1 }],
  ])('another %s is another response', async (_, change) => {
    await complete({ prompt: 'Once' })
    expect((await complete({ prompt: 'Once', ...change })).cache).toBe('MISS')
  })

  test('a response truncated by the default of 16 tokens is complete; one cut by a filter is not', async () => {
    upstreams.aggregator.script({ kind: 'answer', content: 'Once upon', finishReason: 'length' })
    await complete({ prompt: 'Once' })
    expect((await complete({ prompt: 'Once' })).cache).toBe('HIT')
    await complete({ prompt: 'Streamed', stream: true })
    expect((await complete({ prompt: 'Streamed' })).cache).toBe('HIT')
    upstreams.aggregator.script({ kind: 'answer', content: 'Once', finishReason: 'content_filter' })
    await complete({ prompt: 'Filtered' })
    expect((await complete({ prompt: 'Filtered' })).cache).toBe('MISS')
  })

  test('usage is sent at the end of a stream only to clients that request it', async () => {
    const fields = { prompt: 'Once', stream: true, stream_options: { include_usage: true } }
    for (const cache of ['MISS', 'HIT']) {
      const answer = await complete(fields)
      expect(answer.cache).toBe(cache)
      expect(answer.text).toContain('"prompt_tokens"')
    }
    const unasked = await complete({ prompt: 'Once', stream: true })
    expect(unasked.cache).toBe('HIT')
    expect(unasked.text).not.toContain('"prompt_tokens"')
  })

  describe('semantic matches', () => {
    const question = 'What is the capital of France?'
    const reworded = 'what is the capital of france'

    test('not a rewording: the text is continued, to its last letter', async () => {
      await complete({ prompt: question })
      expect((await complete({ prompt: reworded })).cache).toBe('MISS')
    })

    test.each([
      ['a suffix', { suffix: 'And that is all.' }, question, reworded],
      ['an echo, which holds the prompt itself', { echo: true }, question, reworded],
      ['a list of texts', {}, [question, 'x'], [reworded, 'x']],
      ['another stop', { stop: 'x' }, question, null],
    ])('not with %s', async (_, fields, first, second) => {
      await complete({ prompt: first, ...(second === null ? {} : fields) })
      expect((await complete({ prompt: second ?? reworded, ...fields })).cache).toBe('MISS')
    })

    test('not a chat request', async () => {
      await complete({ prompt: question })
      const response = await post(proxy, key, '/chat/completions', {
        model,
        messages: [{ role: 'user', content: question }],
      })
      expect(response.headers.get('x-proxy-cache')).toBe('MISS')
    })
  })

  test('the official package gets plain and streamed completions', async () => {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    const plain = await client.completions.create({ model, prompt: ['One', 'Two'], n: 2, logprobs: 1 })
    expect(plain.choices.map(choice => choice.index)).toEqual([0, 1, 2, 3])
    const texts: string[] = []
    const stream = await client.completions.create({ model, prompt: ['One', 'Two'], n: 2, logprobs: 1, stream: true })
    for await (const chunk of stream) {
      for (const { index, text } of chunk.choices) texts[index] = (texts[index] ?? '') + text
    }
    expect(texts).toEqual(plain.choices.map(choice => choice.text))
    expect(upstreams.aggregator.requests).toHaveLength(1)
  })

  describe('a vendor without the endpoint', () => {
    test.each([
      ['anthropic', 'claude-haiku-4-5', 'completions', { prompt: 'Once' }],
      ['anthropic', 'claude-haiku-4-5', 'embeddings', { input: 'Once' }],
      ['groq', 'llama-3.3-70b-versatile', 'completions', { prompt: 'Once' }],
      ['groq', 'llama-3.3-70b-versatile', 'embeddings', { input: 'Once' }],
    ] as const)('%s: the error of %s for /%s names the one it has', async (provider, native, path, body) => {
      await storeKey(stores, project, provider, 'sk-own')
      const response = await post(proxy, key, `/${path}`, { model: native, ...body })
      expect(response.status).toBe(404)
      const { error } = (await response.json()) as { error: Fields }
      expect(error).toMatchObject({ code: 'unsupported_endpoint', param: 'model', type: 'invalid_request_error' })
      expect(error.message).toContain('/v1/chat/completions')
      expect(upstreams[provider].requests).toHaveLength(0)
      await proxy.settle()
      expect(await proxy.query('select * from monthly_counters where requests > 0')).toEqual([])
    })
  })

  test.each([
    ['no prompt', {}],
    ['a number', { prompt: 1 }],
    ['an object', { prompt: { text: 'x' } }],
  ])('%s is rejected', async (_, body) => {
    const answer = await complete(body)
    expect(answer.status).toBe(400)
    expect(answer.json.error.param).toBe('prompt')
    expect(upstreams.aggregator.requests).toHaveLength(0)
  })
})
