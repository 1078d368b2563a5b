/** X-Proxy-Cache-Version: only responses of the newest version of a name are served and stored, in all processes. */
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { storeCachedResponses } from '../../src/postgres/store-cached-responses.ts'
import type { FastStore } from '../../src/stores/fast-store.ts'
import { describeBackends, describeOnce, describeReal, type Stores } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, post, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { geminiBodyOf } from '../harness/gemini-paths.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const QUESTION = 'Explain how photosynthesis works in the leaves of rare plants, with photographs'
/** Normalized, the first equals the question. The second is similar. */
const SAME_WORDS = `Could you please ${QUESTION.toLowerCase()}?`
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of rare plants, with a photograph'

const under = (version: string, namespace = ''): Record<string, string> => ({
  ...(version !== '' && { 'x-proxy-cache-version': version }),
  ...(namespace !== '' && { 'x-proxy-cache-namespace': namespace }),
})

interface VersionRow {
  version: string
  state: string
  entries: number
}

describeBackends('versions of cached responses', backend => {
  const upstreams = duringTests(startUpstreams)
  let stores: Stores
  let proxy: TestProxy
  /** Another process on the same stores. */
  let other: TestProxy
  let project: string
  let key: string
  /** While set, the fast store deletes nothing. */
  let isFastStoreDown = false
  /** Names of the entries and vectors that were written to the fast store. */
  const written = new Set<string>()

  beforeAll(async () => {
    const opened = await backend.open()
    const store: FastStore = {
      ...opened.store,
      writeEntry(name, ...entry) {
        written.add(name)
        return opened.store.writeEntry(name, ...entry)
      },
      writeEntries(entries) {
        for (const { name } of entries) written.add(name)
        return opened.store.writeEntries(entries)
      },
      deleteEntry: name => (isFastStoreDown ? Promise.reject(new Error('down')) : opened.store.deleteEntry(name)),
    }
    stores = { ...opened, store }
    const environment = { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' }
    proxy = await startProxy({ stores, environment })
    other = await startProxy({ stores, environment })
  })
  beforeEach(async () => {
    upstreams.reset()
    isFastStoreDown = false
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project', settings: { semantic_threshold: '0' } })
    for (const vendor of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, vendor, `sk-${vendor}`)
  })
  afterAll(() => Promise.all([proxy.stop(), other.stop()]))

  async function cacheOf(
    version: string,
    { words = QUESTION, namespace = '', by = key, at = proxy, headers = {} as Record<string, string> } = {},
  ): Promise<string | null> {
    const answer = await ask(
      at,
      by,
      { ...question(words), model: 'gpt-4o-mini' },
      { ...under(version, namespace), ...headers },
    )
    expect(answer.status, answer.text).toBe(200)
    await at.settle()
    return answer.cache
  }

  const listVersions = async () =>
    Object.fromEntries(
      (
        await proxy.query<VersionRow>(
          `select name || '@' || version as version, state, entries::integer from cache_version_entries
          where project = '${project}' and not test and namespace = '' order by name, version`,
        )
      ).map(({ version, state, entries }) => [version, [state, entries]]),
    )

  test('never share, whatever matches', async () => {
    for (const version of ['', 'docs@1', 'faq@1', 'Docs@1', 'docs.@1']) {
      expect([version, await cacheOf(version)]).toEqual([version, 'MISS'])
      expect([version, await cacheOf(version)]).toEqual([version, 'HIT'])
      expect([version, await cacheOf(version, { words: SAME_WORDS })]).toEqual([version, 'HIT-SEMANTIC'])
      expect([version, await cacheOf(version, { words: OTHER_WORDS })]).toEqual([version, 'HIT-SEMANTIC'])
    }
  })

  test('a new version purges the older ones of its name, and nothing else', async () => {
    const test = await proxy.createKey({ project, type: 'test' })
    const elsewhere = await proxy.createKey({ type: 'project' })
    const [{ id = 0 } = {}] = await proxy.query<{ id: number }>('select max(id)::integer as id from projects')
    const [{ name = '' } = {}] = await proxy.query<{ name: string }>(`select name from projects where id = ${id}`)
    await storeKey(proxy.stores, name, 'openai', 'sk-openai')
    const kept = [
      () => cacheOf(''),
      () => cacheOf('faq@41'),
      () => cacheOf('docs@41', { namespace: 'a' }),
      () => cacheOf('', { namespace: 'a' }),
      () => cacheOf('docs@41', { by: elsewhere }),
      () => cacheOf('docs@41', { by: test }),
    ]
    const purged = [() => cacheOf('docs@41'), () => cacheOf('docs@41', { words: 'What is the capital of France?' })]
    for (const each of [...kept, ...purged]) expect(await each()).toBe('MISS')
    for (const each of [...kept, ...purged]) expect(await each()).toBe('HIT')
    const [entry] = await proxy.query<{ hash: string; project_id: number; generation: number }>(
      `select encode(e.request_hash, 'hex') as hash, e.project_id::integer, p.cache_generation as generation
      from cache_entries e join projects p on p.id = e.project_id join cache_versions v on v.id = e.version_id
      where p.name = '${project}' and v.name = 'docs' and v.namespace = '' and not v.test limit 1`,
    )
    const copy = `{${entry?.project_id}}:E:${entry?.generation}:${entry?.hash}`
    expect((await stores.store.readEntries([copy]))[0]).not.toBe(null)

    // The first request need not be answered by the provider, or have a response at all.
    const headers = { 'cache-control': 'only-if-cached' }
    expect(
      (await ask(proxy, key, { ...question(QUESTION), model: 'gpt-4o-mini' }, { ...under('docs@42'), ...headers }))
        .status,
    ).toBe(504)
    expect(await listVersions()).toEqual({ 'docs@41': ['old', 0], 'docs@42': ['newest', 0], 'faq@41': ['newest', 1] })
    expect(await stores.store.readEntries([copy])).toEqual([null])
    for (const each of kept) expect(await each()).toBe('HIT')
    expect(await cacheOf('docs@42')).toBe('MISS')
    expect(await cacheOf('docs@42')).toBe('HIT')
    for (const each of purged) expect(await each()).toBe('MISS')
  })

  test('nothing of an old version remains in the fast store', async () => {
    const embed = async () => {
      const body = { model: 'text-embedding-3-small', input: 'a' }
      return (await readAnswer(await post(proxy, key, '/embeddings', body, { headers: under('docs@1') }))).cache
    }
    written.clear()
    for (const words of [QUESTION, SAME_WORDS, OTHER_WORDS])
      for (let times = 0; times < 3; times++) await cacheOf('docs@1', { words })
    expect([await embed(), await embed(), await embed()]).toEqual(['MISS', 'HIT', 'HIT'])
    await proxy.settle()
    const names = [...written]
    // One response and one vector: no alias of another wording is written.
    expect(names.map(name => name.split(':')[1]).sort()).toEqual(['E', 'V'])
    expect(await stores.store.readEntries(names)).not.toContain(null)
    await cacheOf('docs@2', { words: 'What is the capital of France?' })
    expect(await stores.store.readEntries(names)).toEqual([null, null])
  })

  test('is the newest where another has a newer version: a name, a namespace, a kind of key, a project', async () => {
    const test = await proxy.createKey({ project, type: 'test' })
    const foreign = `p-${crypto.randomUUID()}`
    const elsewhere = await proxy.createKey({ project: foreign, type: 'project' })
    await storeKey(proxy.stores, foreign, 'openai', 'sk-openai')
    const places = [{ by: elsewhere }, { by: test }, { namespace: 'a' }, { name: 'faq' }, {}]
    // The newest version of each is old in those before it.
    const newestOf = (at: number) => 9 - at
    const cacheAt = (
      { name = 'docs', ...place }: { name?: string; by?: string; namespace?: string },
      version: number,
    ) => cacheOf(`${name}@${version}`, place)
    for (const [at, place] of places.entries())
      for (let version = 1; version <= newestOf(at); version++) expect(await cacheAt(place, version)).toBe('MISS')
    for (const [at, place] of places.entries()) {
      expect([place, await cacheAt(place, newestOf(at))]).toEqual([place, 'HIT'])
      expect([place, await cacheAt(place, newestOf(at) - 1)]).toEqual([place, 'MISS'])
    }
  })

  test('an old version gets responses of the provider, which are not stored, and purges nothing', async () => {
    await cacheOf('docs@42')
    for (const old of ['docs@41', 'docs@41', 'docs@9', 'docs@41.7']) {
      for (const at of [proxy, other]) {
        const answer = await ask(at, key, { ...question(QUESTION), model: 'gpt-4o-mini' }, under(old))
        expect([answer.cache, answer.headers.get('x-proxy-cache-reason')]).toEqual(['MISS', 'old-version'])
      }
    }
    expect(upstreams.openai.counts.total).toBe(9)
    await Promise.all([proxy.settle(), other.settle()])
    expect(await listVersions()).toEqual({
      'docs@41': ['old', 0],
      'docs@41.7': ['old', 0],
      'docs@42': ['newest', 1],
      'docs@9': ['old', 0],
    })
    expect(await cacheOf('docs@42')).toBe('HIT')
    expect(await cacheOf('docs@41', { headers: { 'cache-control': 'no-cache' } })).toBe('MISS')
    expect(await cacheOf('docs@42')).toBe('HIT')
  })

  test('an old version is not served at once in another process, which has just served it', async () => {
    expect(await cacheOf('docs@1', { at: other })).toBe('MISS')
    for (const words of [QUESTION, SAME_WORDS]) {
      expect(await cacheOf('docs@1', { at: other, words })).toMatch(/^HIT/)
      expect(await cacheOf('docs@1', { at: other, words })).toMatch(/^HIT/)
    }
    expect(await cacheOf('docs@2')).toBe('MISS')
    for (const words of [QUESTION, SAME_WORDS]) expect(await cacheOf('docs@1', { at: other, words })).toBe('MISS')
    expect(await cacheOf('docs@2', { at: other })).toBe('HIT')
  })

  test('an old version is not served while its copies remain in the fast store', async () => {
    await cacheOf('docs@1')
    expect(await cacheOf('docs@1')).toBe('HIT')
    isFastStoreDown = true
    await cacheOf('docs@2', { words: 'What is the capital of France?' })
    for (const at of [proxy, other]) expect(await cacheOf('docs@1', { at })).toBe('MISS')
    expect(await listVersions()).toEqual({ 'docs@1': ['old', 0], 'docs@2': ['newest', 1] })
  })

  test.each([
    ['numbers', ['2', '10', '9'], '10'],
    ['long numbers', ['99999999999999999998', '99999999999999999999', '3'], '99999999999999999999'],
    ['dotted numbers', ['1.9', '1.10', '1.9.9', '1.2'], '1.10'],
    ['a number with more parts', ['1', '1.0', '1'], '1.0'],
    ['equal numbers', ['7', '07', '7'], '07'],
    ['words, in the order in which they are first named', ['b', 'a', 'b'], 'a'],
    ['a word and numbers', ['7', 'beta', '3', 'beta'], '3'],
    ['dates', ['2026-11-30', '2026-12-01', '2026-11-30'], '2026-12-01'],
  ])('of %s, the newest is known', async (_, named, newest) => {
    for (const version of named) await cacheOf(`docs@${version}`, { words: 'What is the capital of France?' })
    const states = Object.entries(await listVersions()).map(([version, [state]]) => [version, state])
    expect(states.filter(([, state]) => state === 'newest')).toEqual([[`docs@${newest}`, 'newest']])
    expect(await cacheOf(`docs@${newest}`, { words: 'What is the capital of France?' })).toBe('HIT')
  })

  test('one new version is named by many requests of two processes at a time', async () => {
    await cacheOf('docs@1')
    const body = { ...question(QUESTION), model: 'gpt-4o-mini' }
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) => ask(i % 2 ? proxy : other, key, body, under('docs@2'))),
    )
    const reasons = new Set(answers.map(({ status, headers }) => `${status} ${headers.get('x-proxy-cache-reason')}`))
    expect([...reasons].filter(reason => !/^200 (no-candidate|coalesced|exact)$/.test(reason))).toEqual([])
    await Promise.all([proxy.settle(), other.settle()])
    expect(await listVersions()).toEqual({ 'docs@1': ['old', 0], 'docs@2': ['newest', 1] })
    expect(await cacheOf('docs@2')).toBe('HIT')
  })

  test('many new versions are named at a time', async () => {
    const body = { ...question(QUESTION), model: 'gpt-4o-mini' }
    const versions = Array.from({ length: 12 }, (_, i) => `docs@${i + 1}`)
    await Promise.all(versions.map((version, i) => ask(i % 2 ? proxy : other, key, body, under(version))))
    await Promise.all([proxy.settle(), other.settle()])
    const listed = await listVersions()
    expect(Object.keys(listed).sort()).toEqual(versions.toSorted())
    for (const version of versions.slice(0, -1)) expect([version, listed[version]]).toEqual([version, ['old', 0]])
    expect(listed['docs@12']?.[0]).toBe('newest')
  })

  describe('calls in flight', () => {
    test('of an older version leave nothing behind', async () => {
      const answered = Promise.withResolvers<void>()
      upstreams.openai.script(async () => {
        await answered.promise
        return { kind: 'answer', content: 'slow' }
      })
      const body = { ...question(QUESTION), model: 'gpt-4o-mini' }
      const before = ask(proxy, key, body, under('docs@1'))
      const streamed = ask(proxy, key, { ...body, seed: 1, stream: true }, under('docs@1'))
      const vectors = post(
        proxy,
        key,
        '/embeddings',
        { model: 'text-embedding-3-small', input: 'a' },
        { headers: under('docs@1') },
      )
      await waitUntil('the provider is called', () => upstreams.openai.counts.total === 3)
      written.clear()
      const headers = { ...under('docs@2'), 'cache-control': 'only-if-cached' }
      await ask(other, key, body, headers)
      answered.resolve()
      expect((await before).json.choices[0].message.content).toBe('slow')
      expect((await streamed).status).toBe(200)
      expect((await vectors).status).toBe(200)
      await proxy.settle()
      expect(await listVersions()).toEqual({ 'docs@1': ['old', 0], 'docs@2': ['newest', 0] })
      const [left] = await proxy.query<{ entries: number; vectors: number }>(
        `select (select count(*)::integer from cache_entries where project_id = p.id) as entries,
          (select count(*)::integer from cached_vectors where project_id = p.id) as vectors
        from projects p where p.name = '${project}'`,
      )
      expect(left).toEqual({ entries: 0, vectors: 0 })
      expect([...written]).toEqual([])
    })

    test('are shared by requests of the same version only', async () => {
      const answered = Promise.withResolvers<void>()
      let calls = 0
      upstreams.openai.script(async () => {
        const content = `call ${++calls}`
        await answered.promise
        return { kind: 'answer', content }
      })
      const body = { ...question(QUESTION), model: 'gpt-4o-mini' }
      const versions = ['', 'docs@1', 'docs@1', 'faq@1', 'faq@1', 'docs@2', 'docs@2']
      // Versions are named in this order.
      const asking: ReturnType<typeof ask>[] = []
      for (const [at, version] of versions.entries()) {
        asking.push(ask(proxy, key, body, under(version)))
        const distinct = new Set(versions.slice(0, at + 1)).size
        await waitUntil('the provider is called', () => calls === distinct)
      }
      answered.resolve()
      const contents = (await Promise.all(asking)).map(({ json }) => json.choices[0].message.content)
      expect(contents).toEqual(['call 1', 'call 2', 'call 2', 'call 3', 'call 3', 'call 4', 'call 4'])
    })
  })

  test('a request that is rejected names no version', async () => {
    const body = { ...question(QUESTION), model: 'gpt-4o-mini' }
    await cacheOf('docs@1')
    expect((await ask(proxy, 'lgw_proj_unknown', body, under('docs@2'))).status).toBe(401)
    expect((await ask(proxy, key, { ...body, model: 'no-such-model' }, under('docs@2'))).status).toBe(404)
    expect((await ask(proxy, key, { ...body, stream: 'perhaps' }, under('docs@2'))).status).toBe(400)
    const explained = await readAnswer(await post(proxy, key, '/cache/explain', body, { headers: under('docs@2') }))
    expect(explained.json).toMatchObject({
      key: { version: 'docs@2' },
      decision: { cache: 'MISS', reason: 'no-candidate' },
    })
    await cacheOf('docs@0')
    const old = await readAnswer(await post(proxy, key, '/cache/explain', body, { headers: under('docs@0') }))
    expect(old.json.decision).toMatchObject({ cache: 'MISS', reason: 'old-version' })
    expect(await listVersions()).toEqual({ 'docs@0': ['old', 0], 'docs@1': ['newest', 1] })
    expect(await cacheOf('docs@1')).toBe('HIT')
  })

  test('a fallback of a request with an old version is neither looked up nor stored', async () => {
    await proxy.query(`select set_settings('${project}', '{"fallbacks": "gpt-4o"}')`)
    await cacheOf('docs@2')
    upstreams.openai.script(({ body }) =>
      (body as { model?: string }).model === 'gpt-4o-mini'
        ? { kind: 'error', status: 503 }
        : { kind: 'answer', content: 'other' },
    )
    for (let times = 0; times < 2; times++) {
      const answer = await ask(proxy, key, { ...question(QUESTION), model: 'gpt-4o-mini' }, under('docs@1'))
      const [model, reason] = ['x-proxy-model', 'x-proxy-cache-reason'].map(name => answer.headers.get(name))
      expect([answer.status, answer.cache, model, reason]).toEqual([200, 'MISS', 'gpt-4o', 'old-version'])
      await proxy.settle()
    }
    expect((await listVersions())['docs@1']).toEqual(['old', 0])
  })

  test('many entries are deleted in batches', async () => {
    await cacheOf('docs@1')
    const [{ id = 0 } = {}] = await proxy.query<{ id: number }>(
      `select id::integer from projects where name = '${project}'`,
    )
    await storeCachedResponses(
      stores.database,
      Array.from({ length: 2_500 }, (_, i) => ({
        projectId: id,
        requestHash: i.toString(16).padStart(64, '0'),
        namespace: '',
        version: 'docs@1',
        endpoint: 'chat',
        model: 'm',
        provider: 'p',
        response: '{}',
        promptTokens: 1,
        completionTokens: 1,
        ttlSeconds: 600,
        semantic: null,
      })),
    )
    expect(await listVersions()).toEqual({ 'docs@1': ['newest', 2_501] })
    expect(await cacheOf('docs@2')).toBe('MISS')
    expect(await listVersions()).toEqual({ 'docs@1': ['old', 0], 'docs@2': ['newest', 1] })
  })

  /** Supersedes docs@1 without a purge, as a process does that ends at once. */
  async function supersede(): Promise<void> {
    await proxy.query(
      `select name_cache_version((select id from projects where name = '${project}'), false, '', 'docs@2')`,
    )
    expect(await listVersions()).toEqual({ 'docs@1': ['being purged', 1], 'docs@2': ['newest', 0] })
  }

  test('an old version is not served before its entries are deleted', async () => {
    await cacheOf('docs@1')
    expect(await cacheOf('docs@1')).toBe('HIT')
    await supersede()
    for (const words of [QUESTION, SAME_WORDS])
      for (const at of [proxy, other]) expect(await cacheOf('docs@1', { at, words })).toBe('MISS')
    expect(upstreams.openai.counts.total).toBe(5)
  })

  test('maintenance deletes what a process did not', async () => {
    await cacheOf('docs@1')
    await supersede()
    const third = await startProxy({ stores, environment: upstreams.environment, maintenanceEveryMs: 20 })
    await waitUntil('the old version is purged', async () => (await listVersions())['docs@1']?.[0] === 'old')
    await third.stop()
    expect(await listVersions()).toEqual({ 'docs@1': ['old', 0], 'docs@2': ['newest', 0] })
  })

  test('a version that no request has named for 90 days, and that has no entries, is forgotten', async () => {
    for (const version of ['docs@1', 'docs@2', 'docs@3']) await cacheOf(version)
    const of = `project_id = (select id from projects where name = '${project}')`
    await proxy.query(`update cache_versions set last_named_at = now() - interval '91 days' where ${of}`)
    // An old version that is still named is known to be old.
    expect(await cacheOf('docs@1')).toBe('MISS')
    await proxy.query('select delete_expired_rows(1000)')
    expect(await listVersions()).toEqual({ 'docs@1': ['old', 0], 'docs@3': ['newest', 1] })
    await proxy.query(`delete from cache_entries where ${of}`)
    await proxy.query('select delete_expired_rows(1000)')
    expect(await listVersions()).toEqual({})
    expect(await cacheOf('docs@1')).toBe('MISS')
    expect(await cacheOf('docs@1')).toBe('HIT')
  })

  test('the cache is not used where a version cannot be checked', async () => {
    await cacheOf('docs@1')
    const takes = 'bigint[], boolean[], text[], text[]'
    await proxy.query(`alter function model_proxy.find_cache_versions(${takes}) rename to gone`)
    const body = { ...question(QUESTION), model: 'gpt-4o-mini' }
    for (const version of ['docs@1', 'docs@2']) expect((await ask(proxy, key, body, under(version))).cache).toBe('MISS')
    expect(await cacheOf('')).toBe('MISS')
    expect(await cacheOf('')).toBe('HIT')
    await proxy.query(`alter function model_proxy.gone(${takes}) rename to find_cache_versions`)
    expect(await listVersions()).toEqual({ 'docs@1': ['newest', 1] })
    expect(await cacheOf('docs@1')).toBe('HIT')
  })

  describe('an operator', () => {
    const purge = async (version: string, dryRun = false) => {
      const [row] = await proxy.query<{ entries: number; vectors: number }>(
        `select entries::integer, vectors::integer
        from invalidate_cache('${project}', of_version => '${version}', dry_run => ${dryRun})`,
      )
      return row
    }

    test('deletes the responses of a version or a name', async () => {
      const embed = async (version: string) => {
        const body = { model: 'text-embedding-3-small', input: 'a' }
        const { cache } = await readAnswer(await post(proxy, key, '/embeddings', body, { headers: under(version) }))
        await proxy.settle()
        return cache
      }
      for (const version of ['', 'docs@1', 'faq@1'])
        expect([await cacheOf(version), await embed(version)]).toEqual(['MISS', 'MISS'])
      expect(await purge('docs@1', true)).toEqual({ entries: 1, vectors: 1 })
      expect(await purge('docs', true)).toEqual({ entries: 1, vectors: 1 })
      expect(await purge('docs@1')).toEqual({ entries: 1, vectors: 1 })
      expect(await listVersions()).toEqual({ 'docs@1': ['newest', 0], 'faq@1': ['newest', 1] })
      expect([await cacheOf('docs@1'), await embed('docs@1')]).toEqual(['MISS', 'MISS'])
      for (const version of ['', 'docs@1', 'faq@1'])
        expect([version, await cacheOf(version), await embed(version)]).toEqual([version, 'HIT', 'HIT'])
      expect(await purge('docs@2')).toEqual({ entries: 0, vectors: 0 })
    })

    test('lets a project return to an earlier version', async () => {
      await cacheOf('docs@1')
      await cacheOf('docs@2')
      expect(await cacheOf('docs@1')).toBe('MISS')
      expect(await purge('docs@2')).toEqual({ entries: 1, vectors: 0 })
      expect(await listVersions()).toEqual({ 'docs@1': ['old', 0], 'docs@2': ['newest', 0] })
      expect(await cacheOf('docs@1')).toBe('MISS')
      expect(await cacheOf('docs@1')).toBe('MISS')
      expect(await purge('docs')).toEqual({ entries: 0, vectors: 0 })
      expect(await listVersions()).toEqual({})
      expect(await cacheOf('docs@1')).toBe('MISS')
      expect(await cacheOf('docs@1')).toBe('HIT')
    })
  })
})

describeReal('a version that is named while a response is stored', backend => {
  test('is purged afterwards, and the response of a superseded one is not stored', async () => {
    const { database, databaseUrl } = await backend.open()
    const project = await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const name = (version: string) =>
      callFunction(database, 'name_cache_version', {
        of_project: project,
        for_test: false,
        in_namespace: '',
        named: version,
      })
    expect(await name('docs@1')).toBe(false)
    const connect = () => postgres(databaseUrl ?? '', { max: 1, connection: { search_path: 'model_proxy' } })
    const [connection, watcher] = [connect(), connect()]
    const lock = (sql: postgres.ISql, version: string) =>
      sql<{ id: string | null }[]>`select lock_cache_version(${project}, false, '', ${version}) as id`
    let naming: Promise<boolean> | null = null
    await connection.begin(async sql => {
      const [locked] = await lock(sql, 'docs@1')
      expect(locked?.id).not.toBe(null)
      naming = name('docs@2')
      await waitUntil('the new version waits', async () => {
        const [{ n = 0 } = {}] = await watcher<{ n: number }[]>`
          select count(*)::integer as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%name_cache_version%'`
        return n > 0
      })
    })
    expect(await naming).toBe(false)
    expect((await lock(connection, 'docs@1'))[0]?.id).toBe(null)
    // A version that is being superseded at this moment is not waited for.
    await connection.begin(async sql => {
      await sql`select name_cache_version(${project}, false, '', 'docs@3')`
      const [row] = await database.call(`select model_proxy.lock_cache_version($1, false, '', 'docs@2') as id`, [
        project,
      ])
      expect(row).toEqual({ id: null })
    })
    await Promise.all([connection.end(), watcher.end()])
  })
})

const chat = (about: string) => ({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: about }] })

/** Requests of every endpoint whose responses are stored. */
const ENDPOINTS: Record<string, [path: string, body: (about: string) => Record<string, unknown>]> = {
  chat: ['/v1/chat/completions', chat],
  'a stream': ['/v1/chat/completions', about => ({ ...chat(about), stream: true })],
  completions: ['/v1/completions', prompt => ({ model: 'gpt-3.5-turbo-instruct', prompt })],
  responses: ['/v1/responses', input => ({ model: 'gpt-4o-mini', input, store: false })],
  'messages, with Claude': ['/v1/messages', about => ({ ...chat(about), model: 'claude-haiku-4-5', max_tokens: 100 })],
  'Gemini’s API': ['/v1beta/models/gpt-4o-mini:generateContent', about => geminiBodyOf('', about)],
  embeddings: ['/v1/embeddings', about => ({ model: 'text-embedding-3-small', input: [about, `${about} too`] })],
  moderations: ['/v1/moderations', input => ({ model: 'omni-moderation-latest', input })],
}

describeOnce('versions at each endpoint', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))

  test.each(Object.keys(ENDPOINTS))('at %s', async name => {
    const [path, body] = ENDPOINTS[name] as (typeof ENDPOINTS)[string]
    const project = `p-${crypto.randomUUID()}`
    const key = await proxy.createKey({ project, type: 'project' })
    for (const vendor of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, vendor, `sk-${vendor}`)
    const origin = { baseUrl: `http://127.0.0.1:${proxy.port}` }
    async function cacheOf(version: string): Promise<string | null> {
      const answer = await readAnswer(await post(origin, key, path, body('Berlin'), { headers: under(version) }))
      expect(answer.status, answer.text).toBe(200)
      await proxy.settle()
      return answer.cache
    }
    for (const version of ['', 'docs@1', 'faq@1', 'docs@2']) {
      expect([version, await cacheOf(version)]).toEqual([version, 'MISS'])
      expect([version, await cacheOf(version)]).toEqual([version, 'HIT'])
    }
    for (const version of ['docs@1', 'docs@1']) expect([version, await cacheOf(version)]).toEqual([version, 'MISS'])
    for (const version of ['', 'faq@1', 'docs@2']) expect([version, await cacheOf(version)]).toEqual([version, 'HIT'])
    const [left] = await proxy.query<{ left: number }>(
      `select ((select count(*) from cache_entries e where e.version_id = v.id)
        + (select count(*) from cached_vectors c where c.project_id = v.project_id and c.version_id = v.id))::integer as left
      from cache_versions v join projects p on p.id = v.project_id where p.name = '${project}' and v.name = 'docs' and v.version = '1'`,
    )
    expect(left).toEqual({ left: 0 })
    const rejected = await readAnswer(await post(origin, key, path, body('Berlin'), { headers: under('docs') }))
    expect([rejected.status, rejected.text]).toEqual([400, expect.stringContaining('X-Proxy-Cache-Version')])
  })
})
