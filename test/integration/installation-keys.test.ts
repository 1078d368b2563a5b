/** Keys of the installation: vendors that every project reaches, without a key or with the operator's. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, post } from '../harness/client.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { createMemoryLog } from './hostile/memory-log.ts'

const SECRET = 'sk-of-the-installation'

describeBackends('installation keys', backend => {
  const folder = createTemporaryDirectory()
  const script = join(folder, 'print token')
  const runs = join(folder, 'runs')
  const keyFile = join(folder, 'key')
  const log = createMemoryLog()
  let stores: Stores
  let proxy: TestProxy
  let aggregator: FakeProvider
  let vendor: FakeProvider
  let project: string
  let key: string

  beforeAll(async () => {
    ;[aggregator, vendor] = await Promise.all([startFakeProvider(), startFakeProvider()])
    stores = await backend.open()
    writeFileSync(runs, '')
    writeFileSync(keyFile, `${SECRET}\n`)
    // Each run prints another token.
    writeFileSync(script, `#!/bin/sh\nprintf x >> "${runs}"\necho "token-$(wc -c < "${runs}" | tr -d ' ')-$1"\n`)
    chmodSync(script, 0o755)
    proxy = await startProxy({
      stores,
      log,
      environment: {
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        AGGREGATOR_BASE_URL: aggregator.baseUrl,
        AGGREGATOR_API_KEY: 'sk-aggregator',
        OLLAMA_BASE_URL: vendor.baseUrl,
        MISTRAL_BASE_URL: vendor.baseUrl,
        MISTRAL_API_KEY: SECRET,
        OPENAI_BASE_URL: vendor.baseUrl,
        OPENAI_API_KEY_FILE: keyFile,
        VERTEX_BASE_URL: vendor.baseUrl,
        // Without a shell, the rest is one word.
        VERTEX_API_KEY_COMMAND: `"${script}" $(id);x`,
        TOGETHER_BASE_URL: vendor.baseUrl,
        TOGETHER_API_KEY_COMMAND: join(folder, 'no such command'),
      },
    })
  })
  beforeEach(async () => {
    project = `p-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    for (const each of [aggregator, vendor]) each.reset()
  })
  afterAll(async () => {
    await proxy.stop()
    await Promise.all([aggregator.stop(), vendor.stop()])
  })

  const hello = (model: string) => ({ ...question(`Hello ${crypto.randomUUID()}`), model })
  const sentKeys = () => vendor.requests.map(({ headers }) => headers.authorization)

  test('a vendor without a key is reached by its name, also beside an aggregator', async () => {
    const answer = await ask(proxy, key, hello('ollama/llama3.2'))
    expect([answer.status, answer.headers.get('x-proxy-provider')]).toEqual([200, 'ollama'])
    expect(vendor.requests.map(({ body }) => (body as { model: string }).model)).toEqual(['llama3.2'])
    expect(sentKeys()).toEqual([undefined])
    expect(aggregator.requests).toEqual([])
    await proxy.settle()
    const [record] = await proxy.query(`select provider, model from usage_records where project_id =
      (select id from projects where name = '${project}')`)
    expect(record).toEqual({ provider: 'ollama', model: 'ollama/llama3.2' })
  })

  test('a model of a vendor without a key is free without a price, and one of any other vendor is not', async () => {
    await proxy.query(`select set_budget('${project}', 'usd', 10, 'month')`)
    const answer = await ask(proxy, key, hello('ollama/llama3.2'))
    expect([answer.status, answer.headers.get('x-proxy-cost-usd'), answer.headers.get('x-proxy-cost-unknown')]).toEqual(
      [200, '0', null],
    )
    const priced = await ask(proxy, key, hello('mistral/no-known-model'))
    expect([priced.status, priced.json.error.code]).toEqual([400, 'model_not_priced'])
    await proxy.settle()
    const [record] = await proxy.query<{
      cost: string
      doubtful: string
    }>(`select sum(cost_usd) as cost, sum(doubtful_usd) as doubtful from usage_records
      where project_id = (select id from projects where name = '${project}')`)
    expect([Number(record?.cost), Number(record?.doubtful)]).toEqual([0, 0])
  })

  test('a key of a setting serves every project, and the project’s own key has precedence', async () => {
    expect((await ask(proxy, key, hello('mistral/mistral-small'))).status).toBe(200)
    expect((await ask(proxy, key, hello('mistral-small-latest'))).status).toBe(200)
    await storeKey(stores, project, 'mistral', 'sk-own')
    expect((await ask(proxy, key, hello('mistral/mistral-small'))).status).toBe(200)
    expect(sentKeys()).toEqual([SECRET, SECRET, 'sk-own'].map(sent => `Bearer ${sent}`))
    await proxy.query(`delete from provider_keys where provider = 'mistral'`)
    expect((await ask(proxy, key, hello('mistral/mistral-small'))).status).toBe(200)
    expect(sentKeys().at(-1)).toBe(`Bearer ${SECRET}`)
  })

  test('test keys use the sandbox', async () => {
    const testKey = await proxy.createKey({ project, type: 'test' })
    for (const model of ['ollama/llama3.2', 'mistral/mistral-small'])
      expect((await ask(proxy, testKey, hello(model))).headers.get('x-proxy-provider')).toBe('sandbox')
    expect(vendor.requests).toEqual([])
  })

  test('a file is read, and its key selects no part of the account for a client', async () => {
    const account = { 'openai-organization': 'org-mine', 'openai-project': 'proj-mine' }
    expect((await ask(proxy, key, hello('gpt-4o-mini'), account)).status).toBe(200)
    expect(vendor.requests.map(({ headers }) => [headers.authorization, headers['openai-organization']])).toEqual([
      [`Bearer ${SECRET}`, undefined],
    ])
  })

  test('a project cannot refer to what another one created under the key', async () => {
    const other = await post(proxy, key, '/responses', {
      model: 'gpt-4o-mini',
      input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-of-another-project' }] }],
    })
    expect(other.status).toBe(404)
    expect(vendor.requests).toEqual([])
  })

  test('a command runs without a shell, and again after a rejection', async () => {
    const first = await ask(proxy, key, hello('vertex/google/gemini-9'))
    expect([first.status, readFileSync(runs, 'utf8')]).toEqual([200, 'x'])
    expect(sentKeys()).toEqual(['Bearer token-1-$(id);x'])
    expect((await ask(proxy, key, hello('vertex/google/gemini-9'))).status).toBe(200)
    expect(readFileSync(runs, 'utf8')).toBe('x')
    vendor.scriptOnce({ kind: 'error', status: 401 })
    expect((await ask(proxy, key, hello('vertex/google/gemini-9'))).status).toBe(200)
    expect(sentKeys().slice(2)).toEqual(['Bearer token-1-$(id);x', 'Bearer token-2-$(id);x'])
    // Not at every rejection.
    vendor.scriptOnce({ kind: 'error', status: 401 })
    expect((await ask(proxy, key, hello('vertex/google/gemini-9'))).status).toBe(502)
    expect(readFileSync(runs, 'utf8')).toBe('xx')
  })

  test('a rejection of the key is a 502 that reveals nothing of it', async () => {
    vendor.scriptOnce({ kind: 'error', status: 401, message: `Incorrect API key provided: ${SECRET}` })
    const answer = await ask(proxy, key, hello('mistral/mistral-small'))
    expect([answer.status, answer.json.error.code]).toEqual([502, 'upstream_error'])
    expect(answer.text).not.toContain(SECRET)
    const logged = log.take().join('\n')
    expect(logged).toContain('MISTRAL_API_KEY')
    expect(logged).not.toContain(SECRET)
  })

  test('a key that cannot be read is a 503, and its cause is logged', async () => {
    const answer = await ask(proxy, key, hello('together/some-model'))
    expect([answer.status, answer.json.error.message]).toEqual([
      503,
      'The key of this service for together could not be read; the operator has to check it.',
    ])
    expect(log.take().join('\n')).toMatch(/"provider":"together".*"cause":"[^"]*ENOENT/)
    expect(answer.text).not.toContain(folder)
  })
})
