import { beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { ask, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const SAME_WORDS = `Could you please ${QUESTION.toLowerCase()}?`

type Headers = Record<string, string>

/** A model, and headers that may change its provider's response. */
const COUNTING: [string, Headers][] = [
  ['gpt-4o-mini', { 'openai-beta': 'assistants=v2' }],
  ['gpt-4o-mini', { 'openai-organization': 'org-a' }],
  ['gpt-4o-mini', { 'openai-project': 'proj-a' }],
  ['claude-haiku-4-5', { 'anthropic-beta': 'context-1m' }],
  ['claude-haiku-4-5', { 'anthropic-version': '2023-06-01' }],
  ['llama-3.3-70b-versatile', { 'groq-model-version': 'latest' }],
  ['someone/brand-new', { 'x-anthropic-beta': 'context-1m' }],
  ['someone/brand-new', { 'anthropic-beta': 'context-1m' }],
]

/** Headers that change no response, forwarded or not. */
const WITHOUT_EFFECT: Headers[] = [
  { 'idempotency-key': 'one' },
  { 'http-referer': 'https://app.example' },
  { 'x-title': 'App', 'x-openrouter-title': 'App', 'x-openrouter-categories': 'cli-agent' },
  { 'user-agent': 'another', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  { 'openai-beta': 'of another vendor' },
]

describeOnce('forwarded headers', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let key: string

  beforeEach(async () => {
    const project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const provider of ['openai', 'anthropic', 'groq'] as const) {
      await storeKey(proxy.stores, project, provider, `sk-own-${provider}`)
    }
  })

  async function cacheOf(model: string, content: string, headers: Headers = {}): Promise<string | null> {
    const answer = await ask(proxy, key, { model, messages: [{ role: 'user', content }] }, headers)
    expect(answer.status).toBe(200)
    await proxy.settle()
    return answer.cache
  }

  test.each(COUNTING)('%s: a response to %j is served to requests with the same headers', async (model, headers) => {
    const others = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}-other`]))
    expect(await cacheOf(model, QUESTION, headers)).toBe('MISS')
    expect(await cacheOf(model, QUESTION)).toBe('MISS')
    expect(await cacheOf(model, QUESTION, others)).toBe('MISS')
    for (const same of [headers, {}, others]) {
      expect(await cacheOf(model, QUESTION, same)).toBe('HIT')
      expect(await cacheOf(model, SAME_WORDS, same)).toBe('HIT-SEMANTIC')
    }
  })

  test('a semantic hit needs the same headers', async () => {
    expect(await cacheOf('someone/brand-new', QUESTION, { 'x-anthropic-beta': 'context-1m' })).toBe('MISS')
    expect(await cacheOf('someone/brand-new', SAME_WORDS)).toBe('MISS')
  })

  test('vectors are separated in the same way', async () => {
    async function embed(headers: Headers): Promise<string | null> {
      const body = { model: 'text-embedding-3-small', input: 'text' }
      const { status, cache } = await readAnswer(await post(proxy, key, '/embeddings', body, { headers }))
      expect(status).toBe(200)
      return cache
    }
    expect(await embed({ 'openai-beta': 'a' })).toBe('MISS')
    expect(await embed({})).toBe('MISS')
    expect(await embed({ 'openai-beta': 'a', 'idempotency-key': 'one' })).toBe('HIT')
  })

  test('headers that change no response share an entry', async () => {
    expect(await cacheOf('someone/brand-new', QUESTION)).toBe('MISS')
    for (const headers of WITHOUT_EFFECT) expect(await cacheOf('someone/brand-new', QUESTION, headers)).toBe('HIT')
  })
})
