import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { addUser, logIn, send } from './people.ts'

const CLIENT = { id: 'model-proxy', secret: 'a-secret-of-the-client' }

/** The provider's claims about people whose claims do not follow from their names. */
const PEOPLE: Record<string, { email?: string; groups?: string[] }> = {}

interface Token {
  header: Record<string, unknown>
  claims: Record<string, unknown>
  /** The token as the provider signed it. */
  sent: string
}

/** Replaces ID tokens on their way to the proxy. */
let forge: ((token: Token) => string) | null = null

const KEY = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const OTHER_KEY = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const KEY_ID = 'the-one-key'

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())
const signed = ({ header, claims }: Omit<Token, 'sent'>, key: KeyObject = KEY.privateKey) => {
  const head = `${encode(header)}.${encode(claims)}`
  return `${head}.${sign('sha256', Buffer.from(head), key).toString('base64url')}`
}
/** Names another algorithm in the header, with a signature that this algorithm would accept. */
const renamed = ({ claims, header }: Token, alg: string, secret?: string) => {
  const head = `${encode({ ...header, alg })}.${encode(claims)}`
  return `${head}.${secret === undefined ? '' : createHmac('sha256', secret).update(head).digest('base64url')}`
}
const claiming = (more: Record<string, unknown>) => (token: Token) =>
  signed({ header: token.header, claims: { ...token.claims, ...more } })

const FORGERIES: Record<string, (token: Token) => string> = {
  'with a changed signature': ({ sent }) =>
    `${sent.slice(0, -20)}${sent.at(-20) === 'A' ? 'B' : 'A'}${sent.slice(-19)}`,
  'without a signature': ({ sent }) => sent.slice(0, sent.lastIndexOf('.') + 1),
  'with changed claims': ({ sent, claims }) => {
    const [header, , signature] = sent.split('.')
    return `${header}.${encode({ ...claims, email: 'root@example.org' })}.${signature}`
  },
  'of algorithm none': token => renamed(token, 'none'),
  'of algorithm None': token => renamed(token, 'None'),
  'signed with the public key as a secret': token =>
    renamed(token, 'HS256', KEY.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
  'signed with the client’s secret': token => renamed(token, 'HS256', CLIENT.secret),
  'signed with another key of the same name': token => signed(token, OTHER_KEY.privateKey),
  'signed with a key that the provider does not have': ({ header, claims }) =>
    signed({ header: { ...header, kid: 'unknown' }, claims }, OTHER_KEY.privateKey),
  'that brings its own key': ({ header, claims }) =>
    signed({ header: { ...header, jwk: OTHER_KEY.publicKey.export({ format: 'jwk' }) }, claims }, OTHER_KEY.privateKey),
  'for another client': claiming({ aud: 'another' }),
  'for several clients, of which another asked': claiming({ aud: [CLIENT.id, 'another'], azp: 'another' }),
  'of another provider': claiming({ iss: 'https://evil.example' }),
  'of another login': claiming({ nonce: 'x'.repeat(43) }),
  'of no login': claiming({ nonce: undefined }),
  'that is issued in the future': claiming({ iat: Math.floor(Date.now() / 1000) + 3_600 }),
  'that has expired': claiming({ exp: Math.floor(Date.now() / 1000) - 3_600 }),
  'that is not valid yet': claiming({ nbf: Math.floor(Date.now() / 1000) + 3_600 }),
  'about nobody': claiming({ sub: undefined }),
  'that is none': () => 'a.b.c',
}

/** A real provider: a login as `name` has the address name@example.org; names that begin with `new-` have an unverified address. */
function startProvider(server: Server, callback: string): string {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [callback] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    findAccount: (_: unknown, name: string) => ({
      accountId: name,
      claims: () => {
        const { email = `${name}@Example.org`, groups = [] } = PEOPLE[name] ?? {}
        return { sub: name, email, email_verified: !name.startsWith('new-'), groups }
      },
    }),
    cookies: { keys: ['a key for the cookies of a test'] },
    jwks: { keys: [{ ...KEY.privateKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' } as never] },
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    const { end } = response
    const replaced = (text: unknown) =>
      String(text).replace(/(?<="id_token":")[^"]+/, sent => {
        const [header, claims] = sent.split('.')
        return forge?.({ header: decode(header), claims: decode(claims), sent }) ?? sent
      })
    if (forge && request.url?.startsWith('/token'))
      response.end = (text: unknown) => {
        const sent = replaced(text)
        response.setHeader('content-length', Buffer.byteLength(sent))
        return end.call(response, sent, 'utf8')
      }
    answer(request, response)
  })
  return issuer
}

/** A browser that stores cookies by path and port, and does not follow redirects by itself. */
function openJar() {
  const cookies = new Map<string, string>()
  return async (url: string, form?: Record<string, string>): Promise<Response> => {
    const { port } = new URL(url)
    const own = [...cookies].flatMap(([name, value]) =>
      name.startsWith(`${port} `) ? [`${name.slice(port.length + 1)}=${value}`] : [],
    )
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: own.join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      const name = `${port} ${pair.slice(0, at)}`
      if (at < 0 || pair.length === at + 1) cookies.delete(name)
      else cookies.set(name, pair.slice(at + 1))
    }
    return response
  }
}

/** Follows the whole login, to the provider and back. Returns the proxy's last response and the browser. */
async function logInAt(proxy: TestProxy, name: string) {
  const visit = openJar()
  let at = `${proxy.rootUrl}/dashboard/api/oidc`
  let response = await visit(at)
  for (let step = 0; step < 15 && response.status >= 300 && response.status < 400; step++) {
    at = new URL(response.headers.get('location') ?? '', at).href
    if (at.includes('/oidc/callback')) return { returned: at, response: await visit(at), visit }
    response = await visit(at)
    if (response.status !== 200) continue
    const prompt = /name="prompt" value="(\w+)"/.exec(await response.text())?.[1] ?? ''
    response = await visit(at, { prompt, ...(prompt === 'login' && { login: name, password: 'any' }) })
  }
  throw new Error(`The provider did not send the browser back: ${response.status} at ${at}`)
}

describeOnce('a login by OpenID Connect', backend => {
  const server = createServer()
  let proxy: TestProxy

  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    proxy = await startProxy({
      dashboard: true,
      stores: await backend.open(),
      environment: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
    })
    startProvider(server, `${proxy.rootUrl}/dashboard/api/oidc/callback`)
  })
  afterAll(async () => {
    await proxy.stop()
    server.closeAllConnections()
    server.close()
  })

  const logInAs = (name: string) => logInAt(proxy, name)
  const sessionOf = async (visit: ReturnType<typeof openJar>) =>
    (await visit(`${proxy.rootUrl}/dashboard/api/session`)).json()

  test('accepts a token that is signed with the provider’s new key', async () => {
    forge = claiming({ email: 'anew@example.org', email_verified: true })
    const { response } = await logInAs('anew').finally(() => {
      forge = null
    })
    expect(response.headers.get('location')).toBe('/dashboard')
  })

  test.each(Object.entries(FORGERIES))('rejects a token %s', async (_, forgery) => {
    forge = forgery
    const { response, visit } = await logInAs('forged').finally(() => {
      forge = null
    })
    expect(response.headers.get('location')).toBe('/dashboard?login=refused')
    expect(await visit(`${proxy.rootUrl}/dashboard/api/session`)).toMatchObject({ status: 401 })
    expect(await proxy.query(`select email from users where email like 'forged%'`)).toEqual([])
    await proxy.query('delete from login_attempts')
  })

  test.each([{ email_verified: 'true' }, { email_verified: 1 }, { email: ['ada@example.org'] }, { email: null }])(
    'accepts no other value as a verified address: %j',
    async more => {
      forge = claiming({ email: 'forged@example.org', email_verified: true, ...more })
      const { response } = await logInAs('forged').finally(() => {
        forge = null
      })
      expect(response.headers.get('location')).toBe('/dashboard?login=unverified')
    },
  )

  test('is offered, and requires proof of possession', async () => {
    const options = await send(proxy, 'GET', '/dashboard/api/login-options')
    expect(options.json.oidc.issuer).toMatch(/^http:\/\/127/)
    const begun = await openJar()(`${proxy.rootUrl}/dashboard/api/oidc`)
    const location = new URL(begun.headers.get('location') ?? '')
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid email',
    })
    expect(begun.headers.get('set-cookie')).toMatch(/^model_proxy_oidc=.*HttpOnly; SameSite=Lax/)
  })

  test('finds the user by the verified address', async () => {
    const ada = await addUser(proxy, 'ada@example.org', 'owner')
    const { response, visit } = await logInAs('ada')
    expect([response.status, response.headers.get('location')]).toEqual([302, '/dashboard'])
    expect(await sessionOf(visit)).toMatchObject({
      user: { id: `user_${ada}`, email: 'ada@example.org', role: 'owner' },
    })
  })

  test('does not find the user of a look-alike address', async () => {
    await addUser(proxy, 'kim@example.org', 'owner')
    // Its lower case is k.
    PEOPLE.kelvin = { email: '\u212aim@example.org' }
    const { visit } = await logInAs('kelvin')
    expect(await sessionOf(visit)).toMatchObject({ user: { email: '\u212aim@example.org', role: 'reader' } })
  })

  test('ends credentials set for a reader’s address before its owner first logged in', async () => {
    await addUser(proxy, 'heidi@example.org', 'reader')
    const earlier = await logIn(proxy, 'heidi@example.org')
    const { visit } = await logInAs('heidi')
    expect(await sessionOf(visit)).toMatchObject({ user: { email: 'heidi@example.org' } })
    expect((await earlier.send('GET', '/dashboard/api/session')).status).toBe(401)
    await expect(logIn(proxy, 'heidi@example.org')).rejects.toThrow('Login failed')
    expect((await logInAs('heidi')).response.headers.get('location')).toBe('/dashboard')
  })

  test('voids an invitation to a reader’s address that another person holds', async () => {
    const judy = await addUser(proxy, 'judy@example.org', 'reader')
    const [row] = await proxy.query<{ token: string }>(`select create_invitation(${judy}) as token`)
    await logInAs('judy')
    expect(await proxy.query(`select * from find_invitation('${row?.token}')`)).toEqual([])
  })

  test('logs in a new user, who sees nothing until added to a project', async () => {
    await proxy.query(`select create_project('secret', 'free')`)
    const { visit } = await logInAs('grace')
    expect(await sessionOf(visit)).toMatchObject({ user: { email: 'grace@example.org', role: 'reader' } })
    const projects = async () => (await visit(`${proxy.rootUrl}/v1/organization/projects`)).json()
    expect(await projects()).toMatchObject({ data: [] })
    await proxy.query(`select add_member('secret', 'grace@example.org', 'viewer')`)
    expect(await projects()).toMatchObject({ data: [{ name: 'secret', your_role: 'viewer' }] })
    await logInAs('grace')
    expect(await proxy.query(`select email from users where email like 'grace%'`)).toHaveLength(1)
  })

  test('rejects an address that the provider has not verified', async () => {
    await addUser(proxy, 'new-root@example.org', 'owner')
    const { response, visit } = await logInAs('new-root')
    expect(response.headers.get('location')).toBe('/dashboard?login=unverified')
    expect(await sessionOf(visit)).toMatchObject({ error: { code: 'invalid_admin_key' } })
  })

  test('limits requests to the provider per client address', async () => {
    const { returned } = await logInAs('grace')
    await proxy.query(`update login_attempts set attempts = 30 where subject like 'address:%'`)
    const begun = openJar()
    await begun(`${proxy.rootUrl}/dashboard/api/oidc`)
    expect((await begun(returned)).headers.get('location')).toBe('/dashboard?login=throttled')
    await proxy.query('delete from login_attempts')
  })

  test('recognizes a user by the provider’s id, whatever the address', async () => {
    delete PEOPLE.mary
    await logInAs('mary')
    PEOPLE.mary = { email: 'mary.new@example.org' }
    const { visit } = await logInAs('mary')
    expect(await sessionOf(visit)).toMatchObject({ user: { email: 'mary@example.org' } })
    PEOPLE.imposter = { email: 'mary@example.org' }
    const { response } = await logInAs('imposter')
    expect(response.headers.get('location')).toBe('/dashboard?login=outside')
  })

  test('must end in the same browser, once, with its own state', async () => {
    const { returned, visit } = await logInAs('linus')
    const elsewhere = await openJar()(returned)
    expect(elsewhere.headers.get('location')).toBe('/dashboard?login=expired')
    expect((await visit(returned)).headers.get('location')).toBe('/dashboard?login=expired')
    const other = openJar()
    await other(`${proxy.rootUrl}/dashboard/api/oidc`)
    expect((await other(returned)).headers.get('location')).toBe('/dashboard?login=refused')
  })
})

describeOnce('a login limited by domain and groups', backend => {
  const server = createServer()
  let proxy: TestProxy

  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    proxy = await startProxy({
      dashboard: true,
      stores: await backend.open(),
      environment: {
        OIDC_ISSUER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        OIDC_CLIENT_ID: CLIENT.id,
        OIDC_CLIENT_SECRET: CLIENT.secret,
        OIDC_ALLOWED_DOMAINS: 'example.org',
        OIDC_SCOPES: 'openid email groups',
        OIDC_GROUP_ROLES: 'platform=owner,engineers=reader',
      },
    })
    startProvider(server, `${proxy.rootUrl}/dashboard/api/oidc/callback`)
    await addUser(proxy, 'first@example.org', 'owner')
  })
  afterAll(async () => {
    await proxy.stop()
    server.closeAllConnections()
    server.close()
  })

  test.each([
    ['an owner', 'olga', { groups: ['engineers', 'platform'] }, 'owner'],
    ['a reader', 'rita', { groups: ['engineers'] }, 'reader'],
    ['nobody', 'nora', { groups: ['sales'] }, null],
    ['somebody from elsewhere', 'eve', { email: 'eve@example.org.evil.example', groups: ['platform'] }, null],
    ['an owner no more', 'olga', { groups: ['engineers'] }, 'reader'],
  ])('%s', async (_, name, person, role) => {
    PEOPLE[name] = person
    const { response, visit } = await logInAt(proxy, name)
    const session = (await (await visit(`${proxy.rootUrl}/dashboard/api/session`)).json()) as { user: { role: string } }
    if (role === null) expect(response.headers.get('location')).toBe('/dashboard?login=outside')
    else expect(session.user.role).toBe(role)
  })

  test('the last administrator who can log in remains one, whatever the groups', async () => {
    await proxy.query(`update users set role = 'reader'`)
    PEOPLE.olive = { groups: ['platform'] }
    await logInAt(proxy, 'olive')
    PEOPLE.olive = { groups: ['engineers'] }
    const roleNow = async () => {
      const { visit } = await logInAt(proxy, 'olive')
      const session = await (await visit(`${proxy.rootUrl}/dashboard/api/session`)).json()
      return (session as { user?: { role: string } }).user?.role
    }
    expect(await roleNow()).toBe('owner')
    // An invited user without a login does not count as an owner who can log in.
    await proxy.query(`select create_user('invited@example.org', 'owner')`)
    expect(await roleNow()).toBe('owner')
    await addUser(proxy, 'second@example.org', 'owner')
    expect(await roleNow()).toBe('reader')
  })

  test('a changed role applies to open sessions at once; users without access lose theirs, and all end after half a day', async () => {
    const sessionIn = async (visit: ReturnType<typeof openJar>) =>
      (await visit(`${proxy.rootUrl}/dashboard/api/session`)).json()
    PEOPLE.oscar = { groups: ['platform'] }
    const first = await logInAt(proxy, 'oscar')
    expect(await sessionIn(first.visit)).toMatchObject({ user: { role: 'owner' } })
    PEOPLE.oscar = { groups: ['engineers'] }
    const second = await logInAt(proxy, 'oscar')
    for (const { visit } of [first, second]) expect(await sessionIn(visit)).toMatchObject({ user: { role: 'reader' } })
    const longest = await proxy.query(
      `select max(expires_at) <= now() + interval '12 hours' as ends
       from sessions where user_id = (select id from users where email = 'oscar@example.org')`,
    )
    expect(longest).toEqual([{ ends: true }])
    PEOPLE.oscar = { groups: [] }
    expect((await logInAt(proxy, 'oscar')).response.headers.get('location')).toBe('/dashboard?login=outside')
    for (const { visit } of [first, second])
      expect(await sessionIn(visit)).toMatchObject({ error: { code: 'invalid_admin_key' } })
  })
})

describeOnce('without a provider', backend => {
  test('there is no such login', async () => {
    const proxy = await startProxy({ dashboard: true, stores: await backend.open() })
    expect((await send(proxy, 'GET', '/dashboard/api/login-options')).json.oidc).toBeNull()
    for (const path of ['/dashboard/api/oidc', '/dashboard/api/oidc/callback?code=1&state=2']) {
      expect([path, (await send(proxy, 'GET', path)).status]).toEqual([path, 404])
    }
    await proxy.stop()
  })
})
