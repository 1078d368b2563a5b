/** Objects that only OpenAI stores: each belongs to one project, although projects share an account there. */
import OpenAI, { toFile } from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { traitsOf } from '../../src/providers/stored-object-collections.ts'
import { describeBackends } from '../harness/backends.ts'
import { get, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { startFakeAccount } from './stored-objects/fake-account.ts'

const NEW_OBJECTS = {
  conversations: { metadata: { topic: 'demo' } },
  vector_stores: { name: 'Manuals' },
  containers: { name: 'Sums' },
  uploads: { filename: 'a.txt', purpose: 'user_data', bytes: 3, mime_type: 'text/plain' },
  videos: { prompt: 'A calico cat', model: 'sora-2' },
}
type OpenAiCollection = keyof typeof NEW_OBJECTS
const COLLECTIONS = Object.keys(NEW_OBJECTS) as OpenAiCollection[]
const LISTED = COLLECTIONS.filter(name => traitsOf(name).actions['']?.GET?.lists)

describeBackends('objects at OpenAI', backend => {
  const upstreams = duringTests(startUpstreams)
  const openai = duringTests(startFakeAccount)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, OPENAI_BASE_URL: openai.baseUrl } }),
  )
  let keys: { mine: string; theirs: string; keyless: string; tried: string }

  beforeEach(async () => {
    openai.reset()
    const [mine, theirs] = [`b-${crypto.randomUUID()}`, `b-${crypto.randomUUID()}`]
    // Both projects share one account.
    for (const project of [mine, theirs]) {
      await proxy.createKey({ project, type: 'project' })
      await storeKey(proxy.stores, project, 'openai', 'sk-shared-account')
    }
    keys = {
      mine: await proxy.createKey({ project: mine, type: 'project' }),
      theirs: await proxy.createKey({ project: theirs, type: 'project' }),
      keyless: await proxy.createKey({ type: 'project' }),
      tried: await proxy.createKey({ project: mine, type: 'test' }),
    }
  })

  const json = async (response: Promise<Response>) => readAnswer(await response)
  const make = async (collection: OpenAiCollection, as = keys.mine) => {
    const answer = await json(post(proxy, as, `/${collection}`, { ...NEW_OBJECTS[collection] }))
    expect([collection, answer.status]).toEqual([collection, 200])
    return answer.json.id as string
  }
  const ask = (method: string, path: string, as: string, body?: object) =>
    json(
      fetch(`${proxy.baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )

  describe.each(COLLECTIONS)('%s', collection => {
    test('are created under the project’s own key, and count', async () => {
      const id = await make(collection)
      expect(openai.requests.map(({ method, path, key }) => [method, path, key])).toEqual([
        ['POST', `/v1/${collection}`, 'Bearer sk-shared-account'],
      ])
      expect(openai.requests[0]?.body).toEqual(NEW_OBJECTS[collection])
      await proxy.settle()
      const records = await proxy.query<{ endpoint: string; provider: string }>(
        `select endpoint, provider from usage_records order by recorded_at desc limit 1`,
      )
      expect(records).toEqual([{ endpoint: collection, provider: 'openai' }])
      expect(id).toMatch(/^\w+$/)
    })

    test('need the project’s own OpenAI key, and a client of OpenAI', async () => {
      const missing = await ask('POST', `/${collection}`, keys.keyless, NEW_OBJECTS[collection])
      expect([missing.status, missing.json.error.message]).toEqual([404, expect.stringContaining('has stored none')])
      const tried = await ask('POST', `/${collection}`, keys.tried, NEW_OBJECTS[collection])
      expect([tried.status, tried.json.error.message]).toEqual([404, expect.stringContaining('sandbox')])
      const elsewhere = await json(
        post(
          proxy,
          keys.mine,
          `/${collection}`,
          { ...NEW_OBJECTS[collection] },
          { headers: { 'anthropic-version': '1' } },
        ),
      )
      expect([elsewhere.status, elsewhere.text]).toEqual([404, expect.stringContaining('anthropic')])
      expect(openai.requests).toEqual([])
      expect(upstreams.aggregator.requests).toEqual([])
    })

    test('a request with a cost is rejected if a budget applies, and nothing is created', async () => {
      const [project] = await proxy.query<{ name: string }>(
        `select p.name from api_keys k join projects p on p.id = k.project_id where k.id = find_key('${keys.mine}')`,
      )
      await proxy.query(`select set_budget('${project?.name}', 'usd', 1000, 'month')`)
      const answer = await ask('POST', `/${collection}`, keys.mine, NEW_OBJECTS[collection])
      const isCostly = traitsOf(collection).actions['']?.POST?.costs ?? false
      expect([collection, answer.status, openai.requests.length]).toEqual([
        collection,
        isCostly ? 400 : 200,
        isCostly ? 0 : 1,
      ])
      if (isCostly) expect(answer.json.error.message).toContain('cannot be estimated in advance')
    })
  })

  test.each(LISTED)(
    '%s: lists contain the project’s own, newest first, in OpenAI’s current state',
    async collection => {
      const [first, second] = [await make(collection), await make(collection)]
      await make(collection, keys.theirs)
      openai.change(second, { status: 'changed' })
      const { json: listed } = await json(get(proxy, `/${collection}`, keys.mine))
      expect(listed).toMatchObject({
        object: 'list',
        data: [{ id: second, status: 'changed' }, { id: first }],
        has_more: false,
      })
      const { json: page } = await json(get(proxy, `/${collection}?limit=1&after=${second}`, keys.mine))
      expect(page).toMatchObject({ data: [{ id: first }], first_id: first, has_more: false })
      expect((await ask('DELETE', `/${collection}/${second}`, keys.theirs)).status).toBe(404)
      expect((await ask('DELETE', `/${collection}/${second}`, keys.mine)).status).toBe(200)
      expect((await json(get(proxy, `/${collection}`, keys.mine))).json.data).toHaveLength(1)
    },
  )

  test('a body may refer only to the project’s own objects', async () => {
    const theirs = await make('vector_stores', keys.theirs)
    const theirVideo = await make('videos', keys.theirs)
    const mine = await make('vector_stores')
    const file = await new OpenAI({ baseURL: proxy.baseUrl, apiKey: keys.theirs }).files.create({
      file: await toFile(Buffer.from('abc'), 'a.txt'),
      purpose: 'user_data',
    })
    openai.requests.length = 0
    for (const [path, body] of [
      [`/vector_stores/${mine}/files`, { file_id: file.id }],
      [`/vector_stores/${mine}/file_batches`, { files: [{ file_id: file.id }] }],
      ['/containers', { name: 'x', file_ids: [file.id] }],
      ['/videos', { prompt: 'x', input_reference: { file_id: file.id } }],
      ['/videos', { prompt: 'x', characters: [{ id: theirVideo }] }],
      ['/videos', { prompt: 'x', video: { id: theirVideo } }],
      ['/conversations', { items: [{ type: 'item_reference', id: theirs }] }],
      ['/conversations', { items: [{ role: 'user', content: [{ type: 'input_file', file_id: file.id }] }] }],
      [
        '/responses',
        { model: 'gpt-4o-mini', input: 'x', tools: [{ type: 'file_search', vector_store_ids: [theirs] }] },
      ],
    ] as const) {
      const refused = await ask('POST', path, keys.mine, body)
      expect([path, JSON.stringify(body), refused.status]).toEqual([path, JSON.stringify(body), 404])
    }
    expect(openai.requests).toEqual([])
  })

  test('the openai package with its defaults: a conversation, a video’s bytes, an upload that becomes a file', async () => {
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: keys.mine, maxRetries: 0 })
    const conversation = await client.conversations.create()
    await client.conversations.items.create(conversation.id, {
      items: [{ type: 'message', role: 'user', content: 'Hello' }],
    })
    expect((await client.conversations.retrieve(conversation.id)).id).toBe(conversation.id)
    const video = await client.videos.create({
      prompt: 'A cat',
      input_reference: await toFile(Buffer.from('p'), 'p.png'),
    })
    expect(await (await client.videos.downloadContent(video.id)).text()).toBe('bytes of content')
    const remixed = await client.videos.remix(video.id, { prompt: 'Two cats' })
    expect((await json(get(proxy, `/videos/${remixed.id}`, keys.theirs))).status).toBe(404)
    const upload = await client.uploads.create({
      ...{ filename: 'a.txt', purpose: 'user_data', bytes: 3, mime_type: 'text/plain' },
    })
    const part = await client.uploads.parts.create(upload.id, { data: await toFile(Buffer.from('abc'), 'a.txt') })
    const foreign = { filename: 'b.txt', purpose: 'user_data', bytes: 3, mime_type: 'text/plain' }
    const other = await json(post(proxy, keys.theirs, '/uploads', foreign))
    const taken = await json(post(proxy, keys.theirs, `/uploads/${other.json.id}/complete`, { part_ids: [part.id] }))
    expect([other.status, taken.status]).toEqual([200, 404])
    const completed = await client.uploads.complete(upload.id, { part_ids: [part.id] })
    const id = completed.file?.id ?? ''
    expect((await client.files.retrieve(id)).id).toBe(id)
    expect((await json(get(proxy, `/files/${id}`, keys.theirs))).status).toBe(404)
    const inParts = client.uploads.create({
      ...{ filename: 'b.jsonl', purpose: 'batch' as const, bytes: 3, mime_type: 'application/jsonl' },
    })
    await expect(inParts).rejects.toThrow('send it whole')
  })

  test('does not forward paths that OpenAI may have and this proxy has not', async () => {
    for (const path of [
      '/videos/characters',
      '/vector_stores/vs_1/secrets',
      '/uploads/u_1/parts/p_1',
      '/containers/a/b/c/d/e',
    ])
      expect([path, [404, 405].includes((await ask('POST', path, keys.mine, {})).status)]).toEqual([path, true])
    expect(openai.requests).toEqual([])
  })

  test('a model that the key may not use creates no video', async () => {
    const project = `b-${crypto.randomUUID()}`
    const narrowed = await proxy.createKey({ project, type: 'project', settings: { allowed_models: 'gpt-4o*' } })
    await storeKey(proxy.stores, project, 'openai', 'sk-shared-account')
    for (const body of [{ prompt: 'x' }, { prompt: 'x', model: 'sora-2-pro' }])
      expect((await ask('POST', '/videos', narrowed, body)).status).toBe(403)
    expect(openai.requests).toEqual([])
  })

  describe('/v1/responses/compact', () => {
    const body = { model: 'gpt-4o-mini', input: [{ role: 'user', content: 'Long ago.' }] }

    test('is forwarded to OpenAI, and costs what OpenAI reports', async () => {
      const answer = await ask('POST', '/responses/compact', keys.mine, body)
      expect([answer.status, answer.json.object]).toEqual([200, 'response.compaction'])
      expect(Number(answer.headers.get('x-proxy-cost-usd'))).toBeCloseTo(0.15 + 0.06, 9)
      expect(openai.requests.map(({ path, body: sent }) => [path, sent])).toEqual([['/v1/responses/compact', body]])
    })

    test('is reserved before it is sent', async () => {
      const [project] = await proxy.query<{ name: string }>(
        `select p.name from api_keys k join projects p on p.id = k.project_id where k.id = find_key('${keys.mine}')`,
      )
      await proxy.query(`select set_budget('${project?.name}', 'usd', 0.0001, 'month')`)
      const answer = await ask('POST', '/responses/compact', keys.mine, body)
      expect([answer.status, answer.json.error.code]).toEqual([429, 'insufficient_quota'])
      expect(openai.requests).toEqual([])
    })

    test('is rejected for other models, and with other projects’ objects', async () => {
      for (const [as, model] of [
        [keys.keyless, 'openai/gpt-4o-mini'],
        [keys.mine, 'openai/gpt-4o-mini'],
      ] as const) {
        const answer = await ask('POST', '/responses/compact', as, { ...body, model })
        expect([answer.status, answer.json.error.message]).toEqual([404, expect.stringContaining('OpenAI’s')])
      }
      expect((await ask('POST', '/responses/compact', keys.tried, body)).status).toBe(404)
      const theirs = await make('conversations', keys.theirs)
      openai.requests.length = 0
      const named = await ask('POST', '/responses/compact', keys.mine, { ...body, previous_response_id: theirs })
      expect(named.status).toBe(404)
      expect(openai.requests).toEqual([])
      expect(upstreams.aggregator.requests).toEqual([])
    })
  })

  test('rejects a WebSocket at /v1/responses, so that its client falls back', async () => {
    const headers = {
      authorization: `Bearer ${keys.mine}`,
      ...{ connection: 'Upgrade', upgrade: 'websocket' },
      ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    }
    const response = await fetch(`${proxy.baseUrl}/responses`, { headers })
    expect([response.status, await response.text()]).toEqual([426, expect.stringContaining('POST /v1/responses')])
    expect((await fetch(`${proxy.baseUrl}/responses`)).status).toBe(405)
  })
})
