import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

/** Vectors of one topic have a cosine of 0.97, others of 0.2: an embedder that knows topics and nothing finer. */
function vectorOf(text: string): number[] {
  const topic = ['everest', 'phone', 'remote work'].findIndex(each => text.toLowerCase().includes(each))
  const own = 8 + (Bun.hash.crc32(text) % 500)
  const values = new Array<number>(512).fill(0)
  values[5] = Math.sqrt(0.2)
  values[topic < 0 ? 3 : topic] = Math.sqrt(0.77)
  values[own] = Math.sqrt(0.03)
  return values
}

describeBackends('an embedder of meaning', backend => {
  let embeddings: ReturnType<typeof Bun.serve>
  const upstream = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  let proxy: TestProxy
  let key: string
  const embedded: string[] = []

  beforeAll(async () => {
    embeddings = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { input, model } = (await request.json()) as { input: string | string[]; model: string }
        embedded.push(...[input].flat())
        const data = [input].flat().map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }))
        return Response.json({ object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } })
      },
    })
    proxy = await startProxy({
      stores: await backend.open(),
      environment: {
        ...upstream.environment,
        EMBEDDINGS_BASE_URL: `http://127.0.0.1:${embeddings.port}/v1`,
        EMBEDDINGS_API_KEY: 'embeddings-key',
      },
    })
    key = await proxy.createKey({ type: 'project' })
  })
  afterAll(() => Promise.all([proxy.stop(), embeddings.stop()]))

  async function askAfter(stored: string, asked: string) {
    const headers = { 'x-proxy-cache-namespace': stored }
    await ask(proxy, key, stored, headers)
    await proxy.settle()
    return ask(proxy, key, asked, headers)
  }

  test('embeds a text again for each caller that shares nothing with another', async () => {
    const settings = { cache_scope: 'user' }
    const apart = await proxy.createKey({ project: 'apart', type: 'project', settings })
    const embeddedFor = async (user: string, question: string) => {
      embedded.length = 0
      const messages = [{ role: 'user', content: question }]
      await ask(proxy, apart, { model: 'openai/gpt-4o-mini', messages, user })
      await proxy.settle()
      return embedded.length
    }
    expect(await embeddedFor('alice', 'How tall is the north face of Mount Everest?')).toBe(1)
    expect(await embeddedFor('alice', 'How tall is the north face of Mount Everest, please?')).toBe(0)
    expect(await embeddedFor('bob', 'How tall is the north face of Mount Everest?')).toBe(1)
  })

  test.each([
    ['How tall is Mount Everest?', 'What is the height of Mount Everest?'],
    ['How do I fix a flat tire at home?', 'How can I repair a flat tire at home?'],
    ['How do I charge a used phone?', 'What is the best way to charge a used phone?'],
    ['How do I organise my phone contacts?', 'How can I organize my phone contacts?'],
  ])('%j, then %j: verified', async (stored, asked) => {
    const answer = await askAfter(stored, asked)
    expect(answer.headers.get('x-proxy-cache-reason')).toBe('verified')
    expect(Number(answer.headers.get('x-proxy-cache-similarity'))).toBeGreaterThan(0.95)
  })

  test.each([
    ['How do I bake bread for a party?', 'Where do I buy bread for a party?', 'unverified:words'],
    ['Why do cats purr at night?', 'How much is a house in Oslo?', 'no-candidate'],
    ['How do I prevent phone tracking at work?', 'How do I perform phone tracking at work?', 'unverified:words'],
    ['How do I lock my phone screen?', 'How do I unlock my phone screen?', 'unverified:opposite'],
    ['How do I use a phone with gloves?', 'How do I use a phone without gloves?', 'unverified:negation'],
    ['Is Mount Everest taller than Mount Kenya?', 'Is Mount Kenya taller than Mount Everest?', 'unverified:words'],
    ['How do I bake bread at home?', 'Who baked bread on Mount Everest?', 'below-threshold'],
  ])('%j, then %j: %s', async (stored, asked, reason) => {
    const answer = await askAfter(stored, asked)
    expect(answer.headers.get('x-proxy-cache-reason')).toBe(reason)
  })

  test('is not called for questions that only a proof can match, and no vector of them is stored', async () => {
    const questions = [
      'What is the weather in Rome today?',
      'Cancel my order 5512',
      'What does a.b do in [x]?',
      'What is 17 * 23?',
    ]
    const before = embedded.length
    for (const text of questions) expect((await ask(proxy, key, text)).cache).toBe('MISS')
    await proxy.settle()
    expect(embedded.slice(before)).toEqual([])
    const stored = await proxy.query<{ count: number }>(
      `select count(*)::int as count from cache_prompts where embedding is not null and prompt ~ 'Rome today|5512|a[.]b|23'`,
    )
    expect(stored).toEqual([{ count: 0 }])
  })
})
