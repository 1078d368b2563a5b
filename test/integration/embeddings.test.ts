import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { type Answer, ask, post, readAnswer, type ServerAddress } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const model = 'openai/text-embedding-3-small'

interface EmbeddingsAnswer extends Answer {
  tokensSaved: string | null
}

type Fields = Record<string, unknown>

async function embedAt(
  to: ServerAddress,
  key: string,
  body: Fields,
  headers: Record<string, string> = {},
): Promise<EmbeddingsAnswer> {
  const answer = await readAnswer(await post(to, key, '/embeddings', { model, dimensions: 8, ...body }, { headers }))
  return { ...answer, tokensSaved: answer.headers.get('x-proxy-tokens-saved') }
}

function inputsOf(request: RecordedRequest | undefined): unknown {
  return (request?.body as Fields | undefined)?.input
}

function vectorsOf(answer: EmbeddingsAnswer): unknown[] {
  return answer.json.data.map((datum: Fields) => datum.embedding)
}

/** An upstream's response with these vectors, in this order. */
function answerWith(vectors: unknown[], fields: Fields = {}): string[] {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  const usage = { prompt_tokens: vectors.length, total_tokens: vectors.length }
  return [JSON.stringify({ object: 'list', data, model: 'upstream-name', usage, ...fields })]
}

const JSON_TYPE = { 'content-type': 'application/json' }

describeOnce('embeddings', backend => {
  let upstream: FakeProvider
  let proxy: TestProxy
  let key: string

  const embed = (body: Fields, headers?: Record<string, string>) => embedAt(proxy, key, body, headers)
  const direct = (body: Fields) => embedAt(upstream, 'k', body)

  async function start(environment: Record<string, string> = {}): Promise<void> {
    proxy = await startProxy({
      stores: await backend.open(),
      environment: {
        ...upstream.environment,
        UPSTREAM_MAX_RETRIES: '0',
        ...environment,
      },
    })
    key = await proxy.createKey({ type: 'project' })
  }

  beforeEach(async () => {
    if (proxy) await Promise.all([proxy.stop(), upstream.stop()])
    upstream = await startFakeProvider()
    await start()
  })
  afterAll(() => Promise.all([proxy.stop(), upstream.stop()]))

  test('a batch is a miss, then a hit with the same vectors', async () => {
    const input = ['one', 'two words', 'three more words']
    const expected = await direct({ input })
    upstream.reset()
    const cold = await embed({ input })
    expect(cold.cache).toBe('MISS')
    expect(cold.headers.get('x-proxy-provider')).toBe('openrouter')
    const warm = await embed({ input })
    expect(warm.cache).toBe('HIT')
    expect(warm.headers.get('x-proxy-cost-usd')).toBe('0')
    expect(warm.headers.get('x-proxy-cache-similarity')).toBeNull()
    for (const answer of [cold, warm]) expect(answer.json).toEqual(expected.json)
    expect(cold.tokensSaved).toBe('0')
    expect(warm.tokensSaved).toBe('6')
    expect(upstream.requests).toHaveLength(1)
  })

  test('only unknown inputs are forwarded, each once, and all are returned in order', async () => {
    await embed({ input: ['a', 'b'] })
    const input = ['c', 'a', 'd', 'c', 'b', 'b']
    const mixed = await embed({ input })
    expect(upstream.requests).toHaveLength(2)
    expect(inputsOf(upstream.requests[1])).toEqual(['c', 'd'])
    expect(mixed.cache).toBe('MISS')
    expect(mixed.tokensSaved).toBe('3')
    const expected = await direct({ input })
    expect(mixed.json).toEqual(expected.json)
    expect(mixed.json.data.map((datum: Fields) => datum.index)).toEqual([0, 1, 2, 3, 4, 5])
    expect(mixed.json.usage).toEqual({ prompt_tokens: 6, total_tokens: 6 })
  })

  test('a text alone and the same text in a list are one input', async () => {
    await embed({ input: 'alone' })
    expect((await embed({ input: ['alone'] })).cache).toBe('HIT')
  })

  test('token arrays are separate inputs', async () => {
    const input = [
      [1, 2, 3],
      [4, 5],
    ]
    expect((await embed({ input })).cache).toBe('MISS')
    const warm = await embed({
      input: [
        [4, 5],
        [1, 2, 3],
      ],
    })
    expect(warm.cache).toBe('HIT')
    expect(warm.tokensSaved).toBe('5')
    expect(vectorsOf(warm)).toEqual(
      vectorsOf(
        await direct({
          input: [
            [4, 5],
            [1, 2, 3],
          ],
        }),
      ),
    )
    expect((await embed({ input: [4, 5] })).cache).toBe('HIT')
    expect((await embed({ input: '4,5' })).cache).toBe('MISS')
  })

  test.each(['float', 'base64'])('vectors first received as %s are returned in either encoding', async first => {
    const input = ['either', 'form']
    await embed({ input, encoding_format: first })
    for (const encoding_format of ['float', 'base64', undefined]) {
      const warm = await embed({ input, encoding_format })
      expect(warm.cache).toBe('HIT')
      expect(vectorsOf(warm)).toEqual(vectorsOf(await direct({ input, encoding_format })))
    }
  })

  test('upstream’s numbers are returned digit for digit', async () => {
    const vectors = [
      [0.1, -0.0023064255, 0.009327292, 1e-7],
      [0.1, 1 / 3, -2 / 3, 0.25],
      [-128, 0, 127, 5],
    ]
    upstream.script({ kind: 'raw', headers: JSON_TYPE, parts: answerWith(vectors) })
    const input = ['x', 'y', 'z']
    expect(vectorsOf(await embed({ input, dimensions: 4 }))).toEqual(vectors)
    const warm = await embed({ input, dimensions: 4 })
    expect(warm.cache).toBe('HIT')
    expect(vectorsOf(warm)).toEqual(vectors)
    expect(warm.json.model).toBe('upstream-name')
    const asBase64 = await embed({ input, dimensions: 4, encoding_format: 'base64' })
    expect(vectorsOf(asBase64)).toEqual(
      vectors.map(vector => Buffer.from(Float32Array.from(vector).buffer).toString('base64')),
    )
  })

  test('an upstream that supports only numbers is used for base64, too', async () => {
    upstream.script({ kind: 'raw', headers: JSON_TYPE, parts: answerWith([[0.5, -0.25]]) })
    const answer = await embed({ input: 'x', encoding_format: 'base64' })
    expect(vectorsOf(answer)).toEqual([Buffer.from(Float32Array.of(0.5, -0.25).buffer).toString('base64')])
  })

  test('vectors in another order are put into the order of the inputs', async () => {
    const data = [
      { object: 'embedding', index: 1, embedding: [2, 2] },
      { object: 'embedding', index: 0, embedding: [1, 1] },
    ]
    upstream.script({ kind: 'raw', headers: JSON_TYPE, parts: answerWith([], { data }) })
    const answer = await embed({ input: ['first', 'second'], dimensions: 2 })
    expect(vectorsOf(answer)).toEqual([
      [1, 1],
      [2, 2],
    ])
    expect(vectorsOf(await embed({ input: 'second', dimensions: 2 }))).toEqual([[2, 2]])
  })

  test.each([
    ['three numbers instead of eight dimensions', [[1, 2, 3]], 8],
    [
      'vectors of several lengths',
      [
        [1, 2, 3],
        [1, 2],
      ],
      undefined,
    ],
    ['a vector that is shorter than a cached one of the same request', [[1, 2]], undefined],
  ])('%s: the client gets them, and no one else', async (_, vectors, dimensions) => {
    const known = ['known']
    upstream.script({ kind: 'raw', headers: JSON_TYPE, parts: answerWith([[1, 2, 3]]) })
    await embed({ input: known, dimensions: undefined })
    expect((await embed({ input: known, dimensions: undefined })).cache).toBe('HIT')
    upstream.script({ kind: 'raw', headers: JSON_TYPE, parts: answerWith(vectors) })
    const input = [...known, 'a', 'b'].slice(dimensions === undefined ? 0 : 1, 1 + vectors.length)
    const asked = () => embed({ input, dimensions })
    const answers = await Promise.all([asked(), asked()])
    for (const answer of [...answers, await asked()]) {
      expect([answer.status, answer.cache]).toEqual([200, 'MISS'])
      expect(vectorsOf(answer).slice(-vectors.length)).toEqual(vectors)
    }
  })

  test('an unreadable response is an error and is not stored', async () => {
    upstream.scriptOnce({ kind: 'raw', headers: JSON_TYPE, parts: answerWith([[1, 2]]) })
    const broken = await embed({ input: ['a', 'b'] })
    expect(broken.status).toBe(502)
    expect(broken.json.error.code).toBe('upstream_error')
    expect((await embed({ input: ['a', 'b'] })).cache).toBe('MISS')
  })

  describe('another vector', () => {
    test.each([
      ['model', { model: 'openai/text-embedding-3-large' }, {}],
      ['number of dimensions', { dimensions: 16 }, {}],
      ['unknown field', { input_type: 'query' }, {}],
      ['namespace', {}, { 'x-proxy-cache-namespace': 'other' }],
      ['version', {}, { 'x-proxy-cache-version': 'docs@1' }],
    ])('is that of another %s', async (_, fields, headers) => {
      await embed({ input: 'same' })
      expect((await embed({ input: 'same', ...fields }, headers)).cache).toBe('MISS')
      expect((await embed({ input: 'same', ...fields }, headers)).cache).toBe('HIT')
    })

    test('is that of another project', async () => {
      await embed({ input: 'same' })
      const other = await proxy.createKey({ type: 'project' })
      expect((await embedAt(proxy, other, { input: 'same' })).cache).toBe('MISS')
    })

    test('is not that of another user', async () => {
      await embed({ input: 'same', user: 'a' })
      expect((await embed({ input: 'same', user: 'b', metadata: { a: 1 } })).cache).toBe('HIT')
    })

    test('is not that of a similar text', async () => {
      await embed({ input: 'How do I reset my password?' })
      expect((await embed({ input: 'how do i reset my password' })).cache).toBe('MISS')
    })
  })

  describe('cache control', () => {
    test('no-cache calls again and stores the new vector', async () => {
      await embed({ input: 'x' })
      expect((await embed({ input: 'x' }, { 'cache-control': 'no-cache' })).cache).toBe('MISS')
      expect((await embed({ input: 'x' })).cache).toBe('HIT')
      expect(upstream.requests).toHaveLength(2)
    })

    test('no-store stores nothing', async () => {
      await embed({ input: 'x' }, { 'cache-control': 'no-store' })
      expect((await embed({ input: 'x' })).cache).toBe('MISS')
    })

    test('only-if-cached is a 504 if one input is unknown', async () => {
      await embed({ input: 'x' })
      expect((await embed({ input: 'x' }, { 'cache-control': 'only-if-cached' })).cache).toBe('HIT')
      const partly = await embed({ input: ['x', 'y'] }, { 'cache-control': 'only-if-cached' })
      expect(partly.status).toBe(504)
      expect(upstream.requests).toHaveLength(1)
    })

    test('max-age excludes older vectors, and lifetimes end', async () => {
      await embed({ input: 'x' }, { 'x-proxy-cache-ttl': '1' })
      await embed({ input: 'y' })
      expect((await embed({ input: 'y' }, { 'cache-control': 'max-age=60' })).cache).toBe('HIT')
      await Bun.sleep(1_100)
      expect((await embed({ input: 'x' })).cache).toBe('MISS')
      const aged = await embed({ input: 'y' })
      expect(aged.cache).toBe('HIT')
      expect(Number(aged.headers.get('x-proxy-cache-age'))).toBeGreaterThanOrEqual(1)
      expect((await embed({ input: 'y' }, { 'cache-control': 'max-age=0' })).cache).toBe('MISS')
    })

    test('a purge deletes vectors', async () => {
      const project = `purged-${crypto.randomUUID()}`
      key = await proxy.createKey({ type: 'project', project })
      await embed({ input: 'x' })
      await proxy.settle()
      await proxy.query(`select purge_cache('${project}')`)
      expect((await embed({ input: 'x' })).cache).toBe('MISS')
    })
  })

  test('vectors that Redis lost are found in PostgreSQL', async () => {
    const input = Array.from({ length: 300 }, (_, at) => `text ${at}`)
    const cold = await embed({ input })
    await proxy.settle()
    expect(await proxy.query('select 1 from cached_vectors')).toHaveLength(300)
    await proxy.query('update projects set cache_generation = cache_generation + 1')
    const warm = await embed({ input })
    expect(warm.cache).toBe('HIT')
    expect(warm.json).toEqual(cold.json)
    expect((await embed({ input })).cache).toBe('HIT')
    expect(upstream.requests).toHaveLength(1)
  })

  describe('limits', () => {
    const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ')
    test.each([
      ['too many inputs', Array.from({ length: 2_049 }, () => 'x'), 'array_above_max_length'],
      ['an empty text', ['x', ''], 'invalid_request_error'],
      ['an empty list', [], 'invalid_request_error'],
      ['empty tokens', [[]], 'invalid_request_error'],
      ['an input of too many tokens', words(8_193), 'context_length_exceeded'],
      [
        'too many tokens in all',
        Array.from({ length: 60 }, (_, at) => `${at} ${words(5_000)}`),
        'max_tokens_per_request',
      ],
    ])('%s: OpenAI’s error before anything is sent', async (_, input, code) => {
      const answer = await embed({ input })
      expect(answer.status).toBe(400)
      expect(answer.json.error).toMatchObject({ code, param: 'input' })
      expect(upstream.requests).toHaveLength(0)
      await proxy.settle()
      expect(await proxy.query('select * from monthly_counters where requests > 0')).toEqual([])
    })

    test('an upstream that accepts fewer inputs gets batches', async () => {
      const input = Array.from({ length: 250 }, (_, at) => `text ${at}`)
      const fields = { model: 'google/gemini-embedding-001', input }
      const answer = await embed(fields)
      expect(upstream.requests.map(request => (inputsOf(request) as string[]).length).sort()).toEqual([82, 84, 84])
      expect(answer.json).toEqual((await direct(fields)).json)
      expect((await embed(fields)).cache).toBe('HIT')
    })
  })

  test('a failed batch fails the request, and vectors fetched before are stored', async () => {
    const input = Array.from({ length: 250 }, (_, at) => `text ${at}`)
    const fields = { model: 'google/gemini-embedding-001', input }
    upstream.script(async request => {
      if (!(inputsOf(request) as string[]).includes('text 249')) return
      await waitUntil('the other calls are answered', () => upstream.counts.answered === 2)
      return { kind: 'error', status: 429, retryAfterSeconds: 7, firstByteDelayMs: 400 }
    })
    const failed = await embed(fields)
    expect(failed.status).toBe(429)
    expect(failed.headers.get('retry-after')).toBe('7')
    expect(failed.cache).toBe('MISS')
    expect(failed.json.error).toBeDefined()
    await proxy.settle()
    expect(await proxy.query('select * from monthly_counters where requests > 0')).toEqual([])

    upstream.reset()
    const second = await embed(fields)
    expect(second.status).toBe(200)
    expect(upstream.requests).toHaveLength(1)
    expect((inputsOf(upstream.requests[0]) as string[]).length).toBe(82)
    expect(second.json).toEqual((await direct(fields)).json)
  })

  test('an unreachable upstream is a 502 that does not count', async () => {
    upstream.script({ kind: 'cut', after: 'nothing' })
    const answer = await embed({ input: ['a', 'b'] })
    expect(answer.status).toBe(502)
    expect(answer.cache).toBe('MISS')
    await proxy.settle()
    expect(await proxy.query('select * from monthly_counters where requests > 0')).toEqual([])
  })

  test('simultaneous requests with common inputs request each input once', async () => {
    upstream.script({ kind: 'answer', firstByteDelayMs: 1_000 })
    const answers = await Promise.all([
      embed({ input: ['a', 'b', 'c'] }),
      embed({ input: ['b', 'c', 'd'] }),
      embed({ input: ['a', 'd'] }),
      embed({ input: ['a', 'b', 'c'] }),
    ])
    const embedded = upstream.requests.flatMap(request => inputsOf(request) as string[])
    expect(embedded.toSorted()).toEqual(['a', 'b', 'c', 'd'])
    upstream.reset()
    expect(answers.map(answer => answer.json)).toEqual([
      (await direct({ input: ['a', 'b', 'c'] })).json,
      (await direct({ input: ['b', 'c', 'd'] })).json,
      (await direct({ input: ['a', 'd'] })).json,
      (await direct({ input: ['a', 'b', 'c'] })).json,
    ])
  })

  test('a request that waited for a failed vector requests it itself', async () => {
    const failing = Promise.withResolvers<void>()
    upstream.script(async () => {
      if (upstream.requests.length > 1) return { kind: 'answer' }
      await failing.promise
      return { kind: 'error', status: 500 }
    })
    const asked = embed({ input: 'a' })
    await waitUntil('it is asked', () => upstream.requests.length === 1)
    const follower = embed({ input: ['a', 'b'] })
    // It asks for what nobody has asked for, and then waits for the other.
    await waitUntil('the other is asked', () => upstream.requests.length === 2)
    failing.resolve()
    const [first, second] = await Promise.all([asked, follower])
    expect(first.status).toBe(500)
    expect(second.status).toBe(200)
    expect(second.json).toEqual((await direct({ input: ['a', 'b'] })).json)
  })

  test('a client that disconnects ends the upstream call', async () => {
    upstream.script({ kind: 'hang', after: 'nothing' })
    const abort = new AbortController()
    const asked = post(proxy, key, '/embeddings', { model, input: 'x' }, { signal: abort.signal })
    asked.catch(() => {})
    await waitUntil('it is asked', () => upstream.counts.active === 1)
    abort.abort()
    await waitUntil('it is ended', () => upstream.counts.aborted === 1)
    expect(upstream.counts).toMatchObject({ active: 0, aborted: 1 })
  })

  test('records contain what was forwarded, what was saved, and the cost', async () => {
    await embed({ input: ['one two three'] })
    await embed({ input: ['one two three', 'four five'] })
    await embed({ input: ['one two three', 'four five'] })
    await proxy.settle()
    const records = await proxy.query<Fields>(
      'select endpoint, cache_result, prompt_tokens, tokens_saved, cost_usd::float8 as cost, saved_usd::float8 as saved from usage_records order by recorded_at',
    )
    expect(records).toEqual([
      { endpoint: 'embeddings', cache_result: 'MISS', prompt_tokens: 3, tokens_saved: 0, cost: 6e-8, saved: 0 },
      { endpoint: 'embeddings', cache_result: 'MISS', prompt_tokens: 2, tokens_saved: 3, cost: 4e-8, saved: 6e-8 },
      { endpoint: 'embeddings', cache_result: 'HIT', prompt_tokens: 0, tokens_saved: 5, cost: 0, saved: 1e-7 },
    ])
  })

  test('the cost is that of the forwarded part', async () => {
    await embed({ input: ['one two three'] })
    const partly = await embed({ input: ['one two three', 'four five'] })
    expect(partly.headers.get('x-proxy-cost-usd')).toBe('0.00000004')
  })

  test('inputs that are not text are cached as a whole', async () => {
    const body = { model: 'cohere/embed-v4.0', input: [{ content: [{ type: 'text', text: 'x' }] }] }
    expect((await embed(body)).cache).toBe('MISS')
    expect((await embed(body)).cache).toBe('HIT')
    expect(upstream.requests[0]?.body).toEqual({ dimensions: 8, ...body })
  })

  test('a request without a known input is forwarded unchanged', async () => {
    const response = await post(
      proxy,
      key,
      '/embeddings',
      '{ "model":"openai/text-embedding-3-small", "input":["x"],  "unknown": 1.0 }',
    )
    await response.text()
    expect(upstream.requests[0]?.bodyText).toBe(
      '{ "model":"openai/text-embedding-3-small", "input":["x"],  "unknown": 1.0 }',
    )
  })

  test('a test key gets sandbox vectors, which a project key never gets', async () => {
    const project = `both-${crypto.randomUUID()}`
    const testKey = await proxy.createKey({ project })
    key = await proxy.createKey({ project, type: 'project' })
    const sandboxed = await embedAt(proxy, testKey, { input: ['x', 'y'] })
    expect(sandboxed.headers.get('x-proxy-provider')).toBe('sandbox')
    expect((await embedAt(proxy, testKey, { input: ['y', 'x'] })).cache).toBe('HIT')
    expect((await embed({ input: 'x' })).cache).toBe('MISS')
  })

  describe('vectors of prompts', () => {
    const question = 'how to descale a kettle'
    const chat = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: question }] }
    /** All embedding calls, including those that finish after the response. */
    const embeddingCalls = async () => {
      await proxy.settle()
      return upstream.requests.filter(request => request.path.endsWith('/embeddings'))
    }

    beforeEach(async () => {
      await proxy.stop()
      await start({
        EMBEDDINGS_BASE_URL: upstream.baseUrl,
        EMBEDDINGS_API_KEY: 'k',
        EMBEDDINGS_MODEL: 'text-embedding-3-small',
        EMBEDDINGS_DIMENSIONS: '8',
      })
    })

    test('are those that clients get for the same text, model and dimensions', async () => {
      await ask(proxy, key, chat)
      expect(await embeddingCalls()).toHaveLength(1)
      const embedded = await embed({ input: question })
      expect(embedded.cache).toBe('HIT')
      expect(embedded.tokensSaved).toBe('5')
      expect(embedded.json.data).toEqual((await direct({ input: question })).json.data)
    })

    test('are reused from a client’s embeddings', async () => {
      await embed({ input: question })
      await ask(proxy, key, chat)
      expect(await embeddingCalls()).toHaveLength(1)
    })

    test('belong to their caller, and are not kept in memory after a purge', async () => {
      const project = `purged-${crypto.randomUUID()}`
      key = await proxy.createKey({ type: 'project', project })
      await ask(proxy, key, { ...chat, user: 'alice' })
      await proxy.settle()
      const purge = (user: string) =>
        proxy.query(
          `select vectors::integer from invalidate_cache('${project}', of_user => '${user}', of_key => find_key('${key}'), dry_run => false)`,
        )
      expect([await purge('bob'), await purge('alice')]).toEqual([[{ vectors: 0 }], [{ vectors: 1 }]])
      await ask(proxy, key, chat)
      expect(await embeddingCalls()).toHaveLength(2)
    })

    test('differ for other dimensions', async () => {
      await embed({ input: question, dimensions: 16 })
      await ask(proxy, key, chat)
      expect(await embeddingCalls()).toHaveLength(2)
    })
  })
})
