/**
 * The provider that is called for a model name, and the name that it receives: with an aggregator's own list, and without an aggregator.
 */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { type Answer, ask, get, post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

const hello = (model: string, fields: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: 'user', content: `Hello ${crypto.randomUUID()}` }],
  ...fields,
})

/** Starts an aggregator with plain responses; `names` is its list, null for none. */
function startAggregator(names: readonly string[] | null, apiKey: string | null = null) {
  const calls: { model: string; authorization: string | null }[] = []
  let lists = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const authorization = request.headers.get('authorization')
      if (apiKey !== null && authorization !== `Bearer ${apiKey}`)
        return Response.json({ error: { message: 'No auth credentials found', code: 401 } }, { status: 401 })
      if (request.method === 'GET') {
        lists++
        return names
          ? Response.json({ data: names.map(id => ({ id, object: 'model' })) })
          : new Response('', { status: 404 })
      }
      const { model } = (await request.json()) as { model: string }
      calls.push({ model, authorization })
      const message = { role: 'assistant', content: 'Hi' }
      return Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
    },
  })
  return {
    asked: calls,
    lists: () => lists,
    environment: { AGGREGATOR_BASE_URL: `http://127.0.0.1:${server.port}/v1` },
    stop: () => server.stop(true),
  }
}

describeOnce('names of models', backend => {
  let stores: Stores
  let proxy: TestProxy
  const opened: { stop(): unknown }[] = []

  beforeAll(async () => {
    stores = await backend.open()
  })
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.stop()
    upstreams.reset()
  })

  async function start(environment: Record<string, string>) {
    proxy = await startProxy({ stores, environment })
    opened.push(proxy)
    const project = `p-${crypto.randomUUID()}`
    const key = await proxy.createKey({ project, type: 'project' })
    return { project, key, testKey: await proxy.createKey({ project }) }
  }

  async function startWith(
    names: readonly string[] | null,
    environment: Record<string, string> = { AGGREGATOR_API_KEY: 'k' },
  ) {
    const aggregator = startAggregator(names)
    opened.push(aggregator)
    return { aggregator, ...(await start({ ...aggregator.environment, ...environment })) }
  }

  const statusOf = ({ status, headers }: Answer) => [status, headers.get('x-proxy-provider')]

  describe('with an aggregator’s own list', () => {
    const lists: [list: string[], asked: string, sent: string][] = [
      [['grok-4', 'grok-4.5'], 'grok-4', 'grok-4'],
      [['x-ai/grok-4', 'grok-4'], 'grok-4', 'grok-4'],
      [['models/gemini-2.5-flash'], 'gemini-2.5-flash', 'gemini-2.5-flash'],
      [['llama3.2:latest'], 'llama3.2', 'llama3.2'],
      [['deepseek-chat'], 'deepseek-chat', 'deepseek-chat'],
      [['gpt-4o', 'claude-haiku-4-5'], 'gpt-4o', 'gpt-4o'],
      [['gpt-4o', 'claude-haiku-4-5'], 'claude-haiku-4-5', 'claude-haiku-4-5'],
      [['openai/gpt-oss-20b', 'qwen3-8b'], 'gpt-oss-20b', 'openai/gpt-oss-20b'],
      [['somebody/grok-4'], 'grok-4', 'somebody/grok-4'],
      [['x-ai/grok-4', 'openai/gpt-4o'], 'grok-4', 'x-ai/grok-4'],
      [['acme/a'], 'gpt-5.4-mini', 'openai/gpt-5.4-mini'],
      [['grok-4'], 'openai/gpt-4o-mini', 'openai/gpt-4o-mini'],
    ]
    test.each(lists)('%j: %s is requested as %s', async (list, model, sent) => {
      const { aggregator, key } = await startWith(list)
      expect(statusOf(await ask(proxy, key, hello(model)))).toEqual([200, 'openrouter'])
      expect(aggregator.asked).toEqual([{ model: sent, authorization: 'Bearer k' }])
      const described = await get(proxy, `/models/${model}`, key)
      expect([described.status, await described.json()]).toMatchObject([200, { id: model, object: 'model' }])
    })

    test('does not request the list if it is not needed', async () => {
      const { aggregator, key, testKey } = await startWith(['grok-4'])
      await ask(proxy, testKey, hello('gpt-4o'))
      await get(proxy, '/models/gpt-4o', testKey)
      await ask(proxy, key, hello('openai/gpt-4o'))
      expect(aggregator.lists()).toBe(0)
      await Promise.all(['grok-4', 'gpt-4o', 'grok-4'].map(model => ask(proxy, key, hello(model))))
      expect(aggregator.lists()).toBe(1)
    })

    test('without a list, uses the catalogue’s name', async () => {
      const { aggregator, key } = await startWith(null)
      expect((await ask(proxy, key, hello('grok-4'))).status).toBe(200)
      expect(aggregator.asked).toMatchObject([{ model: 'x-ai/grok-4' }])
      expect((await ask(proxy, key, hello('no-such-model'))).status).toBe(404)
      for (const model of ['x-ai/of-tomorrow', 'gpt-9']) {
        expect((await get(proxy, `/models/${model}`, key)).status, model).toBe(200)
        expect((await ask(proxy, key, hello(model))).status).toBe(200)
      }
    })

    test('lists names without a vendor in place of the catalogue’s; an unlisted one is a 404', async () => {
      const { aggregator, key } = await startWith(['llama3.2:latest', 'hf.co/acme/small'])
      const { data } = (await (await get(proxy, '/models', key)).json()) as { data: { id: string; kind: null }[] }
      expect(data.map(({ id, kind }) => [id, kind])).toEqual([
        ['hf.co/acme/small', null],
        ['llama3.2:latest', null],
      ])
      expect((await get(proxy, '/models/llama3.3', key)).status).toBe(404)
      // The model may have been pulled since the list was read.
      expect((await ask(proxy, key, hello('llama3.3'))).status).toBe(200)
      expect(aggregator.asked).toMatchObject([{ model: 'llama3.3' }])
    })

    test('accepts a variant of a listed model, too', async () => {
      const { key } = await startWith(['acme/large'])
      for (const [model, status] of [
        ['acme/large:free', 200],
        ['x-ai/grok-4:online', 200],
        ['acme/small:free', 404],
      ])
        expect((await get(proxy, `/models/${model}`, key)).status).toBe(status)
    })

    test('uses its name for a fallback and an alias', async () => {
      const { aggregator, project, key } = await startWith(['grok-4', 'plain'])
      await proxy.query(`select model_proxy.set_settings('${project}', '{"aliases": "mine=plain"}')`)
      expect((await ask(proxy, key, hello('mine'))).status).toBe(200)
      expect(aggregator.asked).toMatchObject([{ model: 'plain' }])
    })
  })

  describe('an aggregator without a key', () => {
    test('is called without one, for the names that it has', async () => {
      const { aggregator, key, testKey } = await startWith(['llama3.2:latest'], {})
      expect(statusOf(await ask(proxy, key, hello('llama3.2')))).toEqual([200, 'openrouter'])
      expect(statusOf(await ask(proxy, key, hello('acme/new')))).toEqual([200, 'openrouter'])
      expect(aggregator.asked).toEqual([
        { model: 'llama3.2', authorization: null },
        { model: 'acme/new', authorization: null },
      ])
      expect(statusOf(await ask(proxy, testKey, hello('llama3.2')))).toEqual([200, 'sandbox'])
    })

    test('gets any name while its list is unknown', async () => {
      const { aggregator, key } = await startWith(null, {})
      expect((await ask(proxy, key, hello('mistral-nemo'))).status).toBe(200)
      expect(aggregator.asked).toMatchObject([{ model: 'mistral-nemo' }])
    })

    test('that requires one after all is a 503 that names the setting', async () => {
      const aggregator = startAggregator(['a/b'], 'secret')
      opened.push(aggregator)
      const { key } = await start(aggregator.environment)
      const { status, json, headers } = await ask(proxy, key, hello('a/b'))
      expect([status, json.error.code, headers.get('x-should-retry')]).toEqual([503, 'service_unavailable', 'false'])
      expect(json.error.message).toContain('AGGREGATOR_API_KEY')
    })
  })

  describe('without an aggregator, a name with its vendor in front goes to that vendor', () => {
    const direct = () => {
      const { AGGREGATOR_API_KEY: _, AGGREGATOR_BASE_URL: _address, ...environment } = upstreams.environment
      return environment
    }
    test.each([
      ['openai/gpt-4o-mini', 'openai', 'gpt-4o-mini'],
      ['openai/gpt-9-of-tomorrow', 'openai', 'gpt-9-of-tomorrow'],
      ['openai/ft:gpt-4o-mini-2024-07-18:acme::abc', 'openai', 'ft:gpt-4o-mini-2024-07-18:acme::abc'],
      ['anthropic/claude-haiku-4.5', 'anthropic', 'claude-haiku-4-5'],
      ['anthropic/claude-haiku-4-5', 'anthropic', 'claude-haiku-4-5'],
      ['anthropic/claude-opus-4.8', 'anthropic', 'claude-opus-4-8'],
      ['groq/llama-3.3-70b-versatile', 'groq', 'llama-3.3-70b-versatile'],
      ['groq/openai/gpt-oss-120b', 'groq', 'openai/gpt-oss-120b'],
      ['groq/compound', 'groq', 'groq/compound'],
    ] as const)('%s to %s as %s', async (model, provider, native) => {
      const { project, key } = await start(direct())
      const refused = await ask(proxy, key, hello(model))
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([503, 'false'])
      expect(refused.json.error.message).toContain(provider)
      await storeKey(stores, project, provider, `sk-own-${provider}`)
      for (const stream of [false, true]) {
        const answer = await ask(proxy, key, hello(model, { stream }))
        expect(statusOf(answer)).toEqual([200, provider])
      }
      expect(upstreams[provider].requests.map(({ body }) => body)).toMatchObject([{ model: native }, { model: native }])
      const described = await get(proxy, `/models/${model}`, key)
      expect([described.status, await described.json()]).toMatchObject([200, { id: model, owned_by: provider }])
    })

    test('costs the same as under its own name', async () => {
      const { project, key } = await start(direct())
      await storeKey(stores, project, 'openai', 'sk-own')
      const messages = [{ role: 'user', content: `Hello ${crypto.randomUUID()}` }]
      const costs = []
      for (const model of ['openai/gpt-4o-mini', 'gpt-4o-mini']) {
        const { headers } = await ask(proxy, key, { model, messages })
        expect(headers.get('x-proxy-cost-unknown')).toBeNull()
        costs.push(headers.get('x-proxy-cost-usd'))
      }
      expect(Number(costs[0])).toBeGreaterThan(0)
      expect(costs[1]).toBe(costs[0])
    })

    test('at every endpoint', async () => {
      const { project, key } = await start(direct())
      await storeKey(stores, project, 'openai', 'sk-own')
      for (const [path, body] of [
        ['responses', { model: 'openai/gpt-4o-mini', input: 'Hi' }],
        ['messages', { model: 'openai/gpt-4o-mini', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }],
        ['completions', { model: 'openai/gpt-3.5-turbo-instruct', prompt: 'Once' }],
        ['embeddings', { model: 'openai/text-embedding-3-small', input: 'text' }],
        ['moderations', { model: 'openai/omni-moderation-latest', input: 'text' }],
      ] as const) {
        const response = await post(proxy, key, `/${path}`, body)
        expect([path, response.status]).toEqual([path, 200])
        await response.arrayBuffer()
      }
      for (const { body } of upstreams.openai.requests) expect((body as { model: string }).model).not.toContain('/')
    })

    test.each([
      'openai/gpt-oss-120b',
      'openai/gpt-4o-mini:online',
      'google/gemini-2.5-flash',
      'openai/',
      'acme/gpt-4o-mini',
    ])('%s does not', async model => {
      const { project, key } = await start(direct())
      await storeKey(stores, project, 'openai', 'sk-own')
      expect((await ask(proxy, key, hello(model))).status).toBeGreaterThanOrEqual(404)
      expect(upstreams.openai.requests).toEqual([])
      expect((await get(proxy, `/models/${encodeURIComponent(model)}`, key)).status).toBe(404)
    })

    test('allowed models are compared by the name as it is written', async () => {
      const { project, key } = await start(direct())
      await storeKey(stores, project, 'openai', 'sk-own')
      await proxy.query(`select model_proxy.set_settings('${project}', '{"allowed_models": "gpt-4o-mini"}')`)
      expect((await ask(proxy, key, hello('openai/gpt-4o-mini'))).status).toBe(403)
      expect((await ask(proxy, key, hello('gpt-4o-mini'))).status).toBe(200)
    })
  })

  test('an unlisted name that chat serves is described', async () => {
    const { project, key, testKey } = await start(upstreams.environment)
    await storeKey(stores, project, 'openai', 'sk-own')
    for (const asking of [key, testKey]) {
      const response = await get(proxy, '/models/gpt-9-of-tomorrow', asking)
      expect(await response.json()).toMatchObject({
        id: 'gpt-9-of-tomorrow',
        created: 0,
        kind: null,
        context_length: null,
      })
    }
  })
})
