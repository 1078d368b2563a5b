/** Invitations and password resets by mail: a real SMTP server receives them. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { readMailText, startMailServer } from '../../harness/mail-server.ts'
import { startProxy } from '../../harness/proxy.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { addUser, type Browser, logIn, PASSWORD, send } from './people.ts'

const PUBLIC_URL = 'https://proxy.example.com'
const NEW_PASSWORD = 'some unrelated long words'

describeOnce('mails about accounts', backend => {
  const server = duringTests(() => startMailServer({ tls: 'none' }))
  const proxy = duringTests(() =>
    startProxy({
      dashboard: true,
      stores: backend.open(),
      environment: {
        PUBLIC_URL,
        SMTP_URL: `smtp://127.0.0.1:${server.port}`,
        SMTP_TLS: 'off',
        MAIL_FROM: 'proxy@example.com',
      },
    }),
  )
  let root: Browser
  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    root = await logIn(proxy, 'root@example.org')
  })
  beforeEach(async () => {
    server.reset()
    await proxy.query('delete from login_attempts')
    await proxy.query(`delete from users where email <> 'root@example.org'`)
  })

  const linkIn = (index = 0) =>
    /https:\/\/proxy\.example\.com\/dashboard\/invitation#(lgw_\w+)/.exec(
      readMailText(server.mails[index]?.raw ?? ''),
    )?.[1]
  const accept = (invitation: string | undefined, password = NEW_PASSWORD) =>
    send(proxy, 'POST', '/dashboard/api/invitation', { body: { invitation, password } })
  const requestReset = (email: string, headers = {}) =>
    send(proxy, 'POST', '/dashboard/api/password-reset', { body: { email }, headers })
  const mailed = (count: number) => waitUntil(`${count} mails`, () => server.mails.length === count)
  const recipients = () => server.mails.map(({ to }) => to[0])
  const hashOf = (token = '') => new Bun.CryptoHasher('sha256').update(token).digest('hex')
  const tokens = (email: string) =>
    proxy.query(
      `select i.purpose from invitations i join users u on u.id = i.user_id where u.email = '${email}' order by 1`,
    )
  /** Resolves once all resets that were requested before have been looked up, by a later one that is mailed. */
  async function afterEarlierResets(): Promise<void> {
    await addUser(proxy, 'last@example.org', 'reader')
    await requestReset('last@example.org')
    await waitUntil('the last mail', () => recipients().includes('last@example.org'))
  }

  test('an invitation is mailed, and still in the response', async () => {
    const { json } = await root.send('POST', '/v1/organization/users', { email: 'ada@example.org', role: 'reader' })
    expect(json).toMatchObject({
      email: 'ada@example.org',
      mailed: true,
      invitation: expect.stringMatching(/^lgw_invite_/),
    })
    expect(server.mails.map(({ to }) => to)).toEqual([['ada@example.org']])
    expect(linkIn()).toBe(json.invitation)
    expect(readMailText(server.mails[0]?.raw ?? '')).toContain('root@example.org has given you access')
    expect((await accept(linkIn())).status).toBe(200)
    expect((await accept(linkIn())).status).toBe(404)
  })

  test('invites of members, of the organization, and again are mailed, too', async () => {
    const { json: project } = await root.send('POST', '/v1/organization/projects', { name: `p${Date.now()}` })
    const own = `/v1/organization/projects/${project.id}`
    const { json: added } = await root.send('POST', `${own}/users`, { email: 'bob@example.org', role: 'viewer' })
    const { json: invited } = await root.send('POST', '/v1/organization/invites', {
      email: 'eve@example.org',
      role: 'reader',
    })
    const { json: again } = await root.send('POST', `/v1/organization/users/${added.id}/invitation`, {})
    expect([added.mailed, invited.mailed, again.mailed]).toEqual([true, true, true])
    expect(server.mails.map(({ to }) => to[0])).toEqual(['bob@example.org', 'eve@example.org', 'bob@example.org'])
    expect(linkIn(2)).toBe(again.invitation)
    const known = await root.send('POST', `${own}/users`, { email: 'eve@example.org', role: 'viewer' })
    expect(known.json).not.toHaveProperty('mailed')
    expect(server.mails).toHaveLength(3)
  })

  test('a rejected address leaves the link in the response, and the installation healthy', async () => {
    const { status, json } = await root.send('POST', '/v1/organization/users', { email: 'rejected@example.org' })
    expect([status, json.mailed]).toEqual([200, false])
    expect((await accept(json.invitation)).status).toBe(200)
    expect((await send(proxy, 'GET', '/v1/health')).json.failing).toEqual([])
  })

  test('a reset sets a new password once, and ends all sessions', async () => {
    await addUser(proxy, 'ada@example.org', 'reader')
    const old = await logIn(proxy, 'ada@example.org')
    expect((await requestReset(' Ada@Example.org ')).json).toEqual({ object: 'password_reset.requested' })
    await mailed(1)
    expect(server.mails[0]?.to).toEqual(['ada@example.org'])
    // Until the link is used, nothing has changed.
    expect((await old.send('GET', '/dashboard/api/session')).status).toBe(200)
    const [stored] = await proxy.query<{ hash: string }>(`select encode(token_hash, 'hex') as hash from invitations`)
    expect(stored?.hash).toBe(hashOf(linkIn()))
    expect((await accept(linkIn(), 'short')).status).toBe(400)
    expect((await accept(linkIn())).status).toBe(200)
    expect((await old.send('GET', '/dashboard/api/session')).status).toBe(401)
    expect((await accept(linkIn())).status).toBe(404)
    await expect(logIn(proxy, 'ada@example.org', PASSWORD)).rejects.toThrow('Login failed')
    await logIn(proxy, 'ada@example.org', NEW_PASSWORD)
  })

  test('the response does not reveal whether there is such a user', async () => {
    await addUser(proxy, 'ada@example.org', 'reader')
    await root.send('POST', '/v1/organization/users', { email: 'invited@example.org' })
    server.reset()
    const answers = []
    for (const email of ['ada@example.org', 'nobody@example.org', 'invited@example.org', 'no address'])
      answers.push(await requestReset(email))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['200 {"object":"password_reset.requested"}']),
    )
    await mailed(1)
    await afterEarlierResets()
    expect(recipients()).toEqual(['ada@example.org', 'last@example.org'])
    // The invitation stays valid.
    expect(await tokens('invited@example.org')).toEqual([{ purpose: 'invitation' }])
  })

  test('a user gets one mail in five minutes, and the last link alone is valid', async () => {
    await addUser(proxy, 'ada@example.org', 'reader')
    await requestReset('ada@example.org')
    await mailed(1)
    await requestReset('ada@example.org')
    await afterEarlierResets()
    expect(recipients()).toEqual(['ada@example.org', 'last@example.org'])
    // The second request has not replaced the token either: the mailed link stays valid.
    const hashes = await proxy.query<{ hash: string }>(`select encode(token_hash, 'hex') as hash from invitations`)
    expect(hashes.map(({ hash }) => hash)).toContain(hashOf(linkIn(0)))
    await proxy.query(`update invitations set created_at = created_at - interval '5 minutes'`)
    await requestReset('ada@example.org')
    await mailed(3)
    expect(recipients()[2]).toBe('ada@example.org')
    expect((await accept(linkIn(0))).status).toBe(404)
    expect((await accept(linkIn(2))).status).toBe(200)
  })

  test('a reset for a look-alike address is mailed to nobody', async () => {
    await addUser(proxy, 'kim@mail.example', 'reader')
    // In lower case, these letters are k and i in some locales.
    for (const address of ['kim@ma\u0130l.example', 'k\u0130m@mail.example', '\u212aim@mail.example'])
      expect((await requestReset(address)).status).toBe(200)
    await afterEarlierResets()
    expect(server.mails.map(({ to }) => to[0])).toEqual(['last@example.org'])
    expect(await tokens('kim@mail.example')).toEqual([])
  })

  test('a changed password makes links invalid', async () => {
    await addUser(proxy, 'ada@example.org', 'reader')
    const ada = await logIn(proxy, 'ada@example.org')
    await requestReset('ada@example.org')
    await mailed(1)
    const { status } = await ada.send('POST', '/dashboard/api/password', {
      password: PASSWORD,
      new_password: NEW_PASSWORD,
    })
    expect(status).toBe(200)
    expect((await accept(linkIn(), 'yet another long password')).status).toBe(404)
  })

  test('an expired link is rejected, and a new password makes other links invalid', async () => {
    await addUser(proxy, 'ada@example.org', 'reader')
    await requestReset('ada@example.org')
    await mailed(1)
    await proxy.query(`update invitations set expires_at = now() where purpose = 'password_reset'`)
    expect((await accept(linkIn())).status).toBe(404)
    const [ada] = await proxy.query<{ id: number }>(`select id::integer from users where email = 'ada@example.org'`)
    await root.send('POST', `/v1/organization/users/user_${ada?.id}/invitation`, {})
    expect(await tokens('ada@example.org')).toHaveLength(2)
    expect((await accept(linkIn(1))).status).toBe(200)
    expect(await tokens('ada@example.org')).toEqual([])
  })

  test('requests from one address are limited, as is one account', async () => {
    const statuses = []
    for (let n = 0; n < 11; n++) statuses.push((await requestReset('nobody@example.org')).status)
    expect(statuses).toEqual([...Array(10).fill(200), 429])
    const limited = await requestReset('nobody@example.org')
    expect(limited.headers.get('retry-after')).not.toBeNull()
  })

  test('a request of another site is rejected', async () => {
    const { status } = await requestReset('root@example.org', {
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
    })
    expect(status).toBe(403)
    await afterEarlierResets()
    expect(recipients()).toEqual(['last@example.org'])
  })

  test('a reset is in the audit log with the client’s address, without the token', async () => {
    await addUser(proxy, 'ada@example.org', 'reader')
    await requestReset('ada@example.org')
    await mailed(1)
    await accept(linkIn())
    const log = await proxy.query<object>(
      'select action, actor, actor_kind, address, details from audit_log order by id desc limit 3',
    )
    const by = { actor: 'ada@example.org', actor_kind: 'session', address: expect.stringContaining('127.0.0.1') }
    expect(log).toMatchObject(
      ['login.succeeded', 'user.updated', 'password_reset.sent'].map(action => ({ action, ...by })),
    )
    expect(JSON.stringify(log)).not.toContain('lgw_')
  })
})

describeOnce('accounts without a mail server', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open(), environment: { PUBLIC_URL } }))

  test('have no password reset, and invitations are not mailed', async () => {
    const options = await send(proxy, 'GET', '/dashboard/api/login-options')
    expect(options.json.password_reset).toBe(false)
    const reset = await send(proxy, 'POST', '/dashboard/api/password-reset', { body: { email: 'root@example.org' } })
    expect(reset.status).toBe(404)
    await addUser(proxy, 'root@example.org', 'owner')
    const root = await logIn(proxy, 'root@example.org')
    const { json } = await root.send('POST', '/v1/organization/users', { email: 'ada@example.org' })
    expect(json).toMatchObject({ mailed: false, invitation: expect.stringMatching(/^lgw_invite_/) })
  })
})
