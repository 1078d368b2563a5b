import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeBackends } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

describeBackends('rejected requests', backend => {
  let proxy: TestProxy
  beforeAll(async () => {
    proxy = await startProxy({ dashboard: true, stores: await backend.open() })
  })
  afterAll(() => proxy.stop())

  test('are counted by reason, over several processes, for administrators', async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    const authorization = `Bearer ${await issueAdminKey(proxy, 'root@example.org')}`
    const read = async () =>
      (await send(proxy, 'GET', '/v1/organization/refusals', { headers: { authorization } })).json
    expect(await read()).toEqual({ object: 'list', data: [], has_more: false })
    const other = await startProxy({ dashboard: true, stores: proxy.stores })
    for (const each of [proxy, proxy, other]) await ask(each, 'lgw_proj_nobody', 'Hello')
    const key = await proxy.createKey({ project: 'refused' })
    await proxy.query(`select deactivate_key('${key}')`)
    await ask(proxy, key, 'Hello')
    await Promise.all([proxy.settle(), other.stop()])
    const { data } = await read()
    expect(data).toMatchObject([
      { reason: 'invalid_api_key', requests: 3 },
      { reason: 'api_key_disabled', requests: 1 },
    ])
    // A second run does not write the same rejections again.
    await proxy.settle()
    expect((await read()).data).toEqual(data)
    const span = await send(proxy, 'GET', '/v1/organization/refusals?start_time=5&end_time=5', {
      headers: { authorization },
    })
    expect([span.status, span.json.data]).toEqual([200, []])
  })

  test('of the admin API too; guesses at its keys and sessions are limited, without harm to valid callers', async () => {
    await addUser(proxy, 'other@example.org', 'owner')
    const key = await issueAdminKey(proxy, 'other@example.org')
    const ask = async (headers: Record<string, string>) =>
      (await send(proxy, 'GET', '/v1/organization/refusals', { headers })).status
    const holder = { authorization: `Bearer ${key}` }
    expect(await ask(holder)).toBe(200)
    const guesses = Array.from({ length: 140 }, (_, i) =>
      i % 2 === 0
        ? { authorization: `Bearer lgw_admin_${'x'.repeat(29)}${100 + i}` }
        : { cookie: `model_proxy_session=${'x'.repeat(40)}${100 + i}` },
    )
    const statuses = []
    for (const guess of guesses) statuses.push(await ask(guess))
    expect(statuses).toEqual(guesses.map((_, i) => (i < 120 ? 401 : 429)))
    expect(await ask(holder)).toBe(200)
    await proxy.settle()
    const { data } = (await send(proxy, 'GET', '/v1/organization/refusals', { headers: holder })).json
    expect(data).toContainEqual(expect.objectContaining({ reason: 'invalid_admin_key', requests: 120 }))
    expect(data).toContainEqual(expect.objectContaining({ reason: 'rate_limit_exceeded', requests: 20 }))
  })
})
