import { expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeBackends } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

describeBackends('hits that other scopes would have had', backend => {
  const fakeProvider = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: fakeProvider.environment }))

  async function compare(project: string) {
    await proxy.settle()
    const [found] = await proxy.query<{ id: number }>(`select find_project('${project}') as id`)
    const rows = await callFunction(proxy.stores.database, 'compare_scopes', { of_project: Number(found?.id) })
    return rows.map(({ scope, requests, named, users, answered }) => ({ scope, requests, named, users, answered }))
  }

  test.each(['project', 'key', 'user'] as const)('are the same whatever the scope was: %s', async cache_scope => {
    const project = `p-${crypto.randomUUID().slice(0, 8)}`
    const key = await proxy.createKey({ project, type: 'project', settings: { cache_scope } })
    const other = await proxy.createKey({ project, type: 'project' })
    const asking: [key: string, question: string, user?: string][] = [
      [key, 'What is a widget?', 'alice'],
      [key, 'What is a widget?', 'bob'],
      [other, 'What is a widget?', 'alice'],
      [key, 'What is a widget?'],
      [other, 'What is a widget?'],
      [other, 'What is a widget?'],
      [other, 'What is a gadget?', 'carol'],
    ]
    for (const [by, question, user] of asking) {
      const messages = [{ role: 'user', content: question }]
      expect((await ask(proxy, by, { model: 'openai/gpt-4o-mini', messages, ...(user && { user }) })).status).toBe(200)
    }
    const seen = { requests: 7, named: 4, users: 3 }
    expect(await compare(project)).toEqual([
      { scope: 'project', ...seen, answered: 5 },
      { scope: 'key', ...seen, answered: 4 },
      { scope: 'user', ...seen, answered: 2 },
    ])
  })

  test('are none after the entries would have expired', async () => {
    const project = `p-${crypto.randomUUID().slice(0, 8)}`
    const key = await proxy.createKey({ project, type: 'project', settings: { cache_ttl_seconds: '0' } })
    for (let i = 0; i < 2; i++) await ask(proxy, key, 'What is a widget?')
    expect((await compare(project)).map(({ answered }) => answered)).toEqual([0, 0, 0])
  })

  test('have no row without a lookup', async () => {
    await proxy.createKey({ project: 'silent', type: 'project' })
    expect(await compare('silent')).toEqual([])
  })
})
