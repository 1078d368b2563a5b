/** Vendors are rows that every process reads at run time. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FakeAnthropic, startFakeAnthropic } from '../fake-anthropic/server.ts'
import { type FakeProvider, startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { type Answer, ask } from '../harness/client.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

describeBackends('vendors', backend => {
  let stores: Stores
  let proxies: TestProxy[]
  let first: TestProxy
  let acme: FakeProvider
  let other: FakeProvider
  let bolt: FakeAnthropic
  let project: string
  let key: string

  beforeAll(async () => {
    ;[acme, other, bolt] = await Promise.all([startFakeProvider(), startFakeProvider(), startFakeAnthropic()])
    stores = await backend.open()
    const start = () =>
      startProxy({ stores, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY }, refreshVendorsMs: 20 })
    first = await start()
    proxies = [first, await start()]
  })
  beforeEach(async () => {
    await first.query('delete from provider_keys')
    await first.query(`delete from vendors where source = 'operator'`)
    project = `p-${crypto.randomUUID()}`
    key = await first.createKey({ project, type: 'project' })
    for (const each of [acme, other, bolt]) each.requests.length = 0
  })
  afterAll(async () => {
    await Promise.all(proxies.map(proxy => proxy.stop()))
    await Promise.all([acme, other, bolt].map(each => each.stop()))
  })

  const hello = (model: string) => ({ ...question(`Hello ${crypto.randomUUID()}`), model })

  const sentModels = () => acme.requests.map(({ body }) => (body as { model: string }).model)

  /** Sends requests to each process until its response fits, and returns the last response of each. */
  async function askAll(model: string, fits: (answer: Answer) => boolean): Promise<Answer[]> {
    return Promise.all(
      proxies.map(async proxy => {
        let answer: Answer | undefined
        await waitUntil(
          () => `a process reads the change, last ${answer?.status} ${answer?.text}`,
          async () => {
            answer = await ask(proxy, key, hello(model))
            return fits(answer)
          },
        )
        return answer as Answer
      }),
    )
  }

  test('a row with a name and an address is enough, and every process reads it', async () => {
    const before = await ask(first, key, hello('acme/some/model-9'))
    expect([before.status, before.json.error.code]).toEqual([503, 'service_unavailable'])
    await first.query(`insert into vendors (name, base_url) values ('acme', '${acme.baseUrl}')`)
    await storeKey(stores, project, 'acme', 'sk-of-acme')
    const answers = await askAll('acme/some/model-9', ({ status }) => status === 200)
    expect(answers.map(({ headers }) => headers.get('x-proxy-provider'))).toEqual(['acme', 'acme'])
    // The first slash alone counts.
    expect(new Set(sentModels())).toEqual(new Set(['some/model-9']))
    expect(new Set(acme.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer sk-of-acme']))
  })

  test('native names reach a vendor by its pattern alone', async () => {
    await first.query(`insert into vendors (name, base_url, model_names, allows_private_address)
      values ('acme', '${acme.baseUrl}', '^nova-', true)`)
    await first.query(`insert into vendors (name, base_url, format, model_names, place, allows_private_address)
      values ('bolt', '${bolt.baseUrl}', 'anthropic', '^claude-', 0, true)`)
    await storeKey(stores, project, 'acme', 'sk-of-acme')
    await storeKey(stores, project, 'bolt', 'sk-of-bolt')
    await askAll('nova-1', ({ status }) => status === 200)
    await askAll('claude-haiku-4-5', ({ status }) => status === 200)
    const unknown = await ask(first, key, hello('other-1'))
    expect([unknown.status, unknown.json.error.code]).toEqual([404, 'model_not_found'])
    expect(new Set(sentModels())).toEqual(new Set(['nova-1']))
    expect(new Set(bolt.requests.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(['sk-of-bolt']))
  })

  test('a changed address is used by every process, and a removed vendor by none', async () => {
    await first.query(
      `insert into vendors (name, base_url, allows_private_address) values ('acme', '${acme.baseUrl}', true)`,
    )
    await storeKey(stores, project, 'acme', 'sk-of-acme')
    await askAll('acme/model-9', ({ status }) => status === 200)

    await first.query(`update vendors set base_url = '${other.baseUrl}' where name = 'acme'`)
    for (const proxy of proxies) {
      const before = other.requests.length
      await waitUntil('the process uses the address', async () => {
        await ask(proxy, key, hello('acme/model-9'))
        return other.requests.length > before
      })
    }
    await expect(first.query(`delete from vendors where name = 'acme'`)).rejects.toThrow('provider_keys')

    await first.query(`delete from provider_keys where provider = 'acme'`)
    await first.query(`delete from vendors where name = 'acme'`)
    const answers = await askAll('acme/model-9', ({ status }) => status === 503)
    expect(answers.map(({ json }) => json.error.code)).toEqual(['service_unavailable', 'service_unavailable'])
  })
})
