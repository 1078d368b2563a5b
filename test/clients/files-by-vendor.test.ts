/**
 * Requests that do not name a model are sent to the vendor whose API the client uses, or rejected. The project has keys for all vendors.
 */
import Anthropic, { toFile as toAnthropicFile } from '@anthropic-ai/sdk'
import OpenAI, { toFile } from 'openai'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { AGGREGATOR_KEY } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

type Upstream = 'openai' | 'anthropic' | 'groq' | 'aggregator'
const ALL: readonly Upstream[] = ['openai', 'anthropic', 'groq', 'aggregator']
const SECRETS: Record<Upstream, string> = {
  openai: 'sk-all',
  anthropic: 'sk-ant-all',
  groq: 'gsk-all',
  aggregator: AGGREGATOR_KEY,
}
const SECRET_TEXT = 'only for whom it was meant'
const BETA = 'files-api-2025-04-14'
const OLD_VERSION = { 'anthropic-version': '2023-06-01' }

describeOnce('requests without a model', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let root: string
  let key: string

  beforeAll(async () => {
    root = proxy.rootUrl
  })
  beforeEach(async () => {
    upstreams.reset()
    key = await open(['openai', 'anthropic', 'groq'])
  })

  async function open(vendors: readonly ('openai' | 'anthropic' | 'groq')[]) {
    const project = `p-${crypto.randomUUID()}`
    const key = await proxy.createKey({ project, type: 'project' })
    for (const vendor of vendors) await storeKey(proxy.stores, project, vendor, SECRETS[vendor])
    return key
  }

  const anthropicOf = (apiKey: string, base = '', defaultHeaders = {}) =>
    new Anthropic({ baseURL: root + base, apiKey, maxRetries: 0, defaultHeaders })
  const openAiOf = (apiKey: string, base = '/v1', defaultHeaders = {}) =>
    new OpenAI({ baseURL: root + base, apiKey, maxRetries: 0, defaultHeaders })

  /** Returns the vendors that received requests. */
  const listCalledVendors = () => ALL.filter(name => upstreams[name].requests.length > 0)
  /** Checks that only this vendor received requests, with the project's key for it. */
  function expectAlone(upstream: Upstream): void {
    expect(listCalledVendors()).toEqual([upstream])
    const credentials = upstreams[upstream].requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization)
    const own = upstream === 'anthropic' ? SECRETS.anthropic : `Bearer ${SECRETS[upstream]}`
    expect(new Set(credentials)).toEqual(new Set([own]))
  }

  async function listed(page: AsyncIterable<{ id: string }>): Promise<string[]> {
    const ids: string[] = []
    for await (const { id } of page) ids.push(id)
    return ids
  }

  test.each([
    ['the newest package', (by: Anthropic) => by.files, '', {}],
    ['its beta', (by: Anthropic) => by.beta.files, '', { 'anthropic-beta': BETA }],
    ['an older version’s beta', (by: Anthropic) => by.beta.files, '', { ...OLD_VERSION, 'anthropic-beta': BETA }],
    ['a gateway’s base address', (by: Anthropic) => by.files, '/anthropic', {}],
  ])(
    'Anthropic’s files, by %s: created, retrieved, listed, deleted, only at Anthropic',
    async (_, of, base, headers) => {
      const files = of(anthropicOf(key, base, headers)) as Anthropic['files']
      const content = Buffer.from([0, 255, 13, 10, 45, 45, ...Buffer.from(SECRET_TEXT)])
      const file = await toAnthropicFile(content, 'né.pdf', { type: 'application/pdf' })
      const { data: made, response } = await files.upload({ file, expires_in_seconds: 3_600 }).withResponse()
      expect(made).toMatchObject({ type: 'file', filename: 'né.pdf', mime_type: 'application/pdf' })
      expect(made).toMatchObject({ size_bytes: content.length, downloadable: false })
      expect(Date.parse(made.expires_at ?? '')).toBeGreaterThan(Date.now())
      expect(response.headers.get('x-proxy-provider')).toBe('anthropic')
      expect(await files.retrieveMetadata(made.id)).toEqual(made)
      expect(await listed(files.list())).toEqual([made.id])
      await expect(files.download(made.id)).rejects.toMatchObject({
        status: 400,
        error: {
          type: 'error',
          error: { type: 'invalid_request_error', details: { error_code: 'file_not_downloadable' } },
        },
      })
      expect(await files.delete(made.id)).toEqual({ id: made.id, type: 'file_deleted' })
      expect(await listed(files.list())).toEqual([])
      await expect(files.retrieveMetadata(made.id)).rejects.toMatchObject({
        status: 404,
        error: { type: 'error', error: { type: 'not_found_error' } },
      })
      expectAlone('anthropic')
      // Uploaded, retrieved, not downloaded, deleted. The proxy answers lists itself.
      expect(upstreams.anthropic.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'DELETE'])
    },
  )

  test('a file that a tool created can be retrieved and downloaded by the project whose response named it', async () => {
    const id = 'file_made_by_tool_1'
    const content = [
      { type: 'code_execution_tool_result', tool_use_id: 't', content: { type: 'code_execution_result', content: [] } },
    ]
    const body = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku-4-5', stop_reason: 'end_turn' }
    const usage = { input_tokens: 1, output_tokens: 1 }
    upstreams.anthropic.scriptOnce({
      kind: 'raw',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, usage, content: [...content, { type: 'x', file_id: id }] }),
    })
    const by = anthropicOf(key)
    const messages = [{ role: 'user' as const, content: 'Draw.' }]
    const tools = [{ name: 'draw', input_schema: { type: 'object' as const } }]
    await by.messages.create({ model: 'claude-haiku-4-5', max_tokens: 99, messages, tools })
    const other = anthropicOf(await open(['anthropic']))
    await expect(other.files.download(id)).rejects.toMatchObject({ status: 404 })
    expect(await (await by.files.download(id)).text()).toBe(`Made: ${id}`)
    expect(await by.files.retrieveMetadata(id)).toMatchObject({ id, downloadable: true })
    expect(await listed(by.files.list())).toEqual([id])
    // An id that is not a file at Anthropic remains the project's.
    await expect(by.files.retrieveMetadata('msg_1')).rejects.toMatchObject({ status: 404 })
    const [row] = await proxy.query<{ count: number }>(
      `select count(*)::integer as count from stored_objects where id = 'msg_1'`,
    )
    expect(row?.count).toBe(1)
  })

  test('Anthropic’s lists are paginated in both forms, filtered by ids and by session', async () => {
    const { files } = anthropicOf(key)
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const { id } = await files.upload({ file: await toAnthropicFile(Buffer.from(name), name) })
      ids.unshift(id)
    }
    const [first = '', second = '', third = ''] = ids
    expect(await listed(files.list({ limit: 1 }))).toEqual(ids)
    expect(await listed(files.list({ ids: [third, first, 'file_of_nobody'] }))).toEqual([first, third])
    expect(await listed(anthropicOf(key).beta.files.list({ scope_id: 'session_1' }))).toEqual([])
    const old = async (query: string) => {
      const headers = { 'x-api-key': key, ...OLD_VERSION, 'anthropic-beta': BETA }
      const { json } = await readAnswer(await fetch(`${root}/v1/files?${query}`, { headers }))
      return [json.data.map(({ id }: { id: string }) => id), json.first_id, json.last_id, json.has_more]
    }
    expect(await old('limit=2')).toEqual([[first, second], first, second, true])
    expect(await old(`after_id=${second}`)).toEqual([[third], third, third, false])
    expect(await old(`before_id=${third}&limit=1`)).toEqual([[second], second, second, true])
    const many = Array.from({ length: 101 }, (_, i) => `f${i}`)
    await expect(files.list({ ids: many })).rejects.toMatchObject({ status: 400 })
  })

  test('neither vendor’s client sees the other’s files', async () => {
    const [theirs, ours] = [anthropicOf(key).files, openAiOf(key).files]
    const one = await theirs.upload({ file: await toAnthropicFile(Buffer.from('a'), 'a') })
    const two = await ours.create({ file: await toFile(Buffer.from('b'), 'b'), purpose: 'user_data' })
    expect(await listed(theirs.list())).toEqual([one.id])
    expect(await listed(ours.list())).toEqual([two.id])
    upstreams.reset()
    const attempts = await Promise.allSettled<unknown>([
      theirs.retrieveMetadata(two.id),
      theirs.download(two.id),
      theirs.delete(two.id),
      ours.retrieve(one.id),
      ours.content(one.id),
      ours.delete(one.id),
    ])
    for (const attempt of attempts) expect(attempt).toMatchObject({ status: 'rejected', reason: { status: 404 } })
    expect(listCalledVendors()).toEqual([])
  })

  test('another project has none of Anthropic’s files, in the same account', async () => {
    const { id } = await anthropicOf(key).files.upload({ file: await toAnthropicFile(Buffer.from('a'), 'a') })
    const { files, messages } = anthropicOf(await open(['anthropic']))
    upstreams.reset()
    for (const way of ['retrieveMetadata', 'download', 'delete'] as const)
      await expect(files[way](id)).rejects.toMatchObject({ status: 404 })
    expect(await listed(files.list())).toEqual([])
    const source = { type: 'file', file_id: id }
    const content = [{ type: 'document', source }] as never
    const asking = messages.create({ model: 'claude-haiku-4-5', max_tokens: 9, messages: [{ role: 'user', content }] })
    await expect(asking).rejects.toMatchObject({ status: 404 })
    expect(listCalledVendors()).toEqual([])
  })

  test('without Anthropic’s key its client’s file is not sent, and the error in its format says why', async () => {
    const bare = await open(['openai', 'groq'])
    const { files } = anthropicOf(bare)
    const file = await toAnthropicFile(Buffer.from(SECRET_TEXT), 'a')
    for (const attempt of [
      () => files.upload({ file }),
      () => anthropicOf(bare, '/anthropic').files.upload({ file }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({
        status: 404,
        error: {
          type: 'error',
          error: { type: 'not_found_error', message: expect.stringMatching(/Anthropic.*no key/) },
        },
      })
    }
    expect(await listed(files.list())).toEqual([])
    await expect(anthropicOf(await proxy.createKey({ type: 'test' })).files.upload({ file })).rejects.toThrow('sandbox')
    expect(listCalledVendors()).toEqual([])
  })

  const line = (model: string) =>
    JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: { model, messages: [] } })
  const GROQS = { 'user-agent': 'Groq/JS 0.37.0' }
  const input = (...models: string[]) => Buffer.from(models.map(line).join('\n'))

  test.each([
    ['OpenAI’s', '/v1', {}, ['gpt-4o-mini'], 'openai'],
    ['OpenAI’s', '/v1', {}, ['gpt-4o-mini', 'o3-mini'], 'openai'],
    ['OpenAI’s', '/v1', {}, ['llama-3.3-70b-versatile'], 'groq'],
    ['OpenAI’s', '/v1', {}, ['google/gemini-2.5-flash'], 'aggregator'],
    ['OpenAI’s', '/v1', {}, ['a-name-of-nobody'], 'openai'],
    ['Azure’s', '/openai', {}, ['gpt-4o-mini'], 'openai'],
    ['Groq’s', '/openai/v1', GROQS, ['llama-3.3-70b-versatile'], 'groq'],
    ['OpenRouter’s', '/api/v1', {}, ['google/gemini-2.5-flash'], 'aggregator'],
    ['OpenAI’s', '/v1', {}, ['claude-haiku-4-5'], 'anthropic: send them to POST /v1/messages/batches'],
    ['OpenAI’s', '/v1', {}, ['gpt-4o-mini', 'llama-3.3-70b-versatile'], 'models of openai and of groq'],
    ['Groq’s', '/openai/v1', GROQS, ['gpt-4o-mini'], 'name models of openai'],
    ['OpenRouter’s', '/api/v1', {}, ['gpt-4o-mini'], 'name models of openai'],
    ['Gemini’s', '/v1beta/openai', {}, ['gemini-2.5-flash'], 'Google'],
  ] as [string, string, Record<string, string>, string[], string][])(
    'a batch’s file of %s client under %s%j for %j: %s',
    async (_, base, headers, models, goesTo) => {
      const { files, batches } = openAiOf(key, base, headers)
      const upload = files.create({ file: await toFile(input(...models), 'in.jsonl'), purpose: 'batch' })
      if (!ALL.some(name => name === goesTo)) {
        await expect(upload).rejects.toMatchObject({ message: expect.stringContaining(goesTo) })
        return expect(listCalledVendors()).toEqual([])
      }
      const { id } = await upload
      const asking = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const
      const batch = await batches.create(asking)
      await batches.cancel(batch.id)
      await files.content(id)
      expect(await listed(files.list())).toEqual([id])
      expectAlone(goesTo as Upstream)
    },
  )

  test('a client that names a vendor sees only that vendor’s files', async () => {
    const file = await toFile(Buffer.from(SECRET_TEXT), 'a')
    const ids: Record<string, string> = {}
    for (const [upstream, base, headers] of [
      ['openai', '/v1', {}],
      ['groq', '/openai/v1', GROQS],
      ['aggregator', '/api/v1', {}],
    ] as const) {
      upstreams.reset()
      ids[upstream] = (await openAiOf(key, base, headers).files.create({ file, purpose: 'user_data' })).id
      expectAlone(upstream)
    }
    const groqs = openAiOf(key, '/openai/v1', GROQS)
    expect(await listed(groqs.files.list())).toEqual([ids.groq])
    expect(await listed(openAiOf(key, '/api/v1').files.list())).toEqual([ids.aggregator])
    upstreams.reset()
    await expect(groqs.files.retrieve(ids.openai ?? '')).rejects.toThrow('404')
    await expect(groqs.files.delete(ids.aggregator ?? '')).rejects.toThrow('404')
    const asking = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const
    await expect(groqs.batches.create({ ...asking, input_file_id: ids.openai ?? '' })).rejects.toThrow('404')
    await expect(openAiOf(key, '/v1beta/openai').files.list()).rejects.toThrow('404')
    await expect(openAiOf(await open(['openai']), '/openai/v1', GROQS).files.list()).rejects.toThrow('404')
    expect(listCalledVendors()).toEqual([])
  })

  /** Endpoints that accept a request without a model. */
  const NAMELESS: [method: string, path: string, body?: object][] = [
    ['POST', '/images/generations', { prompt: SECRET_TEXT }],
    ['POST', '/images/edits', { prompt: SECRET_TEXT, image: 'x' }],
    ['POST', '/images/variations', { image: SECRET_TEXT }],
    ['POST', '/moderations', { input: SECRET_TEXT }],
    ['POST', '/batches', { input_file_id: 'file_1', endpoint: '/v1/responses', completion_window: '24h' }],
    ['GET', '/batches'],
    ['GET', '/batches/batch_1'],
    ['GET', '/responses/resp_of_nobody'],
    ['DELETE', '/responses/resp_of_nobody'],
    ['POST', '/responses/resp_of_nobody/cancel'],
    ['GET', '/responses/resp_of_nobody/input_items'],
    ['GET', '/vector_stores'],
    ['POST', '/uploads', { filename: SECRET_TEXT }],
    ['POST', '/skills', { name: SECRET_TEXT }],
    ['GET', '/realtime'],
    ['GET', '/files/file_1'],
  ]

  test.each(NAMELESS)('%s %s of Anthropic’s client reaches no vendor', async (method, path, body) => {
    for (const [base, headers] of [
      ['/v1', OLD_VERSION],
      ['/v1', { 'anthropic-beta': BETA }],
      ['/anthropic/v1', {}],
    ] as const) {
      const sent = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
      const request = { method, headers: sent, ...(body ? { body: JSON.stringify(body) } : {}) }
      const { status, json } = await readAnswer(await fetch(root + base + path, request))
      if (method === 'GET' && path === '/batches') expect(status).toBe(404)
      expect([status >= 400 && status < 500, typeof json.error.message]).toEqual([true, 'string'])
    }
    expect(listCalledVendors()).toEqual([])
  })
})
