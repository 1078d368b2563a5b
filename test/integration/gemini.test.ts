/** Gemini's API over HTTP: the forms that its packages do not use, keys, errors, caching and large bodies. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { readAnswer } from '../harness/client.ts'
import { startUpstreams } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { geminiBodyOf, geminiContent } from '../harness/gemini-paths.ts'
import { readGeminiStream } from '../harness/outcomes/gemini-outcome.ts'
import { startProxy } from '../harness/proxy.ts'
import { createMemoryLog } from './hostile/memory-log.ts'

const MODEL = 'openai/gpt-4o-mini'

interface Chunk {
  candidates: { content: { parts: { text: string }[] } }[]
}

const firstText = ({ candidates }: Chunk) => candidates[0]?.content.parts[0]?.text

describeOnce('Gemini’s API', backend => {
  const log = createMemoryLog()
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), log, environment: upstreams.environment }))
  let origin: string
  let project: string
  let key: string

  beforeAll(async () => {
    origin = `http://127.0.0.1:${proxy.port}`
  })
  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })

  async function send(
    method: string,
    body: unknown,
    { model = MODEL, query = '', headers = {} as Record<string, string> } = {},
  ) {
    const keyed = query.includes('key=') ? {} : { 'x-goog-api-key': key }
    const url = `${origin}/v1beta/models/${model}:${method}${query}`
    return readAnswer(
      await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...keyed, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    )
  }
  const ask = (text = `Hi ${crypto.randomUUID()}`) => geminiBodyOf('', text)

  test('a stream is one array without alt=sse, and events with it', async () => {
    const body = ask()
    const array = await send('streamGenerateContent', body)
    expect(array.headers.get('content-type')).toBe('application/json')
    expect(array.json.length).toBeGreaterThan(2)
    expect(array.json.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], usageMetadata: {} })
    const texts = array.json.map(firstText)
    for (const method of ['a hit', 'another hit']) {
      const events = await send('streamGenerateContent', body, { query: '?alt=sse' })
      expect([method, events.cache]).toEqual([method, 'HIT'])
      expect(events.text).toMatch(/^data: \{.*\}\r\n\r\n$/s)
      expect(events.text).not.toContain('[DONE]')
      expect(readGeminiStream(events.text)).toMatchObject({ text: texts.join(''), end: 'stop', problems: [] })
    }
    const again = await send('streamGenerateContent', body, { query: '?alt=json' })
    expect(again.json.at(-1)).toEqual(array.json.at(-1))
  })

  test('a failure within a stream is reported in both forms', async () => {
    upstreams.aggregator.script(() => ({
      kind: 'raw',
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      parts: [
        'data: {"id":"x","choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n',
        'data: {"error":{"message":"It broke.","code":500}}\n\n',
      ],
    }))
    const array = await send('streamGenerateContent', ask())
    expect(array.json).toMatchObject([
      { candidates: [{ content: { parts: [{ text: 'Half' }] } }] },
      {
        error: {
          code: expect.any(Number),
          message: expect.stringContaining('It broke.'),
          status: expect.stringMatching(/^[A-Z]+$/),
        },
      },
    ])
    const events = await send('streamGenerateContent', ask(), { query: '?alt=sse' })
    expect(readGeminiStream(events.text)).toMatchObject({ text: 'Half', end: 'error', problems: [] })
  })

  test('the key may be in the query, and reaches neither the provider nor the log', async () => {
    log.take()
    const answer = await send('generateContent', ask(), { query: `?key=${key}&alt=json` })
    expect(answer.status).toBe(200)
    expect((await send('generateContent', ask(), { query: `?key=${key}x` })).json.error).toMatchObject({
      code: 401,
      message: 'Invalid API key',
      status: 'UNAUTHENTICATED',
    })
    const refused = await fetch(`${origin}/v1/chat/completions?key=${key}`, { method: 'POST', body: '{}' })
    expect(refused.status).toBe(401)
    await proxy.settle()
    const rows = await proxy.query<{ all: string }>(`select row_to_json(r)::text as all from usage_records r`)
    const seen = [JSON.stringify(upstreams.aggregator.requests), log.take().join('\n'), JSON.stringify(rows)].join('\n')
    expect(seen).not.toContain(key)
  })

  test.each([
    ['without a key', {}, 401, 'Missing API key', 'UNAUTHENTICATED'],
    ['with a wrong key', { 'x-goog-api-key': 'AIzaWrong' }, 401, 'Invalid API key', 'UNAUTHENTICATED'],
  ])('%s, the error has Google’s form', async (_, headers, code, message, status) => {
    for (const method of ['generateContent', 'streamGenerateContent', 'countTokens', 'embedContent']) {
      const url = `${origin}/v1beta/models/${MODEL}:${method}`
      // The key is checked before the body.
      const response = await fetch(url, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: '{"foo":1}',
      })
      expect(await response.json()).toMatchObject({ error: { code, message, status } })
      expect(response.status).toBe(code)
    }
  })

  test('an invalid request is a 400 that names the field', async () => {
    for (const [body, field] of [
      [{ ...ask(), foo: 1 }, 'foo'],
      [{ contents: [{ parts: [{ image: 'x' }] }] }, 'contents[0].parts[0].image'],
      ['{"contents":[],"contents":[]}', undefined],
      ['{', undefined],
    ] as const) {
      const { status, json } = await send('generateContent', body)
      expect([status, json.error.code, json.error.status]).toEqual([400, 400, 'INVALID_ARGUMENT'])
      const found = json.error.details.flatMap(
        (each: { fieldViolations?: { field: string }[] }) => each.fieldViolations ?? [],
      )
      expect(found[0]?.field).toBe(field)
    }
    expect(upstreams.aggregator.requests).toEqual([])
  })

  test('a provider’s error keeps its status and text, and names the client’s field', async () => {
    upstreams.aggregator.script(() => ({
      kind: 'raw',
      status: 400,
      headers: { 'content-type': 'application/json' },
      parts: [
        JSON.stringify({
          error: { message: 'Too hot.', param: 'temperature', code: 'bad', type: 'invalid_request_error' },
        }),
      ],
    }))
    const { status, json } = await send('generateContent', { ...ask(), generationConfig: { temperature: 9 } })
    expect([status, json.error]).toMatchObject([
      400,
      { code: 400, message: 'Too hot.', status: 'INVALID_ARGUMENT', details: expect.any(Array) },
    ])
    expect(JSON.stringify(json.error.details)).toContain('generationConfig.temperature')
  })

  test('a tool that Google runs is omitted and named, and rejected where it must be called', async () => {
    const tools = [{ googleSearch: {} }, { functionDeclarations: [{ name: 'look' }] }]
    const omitted = await send('generateContent', { ...ask(), tools })
    expect([omitted.status, omitted.headers.get('x-proxy-dropped-tools')]).toEqual([200, 'google_search'])
    expect(upstreams.aggregator.requests.at(-1)?.body).toMatchObject({ tools: [{ function: { name: 'look' } }] })
    const toolConfig = { functionCallingConfig: { mode: 'ANY' } }
    expect((await send('generateContent', { ...ask(), tools, toolConfig })).status).toBe(400)
  })

  test('other wordings share a response, and other settings do not', async () => {
    const first = await send('generateContent', ask('What is the capital of France?'))
    expect(first.cache).toBe('MISS')
    const similar = await send('generateContent', ask('Tell me the capital of France'))
    expect([similar.cache, similar.text]).toEqual(['HIT-SEMANTIC', first.text])
    const thinkingConfig = { includeThoughts: true }
    const others = await send('generateContent', {
      ...ask('What is the capital of France?'),
      generationConfig: { thinkingConfig },
    })
    expect(others.cache).toBe('MISS')
    expect((await send('generateContent', ask('What is the capital of Germany?'))).cache).toBe('MISS')
  })

  test('thoughts are in the response of a client that requests them', async () => {
    upstreams.aggregator.script(() => ({ kind: 'answer', reasoning: 'Let me think.', content: 'Yes.' }))
    const parts = async (includeThoughts: boolean) => {
      const { json } = await send('generateContent', {
        ...ask(),
        generationConfig: { thinkingConfig: { includeThoughts } },
      })
      return json.candidates[0].content.parts.map(({ text, thought }: { text: string; thought?: boolean }) => [
        text,
        thought,
      ])
    }
    expect(await parts(true)).toEqual([
      ['Let me think.', true],
      ['Yes.', undefined],
    ])
    expect(await parts(false)).toEqual([['Yes.', undefined]])
  })

  test('thoughts are counted apart, as Google counts them', async () => {
    const usage = {
      ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 30 },
    }
    upstreams.aggregator.script(() => ({ kind: 'answer', usage }) as never)
    const counts = {
      ...{ promptTokenCount: 100, candidatesTokenCount: 20, thoughtsTokenCount: 30 },
      ...{ cachedContentTokenCount: 40, totalTokenCount: 150 },
    }
    const plain = await send('generateContent', ask())
    expect(plain.json.usageMetadata).toEqual(counts)
    const streamed = await send('streamGenerateContent', ask())
    expect(streamed.json.at(-1).usageMetadata).toEqual(counts)
    await proxy.settle()
    const records = await proxy.query(
      `select r.endpoint, r.prompt_tokens, r.completion_tokens from usage_records r join projects p on p.id = r.project_id where p.name = '${project}'`,
    )
    const record = { endpoint: 'generate_content', prompt_tokens: 100, completion_tokens: 50 }
    expect(records).toEqual([record, record])
  })

  test('a large request and large embeddings are translated in a worker', async () => {
    const image = Buffer.alloc(600_000, 7).toString('base64')
    const body = { contents: [{ parts: [{ text: 'Look.' }, { inlineData: { mimeType: 'image/png', data: image } }] }] }
    const { status, json } = await send('generateContent', body)
    expect([status, json.candidates[0].finishReason]).toEqual([200, 'STOP'])
    expect(JSON.stringify(upstreams.aggregator.requests.at(-1)?.body)).toContain(image.slice(0, 1_000))
    const rejected = await send('generateContent', { ...body, foo: 1 })
    expect([rejected.status, rejected.json.error.message]).toEqual([400, 'foo is unknown.'])
    const requests = Array.from({ length: 40 }, (_, i) => ({ content: geminiContent(`${i} ${crypto.randomUUID()}`) }))
    const embedded = await send('batchEmbedContents', { requests }, { model: 'openai/text-embedding-3-large' })
    expect(embedded.json.embeddings).toHaveLength(40)
    expect(embedded.json.embeddings[39].values.length).toBeGreaterThan(100)
  })

  test('an error about embeddings has Google’s form', async () => {
    upstreams.aggregator.script(() => ({ kind: 'error', status: 400, message: 'Too long.' }))
    const model = 'openai/text-embedding-3-small'
    const { status, json } = await send('embedContent', { content: geminiContent('x') }, { model })
    expect([status, json.error]).toMatchObject([400, { code: 400, message: 'Too long.', status: 'INVALID_ARGUMENT' }])
  })

  test('a test key gets a response of the sandbox', async () => {
    key = await proxy.createKey({ project, type: 'test' })
    const { json } = await send('generateContent', ask())
    expect(json.candidates[0].content.parts[0].text).toContain('[sandbox]')
    const tools = [
      {
        functionDeclarations: [
          { name: 'look', parameters: { type: 'OBJECT', properties: { at: { type: 'STRING' } } } },
        ],
      },
    ]
    const toolConfig = { functionCallingConfig: { mode: 'ANY' } }
    const called = await send('generateContent', { ...ask(), tools, toolConfig })
    expect(called.json.candidates[0].content.parts[0]).toMatchObject({
      functionCall: { name: 'look', args: { at: expect.any(String) } },
    })
    const counted = await send('countTokens', { generateContentRequest: { model: `models/${MODEL}`, ...ask() } })
    expect(counted.json.totalTokens).toBeGreaterThan(3)
  })

  test('a spent budget is a 429 with Google’s code', async () => {
    await proxy.query(`select set_budget('${project}', 'usd', 0.000001, 'total')`)
    const { status, json } = await send('generateContent', ask())
    expect([status, json.error.status, json.error.details[0].reason]).toEqual([
      429,
      'RESOURCE_EXHAUSTED',
      'INSUFFICIENT_QUOTA',
    ])
  })
})
