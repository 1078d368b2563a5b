/** Files and batches of OpenAI's package. Only one project sees them, although other projects share its account at the provider. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { shortenEndUser } from '../../src/formats/end-user.ts'
import { describeOnce } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const batchLine = (body: object, id = 0) =>
  JSON.stringify({ custom_id: `${id}`, method: 'POST', url: '/v1/chat/completions', body })
const line = (id: number, model = 'gpt-4o-mini') => batchLine({ model, messages: [] }, id)
const GROQS = 'llama-3.3-70b-versatile'
const lines = (count: number) =>
  toFile(Buffer.from(`${Array.from({ length: count }, (_, i) => line(i)).join('\n')}\n\n`), 'in.jsonl')

describeOnce('files and batches', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let project: string
  let client: OpenAI
  let other: OpenAI

  beforeEach(async () => {
    upstreams.reset()
    project = `p-${crypto.randomUUID()}`
    client = await connect({ project })
    other = await connect({})
  })

  async function connect(options: { project?: string; type?: 'project' | 'test'; plan?: string }): Promise<OpenAI> {
    const apiKey = await proxy.createKey({ type: 'project', ...options })
    return new OpenAI({ baseURL: proxy.baseUrl, apiKey, maxRetries: 0 })
  }

  const upload = async (by = client, count = 2) => by.files.create({ file: await lines(count), purpose: 'batch' })
  const start = (input_file_id: string, by = client) =>
    by.batches.create({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' })

  async function listed<T extends { id: string }>(page: AsyncIterable<T>): Promise<string[]> {
    const ids: string[] = []
    for await (const { id } of page) ids.push(id)
    return ids
  }

  async function counted(of = project): Promise<number> {
    await proxy.settle()
    const [row] = await proxy.query<{ used: number }>(`
      select coalesce(sum(c.requests), 0)::integer as used from monthly_counters c
      join projects p on p.id = c.project_id where p.name = '${of}'`)
    return row?.used ?? 0
  }

  describe.each(['openai', 'aggregator'] as const)('stored by %s', keeper => {
    beforeEach(async () => {
      if (keeper === 'openai') await storeKey(proxy.stores, project, 'openai', 'sk-shared')
    })
    const fakeProvider = () => upstreams[keeper]

    test('a file: created, retrieved, read, listed, deleted', async () => {
      const { data: file, response } = await client.files
        .create({ file: await toFile(Buffer.from('hello'), 'hello.txt'), purpose: 'user_data' })
        .withResponse()
      expect(file).toMatchObject({ object: 'file', filename: 'hello.txt', bytes: 5, purpose: 'user_data' })
      expect(response.headers.get('x-proxy-provider')).toBe(keeper === 'openai' ? 'openai' : 'openrouter')
      expect(await client.files.retrieve(file.id)).toEqual(file)
      expect(await (await client.files.content(file.id)).text()).toBe('hello')
      const second = await upload()
      expect(await listed(client.files.list())).toEqual([second.id, file.id])
      expect(await listed(client.files.list({ order: 'asc', limit: 1 }))).toEqual([file.id, second.id])
      expect(await listed(client.files.list({ purpose: 'batch' }))).toEqual([second.id])
      expect(await client.files.delete(file.id)).toMatchObject({ id: file.id, deleted: true })
      expect(await listed(client.files.list())).toEqual([second.id])
      await expect(client.files.retrieve(file.id)).rejects.toThrow(`404 No such File object: ${file.id}`)
      // Each of the two uploads counts; other requests do not.
      expect(await counted()).toBe(2)
    })

    test('a file in a question counts: the same again is a HIT, another is a MISS', async () => {
      const [one, another] = [await upload(), await upload()]
      const ask = async (file_id: string) => {
        const content = [{ type: 'file' as const, file: { file_id } }]
        const completion = client.chat.completions.create({
          model: 'gpt-4o-mini',
          messages: [{ role: 'user', content }],
        })
        return (await completion.withResponse()).response.headers.get('x-proxy-cache')
      }
      expect(await ask(one.id)).toBe('MISS')
      expect(await ask(one.id)).toBe('HIT')
      expect(await ask(another.id)).toBe('MISS')
    })

    test('a batch: started, followed to its end, its results read, its tokens recorded once', async () => {
      const file = await upload(client, 3)
      const params = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const
      const batch = await client.batches.create({ ...params, metadata: { user_id: 'x'.repeat(200) } })
      expect(batch).toMatchObject({ object: 'batch', status: 'validating', input_file_id: file.id })
      expect((await client.batches.retrieve(batch.id)).status).toBe('in_progress')
      const [done] = (await client.batches.list()).data
      expect(done).toMatchObject({ id: batch.id, status: 'completed' })
      const output = done?.output_file_id ?? ''
      expect(await (await client.files.content(output)).text()).toContain('custom_id')
      expect(await listed(client.files.list({ purpose: 'batch_output' }))).toEqual([output])
      await Promise.all(Array.from({ length: 5 }, () => client.batches.retrieve(batch.id)))
      await proxy.settle()
      const records = await proxy.query(`
        select endpoint, model, prompt_tokens, cost_usd::double precision as cost, end_user from usage_records u
        join projects p on p.id = u.project_id where p.name = '${project}' and prompt_tokens > 0`)
      const cost = keeper === 'openai' ? 0.375 : 0.75
      expect(records).toEqual([
        {
          endpoint: 'batches',
          model: 'gpt-4o-mini-2024-07-18',
          prompt_tokens: 1_000_000,
          cost: expect.closeTo(cost, 6),
          end_user: shortenEndUser('x'.repeat(200)),
        },
      ])
      // The file, and the batch's three requests.
      expect(await counted()).toBe(4)
    })

    test('cancelled', async () => {
      const batch = await start((await upload()).id)
      expect((await client.batches.cancel(batch.id)).status).toBe('cancelling')
    })

    test('another project has none of it, in the same account', async () => {
      if (keeper === 'openai') {
        const name = `p-${crypto.randomUUID()}`
        other = await connect({ project: name })
        await storeKey(proxy.stores, name, 'openai', 'sk-shared')
      }
      const file = await upload()
      const batch = await start(file.id)
      const own = await upload(other)
      fakeProvider().requests.length = 0
      const attempts = await Promise.allSettled<unknown>([
        other.files.retrieve(file.id),
        other.files.content(file.id),
        other.files.delete(file.id),
        other.batches.retrieve(batch.id),
        other.batches.cancel(batch.id),
        start(file.id, other),
        // An id of the other kind is not found.
        client.batches.retrieve(file.id),
        client.files.retrieve(batch.id),
      ])
      for (const attempt of attempts) expect(attempt).toMatchObject({ status: 'rejected', reason: { status: 404 } })
      expect(await listed(other.files.list())).toEqual([own.id])
      expect(await listed(other.batches.list())).toEqual([])
      expect(await listed(other.files.list({ after: file.id }))).toEqual([])
      expect(fakeProvider().requests).toEqual([])
    })
  })

  /** Returns requests at every endpoint that name a file, and the upload of a batch input that names it. */
  function naming(file_id: string, by: OpenAI): (() => Promise<unknown>)[] {
    const model = 'gpt-4o-mini'
    const anthropic = new Anthropic({ baseURL: by.baseURL.replace(/\/v1$/, ''), apiKey: by.apiKey, maxRetries: 0 })
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: [{ type: 'input_file', file_id }] }]
    const messages = [{ role: 'user' as const, content: [{ type: 'file' as const, file: { file_id } }] }]
    const source = { type: 'file' as const, file_id }
    const params = { model, messages: [{ role: 'user' as const, content: [{ type: 'document' as const, source }] }] }
    const filler = 'word '.repeat(60_000)
    return [
      () => by.chat.completions.create({ model, messages }),
      () => by.chat.completions.create({ model, messages: [{ role: 'system', content: filler }, ...messages] }),
      () => by.chat.completions.create({ model, messages, stream: true }),
      () => by.responses.create({ model, input }),
      () => by.responses.create({ model, input, store: false, stream: true }),
      () => by.responses.inputTokens.count({ model, input }),
      () => anthropic.beta.messages.create({ ...params, max_tokens: 5 }),
      () => anthropic.beta.messages.countTokens(params),
      () => by.post('/images/edits', { body: { model: 'gpt-image-1', prompt: 'x', images: [{ file_id }] } }),
      async () => {
        const line = batchLine({ model, messages }).replaceAll('file_id', '\\u0066ile_id')
        return by.files.create({
          file: await toFile(Buffer.from(`${batchLine({ model, messages: [] })}\n${line}`), 'in.jsonl'),
          purpose: 'batch',
        })
      },
    ]
  }

  test.each(['openai', 'aggregator'] as const)(
    'rejects a request that names another project’s file to %s',
    async keeper => {
      const name = `p-${crypto.randomUUID()}`
      other = await connect({ project: name })
      if (keeper === 'openai')
        for (const owner of [project, name]) await storeKey(proxy.stores, owner, 'openai', 'sk-shared')
      const { id } = await upload()
      upstreams[keeper].requests.length = 0
      for (const attempt of naming(id, other)) {
        await expect(attempt()).rejects.toMatchObject({
          status: 404,
          message: expect.stringContaining('POST /v1/files'),
        })
      }
      expect(upstreams[keeper].requests).toEqual([])
      const [chat, large, , response] = naming(id, client)
      await Promise.all([chat?.(), large?.(), response?.()])
      expect(await counted(name)).toBe(0)
      // The file was uploaded without the proxy. With the project's provider key it belongs to the project; with the shared key its owner is
      // unknown.
      const elsewhere = naming('file-elsewhere', client)[0]?.()
      if (keeper === 'openai') await elsewhere
      else await expect(elsewhere).rejects.toMatchObject({ status: 404 })
    },
  )

  test('responses stored under a shared key can be referred to by no project', async () => {
    const model = 'openai/gpt-4o-mini'
    const ask = (given: object) => client.post('/responses', { body: { model, input: 'Hi', ...given } })
    const tools = [{ type: 'file_search', vector_store_ids: ['vs_1'] }]
    for (const given of [{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { tools }]) {
      await expect(ask(given)).rejects.toThrow('400')
    }
    const spoken = [
      { role: 'assistant', audio: { id: 'audio_1' } },
      { role: 'user', content: 'Go on.' },
    ]
    await expect(client.post('/chat/completions', { body: { model, messages: spoken } })).rejects.toThrow(
      '400 messages[0]',
    )
    await expect(
      client.post('/audio/speech', { body: { model, input: 'Hi', voice: { id: 'voice_1' } } }),
    ).rejects.toThrow('400 voice')
    const picture = batchLine({ model, input: [{ type: 'image_generation_call', id: 'ig_1' }] })
    const file = await toFile(Buffer.from(picture), 'in.jsonl')
    await expect(client.files.create({ file, purpose: 'batch' })).rejects.toThrow('400 input[0].id')
    expect(upstreams.aggregator.requests).toEqual([])
  })

  test('starts a batch only over a file of requests', async () => {
    for (const purpose of ['user_data', 'batch ']) {
      const file = await client.files.create({ file: await lines(3), purpose: purpose as 'user_data' })
      upstreams.aggregator.requests.length = 0
      await expect(start(file.id)).rejects.toThrow('400 input_file_id must be a file with one request per line')
      expect(upstreams.aggregator.requests).toEqual([])
    }
    // The two files.
    expect(await counted()).toBe(2)
  })

  test('a batch counts as many requests as its file contains, or is not started', async () => {
    await proxy.stores.database.runScript(`
      insert into plans (
        name, requests_per_minute_per_key, requests_per_minute_per_address, requests_per_month,
        test_requests_per_minute, test_requests_per_month
      )
      values ('ten-a-month', 1000, 1000, 10, 1000, 1) on conflict do nothing`)
    project = `p-${crypto.randomUUID()}`
    client = await connect({ project, plan: 'ten-a-month' })
    const large = await upload(client, 10)
    await expect(start(large.id)).rejects.toThrow('429 Monthly quota exceeded')
    expect(await counted()).toBe(1)
    const small = await upload(client, 4)
    upstreams.aggregator.scriptOnce({ kind: 'error', status: 400, message: 'No.' })
    await expect(start(small.id)).rejects.toThrow('400 No.')
    expect(await counted()).toBe(2)
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => start(small.id)))
    const started = outcomes.filter(({ status }) => status === 'fulfilled').length
    expect(started).toBeGreaterThan(0)
    expect(await counted()).toBe(2 + 4 * started)
    // Each concurrent start first reserves one request, so that possibly only one batch starts. A later start then uses the rest of the
    // quota.
    if (started === 1) await start(small.id)
    await expect(start(small.id)).rejects.toThrow('429 Monthly quota exceeded')
    expect(await counted()).toBe(10)
  })

  test('reports text that PostgreSQL cannot store, wherever it is', async () => {
    const file_id = 'file-\u0000'
    await proxy.query(`update projects set cache_feedback = 'any'`)
    const messages = [{ role: 'user' as const, content: [{ type: 'file' as const, file: { file_id } }] }]
    const requests = [
      () => client.files.list({ after: file_id }),
      () => client.files.list({ purpose: '\u0000' }),
      () => start(file_id),
      () => client.chat.completions.create({ model: 'openai/gpt-4o-mini', messages }),
      () => client.post('/cache/feedback', { body: { request_id: '\u0000', verdict: 'right' } }),
    ]
    for (const ask of requests) await expect(ask()).rejects.toMatchObject({ status: 400 })
  })

  test('reports invalid requests', async () => {
    const post = (body: string, type: string) =>
      fetch(`${proxy.baseUrl}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.apiKey}`, 'content-type': type },
        body,
      })
    expect((await post('{}', 'application/json')).status).toBe(400)
    const field = '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--'
    expect((await post(field, 'multipart/form-data; boundary=b')).status).toBe(400)
    await expect(client.batches.list({ limit: 101 })).rejects.toThrow('400 limit must be a whole number from 1 to 100')
    const put = await fetch(`${proxy.baseUrl}/files/file-1`, { method: 'PUT' })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, DELETE'])
    expect(await counted()).toBe(0)
  })

  test('without a provider that stores files, or after its key was removed', async () => {
    const tester = await connect({ project, type: 'test' })
    await expect(upload(tester)).rejects.toThrow('404 The sandbox, which answers test keys, has no /v1/files')
    await expect(tester.files.list()).rejects.toThrow('404')
    await expect(start('file-1', tester)).rejects.toThrow('404 The sandbox')
    await storeKey(proxy.stores, project, 'groq', 'gsk-own')
    const file = await client.files.create({ file: await toFile(Buffer.from(line(0, GROQS)), 'a'), purpose: 'batch' })
    expect(upstreams.groq.requests.map(({ path }) => path)).toEqual(['/v1/files'])
    await proxy.query(`delete from provider_keys`)
    await expect(client.files.retrieve(file.id)).rejects.toThrow('404 This file or batch was created with the project')
    const { AGGREGATOR_API_KEY: _, AGGREGATOR_BASE_URL: _address, ...environment } = upstreams.environment
    const bare = await startProxy({ stores: proxy.stores, environment })
    const alone = new OpenAI({ baseURL: bare.baseUrl, apiKey: client.apiKey, maxRetries: 0 })
    await expect(upload(alone)).rejects.toThrow('503 No upstream is configured for files and batches')
    await bare.stop()
  })

  test('forgets a file that its provider no longer has', async () => {
    const file = await upload()
    upstreams.aggregator.scriptOnce({ kind: 'error', status: 404, message: 'No such File object.' })
    await expect(client.files.retrieve(file.id)).rejects.toThrow('404')
    expect(await listed(client.files.list())).toEqual([])
  })

  test('deletes a file that could not be recorded for its project', async () => {
    await proxy.query(`alter table stored_objects add constraint none check (id = '') not valid`)
    await expect(upload()).rejects.toThrow('503')
    await proxy.query(`alter table stored_objects drop constraint none`)
    expect(upstreams.aggregator.requests.map(({ method }) => method)).toEqual(['POST', 'DELETE'])
    expect(await counted()).toBe(0)
  })
})
