import { beforeAll, expect, test } from 'vitest'
import { describeBackends } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, logIn, send } from './people.ts'

const ENVIRONMENT = {
  TRUST_PROXY: '1',
  OIDC_ISSUER: 'http://127.0.0.1:1',
  OIDC_CLIENT_ID: 'model-proxy',
  OIDC_GROUP_ROLES: 'platform=owner,engineers=reader',
}

describeBackends('users', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open(), environment: ENVIRONMENT }))
  let project: string
  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    await addUser(proxy, 'owner@example.org', 'reader')
    const [made] = await proxy.query<{ id: number }>(`select create_project('acme', 'free') as id`)
    project = `/v1/organization/projects/proj_${made?.id}`
    await proxy.query(`select add_member('acme', 'owner@example.org', 'owner')`)
  })

  /** Creates a project, and people who can log in and have that role there. */
  async function openProject(name: string, people: readonly string[], role: string) {
    const [made] = await proxy.query<{ id: number }>(`select create_project('${name}', 'free') as id`)
    const ids: string[] = []
    for (const person of people) {
      const email = `${person}@${name}.example`
      ids.push(`user_${await addUser(proxy, email, 'reader')}`)
      await proxy.query(`select add_member('${name}', '${email}', '${role}')`)
    }
    const id = `proj_${made?.id}`
    return { name, id, ids, users: `/v1/organization/projects/${id}/users` }
  }

  test('an owner invites an unknown user; who has not accepted is listed, and gets another link from an administrator', async () => {
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
    // An invitation link logs its bearer in as the user, so only administrators create one for an existing user.
    const again = `/v1/organization/users/${added.json.id}/invitation`
    expect((await owner.send('POST', again, {})).status).toBe(403)
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

  test('a member is not added again, by address or id, and keeps the role', async () => {
    const owner = await logIn(proxy, 'owner@example.org')
    const { users, ids } = await openProject('twice', ['a', 'b'], 'owner')
    const root = await logIn(proxy, 'root@example.org')
    for (const who of [{ email: ' A@Twice.example ' }, { user_id: ids[0] }]) {
      const again = await root.send('POST', users, { ...who, role: 'viewer' })
      expect([again.status, again.json.error.code]).toEqual([409, 'already_exists'])
      expect([again.headers.get('x-should-retry'), again.json.error.message]).toEqual([
        'false',
        expect.stringContaining('change the role instead'),
      ])
      // Callers who may not add members cannot learn who is one.
      expect((await owner.send('POST', users, { ...who, role: 'viewer' })).status).toBe(404)
    }
    const roles = (await root.send('GET', users)).json.data.map(({ role }: { role: string }) => role)
    expect(roles).toEqual(['owner', 'owner'])
    // Of two requests at once, one adds the user.
    const both = await Promise.all(
      [1, 2].map(() => root.send('POST', users, { email: 'c@twice.example', role: 'viewer' })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const outsider = await addUser(proxy, 'outsider@example.org', 'reader')
    const named = await Promise.all(
      ['viewer', 'member'].map(role => root.send('POST', users, { user_id: `user_${outsider}`, role })),
    )
    expect(named.map(({ status }) => status).sort()).toEqual([200, 409])
    // Only members have a role that can be changed.
    const stranger = await addUser(proxy, 'stranger@example.org', 'reader')
    expect((await root.send('POST', `${users}/user_${stranger}`, { role: 'viewer' })).status).toBe(404)
    expect(
      await proxy.query(`select from audit_log where target = 'user_${stranger}' and action like 'role.%'`),
    ).toEqual([])
    expect((await root.send('GET', users)).json.data).toHaveLength(4)
  })

  test('an invite to an unknown project, the same one twice or without a role adds nobody', async () => {
    const root = await logIn(proxy, 'root@example.org')
    const { id, users } = await openProject('invited-to', [], 'owner')
    const ways = [
      [400, 'named twice', [id, 'owner'], [id, 'viewer']],
      [404, 'no project proj_99999', [id, 'owner'], ['proj_99999', 'viewer']],
      [400, 'must be one of owner, member, viewer', [id, 'owner'], [project.split('/').at(-1), 'god']],
    ] as const
    for (const [status, problem, ...given] of ways) {
      const projects = given.map(([id, role]) => ({ id, role }))
      const body = { email: 'twice@example.org', role: 'reader', projects }
      const refused = await root.send('POST', '/v1/organization/invites', body)
      expect([refused.status, refused.json.error.message]).toEqual([status, expect.stringContaining(problem)])
    }
    expect(await proxy.query(`select from users where email = 'twice@example.org'`)).toEqual([])
    expect((await root.send('GET', users)).json.data).toEqual([])
  })

  test('the last owner of a project is neither removed, demoted nor deleted', async () => {
    const root = await logIn(proxy, 'root@example.org')
    const { users, ids, name } = await openProject('guarded', ['first', 'second'], 'owner')
    const [first, second] = ids
    expect((await root.send('POST', `${users}/${second}`, { role: 'viewer' })).status).toBe(200)
    // An invited user who never logged in does not count as the last owner.
    const invited = await root.send('POST', users, { email: 'invited@guarded.example', role: 'owner' })
    const ways = [
      ['POST', `${users}/${first}`, { role: 'member' }],
      ['POST', `${users}/${first}`, { role: 'viewer' }],
      ['DELETE', `${users}/${first}`],
      ['DELETE', `/v1/organization/users/${first}`],
    ] as const
    for (const [method, path, body] of ways) {
      const refused = await root.send(method, path, body)
      expect([path, refused.status, refused.json.error.code]).toEqual([path, 400, 'not_possible'])
      expect(refused.json.error.message).toContain(`${first} is the last owner of project "${name}" who can log in`)
    }
    expect((await root.send('GET', `${users}/${first}`)).json.role).toBe('owner')
    expect((await root.send('POST', `${users}/${first}`, { role: 'owner' })).status).toBe(200)
    // Other owners can be removed and changed.
    expect((await root.send('DELETE', `${users}/${invited.json.id}`)).status).toBe(200)
    expect((await root.send('POST', `${users}/${second}`, { role: 'owner' })).status).toBe(200)
    expect((await root.send('DELETE', `/v1/organization/users/${first}`)).status).toBe(200)
    // An archived project needs no owner.
    expect((await root.send('POST', users.replace(/users$/, 'archive'), {})).status).toBe(200)
    expect((await root.send('DELETE', `/v1/organization/users/${second}`)).status).toBe(200)
  })

  test('if no owner can log in yet, an invited one remains', async () => {
    const root = await logIn(proxy, 'root@example.org')
    const { users } = await openProject('nobody-yet', [], 'owner')
    const add = async (email: string) => (await root.send('POST', users, { email, role: 'owner' })).json.id
    const [one, other] = [await add('one@nobody.example'), await add('other@nobody.example')]
    expect((await root.send('DELETE', `${users}/${one}`)).status).toBe(200)
    expect((await root.send('DELETE', `/v1/organization/invites/${other.replace('user', 'invite')}`)).status).toBe(400)
    expect((await root.send('DELETE', `${users}/${other}`)).status).toBe(400)
  })

  test('of owners who all leave at once, one remains', async () => {
    const root = await logIn(proxy, 'root@example.org')
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (let round = 0; round < 4; round += 1) {
      const { users, ids } = await openProject(`at-once-${round}`, names, 'owner')
      const ways = [
        (id: string) => root.send('DELETE', `${users}/${id}`),
        (id: string) => root.send('POST', `${users}/${id}`, { role: 'viewer' }),
        (id: string) => root.send('DELETE', `/v1/organization/users/${id}`),
      ]
      const answers = await Promise.all(ids.map((id, index) => ways[index % ways.length]?.(id)))
      expect(answers.map(answer => answer?.status).sort()).toEqual([200, 200, 200, 200, 200, 400])
      const left = (await root.send('GET', users)).json.data.filter(({ role }: { role: string }) => role === 'owner')
      expect(left).toHaveLength(1)
    }
  })

  test('a whole office accepts its invitations from one address, and only wrong ones count', async () => {
    const accept = (invitation: string) =>
      send(proxy, 'POST', '/dashboard/api/invitation', {
        body: { invitation, password: 'a long enough one' },
        headers: { 'x-forwarded-for': '192.0.2.44', 'x-forwarded-proto': 'https' },
      })
    const invite = async (name: string) =>
      (
        await proxy.query<{ token: string }>(
          `select invite_user(create_user('${name}@office.example', 'reader')) as token`,
        )
      )[0]?.token ?? ''
    for (let colleague = 0; colleague < 12; colleague += 1) {
      expect((await accept(await invite(`colleague-${colleague}`))).status).toBe(200)
    }
    expect(await proxy.query(`select from login_attempts where subject like '%192.0.2.44' and attempts > 0`)).toEqual(
      [],
    )
    // Only ten wrong tokens get a 404, however many arrive at once. The others are rate limited.
    const wrong = await Promise.all(Array.from({ length: 24 }, (_, index) => accept(`lgw_invite_wrong_${index}`)))
    expect(wrong.filter(({ status }) => status === 404)).toHaveLength(10)
    const refused = wrong.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(14)
    expect(refused[0]?.json.error.code).toBe('too_many_logins')
    // A valid invitation is accepted even while wrong ones are rate limited.
    expect((await accept(await invite('late'))).status).toBe(200)
  })

  test('sessions are listed for their user, and each ends by itself', async () => {
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

  test('administrators see the role of each group', async () => {
    const rules = (await (await logIn(proxy, 'root@example.org')).send('GET', '/dashboard/api/login-rules')).json
    expect(rules.oidc).toMatchObject({
      issuer: ENVIRONMENT.OIDC_ISSUER,
      groups_claim: 'groups',
      group_roles: [
        { group: 'platform', role: 'owner' },
        { group: 'engineers', role: 'reader' },
      ],
    })
    const open = await (await fetch(`${proxy.rootUrl}/dashboard/api/login-options`)).text()
    expect(open).not.toContain('platform')
  })
})
