import { beforeEach, expect, test } from 'vitest'
import type { LookupExplanation } from '../../src/cache/explain.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { ask, get, post } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'
const UNPROVED = 'Explain how photosynthesis works in the leaves of green plants, with drawings'
const NEAR = { semantic_threshold: '0.5' }

describeBackends('POST /v1/cache/explain', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: fakeProvider.environment }))
  let project: string
  let key: string

  beforeEach(async () => {
    project = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project, type: 'project', settings: NEAR })
    await ask(proxy, key, QUESTION)
    await proxy.settle()
    fakeProvider.reset()
  })

  function askWhy(body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Response> {
    return post(proxy, key, '/cache/explain', body, { headers })
  }

  async function explain(content: string, headers: Record<string, string> = {}): Promise<LookupExplanation> {
    const response = await askWhy({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }, headers)
    expect(response.status).toBe(200)
    return (await response.json()) as LookupExplanation
  }

  test('reports the sharing scope, as a hit does', async () => {
    await proxy.query(`select set_setting('${project}', 'cache_scope', 'user')`)
    expect((await explain(QUESTION)).key.scope).toBe('key')
    const messages = [{ role: 'user', content: QUESTION }]
    const named = await askWhy({ model: 'openai/gpt-4o-mini', messages, user: 'alice' })
    expect(((await named.json()) as LookupExplanation).key.scope).toBe('user')
  })

  test('reports an exact hit for the same request', async () => {
    const { key: made, decision } = await explain(QUESTION)
    expect(decision).toEqual({ cache: 'HIT', reason: 'exact', id: made.id })
    expect(made).toMatchObject({ endpoint: 'chat', namespace: '', canonical_body: expect.stringContaining(QUESTION) })
  })

  test('shows the nearest entry, and both texts side by side', async () => {
    const { nearest, decision, semantic } = await explain(OTHER_WORDS)
    expect(decision).toMatchObject({ cache: 'HIT-SEMANTIC', reason: 'verified', id: nearest[0]?.id })
    expect(semantic).toMatchObject({ text: OTHER_WORDS, policy: 'verified', threshold: 0.5 })
    expect(nearest).toMatchObject([{ text: QUESTION, proof: 'verified', verdict: null }])
    expect(nearest[0]?.differences).toMatchObject([
      { kind: 'words', askedText: 'a photograph', cachedText: 'photographs' },
    ])
  })

  test('names the difference that prevents a hit', async () => {
    const { nearest, decision } = await explain(UNPROVED)
    expect(decision).toEqual({ cache: 'MISS', reason: 'unverified:words', asks_judge: false })
    expect(nearest[0]).toMatchObject({
      proof: 'words',
      objections: [{}, {}, {}],
      differences: [{ askedText: 'drawings', kind: 'words' }],
    })
  })

  test.each([
    ['Translate the user’s question into French.', { cache: 'MISS', reason: 'context' }, 'question'],
    ['Be polite, and repeat the order number.', { cache: 'HIT-SEMANTIC', reason: 'verified' }, 'wording'],
  ])('decides by the system prompt %j, unless the project corrects that', async (system, expected, correction) => {
    const bodyOf = (content: string) => ({
      model: 'openai/gpt-4o-mini',
      messages: [
        { role: 'system', content: system },
        { role: 'user', content },
      ],
    })
    async function askBoth() {
      await ask(proxy, key, bodyOf(QUESTION))
      await proxy.settle()
      const explained = (await (await askWhy(bodyOf(OTHER_WORDS))).json()) as LookupExplanation
      const answer = await ask(proxy, key, bodyOf(OTHER_WORDS), { 'x-proxy-cache-ttl': '0' })
      return { explained, answer: { cache: answer.cache, reason: answer.headers.get('x-proxy-cache-reason') } }
    }
    const before = await askBoth()
    expect([before.explained.decision, before.answer]).toMatchObject([expected, expected])
    expect(before.explained.semantic?.wording_matters).toBe(expected.reason === 'context')
    const hash = before.explained.semantic?.instructions_hash
    await proxy.query(`select set_setting('${project}', 'semantic_contexts', '${hash}=${correction}')`)
    const counted = () =>
      proxy.query<{ misses: number }>(
        `select misses::int as misses from list_contexts(find_project('${project}')) where instructions_hash = '${hash}'`,
      )
    await expect.poll(counted).toEqual(expected.reason === 'context' ? [{ misses: 2 }] : [])
    // The next request stores another entry, because texts of both kinds are never compared.
    await ask(proxy, key, bodyOf(QUESTION), { 'cache-control': 'no-cache' })
    const after = await askBoth()
    expect(after.explained.decision.reason).toBe(correction === 'question' ? 'verified' : 'context')
    expect(after.answer.reason).toBe(after.explained.decision.reason)
    expect(after.explained.semantic?.instructions_hash).toBe(hash)
  })

  test('records at most 200 contexts of a project, and counts those', async () => {
    const hashes = Array.from({ length: 201 }, (_, at) => at.toString(16).padStart(16, '0'))
    const record = (...listed: string[]) =>
      proxy.query(`select record_contexts(json_agg(json_build_object('project_id', find_project('${project}'),
        'instructions_hash', h, 'last_request_id', 'r'))) from unnest('{${listed.join()}}'::text[]) h`)
    await record(...hashes)
    await record('f'.repeat(16), '0'.repeat(16), '0'.repeat(16))
    const listed = await proxy.query<{ instructions_hash: string; misses: number }>(
      `select instructions_hash, misses::int as misses from list_contexts(find_project('${project}')) order by 1`,
    )
    expect(listed.map(row => row.instructions_hash)).toEqual(hashes.slice(0, 200))
    expect(listed.slice(0, 2).map(row => row.misses)).toEqual([3, 1])
  })

  test('shows another key’s question only if its text was and is kept', async () => {
    const own = key
    key = await proxy
      .query<{ value: string }>(`select issue_key('${project}', 'project', 'other') as value`)
      .then(([row]) => row?.value ?? '')
    const seen = async () => {
      const explanation = await explain(OTHER_WORDS)
      return explanation.nearest.map(({ text, differences, proof }) => [text, differences.length, proof])
    }
    const set = (value: string) => proxy.query(`select set_setting('${project}', 'log_content', '${value}')`)
    const [hidden, shown] = [[[null, 0, 'verified']], [[QUESTION, 1, 'verified']]]
    expect(await seen()).toEqual(hidden)
    await set('sealed')
    expect(await seen()).toEqual(hidden)
    await ask(proxy, own, QUESTION, { 'cache-control': 'no-cache' })
    await proxy.settle()
    expect(await seen()).toEqual(shown)
    await set('off')
    expect(await seen()).toEqual(hidden)
    key = own
    expect(await seen()).toEqual(shown)
  })

  test('agrees with a real request', async () => {
    for (const words of [OTHER_WORDS, UNPROVED, 'How do I boil an egg?', 'What time is it now?']) {
      for (const headers of [{}, { 'x-proxy-cache-threshold': '0.999' }]) {
        const { decision } = await explain(words, headers)
        const served = await ask(proxy, key, words, { ...headers, 'cache-control': 'no-store' })
        const looked = await ask(proxy, key, words, { ...headers, 'cache-control': 'only-if-cached' })
        expect([words, decision.cache !== 'MISS']).toEqual([words, looked.status === 200])
        expect(served.cache).toBe('MISS')
      }
    }
  })

  test('calls no provider or judge, and counts nothing', async () => {
    const counted = () =>
      proxy.query(
        `select sum(requests)::integer as requests from monthly_counters where project_id = find_project('${project}')`,
      )
    const before = await counted()
    for (const words of [QUESTION, OTHER_WORDS, 'How do I boil an egg?']) await explain(words)
    await proxy.settle()
    expect(await counted()).toEqual(before)
    expect(fakeProvider.requests).toEqual([])
  })

  test('rejects what is no request', async () => {
    expect((await askWhy({ model: 'openai/gpt-4o-mini' })).status).toBe(400)
    expect((await askWhy({ model: 'openai/gpt-4o-mini', messages: 1 })).status).toBe(400)
    expect((await get(proxy, '/cache/explain')).status).toBe(405)
    expect((await fetch(`${proxy.baseUrl}/cache/explain`, { method: 'POST', body: '{}' })).status).toBe(401)
  })

  test('counts only if the embedder costs money', async () => {
    const counted = async (at: TestProxy) => {
      await at.settle()
      const [row] = await at.query<{ used: number }>(`select coalesce(sum(c.requests), 0)::integer as used
        from monthly_counters c join projects p on p.id = c.project_id where p.name = '${project}'`)
      return row?.used
    }
    await explain(OTHER_WORDS)
    expect(await counted(proxy)).toBe(1)
    const embeddings = { EMBEDDER: 'api', EMBEDDINGS_BASE_URL: fakeProvider.baseUrl, EMBEDDINGS_API_KEY: 'k' }
    const paid = await startProxy({
      stores: proxy.stores,
      environment: { ...fakeProvider.environment, ...embeddings },
    })
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: UNPROVED }] }
    expect((await post(paid, key, '/cache/explain', body)).status).toBe(200)
    expect(await counted(paid)).toBe(2)
    await paid.stop()
  })
})
