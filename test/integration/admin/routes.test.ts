import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { question } from '../../harness/chat.ts'
import { ask } from '../../harness/client.ts'
import { startUpstreams, storeKey } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

interface Route {
  id: string
  kind: string | null
  provider: string | null
  input_usd_per_million: number | null
  output_usd_per_million: number | null
  problem: { status: number; code: string; message: string } | null
}

const MODELS = [
  'gpt-4o-mini',
  'openai/gpt-4o-mini',
  'llama-3.1-8b-instant',
  'claude-haiku-4-5',
  'nonsense',
  'other/x',
  'fast',
]

describeOnce('the route of a model', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: upstreams.environment }),
  )
  let project: string
  let keys: Record<'project' | 'test', string>
  let routesOf: (query: string) => Promise<Route[]>

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    const headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` }
    keys = {
      project: await proxy.createKey({ project: 'acme', type: 'project' }),
      test: await proxy.createKey({ project: 'acme' }),
    }
    const [row] = await proxy.query<{ id: number }>(`select id from projects where name = 'acme'`)
    project = `proj_${row?.id}`
    routesOf = async query => {
      const path = `/v1/organization/projects/${project}/routes?${query}`
      const { status, json } = await send(proxy, 'GET', path, { headers })
      expect([path, status]).toEqual([path, 200])
      return json.data
    }
  })

  const named = MODELS.map(model => `models[]=${encodeURIComponent(model)}`).join('&')

  test.each([
    ['without provider keys', async () => {}],
    ['with one', () => storeKey(proxy.stores, 'acme', 'openai', 'sk-own')],
    ['with an alias', () => proxy.query(`select set_setting('acme', 'aliases', 'fast=gpt-4o-mini')`)],
    ['where few are allowed', () => proxy.query(`select set_setting('acme', 'allowed_models', 'gpt-*, claude-*')`)],
  ])('is reported as it is then used, %s', async (_, arrange) => {
    await arrange()
    for (const type of ['project', 'test'] as const) {
      for (const { id, provider, problem } of await routesOf(`${named}&key_type=${type}`)) {
        const { status, headers, json } = await ask(proxy, keys[type], {
          ...question(`who are you, ${id}?`),
          model: id,
        })
        const taken = status === 200 ? [headers.get('x-proxy-provider')] : [status, json.error.code]
        expect([type, id, ...(problem ? [problem.status, problem.code] : [provider])]).toEqual([type, id, ...taken])
      }
    }
  })

  test('is reported as it would be with other provider keys, for a provider’s own names', async () => {
    await proxy.query(`select set_setting('acme', 'allowed_models', '')`)
    const withKey = await routesOf('native_to=openai&provider_keys[]=openai')
    expect(new Set(withKey.map(({ provider }) => provider))).toEqual(new Set(['openai']))
    const without = await routesOf('native_to=openai&provider_keys[]=')
    expect(without.map(({ id }) => id)).toEqual(withKey.map(({ id }) => id))
    expect(without.find(({ id }) => id === 'gpt-4o-mini')).toMatchObject({ kind: 'chat', provider: 'openrouter' })
    const all = await routesOf('')
    expect(all.length).toBeGreaterThan(withKey.length)
    expect(all.filter(({ problem }) => problem !== null)).toEqual([])
  })
  test('is reported with its price, if that is known', async () => {
    const routes = await routesOf('models[]=gpt-4.1-mini&models[]=other/x')
    const prices = routes.map(({ input_usd_per_million: input, output_usd_per_million: output }) => [input, output])
    expect(prices).toEqual([
      [0.4, 1.6],
      [null, null],
    ])
  })
})
