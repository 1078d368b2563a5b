import { beforeEach, expect, test } from 'vitest'
import { shortenEndUser } from '../../src/formats/end-user.ts'
import { describeBackends } from '../harness/backends.ts'
import { ask, post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

type Body = Record<string, unknown>

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'

const CHAT = { model: 'gpt-4o-mini' }
const messages = (content: string) => [{ role: 'user', content }]

/** Every endpoint whose responses are stored, and the field that names a user. */
const ENDPOINT_CASES: Record<string, { path: string; body(about: string): Body; naming(user: string): Body }> = {
  chat: {
    path: '/chat/completions',
    body: about => ({ ...CHAT, messages: messages(about) }),
    naming: user => ({ user }),
  },
  'a stream': {
    path: '/chat/completions',
    body: about => ({ ...CHAT, messages: messages(`Slowly: ${about}`), stream: true }),
    naming: user => ({ safety_identifier: user }),
  },
  completions: {
    path: '/completions',
    body: prompt => ({ model: 'gpt-3.5-turbo-instruct', prompt }),
    naming: user => ({ user }),
  },
  responses: {
    path: '/responses',
    body: input => ({ ...CHAT, input, store: false }),
    naming: user => ({ safety_identifier: user }),
  },
  'messages, with Claude': {
    path: '/messages',
    body: about => ({ model: 'claude-haiku-4-5', max_tokens: 100, messages: messages(about) }),
    naming: user => ({ metadata: { user_id: user } }),
  },
  embeddings: {
    path: '/embeddings',
    body: about => ({ model: 'text-embedding-3-small', input: [about, `${about} too`] }),
    naming: user => ({ user }),
  },
  moderations: {
    path: '/moderations',
    body: input => ({ model: 'omni-moderation-latest', input }),
    naming: user => ({ user }),
  },
}

/** Two names that are longer than what is recorded and differ in the last character only. */
const LONG = { one: `${'x'.repeat(300)}1`, other: `${'x'.repeat(300)}2` }

describeBackends('a purge by user and key', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  let project: string
  let key: string
  let colleague: string

  beforeEach(async () => {
    project = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project, type: 'project', settings: { semantic_threshold: '0' } })
    colleague = await proxy.createKey({ project, type: 'project' })
    for (const vendor of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, vendor, `sk-${vendor}`)
  })

  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

  async function purge(by: { user?: string; key?: string }, dryRun = false) {
    const user = by.user === undefined ? '' : `, of_user => name_end_user(${quote(by.user)})`
    const ofKey = by.key === undefined ? '' : `, of_key => find_key('${by.key}')`
    const [row] = await proxy.query<{ entries: number; vectors: number }>(
      `select entries::integer, vectors::integer from invalidate_cache('${project}'${user}${ofKey}, dry_run => ${dryRun})`,
    )
    return row
  }

  async function readCache(response: Response): Promise<string | null> {
    const text = await response.text()
    expect(response.status, text).toBe(200)
    await proxy.settle()
    return response.headers.get('x-proxy-cache')
  }
  const say = async (words: string, fields: Body = {}, by = key, headers: Record<string, string> = {}) =>
    readCache(
      await post(proxy, by, '/chat/completions', { ...CHAT, messages: messages(words), ...fields }, { headers }),
    )

  test.each(Object.keys(ENDPOINT_CASES))('at %s', async name => {
    const { path, body, naming } = ENDPOINT_CASES[name] as (typeof ENDPOINT_CASES)[string]
    const at = async (by: string, about: string, user?: string) =>
      readCache(await post(proxy, by, path, { ...body(about), ...(user !== undefined && naming(user)) }))
    const all = async () => [
      await at(key, 'Berlin', 'alice'),
      await at(key, 'Lisbon', 'bob'),
      await at(colleague, 'Oslo', 'bob'),
      await at(colleague, 'Rome'),
    ]
    const isVector = name === 'embeddings'
    const counted = (n: number) => (isVector ? { entries: 0, vectors: 2 * n } : { entries: n, vectors: 0 })
    expect(await all()).toEqual(['MISS', 'MISS', 'MISS', 'MISS'])
    // A later hit does not make the entry belong to the user who got it.
    expect(await at(colleague, 'Lisbon', 'alice')).toBe('HIT')
    expect(await at(key, 'Berlin', 'bob')).toBe('HIT')

    expect(await purge({ user: 'alice' }, true)).toEqual(counted(1))
    expect(await all()).toEqual(['HIT', 'HIT', 'HIT', 'HIT'])
    expect(await purge({ user: 'alice' })).toEqual(counted(1))
    expect(await all()).toEqual(['MISS', 'HIT', 'HIT', 'HIT'])
    expect(await purge({ user: 'bob', key: colleague })).toEqual(counted(1))
    expect(await all()).toEqual(['HIT', 'HIT', 'MISS', 'HIT'])
    expect(await purge({ key: colleague })).toEqual(counted(2))
    expect(await all()).toEqual(['HIT', 'HIT', 'MISS', 'MISS'])
    expect(await purge({ user: 'nobody' })).toEqual(counted(0))
    expect(await all()).toEqual(['HIT', 'HIT', 'HIT', 'HIT'])
  })

  test('matches a long name, and none that begins alike', async () => {
    expect(await say('Where is Berlin?', { user: LONG.one })).toBe('MISS')
    expect(await say('Where is Lisbon?', { user: LONG.other })).toBe('MISS')
    expect(await purge({ user: LONG.one.slice(0, 128) })).toEqual({ entries: 0, vectors: 0 })
    expect(await purge({ user: LONG.one })).toEqual({ entries: 1, vectors: 0 })
    expect(await say('Where is Lisbon?')).toBe('HIT')
    expect(await say('Where is Berlin?')).toBe('MISS')
  })

  test('a response that is requested again belongs to the later caller', async () => {
    expect(await say(QUESTION, { user: 'alice' })).toBe('MISS')
    expect(await say(QUESTION, { user: 'bob' }, colleague, { 'cache-control': 'no-cache' })).toBe('MISS')
    expect(await purge({ user: 'alice' })).toEqual({ entries: 0, vectors: 0 })
    expect(await purge({ key })).toEqual({ entries: 0, vectors: 0 })
    expect(await purge({ user: 'bob', key: colleague })).toEqual({ entries: 1, vectors: 0 })
  })

  test('includes vectors', async () => {
    const embed = async (user: string, headers: Record<string, string> = {}) =>
      readCache(
        await post(proxy, key, '/embeddings', { model: 'text-embedding-3-small', input: 'Berlin', user }, { headers }),
      )
    expect(await embed('alice')).toBe('MISS')
    expect(await embed('bob', { 'cache-control': 'no-cache' })).toBe('MISS')
    expect(await purge({ user: 'alice' })).toEqual({ entries: 0, vectors: 0 })
    expect(await purge({ user: 'bob' })).toEqual({ entries: 0, vectors: 1 })
  })

  test('restores nothing through other words', async () => {
    expect(await say(QUESTION, { user: 'alice' })).toBe('MISS')
    expect(await say(OTHER_WORDS, { user: 'bob' })).toBe('HIT-SEMANTIC')
    await waitUntil('the wording has a copy', async () => (await say(OTHER_WORDS)) === 'HIT-SEMANTIC')
    await purge({ user: 'alice' })
    expect(await say(OTHER_WORDS, { user: 'bob' }, key, { 'x-proxy-cache-ttl': '0' })).toBe('MISS')
    expect(await say(QUESTION, { user: 'bob' })).toBe('MISS')
  })

  test('includes responses in flight', async () => {
    upstreams.openai.reset()
    const mayAnswer = Promise.withResolvers<void>()
    upstreams.openai.script(async () => {
      await mayAnswer.promise
      return { kind: 'answer', content: 'later' }
    })
    const slow = ask(proxy, key, { ...CHAT, messages: messages(QUESTION), user: 'alice' })
    await waitUntil('the request reaches the provider', () => upstreams.openai.requests.length === 1)
    expect(await purge({ user: 'alice' })).toEqual({ entries: 0, vectors: 0 })
    mayAnswer.resolve()
    expect((await slow).cache).toBe('MISS')
    await proxy.settle()
    expect(await say(QUESTION, { user: 'alice' })).toBe('MISS')
    upstreams.openai.reset()
  })

  test('removes the user’s questions from the judge’s queue', async () => {
    await say(QUESTION, { user: 'alice' })
    await proxy.query(`
      insert into judge_queue (project_id, context_hash, one_hash, other_hash, asked_hash, entry_hash, is_review, context, asked, similarity, end_user, not_before)
      select find_project('${project}'), sha256(u::bytea), sha256('a'), sha256('b'), sha256('a'), sha256('e'), false, '{}', 'asked', 0.9, u, now() + interval '1 hour'
      from unnest(array['alice', 'bob']) u`)
    await purge({ user: 'alice' }, true)
    await purge({ user: 'alice' })
    const left = await proxy.query(`select end_user from judge_queue where project_id = find_project('${project}')`)
    expect(left).toEqual([{ end_user: 'bob' }])
  })

  test('affects only its project', async () => {
    const other = `p-${crypto.randomUUID().slice(0, 8)}`
    const stranger = await proxy.createKey({ project: other, type: 'project' })
    await storeKey(proxy.stores, other, 'openai', 'sk-openai')
    expect(await say(QUESTION, { user: 'alice' }, stranger)).toBe('MISS')
    expect(await purge({ user: 'alice' })).toEqual({ entries: 0, vectors: 0 })
    expect(await say(QUESTION, {}, stranger)).toBe('HIT')
    await expect(purge({ key: stranger })).rejects.toThrow('this project has no such key')
    await expect(purge({ user: '' })).rejects.toThrow('the end user must not be empty')
  })

  test('names users as requests are recorded', async () => {
    const names = [
      'alice',
      'a'.repeat(128),
      'a'.repeat(129),
      '🦊'.repeat(128),
      '🦊'.repeat(129),
      'two\nlines',
      'turned\u202e',
      'c1\u0085',
      'line\u2028',
      'no\u202fbreak',
      'ellipsis…',
      `looks cut…${'0a'.repeat(16)}`,
      `${'王'.repeat(94)}…${'0a'.repeat(16)}`,
      "quote'd",
      ' ',
    ]
    const rows = await proxy.query<{ name: string }>(
      `select name_end_user(n) as name from unnest(array[${names.map(quote).join(', ')}]) with ordinality as u (n, at) order by at`,
    )
    expect(rows.map(({ name }) => name)).toEqual(names.map(shortenEndUser))
  })
})
