/** Guessed passwords, many concurrent logins, and administrators who lock each other out. */
import postgres from 'postgres'
import { beforeAll, expect, test } from 'vitest'
import { describeOnce, describeReal } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { addUser, adminClient, issueAdminKey, logIn, PASSWORD, send } from '../integration/admin/people.ts'

describeOnce('logins', backend => {
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: { TRUST_PROXY: '1' } }),
  )
  const from = (address: string, email: string, password: string) =>
    send(proxy, 'POST', '/dashboard/api/login', {
      body: { email, password },
      headers: { 'x-forwarded-for': address },
    }).then(({ status }) => status)

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
  })

  async function fail(times: number, address: string, email = 'root@example.org'): Promise<number[]> {
    const statuses: number[] = []
    for (let i = 0; i < times; i++) statuses.push(await from(address, email, 'wrong'))
    return statuses
  }

  test('wrong passwords from one address lock out no user at another', async () => {
    expect(await fail(12, '192.0.2.1')).toEqual([...Array(10).fill(401), 429, 429])
    expect(await from('192.0.2.1', 'root@example.org', PASSWORD)).toBe(429)
    expect(await from('192.0.2.2', 'root@example.org', PASSWORD)).toBe(200)
  })

  test('a user that is attacked from everywhere can log in where it has logged in before', async () => {
    for (let i = 0; i < 11; i++) await fail(10, `198.51.100.${i}`)
    expect(await from('203.0.113.9', 'root@example.org', PASSWORD)).toBe(429)
    expect(await from('192.0.2.2', 'root@example.org', PASSWORD)).toBe(200)
  })

  test('one address may not try many users', async () => {
    const tried = []
    for (let i = 0; i < 32; i++) tried.push(...(await fail(1, '203.0.113.1', `user${i}@example.org`)))
    expect(tried).toEqual([...Array(30).fill(401), 429, 429])
  })

  test('addresses that a client makes up do not count', async () => {
    const tried = []
    for (let i = 0; i < 12; i++) tried.push(...(await fail(1, `203.0.113.${i}, 192.0.2.${i}, 192.0.2.30`)))
    expect(tried).toEqual([...Array(10).fill(401), 429, 429])
    const alone = await startProxy({ dashboard: true, stores: proxy.stores })
    const statuses = []
    for (let i = 0; i < 12; i++) {
      const headers = { 'x-forwarded-for': `203.0.113.${i}`, 'x-real-ip': `203.0.113.${i}` }
      const body = { email: 'root@example.org', password: 'wrong' }
      statuses.push((await send(alone, 'POST', '/dashboard/api/login', { body, headers })).status)
    }
    await alone.stop()
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
  })

  test('a session cookie that was set before the login is invalid after it', async () => {
    const fixed = `model_proxy_session=${'A'.repeat(43)}`
    const opened = await send(proxy, 'POST', '/dashboard/api/login', {
      body: { email: 'root@example.org', password: PASSWORD },
      headers: { cookie: fixed, 'x-forwarded-for': '192.0.2.2' },
    })
    expect([opened.status, opened.headers.get('set-cookie')?.startsWith(fixed)]).toEqual([200, false])
    expect((await send(proxy, 'GET', '/dashboard/api/session', { headers: { cookie: fixed } })).status).toBe(401)
  })

  test('forty simultaneous logins are served', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 40 }, () => from('192.0.2.2', 'root@example.org', PASSWORD)),
    )
    expect(statuses).toEqual(Array(40).fill(200))
  })

  test('forty simultaneous wrong ones count like those one by one', async () => {
    await addUser(proxy, 'guessed@example.org', 'reader')
    const statuses = await Promise.all(Array.from({ length: 40 }, () => from('192.0.2.7', 'guessed@example.org', 'no')))
    expect(statuses.filter(status => status === 401).length).toBeLessThanOrEqual(11)
    expect(statuses.every(status => status === 401 || status === 429)).toBe(true)
  })

  test('a changed password ends the other sessions', async () => {
    await addUser(proxy, 'changed@example.org', 'reader')
    const [here, there] = [await logIn(proxy, 'changed@example.org'), await logIn(proxy, 'changed@example.org')]
    const body = { password: PASSWORD, new_password: 'another battery staple' }
    expect((await here.send('POST', '/dashboard/api/password', body)).status).toBe(200)
    expect((await here.send('GET', '/dashboard/api/session')).status).toBe(200)
    expect((await there.send('GET', '/dashboard/api/session')).status).toBe(401)
  })

  test('the last administrator is the last who can log in', async () => {
    const admin = adminClient(proxy, await issueAdminKey(proxy, 'root@example.org'))
    const [invited] = await proxy.query<{ id: number }>(`select create_user('invited@example.org', 'owner') as id`)
    const [root] = await proxy.query<{ id: number }>(`select id from users where email = 'root@example.org'`)
    const id = `user_${root?.id}`
    await expect(admin.users.update(id, { role: 'reader' })).rejects.toMatchObject({ code: 'not_possible' })
    await expect(admin.users.delete(id)).rejects.toMatchObject({ code: 'not_possible' })
    await admin.users.delete(`user_${invited?.id}`)
  })

  type End = (from: ReturnType<typeof adminClient>, id: string) => Promise<unknown>
  const demote: End = (from, id) => from.users.update(id, { role: 'reader' })
  const remove: End = (from, id) => from.users.delete(id)
  test.each([
    ['demote', demote, demote],
    ['remove', remove, remove],
    ['demote and remove', demote, remove],
  ])('of two administrators who %s each other at once, one remains', async (_, one, other) => {
    await proxy.query(`delete from users where role = 'owner'`)
    const people = ['first@example.org', 'second@example.org']
    const ids = []
    for (const email of people) ids.push(`user_${await addUser(proxy, email, 'owner')}`)
    const [first, second] = await Promise.all(
      people.map(async email => adminClient(proxy, await issueAdminKey(proxy, email))),
    )
    if (!first || !second) throw new Error('Two administrators are needed')
    const ends = await Promise.allSettled([one(first, ids[1] ?? ''), other(second, ids[0] ?? '')])
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await proxy.query(`select id from users where role = 'owner'`)).toHaveLength(1)
    await proxy.query(`delete from users where email in ('first@example.org', 'second@example.org')`)
  })
})

describeReal('a login while its password is changed', backend => {
  test('opens no session with the former one', async () => {
    const stores = await backend.open()
    const proxy = await startProxy({ dashboard: true, stores })
    await addUser(proxy, 'changing@example.org', 'owner')
    const owner = postgres(stores.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    const body = { email: 'changing@example.org', password: PASSWORD }
    let login: ReturnType<typeof send> | null = null
    await owner.begin(async sql => {
      await sql`update users set password_hash = 'another' where email = ${body.email}`
      login = send(proxy, 'POST', '/dashboard/api/login', { body })
      await waitUntil('the login waits for the user', async () => {
        await sql`select pg_stat_clear_snapshot()`
        const waiting = await sql`
          select from pg_stat_activity where datname = current_database() and query ~ 'log_in_by|open_session' and wait_event_type = 'Lock'`
        return waiting.length > 0
      })
      await sql`delete from sessions`
    })
    expect(await login).toMatchObject({ status: 401 })
    expect(await proxy.query('select from sessions')).toEqual([])
    await owner.end()
    await proxy.stop()
  })
})
