/** Every row of `vendors` passes the conformance suite, against a fake vendor that is as strict as the vendor's documentation. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VENDORS } from '../../src/postgres/seeds.generated.ts'
import { describeOnce } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { DOCUMENTED_VENDORS, type DocumentedVendor } from './documented.ts'
import { connectVendor, type ExercisedVendor, exercise } from './exercise.ts'
import { startFakeVendor } from './fake-vendor.ts'
import { DOCUMENTED_ROWS, startFakeVendors } from './start-vendors.ts'

/** No seeded vendor has all of its properties. */
const MADE_UP: DocumentedVendor = {
  ...(DOCUMENTED_VENDORS.find(({ name }) => name === 'mistral') as DocumentedVendor),
  name: 'made-up',
  baseUrl: 'https://made-up.example/inference',
  paths: { chat: '/models/<model>/v1/chat/completions', embeddings: '/models/<model>/v1/embeddings' },
  key: { header: 'x-api-key', prefix: '' },
  modelsPath: '/list',
  query: { version: '2' },
  headers: { 'x-team': 'ours' },
  model: 'our/model-1',
}

test('every row has a documented vendor', () => {
  expect(VENDORS.map(({ name }) => name).toSorted()).toEqual(DOCUMENTED_VENDORS.map(({ name }) => name).toSorted())
})

test.each(DOCUMENTED_ROWS)('$name has its documented host and endpoints', ({ documented, row }) => {
  const isFixed = !documented.baseUrl.includes('<')
  expect(row.base_url).toBe(isFixed ? documented.baseUrl : null)
  // A row may list fewer endpoints than the vendor has, never more.
  expect(row.endpoints.filter(endpoint => !(endpoint in documented.paths))).toEqual([])
})

describeOnce('vendors', backend => {
  const connected = new Map<DocumentedVendor, ExercisedVendor>()
  let proxy: TestProxy

  beforeAll(async () => {
    const { fakes, environment } = await startFakeVendors()
    proxy = await startProxy({
      stores: await backend.open(),
      environment: {
        ...environment,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        UPSTREAM_MAX_RETRIES: '0',
        UPSTREAM_CIRCUIT_FAILURES: '1000000',
      },
    })
    for (const { documented, row, name } of DOCUMENTED_ROWS) {
      const fake = fakes.get(name)
      if (fake) connected.set(documented, await connectVendor({ documented, row, fake, proxy }))
    }
  })
  afterAll(async () => {
    await proxy?.stop()
    await Promise.all([...connected.values()].map(({ fake }) => fake.stop()))
  })

  describe.each(DOCUMENTED_ROWS)('$name', ({ documented }) => {
    exercise(() => connected.get(documented) as ExercisedVendor)
  })

  describe('a vendor that one insert adds while the proxy runs', () => {
    let vendor: ExercisedVendor

    beforeAll(async () => {
      const fake = await startFakeVendor(MADE_UP)
      const row = { name: MADE_UP.name, endpoints: ['chat', 'embeddings'], models_path: '/list' } as const
      await proxy.query(`
        insert into vendors (
          name, base_url, allows_private_address, endpoints, path_template, key_location, query_parameters, sent_headers,
          accepts_stream_options, output_limits, models_path
        )
        values (
          'made-up', '${fake.origin}/inference', true, '{chat,embeddings}', '/models/{model}/v1{path}', 'header:x-api-key',
          '{"version": "2"}', '{"x-team": "ours"}', false, '{max_tokens}', '/list'
        )`)
      vendor = await connectVendor({ documented: MADE_UP, row, fake, proxy })
      connected.set(MADE_UP, vendor)
      const question = { model: 'made-up/our/model-1', messages: [{ role: 'user', content: 'do:text' }] }
      await waitUntil('the proxy knows the vendor', async () => (await ask(proxy, vendor.key, question)).status === 200)
    })

    exercise(() => vendor)
  })
})
