import { afterAll, beforeEach, expect, test } from 'vitest'
import { describeBackends, type Stores } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { createMemoryLog } from './hostile/memory-log.ts'

const hello = (model = 'gpt-4o-mini') => ({
  model,
  messages: [{ role: 'user', content: `Hello ${crypto.randomUUID()}` }],
})

const upstreams = duringTests(startUpstreams)
beforeEach(() => upstreams.reset())

const sentKeys = () => upstreams.openai.requests.map(request => request.headers.authorization)

describeBackends('provider keys', backend => {
  let stores: Stores
  let proxy: TestProxy
  let project: string
  let key: string

  beforeEach(async () => {
    if (proxy) await proxy.stop()
    stores = await backend.open()
    proxy = await startProxy({ stores, environment: upstreams.environment })
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })
  afterAll(() => proxy.stop())

  test('a key works from the next request on, and so does its successor', async () => {
    expect((await ask(proxy, key, hello())).headers.get('x-proxy-provider')).toBe('openrouter')
    for (const secret of ['sk-first-one', 'sk-second-one', 'sk-third-one']) {
      await storeKey(stores, project, 'openai', secret)
      expect((await ask(proxy, key, hello())).status).toBe(200)
      expect((await ask(proxy, key, hello())).status).toBe(200)
    }
    expect(sentKeys()).toEqual(
      ['first', 'first', 'second', 'second', 'third', 'third'].map(which => `Bearer sk-${which}-one`),
    )
  })

  test('replacing one key does not affect another provider’s', async () => {
    await storeKey(stores, project, 'groq', 'sk-groq')
    await storeKey(stores, project, 'openai', 'sk-old')
    await ask(proxy, key, hello('llama-3.1-8b-instant'))
    await storeKey(stores, project, 'openai', 'sk-new')
    expect((await ask(proxy, key, hello('llama-3.1-8b-instant'))).status).toBe(200)
    expect(new Set(upstreams.groq.requests.map(request => request.headers.authorization))).toEqual(
      new Set(['Bearer sk-groq']),
    )
  })

  test('under load, no request that begins after the change is sent with the old key', async () => {
    await storeKey(stores, project, 'openai', 'sk-old')
    const before = Array.from({ length: 30 }, () => ask(proxy, key, hello()))
    await waitUntil('some are asked', () => upstreams.openai.requests.length > 0)
    await storeKey(stores, project, 'openai', 'sk-new')
    const sentBefore = upstreams.openai.requests.length
    const after = await Promise.all(Array.from({ length: 30 }, () => ask(proxy, key, hello())))
    const answers = [...(await Promise.all(before)), ...after]
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([200]))
    expect(sentKeys().filter(sent => sent === 'Bearer sk-new').length).toBeGreaterThanOrEqual(30)
    expect(sentKeys().slice(sentBefore)).toContain('Bearer sk-new')
  })

  test('a removed key is no longer used', async () => {
    await storeKey(stores, project, 'openai', 'sk-gone')
    expect((await ask(proxy, key, hello())).status).toBe(200)
    const [removed] = await proxy.query<{ last_four: string }>(
      `select remove_provider_key('${project}', 'openai', 'default') as last_four`,
    )
    expect(removed?.last_four).toBe('gone')
    expect((await ask(proxy, key, hello())).headers.get('x-proxy-provider')).toBe('openrouter')
    await storeKey(stores, project, 'openai', 'sk-back')
    expect((await ask(proxy, key, hello())).status).toBe(200)
    expect(sentKeys()).toEqual(['Bearer sk-gone', 'Bearer sk-back'])
  })

  test('each project pays with its own', async () => {
    const other = `p-${crypto.randomUUID()}`
    const otherKey = await proxy.createKey({ project: other, type: 'project' })
    await storeKey(stores, project, 'openai', 'sk-one')
    await storeKey(stores, other, 'openai', 'sk-two')
    const same = hello()
    for (const asking of [key, otherKey]) expect((await ask(proxy, asking, same)).cache).toBe('MISS')
    expect(sentKeys()).toEqual(['Bearer sk-one', 'Bearer sk-two'])
  })

  test('a sealed key that is moved to another project cannot be decrypted', async () => {
    const other = `p-${crypto.randomUUID()}`
    const otherKey = await proxy.createKey({ project: other, type: 'project' })
    await storeKey(stores, project, 'openai', 'sk-one')
    await proxy.query(`insert into provider_keys (project_id, provider, sealed, last_four)
      select find_project('${other}'), provider, sealed, last_four from provider_keys`)
    const answer = await ask(proxy, otherKey, hello())
    expect(answer.status).toBe(503)
    expect(answer.json.error.message).toBe(
      "The project's openai key cannot be used: it was encrypted with another ENCRYPTION_KEY. Store it again.",
    )
    expect(sentKeys()).toEqual([])
  })

  test('a secret is in no log line, no record and no table, whatever the provider returns', async () => {
    const log = createMemoryLog()
    const loud = await startProxy({ stores, environment: { ...upstreams.environment, LOG_LEVEL: 'debug' }, log })
    const secret = `sk-${crypto.randomUUID()}`
    await storeKey(stores, project, 'openai', secret)
    const responses: string[] = []
    upstreams.openai.scriptOnce(
      { kind: 'error', status: 401, message: 'Incorrect API key provided.' },
      { kind: 'cut', after: 'nothing' },
      { kind: 'invalidJson' },
      { kind: 'answer' },
    )
    for (let i = 0; i < 4; i++) {
      const answer = await ask(loud, key, hello())
      responses.push(answer.text, JSON.stringify([...answer.headers]))
    }
    await loud.stop()
    const tables = await proxy.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'model_proxy' and table_type = 'BASE TABLE'`,
    )
    expect(tables.map(table => table.name)).toContain('provider_keys')
    for (const { name } of tables) {
      const [found] = await proxy.query<{ rows: number }>(
        `select count(*)::integer as rows from ${name} t where t::text like '%${secret.slice(3)}%'`,
      )
      expect([name, found?.rows]).toEqual([name, 0])
    }
    expect(upstreams.openai.requests.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`)
    const lines = log.take()
    expect(lines.length).toBeGreaterThan(3)
    for (const text of [...lines, ...responses]) expect(text).not.toContain(secret.slice(3))
  })

  test('without ENCRYPTION_KEY on a real database, the proxy runs, and reports what is missing when a key is needed', async () => {
    const { ENCRYPTION_KEY: _, ...environment } = upstreams.environment
    const keyless = await startProxy({
      stores,
      environment: { ...environment, DATABASE_URL: 'postgres://127.0.0.1/elsewhere' },
    })
    await storeKey(stores, project, 'openai', 'sk-own')
    const answer = await ask(keyless, key, hello())
    expect(answer.status).toBe(503)
    expect(answer.json.error).toMatchObject({
      code: 'service_unavailable',
      message: "The project's openai key cannot be used: the operator must set ENCRYPTION_KEY.",
    })
    expect((await ask(keyless, key, hello('openai/gpt-4o-mini'))).status).toBe(200)
    await keyless.stop()
  })
})
