/** Values that no field of the admin API accepts, at every documented operation: each gets a 4xx with a message, never a 500. */
import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { addUser, issueAdminKey, send } from '../integration/admin/people.ts'
import { createMemoryLog } from '../integration/hostile/memory-log.ts'

interface Operation {
  parameters?: { name: string; in: 'query' | 'path' }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}
interface Schema {
  properties?: Record<string, Schema>
  anyOf?: Schema[]
}

/** Texts in their encoding for URLs. */
const TEXTS = [
  '',
  '%00',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%',
  '%F0%9F%98%80',
  '-1',
  '0',
  '9'.repeat(30),
  '9223372036854775807',
  '253402300800',
  '1e309',
  'NaN',
  '1.5',
  'true',
  '%27%3B--',
  'a'.repeat(5_000),
  'proj_%00',
  'proj_99999999999999999999',
  'key_-1',
  '%5B%5D',
  '..%2f..',
  'constructor',
  '__proto__',
]
const VALUES: unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  1e308,
  2 ** 53,
  '',
  '\0',
  '\ud800',
  'é'.repeat(5_000),
  [],
  ['\0'],
  [[[[]]]],
  {},
  { '\0': '\0' },
  { __proto__: null, constructor: 1 },
  { toString: 1 },
  { toString: null, valueOf: null },
  { toJSON: 1 },
  [[{ toString: 1 }]],
  'constructor',
  '__proto__',
  JSON.parse('{"__proto__":null}'),
]

describeOnce('hostile values in the admin API', backend => {
  const log = createMemoryLog()
  const proxy = duringTests(() => startProxy({ stores: backend.open(), dashboard: true, log }))
  let key: string
  let routes: { method: string; path: string; operation: Operation }[]

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    key = await issueAdminKey(proxy, 'root@example.org')
    const described = (await (await fetch(`${proxy.rootUrl}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Operation>>
    }
    routes = Object.entries(described.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    )
  })

  const filled = (path: string, value = '1') => path.replace(/\{\w+\}/g, value)

  async function expectTold(method: string, path: string, body?: unknown): Promise<void> {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await send(proxy, method, path, body === undefined ? { headers } : { headers, body })
    const about = `${method} ${path.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 100)}`
    expect([about, answer.status < 500]).toEqual([about, true])
    if (answer.status >= 400) expect([about, typeof answer.json?.error?.message]).toEqual([about, 'string'])
    const lines = log.take().filter(line => JSON.parse(line).level > 30)
    expect([about, lines]).toEqual([about, []])
  }

  test('in addresses', async () => {
    expect(routes.length).toBeGreaterThan(40)
    for (const { method, path, operation } of routes) {
      for (const text of TEXTS) {
        if (path.includes('{')) await expectTold(method, filled(path, text))
        const names = (operation.parameters ?? []).filter(each => each.in === 'query').map(({ name }) => name)
        for (const name of method === 'GET' ? [...names, 'unknown'] : [])
          await expectTold(method, `${filled(path, 'proj_1')}?${name}=${text}&${name}=${text}`)
      }
    }
  })

  test('in bodies', async () => {
    for (const { method, path, operation } of routes.filter(({ operation }) => operation.requestBody)) {
      const { schema } = operation.requestBody?.content['application/json'] ?? {}
      const fields = Object.keys(schema?.properties ?? schema?.anyOf?.[0]?.properties ?? {})
      for (const value of VALUES) {
        await expectTold(method, filled(path, 'proj_1'), value)
        await expectTold(method, filled(path, 'proj_1'), Object.fromEntries(fields.map(field => [field, value])))
      }
    }
  })
})
