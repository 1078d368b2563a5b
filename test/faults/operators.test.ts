/** Operators beside requests: neither waits for the other, and a failed key lookup is not reported as an invalid key. */
import { beforeAll, expect, test } from 'vitest'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { openAccounts } from './accounts.ts'
import { describeFaults } from './describe-faults.ts'
import { startProxyProcess } from './proxy-process.ts'
import { startPostgres } from './servers.ts'

/** All connections for operators, and one more request for each. */
const AT_ONCE = 4

describeFaults('operators', () => {
  const postgres = duringTests(startPostgres)
  const proxy = duringTests(() => startProxyProcess({ DATABASE_URL: postgres.url, REDIS_URL: '', DASHBOARD: 'on' }))
  const database = duringTests(() => openServerDatabase({ url: postgres.url, maxConnections: 2 }))
  let key: string
  let adminKey: string

  beforeAll(async () => {
    await database.call(`select create_user('operator@example.org', 'owner')`, [])
    const [issued] = await database.call<{ key: string }>(
      `select key from issue_admin_key('operator@example.org', 'faults')`,
      [],
    )
    adminKey = issued?.key ?? ''
    key = (await openAccounts(database).create()).key
    await ask(proxy, key, 'What is warm?')
  })

  const send = async (method: string, path: string, withKey = adminKey) => {
    const { status } = await fetch(`${new URL(proxy.baseUrl).origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${withKey}`, 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: '{}' }),
    })
    return status
  }

  test('whose statements wait delay no request', async () => {
    const locking = database.runScript('begin; lock table users; select pg_sleep(8); commit')
    const locks = `select from pg_locks where relation = 'users'::regclass and mode = 'AccessExclusiveLock' and granted`
    await waitUntil('the table is locked', async () => (await database.call(locks, [])).length > 0)
    const waiting = Promise.all(Array.from({ length: AT_ONCE }, () => send('GET', '/v1/organization/users')))
    const isWaiting = await Promise.race([waiting.then(() => false), Bun.sleep(1_000).then(() => true)])
    const answered = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(proxy, key, `What is quick, number ${i}?`)),
    )
    expect([isWaiting, new Set(answered.map(({ status }) => status))]).toEqual([true, new Set([200])])
    const statuses = await waiting
    expect(statuses).toEqual(statuses.map(status => (status === 200 ? 200 : 503)))
    await locking
  })

  test('whose read takes too long get an error that says so', async () => {
    const locking = database.runScript('begin; lock table usage_sums; select pg_sleep(8); commit')
    const locks = `select from pg_locks where relation = 'usage_sums'::regclass and mode = 'AccessExclusiveLock' and granted`
    await waitUntil('the table is locked', async () => (await database.call(locks, [])).length > 0)
    const response = await fetch(`${new URL(proxy.baseUrl).origin}/v1/organization/costs?start_time=1`, {
      headers: { authorization: `Bearer ${adminKey}` },
    })
    expect([response.status, response.headers.get('x-should-retry'), await response.json()]).toEqual([
      503,
      'false',
      { error: expect.objectContaining({ code: 'query_too_long' }) },
    ])
    await locking
  })

  test('who cannot be authenticated get an error that says so, at every operation', async () => {
    const root = new URL(proxy.baseUrl).origin
    const described = (await (await fetch(`${root}/openapi.json`)).json()) as { paths: Record<string, object> }
    const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => [method.toUpperCase(), path.replace(/\{\w+\}/g, 'x')] as const),
    )
    // Unlike an unknown key, one that cannot be one is not looked up, and so not limited.
    const withoutKey = await Promise.all(operations.map(([method, path]) => send(method, path, 'none')))
    // The other operations require a login.
    const checking = operations.filter((_, i) => withoutKey[i] === 401)
    await postgres.stop()
    const results = await Promise.all(
      checking.map(async ([method, path]) => `${method} ${path}: ${await send(method, path)}`),
    )
    await postgres.start()
    expect(checking.length).toBeGreaterThan(operations.length - 10)
    expect(results.filter(each => !each.endsWith(': 503'))).toEqual([])
  })
})
