/** `seal_answers`: stored questions and responses are encrypted at every place, and everything works as without it. */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { installationPrefix } from '../../src/stores/redis/redis-store.ts'
import type { Scenario } from '../fake-provider/scenario.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'
import { textOf } from '../harness/chat.ts'
import { ask, post, readAnswer } from '../harness/client.ts'
import { TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { SEALED_COLUMNS } from '../harness/sealed-columns.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { addUser, issueAdminKey, send } from './admin/people.ts'

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'
const UNPROVED = 'Explain how photosynthesis works in the leaves of green plants, with drawings'
const ANSWER = 'Chlorophyll takes up light.'
const SAID = /photosynthesis|Chlorophyll/
const LATER_KEY = Buffer.alloc(32, 'later').toString('base64')
const SETTINGS = {
  semantic_threshold: '0.5',
  log_content: 'sealed',
  semantic_policy: 'judged',
  semantic_judge: 'learn',
  semantic_judge_model: 'openai/gpt-4o-mini',
  // The tiny limit keeps the pair in the queue.
  semantic_judge_daily_usd: '0.0000001',
  semantic_judge_floor: '0.5',
}

/** A call of a tool, with reasoning. */
const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
const MESSAGE = { role: 'assistant', content: null, reasoning_content: ANSWER, tool_calls: [CALL] }
const CHOICE = { index: 0, message: MESSAGE, finish_reason: 'tool_calls' }
const CALLING: Scenario = {
  kind: 'raw',
  headers: { 'content-type': 'application/json' },
  parts: [JSON.stringify({ id: 'gen-1', model: 'openai/gpt-4o-mini', choices: [CHOICE] })],
}

describeBackends('seal_answers', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  let stores: Stores
  let proxy: TestProxy
  let environment: Record<string, string>
  let name: string
  let key: string

  beforeAll(async () => {
    environment = { ...fakeProvider.environment, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY }
    stores = await backend.open()
    proxy = await startProxy({ dashboard: true, stores, environment })
    await addUser(proxy, 'root@example.org', 'owner')
  })
  beforeEach(() => {
    fakeProvider.reset()
    fakeProvider.script(({ body }) =>
      (body as { tools?: object }).tools ? CALLING : { kind: 'answer', content: ANSWER },
    )
    return open('on')
  })
  afterAll(() => proxy.stop())

  async function open(seal: 'on' | 'off'): Promise<void> {
    await proxy.query(`delete from projects where name like 'p-%'`)
    name = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await proxy.createKey({ project: name, type: 'project', settings: { ...SETTINGS, seal_answers: seal } })
  }

  /** Creates data in every store. */
  async function useAll(): Promise<string> {
    const system = { role: 'system', content: 'You know all of photosynthesis.' }
    for (const content of [QUESTION, OTHER_WORDS, UNPROVED]) {
      const messages = [system, { role: 'user', content }]
      const headers = content === UNPROVED ? { 'x-proxy-cache-ttl': '0' } : {}
      await ask(proxy, key, { model: 'openai/gpt-4o-mini', messages }, headers)
      await proxy.settle()
    }
    const tools = [{ type: 'function', function: { name: 'look' } }]
    await ask(proxy, key, { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Look.' }], tools })
    const input = { model: 'openai/gpt-4o-mini', input: `${QUESTION}?` }
    const { json } = await readAnswer(await post(proxy, key, '/responses', input))
    await proxy.settle()
    return json.id
  }

  async function projectId(): Promise<number> {
    const [row] = await proxy.query<{ id: number }>(`select find_project('${name}')::integer as id`)
    return row?.id ?? 0
  }

  /** The columns of the database that contain some of the text unencrypted, also as bytes. */
  async function plainColumns(): Promise<string[]> {
    const columns = await proxy.query<{ table: string; column: string }>(`
      select c.relname as table, a.attname as column
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'model_proxy'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and a.attnum > 0 and not a.attisdropped
      order by 1, 2`)
    const found: string[] = []
    for (const { table, column } of columns) {
      const shown = `encode(convert_to(${column}::text, 'UTF8'), 'escape')`
      const [row] = await proxy.query<{ has: boolean }>(`
        select exists (
          select from ${table} where ${shown} ~ 'photosynthesis|Chlorophyll|70686f746f73796e7468|43686c6f726f706879'
        ) as has`)
      if (row?.has) found.push(`${table}.${column}`)
    }
    return found
  }

  /** The number of entries in Redis that contain it. The in-process store cannot be read. */
  async function plainInRedis(): Promise<number> {
    if (stores.redisUrl === null) return 0
    const redis = new Redis(stores.redisUrl)
    const prefix = installationPrefix(await callFunction(stores.database, 'installation_id', {}))
    const names = await redis.keys(`${prefix}{${await projectId()}}:E:*`)
    const values = await Promise.all(names.map(each => redis.getBuffer(each)))
    redis.disconnect()
    return values.filter(value => SAID.test(value?.toString('latin1') ?? '')).length
  }

  test('leaves no question or response in plain text, where there is much without it', async () => {
    await useAll()
    expect([await plainColumns(), await plainInRedis()]).toEqual([[], 0])
    await open('off')
    await useAll()
    expect(await plainColumns()).toEqual(SEALED_COLUMNS)
    expect((await plainInRedis()) > 0).toBe(stores.redisUrl !== null)
  })

  test('the judge in the background gets plain text', async () => {
    await useAll()
    await proxy.query(`select set_setting('${name}', 'semantic_judge_daily_usd', '1')`)
    await proxy.query(`update judge_queue set not_before = now(), attempts = 0`)
    const isJudgeCalled = () =>
      fakeProvider.requests.some(({ bodyText }) => /\\"first\\".*drawings.*\\"second\\".*photographs/.test(bodyText))
    await waitUntil('the judge is called', async () => isJudgeCalled())
  })

  test('sealed responses are served: exactly, in other words, from PostgreSQL alone, and streamed', async () => {
    const first = await ask(proxy, key, QUESTION)
    await proxy.settle()
    for (const [words, cache] of [
      [QUESTION, 'HIT'],
      [OTHER_WORDS, 'HIT-SEMANTIC'],
      [OTHER_WORDS, 'HIT-SEMANTIC'],
    ] as const) {
      const again = await ask(proxy, key, words)
      expect([again.cache, again.text]).toEqual([cache, first.text])
    }
    const streamed = await post(proxy, key, '/chat/completions', {
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: QUESTION }],
      stream: true,
    })
    expect([streamed.headers.get('x-proxy-cache'), await streamed.text()]).toEqual([
      'HIT',
      expect.stringContaining('Chlorophyll'),
    ])
    const other = await startProxy({ stores: { ...stores, store: createInProcessStore() }, environment })
    for (const words of [QUESTION, QUESTION, OTHER_WORDS]) {
      const again = await ask(other, key, words)
      expect([again.cache, again.text]).toEqual([words === QUESTION ? 'HIT' : 'HIT-SEMANTIC', first.text])
    }
    await other.stop()
  })

  test('members read and find them as any others', async () => {
    await useAll()
    const id = await projectId()
    const headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` }
    const get = async (path: string) =>
      (await send(proxy, 'GET', `/v1/cache/${path}project_id=proj_${id}`, { headers })).json
    const { data } = await get('entries?question=LEAVES of green plants, with photographs&limit=1&')
    expect(data).toMatchObject([{ question: expect.stringContaining(QUESTION) }])
    expect((await get('entries?question=roots&')).data).toEqual([])
    const content = await get(`entries/${data[0].id}/content?`)
    expect([content.question, content.response]).toEqual([
      expect.stringContaining(QUESTION),
      expect.stringContaining(ANSWER),
    ])
    expect((await get('matches?')).data[0].wordings).toMatchObject({ asked: OTHER_WORDS, cached: QUESTION })
    const { request_id } = (await get('near_misses?')).data[0]
    const feedback = { project_id: `proj_${id}`, request_id, verdict: 'wrong' }
    expect((await send(proxy, 'POST', '/v1/cache/verdicts', { headers, body: feedback })).json.wordings.cached).toBe(
      QUESTION,
    )
    expect((await get('verdicts?')).data[0].wordings).toContain(QUESTION)
  })

  test('a response is continued, read and deleted by its id', async () => {
    const id = await useAll()
    const more = { model: 'openai/gpt-4o-mini', input: 'And then?', previous_response_id: id }
    expect((await post(proxy, key, '/responses', more)).status).toBe(200)
    expect(JSON.stringify(fakeProvider.requests.at(-1)?.body)).toMatch(/photosynthesis.*Chlorophyll/s)
    const at = { headers: { authorization: `Bearer ${key}` } }
    expect(await (await fetch(`${proxy.baseUrl}/responses/${id}`, at)).text()).toContain(ANSWER)
    const again = () => post(proxy, key, '/responses', { model: 'openai/gpt-4o-mini', input: `${QUESTION}?` })
    expect((await again()).headers.get('x-proxy-cache')).toBe('HIT')
    expect((await fetch(`${proxy.baseUrl}/responses/${id}`, { ...at, method: 'DELETE' })).status).toBe(200)
    expect((await again()).headers.get('x-proxy-cache')).toBe('MISS')
  })

  test('after a key change, entries of the previous key are served; undecryptable ones are misses', async () => {
    const first = await ask(proxy, key, QUESTION)
    await proxy.settle()
    const asked = async (changed: Record<string, string>, words: string) => {
      const other = await startProxy({ stores, environment: { ...environment, ...changed } })
      const { cache, text } = await ask(other, key, words, { 'x-proxy-cache-ttl': '0' })
      await other.stop()
      return [cache, text === first.text]
    }
    const rotated = { ENCRYPTION_KEY: LATER_KEY, ENCRYPTION_KEY_PREVIOUS: TEST_ENCRYPTION_KEY }
    const lost = { ENCRYPTION_KEY: LATER_KEY }
    expect(await asked(lost, QUESTION)).toEqual(['MISS', false])
    expect(await asked(lost, OTHER_WORDS)).toEqual(['MISS', false])
    expect(await asked(rotated, QUESTION)).toEqual(['HIT', true])
    expect(await asked(rotated, OTHER_WORDS)).toEqual(['HIT-SEMANTIC', true])
  })

  test('without a key, nothing is stored rather than in plain text', async () => {
    const { ENCRYPTION_KEY: _, ...keyless } = environment
    const other = await startProxy({
      stores,
      environment: { ...keyless, DATABASE_URL: 'postgres://elsewhere.invalid/x' },
    })
    const input = { model: 'openai/gpt-4o-mini', input: QUESTION }
    for (const cache of ['MISS', 'MISS']) {
      expect((await ask(other, key, QUESTION)).cache).toBe(cache)
      expect((await post(other, key, '/responses', input)).headers.get('x-proxy-cache')).toBe(cache)
    }
    await other.stop()
    expect([await plainColumns(), await plainInRedis()]).toEqual([[], 0])
  })

  test('entries stored before it was enabled are served, and later ones are sealed', async () => {
    await open('off')
    const first = await ask(proxy, key, QUESTION)
    await proxy.settle()
    await proxy.query(`select set_setting('${name}', 'seal_answers', 'on')`)
    const again = await ask(proxy, key, QUESTION)
    expect([again.cache, textOf(again)]).toEqual(['HIT', textOf(first)])
    await ask(proxy, key, QUESTION, { 'cache-control': 'no-cache' })
    await proxy.settle()
    expect([await plainColumns(), await plainInRedis()]).toEqual([[], 0])
  })
})
