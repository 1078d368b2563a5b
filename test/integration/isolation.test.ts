import { beforeEach, describe, expect, test } from 'vitest'
import { entryName } from '../../src/stores/fast-store.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { type Answer, ask, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

type Body = Record<string, unknown>

const QUESTION = 'Explain how photosynthesis works in the leaves of rare plants, with photographs'
/** The first has the same normalized text. The second asks the same by the verifier. */
const SAME_WORDS = `Could you please ${QUESTION.toLowerCase()}?`
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of rare plants, with a photograph'

const user = (content: unknown) => ({ role: 'user', content })
const chat = (fields: Body = {}): Body => ({ model: 'openai/gpt-4o-mini', messages: [user(QUESTION)], ...fields })
const after = (...earlier: Body[]): Body => chat({ messages: [...earlier, user(QUESTION)] })
const tool = (name: string, description = 'A tool.') => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object' } },
})
const image = (url: string) => ({ type: 'image_url', image_url: { url } })

/** Any similarity suffices, so only the rest of the request or a guard keeps requests apart. */
const ANY_SIMILARITY = { semantic_threshold: '0' }

/** Requests that end with the same question, and must not get each other's responses. */
const DIFFERENT: Record<string, Body> = {
  'nothing else': chat(),
  'another model': chat({ model: 'openai/gpt-4o' }),
  'another vendor': chat({ model: 'anthropic/gpt-4o-mini' }),
  'a model in capitals': chat({ model: 'openai/GPT-4o-mini' }),
  'a system prompt': after({ role: 'system', content: 'Answer in French.' }),
  'another system prompt': after({ role: 'system', content: 'Answer in German.' }),
  'a system prompt with a space more': after({ role: 'system', content: 'Answer in German. ' }),
  'a developer prompt': after({ role: 'developer', content: 'Answer in German.' }),
  'an earlier turn': after(user('I am a botanist.'), { role: 'assistant', content: 'Good.' }),
  'another earlier turn': after(user('I am a child.'), { role: 'assistant', content: 'Good.' }),
  'another earlier answer': after(user('I am a child.'), { role: 'assistant', content: 'Great.' }),
  'earlier turns in another order': after({ role: 'assistant', content: 'Good.' }, user('I am a child.')),
  'the question asked twice': after(user(QUESTION)),
  'a name': chat({ messages: [{ ...user(QUESTION), name: 'Ann' }] }),
  'a temperature': chat({ temperature: 0 }),
  'another temperature': chat({ temperature: 0.7 }),
  'a nucleus': chat({ top_p: 0.5 }),
  'a seed': chat({ seed: 1 }),
  'another seed': chat({ seed: 2 }),
  'a seed as text': chat({ seed: '1' }),
  'a large seed': chat({ seed: 9007199254740991 }),
  'a length limit': chat({ max_tokens: 50 }),
  'a length limit under its newer name': chat({ max_completion_tokens: 50 }),
  'a stop': chat({ stop: ['\n'] }),
  'two choices': chat({ n: 2 }),
  'a presence penalty': chat({ presence_penalty: 1 }),
  'a frequency penalty': chat({ frequency_penalty: 1 }),
  'a bias': chat({ logit_bias: { '50256': -100 } }),
  'log probabilities': chat({ logprobs: true }),
  'a JSON object': chat({ response_format: { type: 'json_object' } }),
  'a schema': chat({
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
  }),
  'another schema': chat({
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'array' } } },
  }),
  'a tool': chat({ tools: [tool('look_up')] }),
  'another tool': chat({ tools: [tool('look_down')] }),
  'a tool described otherwise': chat({ tools: [tool('look_up', 'Another tool.')] }),
  'two tools': chat({ tools: [tool('look_up'), tool('look_down')] }),
  'two tools in another order': chat({ tools: [tool('look_down'), tool('look_up')] }),
  'a tool that may not be called': chat({ tools: [tool('look_up')], tool_choice: 'none' }),
  'a tool and no parallel calls': chat({ tools: [tool('look_up')], parallel_tool_calls: false }),
  'an older function': chat({ functions: [tool('look_up').function] }),
  'reasoning effort': chat({ reasoning_effort: 'low' }),
  'more reasoning effort': chat({ reasoning_effort: 'high' }),
  'a modality': chat({ modalities: ['text'] }),
  'a field of the future': chat({ field_of_the_future: 1 }),
  'another value of it': chat({ field_of_the_future: 2 }),
  'a field called __proto__': JSON.parse(`{"__proto__":{"a":1},${JSON.stringify(chat()).slice(1)}`),
  'an image': chat({ messages: [user([{ type: 'text', text: QUESTION }, image('https://a.example/1.png')])] }),
  'another image': chat({ messages: [user([{ type: 'text', text: QUESTION }, image('https://a.example/2.png')])] }),
  'the image first': chat({ messages: [user([image('https://a.example/2.png'), { type: 'text', text: QUESTION }])] }),
}

/** Differences that cannot change the response. */
const IRRELEVANT: Record<string, Body> = {
  'a user': chat({ user: 'ann' }),
  'another user': chat({ user: 'bob' }),
  metadata: chat({ metadata: { trace: '1' } }),
  'a stream': chat({ stream: true }),
  'a stream with usage': chat({ stream: true, stream_options: { include_usage: true } }),
  'no stream': chat({ stream: false }),
  'storing at the vendor': chat({ store: true }),
  'a safety identifier': chat({ safety_identifier: 'abc' }),
  'a cache key at the vendor': chat({ prompt_cache_key: 'abc' }),
  'fields in another order': Object.fromEntries(Object.entries(chat()).toReversed()),
}

/** Similar, but not the same. */
const TRAPS: [string, string][] = [
  ['Is a dose of 5 mg of loratadine safe for a child?', 'Is a dose of 50 mg of loratadine safe for a child?'],
  ['Is a dose of 5 mg of loratadine safe for a child?', 'Is a dose of 5 g of loratadine safe for a child?'],
  ['List three rivers in Spain', 'List four rivers in Spain'],
  ['Which foods are safe for dogs?', 'Which foods are not safe for dogs?'],
  ['How do I enable dark mode?', 'How do I disable dark mode?'],
  ['What is the capital of Australia?', 'What is the capital of Austria?'],
  ['Does Alice owe Bob money?', 'Does Bob owe Alice money?'],
  ['Convert 10 miles to kilometers', 'Convert 10 kilometers to miles'],
  ['What does `a + b` do in Python?', 'What does `a - b` do in Python?'],
  ['Summarise https://example.com/one', 'Summarise https://example.com/two'],
  ['How does C handle strings?', 'How does C++ handle strings?'],
  ['Translate "good morning" into Polish', 'Translate "good night" into Polish'],
]

const FRESH: [string, string][] = [
  ['What is the weather in Oslo today?', "What's the weather in Oslo today?"],
  ['Who is the current chancellor of Germany?', 'Please, who is the current chancellor of Germany?'],
  ['What time is it now in Tokyo?', 'what time is it now in tokyo'],
]

describeBackends('the cache', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: fakeProvider.environment }))

  beforeEach(() => fakeProvider.reset())

  /** Creates a project and one key of it. */
  async function openProject(type: 'project' | 'test' = 'project'): Promise<{ project: string; key: string }> {
    const project = `p-${crypto.randomUUID().slice(0, 8)}`
    return { project, key: await proxy.createKey({ project, type, settings: ANY_SIMILARITY }) }
  }

  /** Sends a new question and waits until its response is stored: under load, this is a little after the response. */
  async function learn(key: string, body: Body | string, headers?: Record<string, string>): Promise<Answer> {
    const answer = await ask(proxy, key, body, headers)
    expect([answer.status, answer.cache]).toEqual([200, 'MISS'])
    const entries = `
      select e.id from cache_entries e join api_keys k on k.project_id = e.project_id
      where k.prefix = '${key.slice(0, 17)}' and e.response like '%"${answer.json.id}"%'`
    await expect.poll(async () => (await proxy.query(entries)).length, { interval: 5 }).toBe(1)
    return answer
  }

  const cacheOf = async (key: string, body: Body | string, headers?: Record<string, string>) =>
    (await ask(proxy, key, body, headers)).cache
  const setSetting = (project: string, setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)

  describe('within a project', () => {
    test('requests that differ in a relevant field never share', async () => {
      const { key } = await openProject()
      const found: Record<string, string | null> = {}
      for (const [name, body] of Object.entries(DIFFERENT)) {
        found[name] = await cacheOf(key, body, { 'cache-control': 'only-if-cached' })
        await learn(key, body)
      }
      expect(found).toEqual(Object.fromEntries(Object.keys(DIFFERENT).map(name => [name, 'MISS'])))
      expect(fakeProvider.counts.total).toBe(Object.keys(DIFFERENT).length)
    })

    test('and each has its own entry', async () => {
      const { key } = await openProject()
      const ids: Record<string, string> = {}
      for (const [name, body] of Object.entries(DIFFERENT)) ids[name] = (await learn(key, body)).json.id
      for (const [name, body] of Object.entries(DIFFERENT)) {
        const again = await ask(proxy, key, body)
        expect([name, again.cache, again.json.id]).toEqual([name, 'HIT', ids[name]])
      }
    })

    test('requests that differ in an irrelevant field share', async () => {
      const { key, project } = await openProject()
      await learn(key, chat())
      for (const [name, body] of Object.entries(IRRELEVANT))
        expect([name, await cacheOf(key, body)]).toEqual([name, 'HIT'])
      const colleague = await proxy.createKey({ project, type: 'project' })
      expect(await cacheOf(colleague, chat(), { 'user-agent': 'another', 'x-request-id': 'abc' })).toBe('HIT')
      expect(fakeProvider.counts.total).toBe(1)
    })

    test('long texts that differ in half a surrogate pair alone never share', async () => {
      const { key } = await openProject()
      const long = 'word '.repeat(2_000)
      for (const end of ['\ud800', '\udc00', '\ufffd']) {
        await learn(key, after({ role: 'system', content: long + end }))
      }
    })

    test('numbers that JavaScript rounds to the same never share', async () => {
      const { key } = await openProject()
      for (const number of ['9007199254740992', '9007199254740993', '1e400', '1e401', '-1e400', '1e-400', '2e-400']) {
        const response = await post(
          proxy,
          key,
          '/chat/completions',
          `${JSON.stringify(chat()).slice(0, -1)},"x_number":${number}}`,
        )
        expect([number, response.headers.get('x-proxy-cache')]).toEqual([number, 'MISS'])
        await response.arrayBuffer()
      }
    })

    test('chat and legacy completions never share', async () => {
      const { key } = await openProject()
      const body = chat({ prompt: QUESTION })
      await learn(key, body)
      const response = await post(proxy, key, '/completions', body)
      expect(response.headers.get('x-proxy-cache')).toBe('MISS')
      expect(await response.json()).toMatchObject({ object: 'text_completion' })
    })

    test('a test key and a project key never share, and the test key never reaches the upstream', async () => {
      const { project, key } = await openProject('test')
      const paid = await proxy.createKey({ project, type: 'project' })
      for (const [asking, provider] of [
        [key, 'sandbox'],
        [paid, 'openrouter'],
      ] as const) {
        const first = await learn(asking, QUESTION)
        const second = await ask(proxy, asking, OTHER_WORDS)
        expect([first.cache, second.cache]).toEqual(['MISS', 'HIT-SEMANTIC'])
        for (const { headers } of [first, second]) expect(headers.get('x-proxy-provider')).toBe(provider)
      }
      expect(fakeProvider.counts.total).toBe(1)
    })
  })

  describe('between projects', () => {
    test.each(['project', 'test'] as const)('the same question by two %s keys never shares', async type => {
      const [one, other] = [await openProject(type), await openProject(type)]
      await learn(one.key, QUESTION)
      expect(await cacheOf(one.key, QUESTION)).toBe('HIT')
      for (const words of [QUESTION, SAME_WORDS, OTHER_WORDS]) {
        expect(await cacheOf(other.key, words, { 'cache-control': 'only-if-cached' })).toBe('MISS')
      }
      expect(await cacheOf(other.key, QUESTION)).toBe('MISS')
    })

    test('nor at the same moment', async () => {
      const keys = await Promise.all([openProject(), openProject(), openProject()])
      fakeProvider.script({ kind: 'answer', firstByteDelayMs: 100 })
      const answers = await Promise.all(keys.map(({ key }) => ask(proxy, key, QUESTION)))
      expect(answers.map(({ cache }) => cache)).toEqual(['MISS', 'MISS', 'MISS'])
      expect(new Set(answers.map(({ json }) => json.id)).size).toBe(3)
      expect(fakeProvider.counts.total).toBe(3)
    })
  })

  describe('cache control', () => {
    test('no-cache calls again and stores the response', async () => {
      const { key } = await openProject()
      const old = await learn(key, QUESTION)
      const anew = await learn(key, QUESTION, { 'cache-control': 'no-cache' })
      const later = await ask(proxy, key, QUESTION)
      expect([old.cache, anew.cache, later.cache]).toEqual(['MISS', 'MISS', 'HIT'])
      expect(anew.json.id).not.toBe(old.json.id)
      expect(later.json.id).toBe(anew.json.id)
    })

    test('no-store neither looks up nor stores', async () => {
      const { key } = await openProject()
      expect(await cacheOf(key, QUESTION, { 'cache-control': 'no-store' })).toBe('MISS')
      const old = await learn(key, QUESTION)
      const unstored = await ask(proxy, key, QUESTION, { 'cache-control': 'no-store' })
      const later = await ask(proxy, key, QUESTION)
      expect([old.cache, unstored.cache, later.cache]).toEqual(['MISS', 'MISS', 'HIT'])
      expect(later.json.id).toBe(old.json.id)
    })

    test('max-age and X-Proxy-Cache-TTL: older entries are ignored', async () => {
      const { key } = await openProject()
      const [lasting, brief] = ['Name a river in Peru', 'Describe a castle on the moon']
      await learn(key, lasting)
      // Hits before it expires are tested elsewhere: a second may be over by then.
      await learn(key, brief, { 'x-proxy-cache-ttl': '1' })
      await Bun.sleep(1_100)
      expect(await cacheOf(key, brief, { 'cache-control': 'only-if-cached' })).toBe('MISS')
      expect(await cacheOf(key, 'Please describe a castle on the moon')).toBe('MISS')
      const aged = await ask(proxy, key, lasting, { 'cache-control': 'max-age=60' })
      expect(aged.cache).toBe('HIT')
      expect(aged.headers.get('x-proxy-cache-age')).toMatch(/^[1-9]\d*$/)
      expect(await cacheOf(key, 'name a river in peru', { 'cache-control': 'max-age=0, only-if-cached' })).toBe('MISS')
      expect(await cacheOf(key, lasting, { 'cache-control': 'max-age=0' })).toBe('MISS')
      // The fresh response was stored, so its age starts again.
      expect(await cacheOf(key, lasting, { 'cache-control': 'max-age=60' })).toBe('HIT')
    })

    test('only-if-cached serves from the cache or not at all, and a rejection does not count', async () => {
      const { project, key } = await openProject()
      const onlyIfCached = { 'cache-control': 'only-if-cached' }
      const refused = await ask(proxy, key, QUESTION, onlyIfCached)
      expect(refused).toMatchObject({ status: 504, cache: 'MISS' })
      expect(refused.json.error).toMatchObject({ code: 'not_cached', param: 'Cache-Control' })
      expect(fakeProvider.counts.total).toBe(0)
      await learn(key, QUESTION)
      expect(await cacheOf(key, QUESTION, onlyIfCached)).toBe('HIT')
      expect(await cacheOf(key, OTHER_WORDS, onlyIfCached)).toBe('HIT-SEMANTIC')
      await expect
        .poll(() =>
          proxy.query(`
            select requests::integer from monthly_counters
            where project_id = (select id from projects where name = '${project}')`),
        )
        .toEqual([{ requests: 3 }])
    })

    test('a TTL of zero stores nothing', async () => {
      const { key } = await openProject()
      expect(await cacheOf(key, QUESTION, { 'x-proxy-cache-ttl': '0' })).toBe('MISS')
      expect(await cacheOf(key, QUESTION)).toBe('MISS')
    })

    test('the threshold must be exceeded', async () => {
      const { key } = await openProject()
      await learn(key, QUESTION)
      const atThreshold = (words: string, threshold: string) =>
        cacheOf(key, words, { 'x-proxy-cache-threshold': threshold, 'cache-control': 'only-if-cached' })
      expect(await atThreshold(OTHER_WORDS, '0.9999')).toBe('MISS')
      expect(await atThreshold(OTHER_WORDS, '0.8')).toBe('HIT-SEMANTIC')
      expect(await atThreshold(SAME_WORDS, '0.9999')).toBe('HIT-SEMANTIC')
      expect(await atThreshold(SAME_WORDS, '1')).toBe('MISS')
      expect(await atThreshold(QUESTION, '1')).toBe('HIT')
    })

    test('namespaces never share', async () => {
      const { key } = await openProject()
      for (const namespace of ['', 'a', 'b', 'A', 'a b', 'a\\nb', '{}']) {
        const headers = { 'x-proxy-cache-namespace': namespace }
        await learn(key, QUESTION, headers)
        expect([namespace, await cacheOf(key, QUESTION, headers)]).toEqual([namespace, 'HIT'])
        expect([namespace, await cacheOf(key, OTHER_WORDS, headers)]).toEqual([namespace, 'HIT-SEMANTIC'])
      }
    })
  })

  describe('an operator', () => {
    test('purges a project, and no other', async () => {
      const [one, other] = [await openProject(), await openProject()]
      for (const { key } of [one, other]) await learn(key, QUESTION)
      expect(await cacheOf(one.key, QUESTION)).toBe('HIT')
      expect(await proxy.query(`select purge_cache('${one.project}')::integer as purged`)).toEqual([{ purged: 1 }])
      const onlyIfCached = { 'cache-control': 'only-if-cached' }
      for (const words of [QUESTION, SAME_WORDS, OTHER_WORDS]) {
        expect(await cacheOf(one.key, words, onlyIfCached)).toBe('MISS')
      }
      expect(await cacheOf(other.key, QUESTION)).toBe('HIT')
      expect(await cacheOf(one.key, QUESTION)).toBe('MISS')
      expect(await cacheOf(one.key, QUESTION)).toBe('HIT')
    })

    test('disables and enables semantic matching', async () => {
      const { project, key } = await openProject()
      await learn(key, QUESTION)
      const onlyIfCached = { 'cache-control': 'only-if-cached' }
      await setSetting(project, 'semantic_enabled', 'false')
      for (const words of [SAME_WORDS, OTHER_WORDS]) expect(await cacheOf(key, words, onlyIfCached)).toBe('MISS')
      expect(await cacheOf(key, QUESTION)).toBe('HIT')
      await setSetting(project, 'semantic_enabled', 'true')
      for (const words of [SAME_WORDS, OTHER_WORDS])
        expect(await cacheOf(key, words, onlyIfCached)).toBe('HIT-SEMANTIC')
    })

    test('raises the threshold', async () => {
      const { project, key } = await openProject()
      await learn(key, QUESTION)
      await setSetting(project, 'semantic_threshold', '0.9999')
      expect(await cacheOf(key, OTHER_WORDS, { 'cache-control': 'only-if-cached' })).toBe('MISS')
      // A client may require more similarity than the project, but not less.
      expect(
        await cacheOf(key, OTHER_WORDS, { 'x-proxy-cache-threshold': '0.8', 'cache-control': 'only-if-cached' }),
      ).toBe('MISS')
    })

    test('sets the lifetime of responses to zero', async () => {
      const { project, key } = await openProject()
      await setSetting(project, 'cache_ttl_seconds', '0')
      for (let i = 0; i < 2; i++) expect(await cacheOf(key, QUESTION)).toBe('MISS')
      // A header cannot enable what the project has disabled.
      expect(await cacheOf(key, QUESTION, { 'x-proxy-cache-ttl': '60' })).toBe('MISS')
      expect(await cacheOf(key, QUESTION)).toBe('MISS')
    })
  })

  describe('similar is not same', () => {
    test.each(TRAPS)('%s / %s', async (known, trap) => {
      const [guarded, unguarded] = [await openProject(), await openProject()]
      await setSetting(unguarded.project, 'semantic_guards', 'false')
      const found = []
      for (const { key } of [guarded, unguarded]) {
        await learn(key, known)
        found.push(await cacheOf(key, trap, { 'cache-control': 'only-if-cached' }))
      }
      // The similarity was sufficient; the missing proof prevented the hit.
      expect(found).toEqual(['MISS', 'HIT-SEMANTIC'])
    })

    test.each(FRESH)(
      'a question about the present is never matched by similarity: %s / %s',
      async (known, reworded) => {
        const { key } = await openProject()
        await learn(key, known)
        expect(await cacheOf(key, reworded, { 'cache-control': 'only-if-cached' })).toBe('MISS')
      },
    )

    test('a response that calls a tool serves only the same question', async () => {
      const { key } = await openProject()
      const asking = (content: string) => chat({ messages: [user(content)], tools: [tool('look_up')] })
      fakeProvider.script({ kind: 'answer', toolCalls: [{ name: 'look_up', arguments: {} }] })
      await learn(key, asking(QUESTION))
      expect(await cacheOf(key, asking(QUESTION))).toBe('HIT')
      for (const words of [SAME_WORDS, OTHER_WORDS]) {
        expect(await cacheOf(key, asking(words), { 'cache-control': 'only-if-cached' })).toBe('MISS')
      }
    })
  })

  describe('stored entries', () => {
    test('contain no upstream’s error', async () => {
      const { key } = await openProject()
      fakeProvider.scriptOnce({ kind: 'error', status: 400 })
      const refused = await ask(proxy, key, QUESTION)
      const answered = await ask(proxy, key, QUESTION)
      expect([refused, answered].map(({ status, cache }) => [status, cache])).toEqual([
        [400, 'MISS'],
        [200, 'MISS'],
      ])
    })

    test('do not wait for an embedder that hangs', async () => {
      const hanging = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Promise<Response>(() => {}) })
      const impatient = await startProxy({
        stores: proxy.stores,
        environment: { EMBEDDINGS_BASE_URL: `http://127.0.0.1:${hanging.port}/v1`, EMBEDDINGS_API_KEY: 'vendor-key' },
      })
      const { key } = await openProject('test')
      // The embedder never responds: the request completes only because the proxy stops waiting.
      const answer = await ask(impatient, key, QUESTION, { 'cache-control': 'no-cache' })
      expect(answer.status).toBe(200)
      expect(await cacheOf(key, QUESTION)).toBe('HIT')
      await impatient.stop()
      await hanging.stop(true)
    })

    test('outlive the fast store, which they refill', async () => {
      const { project, key } = await openProject()
      const first = await learn(key, QUESTION)
      const [entry] = await proxy.query<{ name: [number, number, string] }>(`
        select json_build_array(p.id, p.cache_generation, encode(e.request_hash, 'hex')) as name
        from cache_entries e join projects p on p.id = e.project_id
        where p.name = '${project}'`)
      if (!entry) throw new Error('no response was stored')
      const name = entryName(...entry.name)
      const { store } = proxy.stores
      const readEntry = async () =>
        (await store.count({ requests: 1, windows: [], entries: [name] })).entries[0] ?? null

      expect(await readEntry()).not.toBe(null)
      await store.deleteEntry(name)
      expect(await readEntry()).toBe(null)
      const fromPostgres: Answer = await ask(proxy, key, QUESTION)
      expect([fromPostgres.cache, fromPostgres.text]).toEqual(['HIT', first.text])

      await expect.poll(readEntry).not.toBe(null)
      await proxy.query('delete from cache_entries')
      const fromFastStore: Answer = await ask(proxy, key, QUESTION)
      expect([fromFastStore.cache, fromFastStore.text]).toEqual(['HIT', first.text])
      expect(fakeProvider.counts.total).toBe(1)
    })
  })
})
