/** A request reaches the vendor that it names, with that vendor's key, and no other, although the project has keys of all. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { post } from '../harness/client.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import type { FakeVendor } from './fake-vendor.ts'
import { DOCUMENTED_ROWS, startFakeVendors } from './start-vendors.ts'

const secretOf = (vendor: string) => `sk-of-${vendor}-0123456789`
const PROMPT = 'do:text A secret plan'

const BODIES = {
  '/chat/completions': (model: string) => ({ model, messages: [{ role: 'user', content: PROMPT }] }),
  '/responses': (model: string) => ({ model, input: PROMPT }),
  '/messages': (model: string) => ({ model, max_tokens: 9, messages: [{ role: 'user', content: PROMPT }] }),
  '/embeddings': (model: string) => ({ model, input: PROMPT }),
}

describeOnce('a project with keys of all vendors', backend => {
  let fakes: ReadonlyMap<string, FakeVendor>
  let proxy: TestProxy
  let key: string

  beforeAll(async () => {
    const started = await startFakeVendors()
    fakes = started.fakes
    const stores = await backend.open()
    const environment = { ...started.environment, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, UPSTREAM_MAX_RETRIES: '0' }
    proxy = await startProxy({ stores, environment })
    const project = `all-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const { name, documented } of DOCUMENTED_ROWS)
      if (documented.key !== null) await storeKey(stores, project, name, secretOf(name))
  })
  afterEach(() => {
    for (const fake of fakes.values()) fake.requests.length = 0
  })
  afterAll(async () => {
    await proxy?.stop()
    await Promise.all(Array.from(fakes.values(), fake => fake.stop()))
  })

  /** Returns the vendors that got any request. */
  const reached = () => Array.from(fakes).flatMap(([name, { requests }]) => (requests.length > 0 ? [name] : []))

  test.each(DOCUMENTED_ROWS)('$name alone gets what names it, with its own key', async ({ name, documented }) => {
    for (const [path, bodyOf] of Object.entries(BODIES)) {
      await (await post(proxy, key, path, bodyOf(`${name}/${documented.model}`))).text()
    }
    expect(reached()).toEqual([name])
    const others = DOCUMENTED_ROWS.filter(each => each.name !== name).map(each => secretOf(each.name))
    const sent = JSON.stringify(fakes.get(name)?.requests.map(({ headers, query, body }) => [headers, query, body]))
    expect(others.filter(secret => sent.includes(secret))).toEqual([])
    expect(sent.includes(secretOf(name))).toBe(documented.key !== null)
  })

  test.each([
    ['gpt-4o-mini', 'openai'],
    ['o3-mini', 'openai'],
    ['ft:gpt-4o-mini:ours::1', 'openai'],
    ['claude-haiku-4-5', 'anthropic'],
    ['llama-3.3-70b-versatile', 'groq'],
    ['mistral-small-latest', 'mistral'],
    ['deepseek-chat', 'deepseek'],
    ['grok-4', 'xai'],
    ['gemini-2.5-flash', 'gemini'],
    ['sonar-pro', 'perplexity'],
    ['command-a-03-2025', 'cohere'],
  ])('the native name %s reaches %s alone', async (model, vendor) => {
    await (await post(proxy, key, '/chat/completions', BODIES['/chat/completions'](model))).text()
    expect(reached()).toEqual([vendor])
  })

  describe('names of nobody', () => {
    test.each(['nobody/model-1', 'unknown-model-9', 'ollama', '/gpt-4o', 'openai.com/gpt-4o', 'Mistral/mistral-small'])(
      '%j reaches no vendor',
      async model => {
        const response = await post(proxy, key, '/chat/completions', BODIES['/chat/completions'](model))
        expect(response.status).toBeOneOf([400, 404, 503])
        expect(await response.text()).not.toContain('secret plan')
        expect(reached()).toEqual([])
      },
    )
  })

  test('a file reaches the vendor whose API the client uses, alone', async () => {
    const form = () => {
      const body = new FormData()
      body.set('purpose', 'assistants')
      body.set('file', new Blob(['A secret plan']), 'plan.txt')
      return body
    }
    const upload = async (path: string, headers: Record<string, string> = {}) => {
      const authorization = `Bearer ${key}`
      const address = `${proxy.baseUrl}${path}`
      await (await fetch(address, { method: 'POST', headers: { authorization, ...headers }, body: form() })).text()
      const vendors = reached()
      for (const fake of fakes.values()) fake.requests.length = 0
      return vendors
    }
    expect(await upload('/files')).toEqual(['openai'])
    expect(await upload('/files', { 'anthropic-version': '2023-06-01' })).toEqual(['anthropic'])
  })
})
