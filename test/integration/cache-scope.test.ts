import { beforeEach, expect, test, vi } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { describeBackends } from '../harness/backends.ts'
import { ask, post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

type Body = Record<string, unknown>
type Scope = 'project' | 'key' | 'user'

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const SAME_WORDS = `Could you please ${QUESTION.toLowerCase()}?`
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'

const messages = (content: string) => [{ role: 'user', content }]
const CHAT = { model: 'gpt-4o-mini' }

/** Every endpoint whose responses may be shared, and the field that names a user. */
const ENDPOINTS: Record<string, { path: string; body: Body; naming(user: string): Body }> = {
  chat: { path: '/chat/completions', body: { ...CHAT, messages: messages(QUESTION) }, naming: user => ({ user }) },
  'a stream': {
    path: '/chat/completions',
    body: { ...CHAT, messages: messages(`${QUESTION}, slowly`), stream: true },
    naming: user => ({ safety_identifier: user }),
  },
  'chat at the aggregator': {
    path: '/chat/completions',
    body: { model: 'someone/brand-new', messages: messages(QUESTION) },
    naming: user => ({ metadata: { user_id: user } }),
  },
  completions: {
    path: '/completions',
    body: { model: 'gpt-3.5-turbo-instruct', prompt: QUESTION },
    naming: user => ({ user }),
  },
  responses: {
    path: '/responses',
    body: { ...CHAT, input: QUESTION, store: false },
    naming: user => ({ safety_identifier: user }),
  },
  'messages, with Claude': {
    path: '/messages',
    body: { model: 'claude-haiku-4-5', max_tokens: 100, messages: messages(QUESTION) },
    naming: user => ({ metadata: { user_id: user } }),
  },
  embeddings: {
    path: '/embeddings',
    body: { model: 'text-embedding-3-small', input: [QUESTION, OTHER_WORDS] },
    naming: user => ({ user }),
  },
  moderations: {
    path: '/moderations',
    body: { model: 'omni-moderation-latest', input: QUESTION },
    naming: user => ({ user }),
  },
}

describeBackends('sharing of responses', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  let project: string
  let key: string
  let colleague: string

  beforeEach(async () => {
    project = `p-${crypto.randomUUID().slice(0, 8)}`
    const settings = { semantic_threshold: '0' }
    key = await proxy.createKey({ project, type: 'project', settings })
    colleague = await proxy.createKey({ project, type: 'project' })
    for (const vendor of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, vendor, `sk-${vendor}`)
  })

  const set = (setting: string, value: string) =>
    proxy.query(`select set_setting('${project}', '${setting}', '${value}')`)

  /** The cache status of a response and the scope of a hit. */
  async function summarize(response: Response): Promise<string> {
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const scope = response.headers.get('x-proxy-cache-scope')
    return [response.headers.get('x-proxy-cache'), ...(scope === null ? [] : [scope])].join(' ')
  }
  const say = async (words: string, fields: Body = {}, by = key, headers: Record<string, string> = {}) =>
    summarize(
      await post(proxy, by, '/chat/completions', { ...CHAT, messages: messages(words), ...fields }, { headers }),
    )
  /** Waits until stored responses can be found, also by semantic lookup. */
  const settle = () => proxy.settle()

  test.each(Object.keys(ENDPOINTS))('%s', async name => {
    const { path, body, naming } = ENDPOINTS[name] as (typeof ENDPOINTS)[string]
    const at = async (by: string, user?: string) =>
      summarize(await post(proxy, by, path, { ...body, ...(user !== undefined && naming(user)) }))
    const requests = [
      () => at(key, 'alice'),
      () => at(key, 'alice'),
      () => at(key, 'bob'),
      () => at(colleague, 'alice'),
      () => at(key),
      () => at(colleague),
      () => at(colleague),
    ]
    const expected: [Scope, string[]][] = [
      ['project', ['MISS', ...Array<string>(6).fill('HIT project')]],
      ['key', ['MISS', 'HIT key', 'HIT key', 'MISS', 'HIT key', 'HIT key', 'HIT key']],
      ['user', ['MISS', 'HIT user', 'MISS', 'HIT user', 'MISS', 'MISS', 'HIT key']],
      // Responses that were stored under a scope are found again under it.
      ['project', Array<string>(7).fill('HIT project')],
    ]
    for (const [scope, results] of expected) {
      await set('cache_scope', scope)
      const found: string[] = []
      for (const one of requests) {
        found.push(await one())
        await settle()
      }
      expect([scope, ...found]).toEqual([scope, ...results])
    }
  })

  test('in other words, too', async () => {
    await set('cache_scope', 'user')
    expect(await say(QUESTION, { user: 'alice' })).toBe('MISS')
    await settle()
    for (const words of [SAME_WORDS, OTHER_WORDS]) {
      const alone = { 'cache-control': 'only-if-cached' }
      const asBob = await post(
        proxy,
        key,
        '/chat/completions',
        { ...CHAT, messages: messages(words), user: 'bob' },
        { headers: alone },
      )
      expect([asBob.status, asBob.headers.get('x-proxy-cache'), asBob.headers.get('x-proxy-cache-reason')]).toEqual([
        504,
        'MISS',
        null,
      ])
      expect(await say(words, { user: 'alice' })).toBe('HIT-SEMANTIC user')
      // The second hit comes from the copy of the wording.
      expect(await say(words, { user: 'alice' })).toBe('HIT-SEMANTIC user')
    }
  })

  test.each([
    ['project', 1],
    ['key', 2],
    ['user', 3],
  ] as const)('in flight, within the scope %s', async (scope, calls) => {
    await set('cache_scope', scope)
    upstreams.openai.reset()
    upstreams.openai.script({ kind: 'answer', content: 'later', firstByteDelayMs: 600, chunkPauseMs: 5 })
    const asking = [
      ['alice', key],
      ['alice', key],
      ['bob', key],
      ['bob', colleague],
      [undefined, key],
    ] as const
    const answers = await Promise.all(
      asking.map(([user, by], i) => say(`${QUESTION}, ${scope}`, { ...(user && { user }), stream: i % 2 === 0 }, by)),
    )
    expect(upstreams.openai.requests).toHaveLength(calls)
    expect(answers.filter(answer => answer === 'MISS')).toHaveLength(calls)
    upstreams.openai.reset()
  })

  const WHO = 'Who am I, and what is on my account?'
  const WHO_ELSE = "who am I and what's on my account"

  test('a question about its end user matches only the same user’s, although all share', async () => {
    // The threshold ignores the words, so only the scope separates the questions.
    await set('semantic_policy', 'threshold')
    expect(await say(WHO, { user: 'alice' })).toBe('MISS')
    await settle()
    expect(await say(WHO_ELSE, { user: 'bob' }, key, { 'x-proxy-cache-ttl': '0' })).toBe('MISS')
    expect(await say(WHO_ELSE, {}, key, { 'x-proxy-cache-ttl': '0' })).toBe('MISS')
    expect(await say(WHO_ELSE, { user: 'alice' })).toBe('HIT-SEMANTIC user')
    // The copy of a wording does not cross scopes either.
    expect(await say(WHO_ELSE, { user: 'bob' }, key, { 'x-proxy-cache-ttl': '0' })).toBe('MISS')
    expect(await say(WHO_ELSE, {}, key, { 'x-proxy-cache-ttl': '0' })).toBe('MISS')
    expect(await say(WHO, { user: 'bob' })).toBe('HIT project')
  })

  /** Starts a proxy whose first semantic lookup with a match waits for `meanwhile` before it reads the response. */
  async function startSlow(meanwhile: () => Promise<unknown>): Promise<TestProxy> {
    const { stores } = proxy
    let waits: typeof meanwhile | null = meanwhile
    const database: Database = {
      ...stores.database,
      async call<Row>(...[text, values]: Parameters<Database['call']>) {
        const rows = await stores.database.call<Row>(text, values)
        if (
          waits &&
          text.includes('.search_cache(') &&
          rows.some(row => (row as { match?: string }).match !== 'exact')
        ) {
          waits = null
          await meanwhile()
        }
        return rows
      },
    }
    const environment = { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' }
    return startProxy({ stores: { ...stores, database }, environment })
  }

  test('a replaced response of another end user is not served for it either', async () => {
    await set('semantic_policy', 'threshold')
    expect(await say(WHO, { user: 'bob' })).toBe('MISS')
    await settle()
    const replace = vi.fn(() => say(WHO, { user: 'alice' }, key, { 'cache-control': 'no-cache' }).then(settle))
    const slow = await startSlow(replace)
    const body = { ...CHAT, messages: messages(WHO_ELSE), user: 'bob' }
    const answer = await post(slow, key, '/chat/completions', body, { headers: { 'cache-control': 'only-if-cached' } })
    expect([answer.status, await answer.json()]).toMatchObject([504, { error: { code: 'not_cached' } }])
    expect(replace).toHaveBeenCalledOnce()
    await slow.stop()
  })

  test.each([
    ['another', { user: 'bob' }],
    ['an unnamed one', {}],
  ])('a response matched for one end user is not served to %s at the same moment', async (_name, other) => {
    await set('semantic_policy', 'threshold')
    expect(await say(WHO, { user: 'alice' })).toBe('MISS')
    await settle()
    const asOther = Promise.withResolvers<string>()
    const askAs = async (fields: Body) =>
      summarize(await post(slow, key, '/chat/completions', { ...CHAT, messages: messages(WHO_ELSE), ...fields }))
    const slow = await startSlow(() => {
      asOther.resolve(askAs(other))
      // By then, the other request waits for the response to Alice. Her whole lookup is limited to half a second.
      return Bun.sleep(120)
    })
    expect(await askAs({ user: 'alice' })).toBe('HIT-SEMANTIC user')
    expect(await asOther.promise).toBe('MISS')
    await slow.stop()
  })

  test('a named end user does not follow a call that matched other words for an unnamed one', async () => {
    await set('semantic_policy', 'threshold')
    expect(await say(WHO)).toBe('MISS')
    await settle()
    const asBob = Promise.withResolvers<string>()
    const askAs = async (fields: Body) =>
      summarize(await post(slow, key, '/chat/completions', { ...CHAT, messages: messages(WHO_ELSE), ...fields }))
    const slow = await startSlow(() => {
      asBob.resolve(askAs({ user: 'bob' }))
      // By then, his request waits for the response to the first one, whose whole lookup is limited to half a second.
      return Bun.sleep(120)
    })
    expect(await askAs({})).toBe('HIT-SEMANTIC project')
    expect(await asBob.promise).toBe('MISS')
    await slow.stop()
  })

  test('a named end user does not get what was matched for unnamed ones', async () => {
    await set('semantic_policy', 'threshold')
    expect(await say(WHO)).toBe('MISS')
    await settle()
    expect(await say(WHO_ELSE)).toBe('HIT-SEMANTIC project')
    await waitUntil('the wording has a copy', async () => (await say(WHO_ELSE)) === 'HIT-SEMANTIC project')
    expect(await say(WHO_ELSE, { user: 'bob' })).toBe('MISS')
  })

  test('any other question matches everybody’s', async () => {
    expect(await say(QUESTION, { user: 'alice' })).toBe('MISS')
    await settle()
    expect(await say(OTHER_WORDS, { user: 'bob' })).toBe('HIT-SEMANTIC project')
  })

  test('rights to refresh what others get', async () => {
    const text = async (headers: Record<string, string> = {}, fields: Body = {}) => {
      const answer = await ask(proxy, key, { ...CHAT, messages: messages(QUESTION), ...fields }, headers)
      await settle()
      return answer.json.choices[0].message.content as string
    }
    const say = (content: string) => upstreams.openai.script({ kind: 'answer', content })
    say('first')
    expect(await text()).toBe('first')
    await set('cache_refresh', 'none')
    for (const refusing of ['no-cache', 'max-age=0']) {
      // max-age=0 rejects responses that are older than zero seconds.
      await Bun.sleep(1_100)
      say(refusing)
      expect(await text({ 'cache-control': refusing })).toBe(refusing)
      expect(await text()).toBe('first')
    }
    await set('cache_refresh', 'any')
    say('third')
    expect(await text({ 'cache-control': 'no-cache' }, { user: 'carol' })).toBe('third')
    expect(await text()).toBe('third')
    const records = await proxy.query<{ end_user: string | null }>(
      `select end_user from usage_records where project_id = find_project('${project}') and refreshed`,
    )
    expect(records).toEqual([{ end_user: 'carol' }])
    upstreams.openai.reset()
  })
})
