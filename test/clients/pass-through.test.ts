/** Images, audio, moderations and reranking of OpenAI's package, from providers, the aggregator and the sandbox. */
import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47]
const picture = () => toFile(Buffer.from(PNG_SIGNATURE), 'point.png', { type: 'image/png' })
const sound = (bytes = 2_000) => toFile(Buffer.alloc(bytes, 7), 'hello.wav', { type: 'audio/wav' })

interface UsageRow {
  endpoint: string
  model: string
  provider: string
  cache_result: string
  status: number
  streamed: boolean
  prompt_tokens: number
  completion_tokens: number
  cost_usd: string
}

describeOnce('pass-through endpoints', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let client: OpenAI
  let project: string

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    client = await connect('project')
  })

  async function connect(type: 'project' | 'test'): Promise<OpenAI> {
    const apiKey = await proxy.createKey({ project, type })
    return new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
  }

  async function records(): Promise<UsageRow[]> {
    await proxy.settle()
    return proxy.query<UsageRow>(`
      select endpoint, model, provider, cache_result, status, streamed, prompt_tokens, completion_tokens, cost_usd::text
      from usage_records u join projects p on p.id = u.project_id where p.name = '${project}' order by recorded_at`)
  }

  async function countRequests(): Promise<number | undefined> {
    await proxy.settle()
    const [counted] = await proxy.query<{ used: number }>(`
      select coalesce(sum(c.requests), 0)::integer as used from monthly_counters c
      join projects p on p.id = c.project_id where p.name = '${project}'`)
    return counted?.used
  }

  const about = (response: Response) =>
    ['cache', 'cost-usd', 'cost-unknown', 'provider'].map(name => response.headers.get(`x-proxy-${name}`))

  describe('with OpenAI’s key', () => {
    beforeEach(() => storeKey(proxy.stores, project, 'openai', 'sk-own'))

    test('images, with their usage', async () => {
      const params = { model: 'gpt-image-1', prompt: 'a point', n: 2, invented: 1 } as const
      const { data, response } = await client.images.generate(params).withResponse()
      expect(data.data).toHaveLength(2)
      expect(data.usage?.output_tokens).toBe(1_056)
      expect(about(response)).toEqual(['MISS', '0.04231', null, 'openai'])
      const [request] = upstreams.openai.requests
      expect(request?.path).toBe('/v1/images/generations')
      expect(request?.headers.authorization).toBe('Bearer sk-own')
      expect(JSON.parse(request?.bodyText ?? '')).toEqual(params)
      expect(await records()).toEqual([
        expect.objectContaining({
          endpoint: 'images/generations',
          model: 'gpt-image-1',
          provider: 'openai',
          cache_result: 'MISS',
          status: 200,
          prompt_tokens: 14,
          completion_tokens: 1_056,
        }),
      ])
    })

    test('a model that the catalogue prices is priced', async () => {
      await proxy.stores.database.runScript(`
        insert into models (provider, model, kind, input_usd_per_million, output_usd_per_million, source, as_of)
        values ('openai', 'gpt-image-priced', 'image', 5, 40, 'operator', current_date)`)
      const priced = await startProxy({ stores: proxy.stores, environment: upstreams.environment })
      const own = new OpenAI({ baseURL: priced.baseUrl, apiKey: client.apiKey, maxRetries: 0 })
      const { response } = await own.images.generate({ model: 'gpt-image-priced', prompt: 'a point' }).withResponse()
      await priced.stop()
      await proxy.stores.database.runScript(`delete from models where model = 'gpt-image-priced'`)
      expect(about(response)).toEqual(['MISS', '0.04231', null, 'openai'])
      expect((await records()).map(({ cost_usd }) => Number(cost_usd))).toEqual([0.04231])
    })

    test('images as they are streamed', async () => {
      const params = { model: 'gpt-image-1', prompt: 'a point', stream: true, partial_images: 2 } as const
      const { data, response } = await client.images.generate(params).withResponse()
      const types: string[] = []
      for await (const event of data) types.push(event.type)
      expect(types).toEqual([
        'image_generation.partial_image',
        'image_generation.partial_image',
        'image_generation.completed',
      ])
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      expect(await records()).toEqual([
        expect.objectContaining({ streamed: true, prompt_tokens: 14, completion_tokens: 1_056 }),
      ])
    })

    test('images edited and varied, as forms', async () => {
      const edited = await client.images.edit({ model: 'gpt-image-1', image: await picture(), prompt: 'bigger' })
      expect(edited.data).toHaveLength(1)
      const varied = await client.images.createVariation({ image: await picture() })
      expect(varied.data?.[0]?.url).toContain('http')
      const [edit, variation] = upstreams.openai.requests
      expect(edit?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
      expect(variation?.bodyText).not.toContain('name="model"')
      expect((await records()).map(({ endpoint, model }) => [endpoint, model])).toEqual([
        ['images/edits', 'gpt-image-1'],
        ['images/variations', 'dall-e-2'],
      ])
    })

    test('speech, byte for byte, and again from the cache', async () => {
      const params = { model: 'gpt-4o-mini-tts', voice: 'alloy', input: `Hello ${project}` } as const
      const first = await client.audio.speech.create(params)
      const bytes = Buffer.from(await first.arrayBuffer())
      expect(bytes).toHaveLength(10_000)
      // The response has no usage, so the cost is the upper bound, both in the headers and in the record.
      const [{ cost_usd = '' } = {}] = await records()
      expect(about(first)).toEqual(['MISS', cost_usd.replace(/0+$/, ''), null, 'openai'])
      expect(Number(cost_usd)).toBeGreaterThan(0)
      const again = await client.audio.speech.create(params)
      expect(Buffer.from(await again.arrayBuffer()).equals(bytes)).toBe(true)
      expect(about(again)).toEqual(['HIT', '0', null, 'openai'])
      expect(again.headers.get('content-type')).toBe('audio/mpeg')
      const other = await client.audio.speech.create({ ...params, voice: 'ash' })
      expect(about(other)[0]).toBe('MISS')
      await other.arrayBuffer()
      expect(upstreams.openai.requests).toHaveLength(2)
      expect((await records()).map(({ cache_result }) => cache_result)).toEqual(['MISS', 'HIT', 'MISS'])
    })

    test('is priced by the token, the second and the character, as its vendor does; a hit saves as much', async () => {
      const speech = { model: 'tts-1', voice: 'alloy', input: 'Twenty characters 🙂!' } as const
      for (const cache of ['MISS', 'HIT']) {
        const answer = await client.audio.speech.create(speech)
        await answer.arrayBuffer()
        expect(about(answer).slice(0, 2)).toEqual([cache, cache === 'HIT' ? '0' : '0.0003'])
      }
      const file = await sound()
      await client.audio.transcriptions.create({ file, model: 'whisper-1' })
      await client.audio.transcriptions.create({ file, model: 'gpt-4o-transcribe' })
      await proxy.settle()
      const rows = await proxy.query<{ cost: number; saved: number }>(`
        select cost_usd::double precision as cost, saved_usd::double precision as saved
        from usage_records u join projects p on p.id = u.project_id where p.name = '${project}' order by recorded_at`)
      expect(rows).toEqual([
        { cost: 0.0003, saved: 0 },
        { cost: 0, saved: 0.0003 },
        { cost: 0.0003, saved: 0 },
        { cost: 0.000345, saved: 0 },
      ])
    })

    const speechOf = (input: string) => ({ model: 'tts-1', voice: 'alloy', input: `${input} ${project}` }) as const
    const results = (answers: Response[]) => answers.map(answer => about(answer)[0]).sort()

    test('simultaneous requests for the same speech share one call', async () => {
      upstreams.openai.script({ kind: 'answer', firstByteDelayMs: 100, contentChars: 50_000 })
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => client.audio.speech.create(speechOf('At once'))),
      )
      const sounds = await Promise.all(answers.map(async answer => Buffer.from(await answer.arrayBuffer())))
      for (const sound of sounds) expect(sound.equals(sounds[0] as Buffer)).toBe(true)
      expect(sounds[0]).toHaveLength(50_000)
      expect(upstreams.openai.requests).toHaveLength(1)
      expect(results(answers)).toEqual([...Array(11).fill('HIT'), 'MISS'])
      const rows = await records()
      expect(rows).toHaveLength(12)
      expect(rows.every(({ status }) => status === 200)).toBe(true)
    })

    test('simultaneous requests for the same moderation share one call', async () => {
      upstreams.openai.script({ kind: 'answer', firstByteDelayMs: 100 })
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => client.moderations.create({ input: ['kill', project] }).withResponse()),
      )
      for (const { data } of answers) expect(data).toEqual(answers[0]?.data)
      expect(upstreams.openai.requests).toHaveLength(1)
      expect(results(answers.map(({ response }) => response))).toEqual([...Array(11).fill('HIT'), 'MISS'])
    })

    test('a failed shared call is repeated once for its followers, and then fails for all', async () => {
      upstreams.openai.script({ kind: 'error', status: 400, message: 'No such voice.', firstByteDelayMs: 100 })
      const attempts = Array.from({ length: 3 }, () => client.audio.speech.create(speechOf('Failing')))
      for (const attempt of await Promise.allSettled(attempts)) {
        expect(attempt).toMatchObject({ status: 'rejected', reason: { status: 400 } })
      }
      upstreams.openai.reset()
      upstreams.openai.scriptOnce({ kind: 'cut', after: 1 })
      const first = client.audio.speech.create(speechOf('Cut')).then(answer => answer.arrayBuffer())
      const cut = expect(first).rejects.toThrow()
      await expect.poll(() => upstreams.openai.requests).toHaveLength(1)
      const other = await client.audio.speech.create(speechOf('Cut'))
      expect((await other.arrayBuffer()).byteLength).toBe(10_000)
      await cut
    })

    test('reports invalid JSON labelled as JSON as a failure, and does not count it', async () => {
      const headers = { 'content-type': 'application/json' }
      upstreams.openai.scriptOnce({ kind: 'raw', headers, parts: ['{"created":1,"data":[{"b64_json":"iVBOR'] })
      await expect(client.images.generate({ model: 'gpt-image-1', prompt: 'A cat.' })).rejects.toMatchObject({
        status: 502,
      })
    })

    test('forwards speech that is too long to be stored', async () => {
      upstreams.openai.script({ kind: 'answer', contentChars: 5_000_000 })
      const params = { model: 'tts-1', voice: 'alloy', input: 'a novel' } as const
      for (let i = 0; i < 2; i++) {
        const answer = await client.audio.speech.create(params)
        expect(about(answer)[0]).toBe('MISS')
        expect((await answer.arrayBuffer()).byteLength).toBe(5_000_000)
      }
    })

    test('speech as events', async () => {
      const answer = await client.audio.speech.create({
        model: 'gpt-4o-mini-tts',
        voice: 'alloy',
        input: 'Hello',
        stream_format: 'sse',
      })
      expect(await answer.text()).toContain('speech.audio.done')
      expect(await records()).toEqual([
        expect.objectContaining({ streamed: true, prompt_tokens: 14, completion_tokens: 101 }),
      ])
    })

    test('speech that breaks off is incomplete, and is not stored', async () => {
      upstreams.openai.script({ kind: 'cut', after: 1 })
      const params = { model: 'tts-1', voice: 'alloy', input: `cut ${project}` } as const
      await expect(client.audio.speech.create(params).then(answer => answer.arrayBuffer())).rejects.toThrow()
      upstreams.openai.reset()
      const whole = await client.audio.speech.create(params)
      expect(about(whole)[0]).toBe('MISS')
      expect((await whole.arrayBuffer()).byteLength).toBe(10_000)
    })

    test('transcriptions: plain, as text, and streamed', async () => {
      const file = await sound()
      const plain = await client.audio.transcriptions.create({ file, model: 'gpt-4o-transcribe' })
      expect(plain.text).toBe('Heard 2000 bytes.')
      const text = await client.audio.transcriptions.create({ file, model: 'whisper-1', response_format: 'text' })
      expect(text).toBe('Heard 2000 bytes.\n')
      const stream = await client.audio.transcriptions.create({ file, model: 'gpt-4o-transcribe', stream: true })
      const types: string[] = []
      for await (const event of stream) types.push(event.type)
      expect(types.at(-1)).toBe('transcript.text.done')
      const translated = await client.audio.translations.create({ file, model: 'whisper-1' })
      expect(translated.text).toBe('Heard 2000 bytes.')
      expect(
        (await records()).map(({ endpoint, prompt_tokens, streamed }) => [endpoint, prompt_tokens, streamed]),
      ).toEqual([
        ['audio/transcriptions', 14, false],
        ['audio/transcriptions', 0, false],
        ['audio/transcriptions', 14, true],
        ['audio/translations', 0, false],
      ])
    })

    test('moderations cost nothing, and are cached', async () => {
      const params = { input: ['kill', 'hello', project] }
      const { data, response } = await client.moderations.create(params).withResponse()
      expect(data.results.map(({ flagged }) => flagged)).toEqual([true, false, false])
      expect(about(response)).toEqual(['MISS', '0', null, 'openai'])
      const again = await client.moderations.create(params).withResponse()
      expect(again.data).toEqual(data)
      expect(about(again.response)).toEqual(['HIT', '0', null, 'openai'])
      const fresh = await client.moderations.create(params, { headers: { 'cache-control': 'no-store' } }).withResponse()
      expect(about(fresh.response)[0]).toBe('MISS')
      expect((await records()).map(({ model }) => model)).toEqual(Array(3).fill('omni-moderation-latest'))
    })

    test('a moderation without a result is not stored', async () => {
      upstreams.openai.script({ kind: 'answer', fields: { results: [] } })
      for (let i = 0; i < 2; i++) await client.moderations.create({ input: project })
      expect(upstreams.openai.requests).toHaveLength(2)
    })

    test('an error of OpenAI keeps its message, and does not count', async () => {
      upstreams.openai.script({ kind: 'error', status: 400, message: 'No such voice.' })
      const rejected = client.audio.speech.create({ model: 'tts-1', voice: 'nobody', input: 'Hello' })
      await expect(rejected).rejects.toThrow('400 No such voice.')
      upstreams.openai.script({ kind: 'error', status: 401, message: 'Incorrect API key provided: sk-own.' })
      await expect(client.moderations.create({ input: 'x' })).rejects.toThrow('[redacted]')
      expect(await countRequests()).toBe(0)
    })

    test('forwards a failure inside a 200, and does not count it', async () => {
      const parts = ['{"error":{"message":"Provider returned error","code":502}}']
      upstreams.openai.scriptOnce({ kind: 'raw', headers: { 'content-type': 'application/json' }, parts })
      expect(await client.moderations.create({ input: project })).toMatchObject({ error: { code: 502 } })
      expect(await records()).toMatchObject([{ endpoint: 'moderations', status: 502, cache_result: 'MISS' }])
      expect((await client.moderations.create({ input: project })).results).toHaveLength(1)
      expect(await countRequests()).toBe(1)
    })

    test('retries a call that failed before it began', async () => {
      upstreams.openai.scriptOnce({ kind: 'error', status: 503 }, { kind: 'cut', after: 'nothing' })
      expect((await client.images.generate({ model: 'gpt-image-1', prompt: 'x' })).data).toHaveLength(1)
      expect(upstreams.openai.requests).toHaveLength(3)
    })

    test('a client that disconnects is recorded so, and the upstream call is aborted', async () => {
      upstreams.openai.script({ kind: 'hang', after: 1 })
      const leaving = new AbortController()
      const answer = await client.audio.speech.create(
        { model: 'tts-1', voice: 'alloy', input: 'Hello' },
        { signal: leaving.signal },
      )
      expect(answer.status).toBe(200)
      leaving.abort()
      await expect.poll(() => upstreams.openai.counts.aborted).toBe(1)
      await expect.poll(async () => (await records()).map(({ status }) => status)).toEqual([499])
    })

    test('rejects invalid requests before a provider is called', async () => {
      const post = (path: string, body: string, type = 'application/json') =>
        fetch(`${proxy.baseUrl}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${client.apiKey}`, 'content-type': type },
          body,
        })
      const rejectionOf = async (response: Promise<Response>) => {
        const answer = await response
        return [answer.status, ((await answer.json()) as { error: { param: string | null } }).error.param]
      }
      expect(await rejectionOf(post('/audio/speech', '{"input":"x"}'))).toEqual([400, 'model'])
      expect(await rejectionOf(post('/audio/speech', 'x=1', 'application/x-www-form-urlencoded'))).toEqual([
        415,
        'Content-Type',
      ])
      expect(await rejectionOf(post('/audio/speech', '--b--', 'multipart/form-data; boundary=b'))).toEqual([
        415,
        'Content-Type',
      ])
      const twice = ['whisper-1', 'gpt-4o-transcribe'].map(
        model => `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`,
      )
      expect(
        await rejectionOf(post('/audio/transcriptions', `${twice.join('')}--b--`, 'multipart/form-data; boundary=b')),
      ).toEqual([400, 'model'])
      expect(await rejectionOf(post('/images/generations', '{"model":"gpt-image-1","model":"dall-e-2"}'))).toEqual([
        400,
        null,
      ])
      expect(await rejectionOf(post('/rerank', '{"model":"nobody-has-this","query":"q","documents":["a"]}'))).toEqual([
        404,
        'model',
      ])
      const cached = { 'cache-control': 'only-if-cached' }
      await expect(client.moderations.create({ input: crypto.randomUUID() }, { headers: cached })).rejects.toThrow(
        '504',
      )
      expect(upstreams.openai.requests).toEqual([])
    })
  })

  test('the aggregator serves what no key of the project covers, under its own names', async () => {
    const { response } = await client.moderations.create({ input: project }).withResponse()
    expect(about(response)).toEqual(['MISS', '0', 'true', 'openrouter'])
    await client.audio.transcriptions.create({ file: await sound(), model: 'whisper-1' })
    const ranked = await client.post('/rerank', {
      body: { model: 'cohere/rerank-v3.5', query: 'rivers', documents: ['the Rhine', 'the Alps'], top_n: 1 },
    })
    expect(ranked).toMatchObject({ results: [{ index: 0 }] })
    const [moderation, transcription] = upstreams.aggregator.requests
    expect(moderation?.body).toEqual({ input: project, model: 'openai/omni-moderation-latest' })
    const form = await new Response(transcription?.bytes, {
      headers: { 'content-type': transcription?.headers['content-type'] ?? '' },
    }).formData()
    expect(form.getAll('model')).toEqual(['openai/whisper-1'])
    expect(await (form.get('file') as File).bytes()).toEqual(new Uint8Array(Buffer.alloc(2_000, 7)))
    const [, , rank] = await records()
    expect(rank).toMatchObject({ endpoint: 'rerank', prompt_tokens: 150, cost_usd: '0.002000000' })
  })

  test('does not call a provider for an endpoint that it lacks', async () => {
    await storeKey(proxy.stores, project, 'groq', 'gsk-own')
    await storeKey(proxy.stores, project, 'anthropic', 'sk-ant-own')
    const heard = await client.audio.transcriptions.create({ file: await sound(), model: 'whisper-large-v3' })
    expect(heard.text).toBe('Heard 2000 bytes.')
    expect(upstreams.groq.requests.map(({ path }) => path)).toEqual(['/v1/audio/transcriptions'])
    await expect(client.images.generate({ model: 'llama-3.3-70b-versatile', prompt: 'x' })).rejects.toThrow('404 Groq')
    await expect(client.moderations.create({ model: 'claude-haiku-4-5', input: 'x' })).rejects.toThrow('404')
    expect(upstreams.anthropic.requests).toEqual([])
  })

  test('the sandbox answers test keys, and never a provider', async () => {
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    client = await connect('test')
    const { data: moderated, response } = await client.moderations.create({ input: 'x' }).withResponse()
    expect(about(response)).toEqual(['MISS', '0', null, 'sandbox'])
    expect(moderated.results[0]?.flagged).toBe(false)
    const ranked = await client.post('/rerank', {
      body: { model: 'cohere/rerank-v3.5', query: 'long rivers', documents: ['The Alps.', 'Rivers are long.'] },
    })
    expect(ranked).toMatchObject({
      results: [
        { index: 1, relevance_score: 1 },
        { index: 0, relevance_score: 0 },
      ],
    })
    await expect(client.audio.transcriptions.create({ file: await sound(), model: 'whisper-1' })).rejects.toThrow(
      '404 The sandbox, which answers test keys, has no /v1/audio/transcriptions',
    )
    await expect(client.images.edit({ model: 'dall-e-2', image: await picture(), prompt: 'x' })).rejects.toThrow(
      '404 The sandbox, which answers test keys, has no /v1/images/edits',
    )
    for (const fakeProvider of [upstreams.openai, upstreams.aggregator]) expect(fakeProvider.requests).toEqual([])
  })

  test('rate limits and monthly quotas apply', async () => {
    await proxy.stores.database.runScript(`
      insert into plans (
        name, requests_per_minute_per_key, requests_per_minute_per_address, requests_per_month,
        test_requests_per_minute, test_requests_per_month
      )
      values ('one-a-month-passed', 1000, 1000, 1, 1000, 1) on conflict do nothing`)
    const apiKey = await proxy.createKey({ plan: 'one-a-month-passed' })
    const limited = new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
    await limited.moderations.create({ input: 'x' })
    await expect(limited.moderations.create({ input: 'x' })).rejects.toThrow('429 Monthly quota exceeded')
    const nobody = new OpenAI({ baseURL: proxy.baseUrl, apiKey: 'lgw_proj_nobody', maxRetries: 0 })
    await expect(nobody.moderations.create({ input: 'x' })).rejects.toThrow('401')
  })
})
