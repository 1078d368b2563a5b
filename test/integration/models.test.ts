import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { describeOnce, describeReal, type Stores } from '../harness/backends.ts'
import { bareEnvironment } from '../harness/bare-environment.ts'
import { get as getFrom, post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

interface Listed {
  object: string
  data: { id: string; object: string; created: number; owned_by: string; capabilities: string[]; kind: string }[]
}

const upstreams = duringTests(startUpstreams)

describeOnce('GET /v1/models', backend => {
  let stores: Stores
  let proxy: TestProxy
  let project: string
  let key: string

  beforeEach(async () => {
    if (proxy) await proxy.stop()
    stores = await backend.open()
    proxy = await startProxy({ stores, environment: upstreams.environment })
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })
  afterAll(() => proxy.stop())

  const get = (path: string, asking = key, from = proxy) => getFrom(from, path, asking)
  const list = async (asking = key, from = proxy) => (await (await get('/models', asking, from)).json()) as Listed
  const ids = ({ data }: Listed) => data.map(model => model.id)

  test('lists the aggregator’s models, and those of providers whose key the project has stored', async () => {
    const without = ids(await list())
    expect(without).toContain('openai/gpt-4o-mini')
    expect(without).not.toContain('gpt-4o-mini')
    await storeKey(stores, project, 'openai', 'sk-own')
    await storeKey(stores, project, 'anthropic', 'sk-own')
    const listed = await list()
    expect(ids(listed)).toEqual(
      expect.arrayContaining(['gpt-4o-mini', 'claude-haiku-4-5', 'text-embedding-3-small', ...without]),
    )
    expect(ids(listed)).not.toContain('llama-3.1-8b-instant')
    expect(ids(listed)).toEqual([...new Set(ids(listed))].sort())
    expect(listed.object).toBe('list')
    expect(listed.data.find(model => model.id === 'gpt-4o-mini')).toEqual({
      id: 'gpt-4o-mini',
      object: 'model',
      type: 'model',
      display_name: 'gpt-4o-mini',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00.000Z$/),
      created: Date.UTC(2026, 6, 9) / 1000,
      owned_by: 'openai',
      kind: 'chat',
      context_length: 128_000,
      max_output_tokens: 16_384,
      capabilities: ['files', 'images', 'structured_output', 'tools'],
      retires_on: null,
      successor: null,
    })
    expect(listed.data.find(model => model.id === 'anthropic/claude-haiku-4.5')?.owned_by).toBe('anthropic')
  })

  test('of two models of one name, lists the one that would be used', async () => {
    const ownerOf = async () => (await list()).data.find(model => model.id === 'openai/gpt-oss-20b')?.owned_by
    expect(await ownerOf()).toBe('openai')
    await storeKey(stores, project, 'groq', 'sk-own')
    expect(await ownerOf()).toBe('groq')
  })

  test('without an aggregator, lists the models of the stored keys', async () => {
    const { AGGREGATOR_API_KEY: _, AGGREGATOR_BASE_URL: _address, ...environment } = upstreams.environment
    const bare = await startProxy({ stores, environment })
    expect(ids(await list(key, bare))).toEqual([])
    await storeKey(stores, project, 'groq', 'sk-own')
    expect(ids(await list(key, bare))).toContain('llama-3.1-8b-instant')
    expect((await list(key, bare)).data.map(model => model.owned_by)).toEqual(Array(11).fill('groq'))
    await bare.stop()
  })

  test('a test key can use all: the sandbox responds', async () => {
    const testKey = await proxy.createKey({ project, type: 'test' })
    expect(ids(await list(testKey))).toEqual(
      expect.arrayContaining(['gpt-4o-mini', 'claude-haiku-4-5', 'llama-3.1-8b-instant', 'openai/gpt-4o-mini']),
    )
  })

  test('a model past its shutdown date is not listed, and the error names its successor', async () => {
    await storeKey(stores, project, 'anthropic', 'sk-own')
    expect(ids(await list())).not.toContain('claude-opus-4-1')
    const retired = (await (await get('/models/claude-opus-4-1')).json()) as { successor: string }
    expect(retired).toMatchObject({ retires_on: '2026-08-05', successor: 'claude-opus-4-8' })
    expect(ids(await list())).toContain(retired.successor)
  })

  test('the openai package lists and retrieves, names with slashes too', async () => {
    await storeKey(stores, project, 'groq', 'sk-own')
    const client = new OpenAI({ baseURL: proxy.baseUrl, apiKey: key, maxRetries: 0 })
    const listed: string[] = []
    for await (const model of client.models.list()) listed.push(model.id)
    expect(listed).toContain('meta-llama/llama-4-scout-17b-16e-instruct')
    for (const id of ['llama-3.1-8b-instant', 'meta-llama/llama-4-scout-17b-16e-instruct', 'openai/gpt-4o-mini']) {
      expect(await client.models.retrieve(id)).toMatchObject({ id, object: 'model' })
      expect((await get(`/models/${id}`)).status).toBe(200)
    }
    // The model is not in the list but is usable: the aggregator has it under another name.
    expect(await client.models.retrieve('gpt-4o')).toMatchObject({ id: 'gpt-4o', owned_by: 'openai' })
    await expect(client.models.retrieve('gpt-9')).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  })

  test.each([
    ['gpt-9', /"gpt-9" is not in the catalogue/],
    ['llama-3.1-8b-instant', /native name of groq, for which this project has stored no key/],
    ['nothing', /"nothing" is not known/],
    ['acme/unheard-of', /"acme\/unheard-of" is not in the catalogue/],
    ['%22%0a', /Model "\\"\\n" is not known/],
  ])('/models/%s says what would make it work', async (path, message) => {
    const response = await get(`/models/${path}`)
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect([response.status, error.code]).toEqual([404, 'model_not_found'])
    expect(error.message).toMatch(message)
  })

  test('a broken escape is a 400, another method a 405', async () => {
    expect((await get('/models/%ff')).status).toBe(400)
    for (const path of ['/models', '/models/gpt-4o']) {
      const response = await post(proxy, key, path, '')
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
    }
  })

  test('requires a valid key, with the usual error', async () => {
    for (const [unknown, status, message] of [
      [undefined, 401, 'Missing API key'],
      ['lgw_proj_00000000000000000000000000000000', 401, 'Invalid API key'],
    ] as const) {
      const response = await getFrom(proxy, '/models', unknown)
      expect(response.status).toBe(status)
      expect(await response.json()).toMatchObject({ error: { message } })
      expect(response.headers.get('x-request-id')).toBeTruthy()
      expect(response.headers.get('x-proxy-latency-ms')).toBeTruthy()
    }
    await proxy.query('update api_keys set deactivated_at = now()')
    expect((await get('/models')).status).toBe(403)
  })

  test('counts nothing', async () => {
    for (let i = 0; i < 5; i++) await get('/models')
    await proxy.settle()
    const [counted] = await proxy.query<{ requests: number | null }>(
      'select sum(requests)::integer as requests from monthly_counters',
    )
    expect(counted?.requests ?? 0).toBe(0)
    expect(await proxy.query('select 1 from usage_records')).toEqual([])
  })

  test('a removed model is no longer shown', async () => {
    await proxy.query(`update models set listed = false where model in ('openai/gpt-4o', 'llama-3.1-8b-instant')`)
    try {
      const later = await startProxy({ stores, environment: upstreams.environment })
      await storeKey(stores, project, 'groq', 'sk-own')
      expect(ids(await list(key, later))).not.toContain('openai/gpt-4o')
      expect((await get('/models/llama-3.1-8b-instant', key, later)).status).toBe(404)
      await later.stop()
    } finally {
      await proxy.query('update models set listed = true')
    }
  })

  test('states the abilities of every direct provider’s chat model, by one pattern', async () => {
    const bare = await proxy.query(
      `select provider, model from models where provider <> 'aggregator' and kind = 'chat' and capabilities = '{}'`,
    )
    expect(bare).toEqual([])
  })
})

describeReal('bun run catalogue:sync', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let aggregator: ReturnType<typeof serve>
  let pages: unknown[]
  let seenKeys: (string | null)[]

  /** Serves the list in pages. The address of the next page is relative, as the aggregator gives it. */
  function serve() {
    return Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const url = new URL(request.url)
        seenKeys.push(request.headers.get('authorization'))
        if (url.pathname !== '/api/v1/models') return new Response('not here', { status: 404 })
        const page = Number(url.searchParams.get('page') ?? 0)
        const next = page + 1 < pages.length ? `/api/v1/models?page=${page + 1}` : null
        return Response.json({ data: pages[page], links: { next } })
      },
    })
  }

  beforeEach(() => {
    seenKeys = []
    aggregator = serve()
  })
  afterEach(() => aggregator.stop(true))

  const model = (id: string, prompt: string, completion = prompt, fields: Record<string, unknown> = {}) => ({
    id,
    pricing: { prompt, completion },
    context_length: 100_000,
    architecture: { input_modalities: ['text'], output_modalities: ['text'] },
    supported_parameters: ['tools'],
    ...fields,
  })
  const readRows = () =>
    proxy.query<{ provider: string; model: string; input: number; listed: boolean; source: string }>(
      `select provider, model, input_usd_per_million::float8 as input, output_usd_per_million::float8 as output, kind, listed,
        capabilities, source, as_of::text from models order by provider, model`,
    )
  const rowOf = async (name: string) => (await readRows()).find(row => row.model === name)

  async function sync(...args: string[]) {
    const running = Bun.spawn(
      [
        process.execPath,
        fileURLToPath(new URL('../../src/process/server.ts', import.meta.url)),
        'catalogue:sync',
        ...args,
      ],
      {
        cwd: tmpdir(),
        env: {
          ...bareEnvironment(),
          DATABASE_URL: proxy.stores.databaseUrl ?? '',
          AGGREGATOR_BASE_URL: `http://127.0.0.1:${aggregator.port}/api/v1/`,
          AGGREGATOR_API_KEY: 'sk-aggregator',
        },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    const [stdout, stderr] = await Promise.all([
      new Response(running.stdout).text(),
      new Response(running.stderr).text(),
    ])
    return { exitCode: await running.exited, stdout, stderr }
  }

  test('a dry run prints the difference and changes nothing; a real run applies it', async () => {
    await proxy.query(
      `update models set input_usd_per_million = 1.9, source = 'operator' where model = 'openai/gpt-4.1'`,
    )
    pages = [
      [model('openai/gpt-4o', '0.0000031', '0.00001'), model('openai/gpt-4.1', '0.000002')],
      [
        model('acme/new', '0.0000005', '0.0000015', { architecture: { input_modalities: ['text', 'image'] } }),
        model('acme/auto', '-1'),
        model('openai/gpt-3.5-turbo-instruct', '0.0000015', '0.000002'),
      ],
    ]
    const before = await readRows()
    const dry = await sync('--dry-run')
    expect(dry).toMatchObject({ exitCode: 0, stderr: '' })
    const lines = dry.stdout.trimEnd().split('\n')
    expect(lines).toContain('added: acme/new (input 0.5, output 1.5)')
    expect(lines).toContain('gone: anthropic/claude-opus-4.5')
    expect(lines.find(line => line.startsWith('changed: openai/gpt-4o '))).toMatch(/input 2\.5\d* -> 3\.1/)
    expect(lines.find(line => line.startsWith('left alone: openai/gpt-4.1 '))).toMatch(/input 1\.9\d* -> 2/)
    expect(lines.at(-1)).toMatch(/^Dry run, nothing was changed: 4 models offered, 1 without a fixed price; 1 added, /)
    // A list without embeddings does not change embedding models.
    expect(dry.stdout).not.toContain('text-embedding')
    expect(await readRows()).toEqual(before)
    expect(new Set(seenKeys)).toEqual(new Set(['Bearer sk-aggregator']))

    const real = await sync()
    expect(real.stdout.split('\n').slice(0, -2)).toEqual(dry.stdout.split('\n').slice(0, -2))
    expect(await rowOf('acme/new')).toMatchObject({
      input: 0.5,
      output: 1.5,
      kind: 'chat',
      listed: true,
      capabilities: ['images', 'tools'],
      source: `127.0.0.1:${aggregator.port}/api/v1/models`,
      as_of: new Date().toISOString().slice(0, 10),
    })
    expect(await rowOf('openai/gpt-4o')).toMatchObject({ input: 3.1, listed: true })
    expect(await rowOf('openai/gpt-4.1')).toMatchObject({ input: 1.9, source: 'operator', listed: true })
    expect(await rowOf('openai/gpt-3.5-turbo-instruct')).toMatchObject({ kind: 'completion' })
    expect(await rowOf('anthropic/claude-opus-4.5')).toMatchObject({ input: 5, listed: false })
    expect(await rowOf('openai/text-embedding-3-small')).toMatchObject({ listed: true })
    const others = (rows: { provider: string }[]) => rows.filter(row => row.provider !== 'aggregator')
    expect(others(await readRows())).toEqual(others(before))

    const again = await sync()
    expect(again.stdout.split('\n').filter(line => !line.startsWith('left alone'))).toEqual([
      'Done: 4 models offered, 1 without a fixed price; 1 left alone.',
      '',
    ])

    pages = [[model('anthropic/claude-opus-4.5', '0.000005', '0.000025'), ...(pages.flat() as unknown[])]]
    expect((await sync()).stdout).toContain('back: anthropic/claude-opus-4.5')
    expect(await rowOf('anthropic/claude-opus-4.5')).toMatchObject({ listed: true })
  }, 60_000)

  test('an unreadable list is one clear line, and changes nothing', async () => {
    const before = await readRows()
    for (const [data, message] of [
      [[[]], /lists no model with a usable name and a fixed price/],
      [['none'], /no list of models/],
    ] as const) {
      pages = [...data]
      const outcome = await sync()
      expect(outcome).toMatchObject({ exitCode: 1, stdout: '' })
      expect(outcome.stderr).toMatch(message)
      expect(outcome.stderr.trimEnd()).not.toContain('\n')
    }
    await aggregator.stop(true)
    const unreachable = await sync()
    expect(unreachable.stderr).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/models could not be read: [^\n]+\n$/)
    expect(await readRows()).toEqual(before)
  })
})

describe('patterns of capabilities', () => {
  test('match no model twice', async () => {
    const seed = await Bun.file(new URL('../../sql/seed/020_capabilities.sql', import.meta.url)).text()
    const models = await Bun.file(new URL('../../sql/seed/010_models.sql', import.meta.url)).text()
    const patterns = Array.from(seed.matchAll(/\('(\w+)', '([^']+)', array/g), ([, provider, name]) => ({
      provider,
      name: new RegExp(name ?? ''),
    }))
    const seeded = Array.from(models.matchAll(/^ {4}\('(openai|anthropic|groq)', '([^']+)', 'chat'/gm))
    expect(patterns.length).toBeGreaterThan(10)
    expect(seeded.length).toBeGreaterThan(50)
    for (const [, provider, model] of seeded) {
      const matching = patterns.filter(pattern => pattern.provider === provider && pattern.name.test(model ?? ''))
      expect([provider, model, matching.length]).toEqual([provider, model, 1])
    }
  })
})
