import { readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { AGGREGATOR_KEY } from '../fake-provider/server.ts'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { type Answer, ask, post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const upstreams = duringTests(startUpstreams)

/** The model names in the package's type. */
const CHAT_MODELS = Array.from(
  /type ChatModel = ([^;]+);/
    .exec(readFileSync('node_modules/openai/resources/shared.d.ts', 'utf8'))?.[1]
    ?.matchAll(/'([^']+)'/g) ?? [],
  ([, name]) => String(name),
)

const hello = (model: string, fields: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: 'user', content: `Hello ${crypto.randomUUID()}` }],
  ...fields,
})

describeOnce('routing', backend => {
  let stores: Stores
  let proxy: TestProxy
  let project: string
  let key: string

  beforeEach(async () => {
    if (proxy) await proxy.stop()
    upstreams.reset()
    stores = await backend.open()
    proxy = await startProxy({ stores, environment: upstreams.environment })
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })
  afterAll(() => proxy.stop())

  const counts = () => ({
    aggregator: upstreams.aggregator.requests.length,
    openai: upstreams.openai.requests.length,
    anthropic: upstreams.anthropic.requests.length,
    groq: upstreams.groq.requests.length,
  })
  const none = { aggregator: 0, openai: 0, anthropic: 0, groq: 0 }

  /** Sends a few requests at a time: they share batches, and none waits long. */
  async function askEach(models: readonly string[]): Promise<Answer[]> {
    const answers: Answer[] = []
    for (let from = 0; from < models.length; from += 4) {
      answers.push(...(await Promise.all(models.slice(from, from + 4).map(model => ask(proxy, key, hello(model))))))
    }
    return answers
  }

  test.each([
    ['gpt-4o-mini', 'openai'],
    ['llama-3.3-70b-versatile', 'groq'],
    ['openai/gpt-oss-120b', 'groq'],
    ['meta-llama/llama-4-scout-17b-16e-instruct', 'groq'],
  ] as const)('%s goes to %s under the project’s key', async (model, provider) => {
    await storeKey(stores, project, provider, `sk-own-${provider}`)
    const answer = await ask(proxy, key, hello(model))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-proxy-provider')).toBe(provider)
    expect(counts()).toEqual({ ...none, [provider]: 1 })
    const [request] = upstreams[provider].requests
    expect(request?.headers.authorization).toBe(`Bearer sk-own-${provider}`)
    expect(request?.path).toBe('/v1/chat/completions')
    expect(request?.body).toMatchObject({ model })
    expect(JSON.stringify(request)).not.toContain(key)
  })

  test('claude-… goes to Anthropic, in its own format', async () => {
    await storeKey(stores, project, 'anthropic', 'sk-ant-own')
    const answer = await ask(proxy, key, hello('claude-haiku-4-5'))
    expect(answer.json).toMatchObject({ object: 'chat.completion', model: 'claude-haiku-4-5' })
    expect(answer.headers.get('x-proxy-provider')).toBe('anthropic')
    const [request] = upstreams.anthropic.requests
    expect(request?.path).toBe('/v1/messages')
    expect(request?.headers).toMatchObject({ 'x-api-key': 'sk-ant-own' })
    expect(request?.headers.authorization).toBeUndefined()
    // Anthropic requires max_tokens, so the model's maximum in the catalogue is sent.
    expect(request?.body).toMatchObject({ max_tokens: 64_000 })
    expect(counts()).toEqual({ ...none, anthropic: 1 })
  })

  test('every chat model that OpenAI’s package names goes to OpenAI, unlisted and fine-tuned ones too', async () => {
    await storeKey(stores, project, 'openai', 'sk-own')
    const models = [...CHAT_MODELS, 'ft:gpt-4o-mini-2024-07-18:acme::abc', 'gpt-9-of-tomorrow', 'o9']
    const answers = await askEach(models)
    expect(answers.map(({ status, headers }, at) => [models[at], status, headers.get('x-proxy-provider')])).toEqual(
      models.map(model => [model, 200, 'openai']),
    )
    expect(upstreams.openai.requests.map(({ body }) => (body as { model: string }).model)).toEqual(
      expect.arrayContaining(CHAT_MODELS),
    )
  })

  test('each goes to the aggregator, under its name there, if no key is stored', async () => {
    const answers = await askEach(CHAT_MODELS)
    expect(answers.map(({ status, json }) => [status, json.model])).toEqual(
      CHAT_MODELS.map(model => [200, `openai/${model}`]),
    )
  })

  test.each([
    ['claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4.5'],
    ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4.5'],
    ['claude-sonnet-5', 'anthropic/claude-sonnet-5'],
    ['gemini-2.5-pro', 'google/gemini-2.5-pro'],
    ['gpt-oss-120b', 'openai/gpt-oss-120b'],
  ])('%s is %s to the aggregator, at its price', async (model, name) => {
    const body = { ...hello(model), seed: 1, metadata: { id: 1 } }
    const answer = await ask(proxy, key, body)
    expect([answer.status, answer.json.model, answer.headers.get('x-proxy-provider')]).toEqual([
      200,
      name,
      'openrouter',
    ])
    expect(upstreams.aggregator.requests[0]?.body).toEqual({ ...body, model: name })
    expect(Number(answer.headers.get('x-proxy-cost-usd'))).toBeGreaterThan(0)
  })

  test('a model without a price is recorded as unpriced', async () => {
    await storeKey(stores, project, 'openai', 'sk-own')
    for (const stream of [false, true]) {
      const { headers } = await ask(proxy, key, hello('gpt-9-of-tomorrow', { stream }))
      expect([headers.get('x-proxy-cost-usd'), headers.get('x-proxy-cost-unknown')]).toEqual(['0', 'true'])
    }
    const { headers } = await ask(proxy, key, hello('gpt-4o-mini'))
    expect(headers.get('x-proxy-cost-unknown')).toBeNull()
    const reported = await ask(proxy, key, hello('acme/of-tomorrow'))
    expect(Number(reported.headers.get('x-proxy-cost-usd'))).toBeGreaterThan(0)
    expect(reported.headers.get('x-proxy-cost-unknown')).toBeNull()
  })

  test('a snapshot costs the same as its family', async () => {
    await storeKey(stores, project, 'openai', 'sk-own')
    const text = `Hello ${crypto.randomUUID()}`
    const costs = ['gpt-5-mini', 'gpt-5-mini-2025-08-07'].map(async model => {
      const answer = await ask(proxy, key, { model, messages: [{ role: 'user', content: text }] })
      return answer.headers.get('x-proxy-cost-usd')
    })
    const [family, snapshot] = await Promise.all(costs)
    expect(Number(family)).toBeGreaterThan(0)
    expect(snapshot).toBe(family)
  })

  test('completions and embeddings are routed the same way', async () => {
    await storeKey(stores, project, 'openai', 'sk-own')
    for (const [path, body] of [
      ['completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Once' }],
      ['embeddings', { model: 'text-embedding-3-small', input: 'text' }],
    ] as const) {
      const response = await post(proxy, key, `/${path}`, body)
      expect(response.status).toBe(200)
      expect(response.headers.get('x-proxy-provider')).toBe('openai')
      await response.arrayBuffer()
    }
    expect(upstreams.openai.counts.byPath).toEqual({ '/v1/completions': 1, '/v1/embeddings': 1 })
  })

  test.each(['openai/gpt-4o-mini', 'openai/gpt-oss-120b', 'someone/brand-new'])(
    '%s goes to the aggregator if no stored key covers it',
    async model => {
      await storeKey(stores, project, 'openai', 'sk-own')
      const answer = await ask(proxy, key, hello(model))
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-proxy-provider')).toBe('openrouter')
      expect(upstreams.aggregator.requests[0]?.headers.authorization).toBe(`Bearer ${AGGREGATOR_KEY}`)
      expect(counts()).toEqual({ ...none, aggregator: 1 })
    },
  )

  test('a model costs its own provider’s price', async () => {
    for (const provider of ['groq', 'openai'] as const) await storeKey(stores, project, provider, 'sk-own')
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 }
    upstreams.groq.script({ kind: 'answer', usage })
    upstreams.openai.script({ kind: 'answer', usage })
    const costOf = async (model: string) => (await ask(proxy, key, hello(model))).headers.get('x-proxy-cost-usd')
    expect(await costOf('llama-3.1-8b-instant')).toBe('0.13')
    expect(await costOf('gpt-4o-mini')).toBe('0.75')
  })

  test('a test key stays in the sandbox, whatever keys the project has stored', async () => {
    await storeKey(stores, project, 'openai', 'sk-own')
    const testKey = await proxy.createKey({ project, type: 'test' })
    for (const model of ['gpt-4o-mini', 'openai/gpt-4o-mini', 'claude-haiku-4-5']) {
      const answer = await ask(proxy, testKey, hello(model))
      expect(answer.headers.get('x-proxy-provider')).toBe('sandbox')
    }
    expect(counts()).toEqual(none)
  })

  test('a response of one route is no hit on another', async () => {
    const body = hello('openai/gpt-oss-120b')
    expect((await ask(proxy, key, body)).headers.get('x-proxy-provider')).toBe('openrouter')
    await storeKey(stores, project, 'groq', 'sk-own')
    const direct = await ask(proxy, key, body)
    expect([direct.cache, direct.headers.get('x-proxy-provider')]).toEqual(['MISS', 'groq'])
    const again = await ask(proxy, key, body)
    expect([again.cache, again.headers.get('x-proxy-provider')]).toEqual(['HIT', 'groq'])
  })

  test('an aggregator with a direct provider’s name keeps its own responses', async () => {
    const environment = { ...upstreams.environment, AGGREGATOR_NAME: 'groq' }
    const renamed = await startProxy({ stores, environment })
    const body = hello('openai/gpt-oss-20b')
    expect((await ask(renamed, key, body)).cache).toBe('MISS')
    await storeKey(stores, project, 'groq', 'sk-own')
    expect((await ask(renamed, key, body)).cache).toBe('MISS')
    expect(counts()).toMatchObject({ aggregator: 1, groq: 1 })
    await renamed.stop()
  })

  describe('a model without a route', () => {
    async function refused(model: string, asking = proxy, status = 404): Promise<string> {
      const answer = await ask(asking, key, hello(model))
      expect(answer.status).toBe(status)
      const code = status === 404 ? 'model_not_found' : 'service_unavailable'
      expect(answer.json.error).toMatchObject({ code, param: status === 404 ? 'model' : null })
      expect(answer.cache).toBeNull()
      expect(counts()).toEqual(none)
      return answer.json.error.message
    }

    test('a native name without the key says where to store one, and the alternative', async () => {
      const { AGGREGATOR_API_KEY: _, AGGREGATOR_BASE_URL: _address, ...environment } = upstreams.environment
      const bare = await startProxy({ stores, environment })
      expect(await refused('gpt-4o-mini', bare)).toBe(
        'Model "gpt-4o-mini" is a native name of openai, for which this project has stored no key. Store one, or have the operator set AGGREGATOR_API_KEY to reach it as openai/gpt-4o-mini.',
      )
      await bare.stop()
      expect(await refused('llama-3.1-8b-instant')).toContain('use a <vendor>/<model> name to reach the aggregator')
      expect(await refused('ft:gpt-4o:acme::a')).toContain('native name of openai')
    })

    test('an error for an unknown name explains how names are written', async () => {
      const message = await refused('no-such-model')
      expect(message).toMatch(/^Model "no-such-model" is not known\. GET \/v1\/models lists/)
      expect(message).toContain('<vendor>/<model>')
    })

    test('an error for a misspelled name lists near ones that the key can use', async () => {
      expect(await refused('gtp-4.1-mini')).toContain('Similar names: openai/gpt-4.1-mini, ')
      await storeKey(stores, project, 'openai', 'sk-own')
      expect(await refused('gtp-4.1-mini')).toContain('Similar names: gpt-4.1-mini, openai/gpt-4.1-mini')
    })

    test('without an aggregator, an error for a vendor’s name says which setting is missing', async () => {
      const { AGGREGATOR_API_KEY: _, AGGREGATOR_BASE_URL: _address, ...environment } = upstreams.environment
      const bare = await startProxy({ stores, environment })
      expect(await refused('openai/gpt-4o-mini', bare, 503)).toContain('AGGREGATOR_API_KEY')
      expect(await refused('openai/gpt-oss-120b', bare, 503)).toContain('store a key for groq')
      await storeKey(stores, project, 'groq', 'sk-own')
      expect((await ask(bare, key, hello('openai/gpt-oss-120b'))).status).toBe(200)
      await bare.stop()
    })

    test('a rejection counts nothing', async () => {
      await refused('no-such-model')
      await proxy.settle()
      const rows = await proxy.query<{ requests: number }>('select requests from monthly_counters')
      expect(rows.map(row => row.requests)).toEqual([0])
    })
  })
})
