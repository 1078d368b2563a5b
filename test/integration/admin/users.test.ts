import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeBackends } from '../../harness/backends.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { addUser, logIn, rootOf, send } from './people.ts'

const OIDC = {
  OIDC_ISSUER: 'http://127.0.0.1:1',
  OIDC_CLIENT_ID: 'model-proxy',
  OIDC_GROUP_ROLES: 'platform=owner,engineers=reader',
}

describeBackends('people', backend => {
  let proxy: TestProxy
  let project: string
  beforeAll(async () => {
    proxy = await startProxy({ dashboard: true, stores: await backend.open(), environment: OIDC })
    await addUser(proxy, 'root@example.org', 'owner')
    await addUser(proxy, 'owner@example.org', 'reader')
    const [made] = await proxy.query<{ id: number }>(`select create_project('acme', 'free') as id`)
    project = `/v1/organization/projects/proj_${made?.id}`
    await proxy.query(`select add_member('acme', 'owner@example.org', 'owner')`)
  })
  afterAll(() => proxy.stop())

  test('an owner invites whom nobody knows yet; who has not come is seen, and given another link by an administrator', async () => {
    const owner = await logIn(proxy, 'owner@example.org')
    const root = await logIn(proxy, 'root@example.org')
    const added = await owner.send('POST', `${project}/users`, { email: 'New@Example.org', role: 'viewer' })
    expect([added.status, added.json]).toMatchObject([200, { email: 'new@example.org', can_log_in: false }])
    expect(added.json.invited_until - Date.now() / 1000).toBeGreaterThan(6 * 86_400)
    const members = (await owner.send('GET', `${project}/users`)).json.data
    expect(members).toMatchObject([
      { email: 'owner@example.org', can_log_in: true, last_seen_at: expect.any(Number) },
      { email: 'new@example.org', can_log_in: false, last_seen_at: null },
    ])
    // With a link one becomes the user: of whoever is known already, only administrators give one.
    const again = `/v1/organization/users/${added.json.id}/invitation`
    expect((await owner.send('POST', again, {})).status).toBe(403)
    expect(
      (await owner.send('POST', `${project}/users`, { email: 'new@example.org', role: 'viewer' })).json,
    ).toMatchObject({ email: 'new@example.org' })
    const { invitation } = (await root.send('POST', again, {})).json
    const accept = (token: string) =>
      send(proxy, 'POST', '/dashboard/api/invitation', { body: { invitation: token, password: 'a long enough one' } })
    expect((await accept(added.json.invitation)).status).toBe(404)
    expect((await accept(invitation)).status).toBe(200)
    const users = (await root.send('GET', '/v1/organization/users')).json.data
    expect(users.at(-1)).toMatchObject({ email: 'new@example.org', can_log_in: true, invited_until: null })
    const newcomer = await logIn(proxy, 'new@example.org', 'a long enough one')
    expect((await newcomer.send('GET', '/v1/organization/projects')).json.data).toHaveLength(1)
  })

  test('sessions are listed for whom they are, and each ends by itself', async () => {
    const [here, there] = [await logIn(proxy, 'owner@example.org'), await logIn(proxy, 'owner@example.org')]
    const other = await logIn(proxy, 'root@example.org')
    const { data } = (await here.send('GET', '/dashboard/api/sessions')).json
    expect(data.filter((session: { is_this_one: boolean }) => session.is_this_one)).toHaveLength(1)
    const { data: seenThere } = (await there.send('GET', '/dashboard/api/sessions')).json
    const own = seenThere.find((session: { is_this_one: boolean }) => session.is_this_one)
    const path = `/dashboard/api/sessions/${own.id}`
    expect((await other.send('DELETE', path)).status).toBe(404)
    expect((await there.send('GET', '/dashboard/api/session')).status).toBe(200)
    expect((await here.send('DELETE', path)).status).toBe(200)
    expect((await there.send('GET', '/dashboard/api/session')).status).toBe(401)
    expect((await here.send('DELETE', path)).status).toBe(404)
    expect((await here.send('GET', '/dashboard/api/session')).status).toBe(200)
  })

  test('administrators see which group gets which role', async () => {
    const rules = (await (await logIn(proxy, 'root@example.org')).send('GET', '/dashboard/api/login-rules')).json
    expect(rules.oidc).toMatchObject({
      issuer: OIDC.OIDC_ISSUER,
      groups_claim: 'groups',
      group_roles: [
        { group: 'platform', role: 'owner' },
        { group: 'engineers', role: 'reader' },
      ],
    })
    const open = await (await fetch(`${rootOf(proxy)}/dashboard/api/login-options`)).text()
    expect(open).not.toContain('platform')
  })
})
