import { afterAll, beforeEach, expect, test } from 'vitest'
import { AUDIT_ACTIONS } from '../../../src/postgres/seeds.generated.ts'
import { describeOnce, type Stores } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { draw } from '../../harness/depth.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { addUser, type Browser, issueAdminKey, logIn, PASSWORD, send } from './people.ts'

/** The least privilege that a route requires of the caller: a role in the project, or the administrator role. */
type Need = 'viewer' | 'member' | 'owner' | 'administrator'
interface Route {
  method: string
  path: string
  need: Need
  body?: unknown
}

interface World {
  project: string
  key: string
  entry: string
  request: string
  user: string
  verdict: string
  webhook: string
  delivery: string
  budget: string
  alert: string
  change: string
}

const now = Math.floor(Date.now() / 1000)

function spendRoutes(base: string, toRead: Need, toSet: Need, alert: string): Route[] {
  const limit = { currency: 'USD', interval: 'month', threshold_amount: 20 }
  const body = { ...limit, notification_channel: { type: 'email', recipients: ['ops@example.org'] } }
  return [
    { method: 'GET', path: `${base}/spend_limit`, need: toRead },
    { method: 'GET', path: `${base}/spend_alerts`, need: toRead },
    { method: 'GET', path: `${base}/spend_alerts/${alert}`, need: toRead },
    { method: 'POST', path: `${base}/spend_limit`, need: toSet, body: limit },
    { method: 'POST', path: `${base}/spend_alerts`, need: toSet, body },
    { method: 'POST', path: `${base}/spend_alerts/${alert}`, need: toSet, body },
    { method: 'DELETE', path: `${base}/spend_alerts/${alert}`, need: toSet },
    { method: 'DELETE', path: `${base}/spend_limit`, need: toSet },
  ]
}

/** Every route that concerns one project or the whole installation. */
function routesOf({
  project,
  key,
  entry,
  request,
  user,
  verdict,
  webhook,
  delivery,
  budget,
  alert,
  change,
}: World): Route[] {
  const own = `/v1/organization/projects/${project}`
  const account = key.replace('key', 'svc_acct')
  const invite = user.replace('user', 'invite')
  return [
    { method: 'GET', path: '/v1/organization/refusals', need: 'administrator' },
    { method: 'GET', path: '/dashboard/api/login-rules', need: 'administrator' },
    { method: 'GET', path: own, need: 'viewer' },
    { method: 'GET', path: `/v1/organization/audit_logs/${change}`, need: 'viewer' },
    { method: 'GET', path: `${own}/settings`, need: 'viewer' },
    { method: 'GET', path: `${own}/api_keys`, need: 'viewer' },
    { method: 'GET', path: `${own}/api_keys/${key}`, need: 'viewer' },
    { method: 'GET', path: `${own}/service_accounts`, need: 'viewer' },
    { method: 'GET', path: `${own}/service_accounts/${account}`, need: 'viewer' },
    { method: 'GET', path: `${own}/model_permissions`, need: 'viewer' },
    { method: 'GET', path: `/v1/organization/invites/${invite}`, need: 'viewer' },
    { method: 'GET', path: `${own}/provider_keys`, need: 'viewer' },
    { method: 'GET', path: `${own}/provider_keys/groq`, need: 'viewer' },
    { method: 'GET', path: `${own}/routes`, need: 'viewer' },
    { method: 'GET', path: `${own}/users`, need: 'viewer' },
    { method: 'GET', path: `${own}/users/${user}`, need: 'viewer' },
    { method: 'GET', path: `/v1/organization/users/${user}`, need: 'viewer' },
    // An admin key is visible to its creator only. Others get 404.
    { method: 'GET', path: '/v1/organization/admin_api_keys/admin_key_1', need: 'viewer' },
    { method: 'GET', path: `${own}/rate_limits`, need: 'viewer' },
    { method: 'GET', path: `${own}/rate_limits/rl_address`, need: 'viewer' },
    { method: 'GET', path: `${own}/limits`, need: 'viewer' },
    { method: 'GET', path: `${own}/settings/effects`, need: 'viewer' },
    { method: 'GET', path: `${own}/limits/nearest`, need: 'viewer' },
    { method: 'GET', path: `${own}/end_users?start_time=0&end_time=${now + 60}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/stats?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/scopes?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/entries?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/entries/${entry}?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/entries?project_id=${project}&question=capital`, need: 'member' },
    { method: 'GET', path: `/v1/cache/entries/${entry}/content?project_id=${project}`, need: 'member' },
    { method: 'GET', path: `/v1/cache/matches?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/near_misses?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/calibration?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/contexts?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/cache/verdicts?project_id=${project}`, need: 'viewer' },
    {
      method: 'POST',
      path: '/v1/cache/verdicts',
      need: 'member',
      body: { project_id: project, request_id: 'second', verdict: 'wrong' },
    },
    { method: 'DELETE', path: `/v1/cache/verdicts/${verdict}?project_id=${project}`, need: 'member' },
    {
      method: 'GET',
      path: `/v1/usage/paid_again?project_id=${project}&start_time=0&end_time=${now + 60}`,
      need: 'viewer',
    },
    {
      method: 'GET',
      path: `/v1/usage/sessions?project_id=${project}&start_time=0&end_time=${now + 60}`,
      need: 'viewer',
    },
    { method: 'GET', path: `/v1/requests?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/usage/report?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/requests/export?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/requests/filters?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/requests/${request}?project_id=${project}`, need: 'viewer' },
    { method: 'GET', path: `/v1/requests/${request}/content?project_id=${project}`, need: 'member' },
    {
      method: 'POST',
      path: `/v1/requests/${request}/settle`,
      need: 'owner',
      body: { project_id: project, cost_usd: 1 },
    },
    { method: 'POST', path: `${own}/settings`, need: 'member', body: { cache_ttl_seconds: 60 } },
    { method: 'POST', path: `${own}/api_keys`, need: 'member', body: { name: 'another' } },
    {
      method: 'POST',
      path: '/dashboard/api/playground-key',
      need: 'member',
      body: { project_id: project, type: 'test' },
    },
    { method: 'POST', path: `${own}/api_keys/${key}`, need: 'owner', body: { requests_per_minute: 5 } },
    { method: 'POST', path: `${own}/api_keys/${key}/rotate`, need: 'member' },
    { method: 'POST', path: `${own}/service_accounts`, need: 'member', body: { name: 'one more' } },
    {
      method: 'POST',
      path: `${own}/model_permissions`,
      need: 'member',
      body: { mode: 'allow_list', model_ids: ['openai/*'] },
    },
    { method: 'DELETE', path: `${own}/model_permissions`, need: 'member' },
    { method: 'DELETE', path: `${own}/service_accounts/${account}`, need: 'member' },
    { method: 'DELETE', path: `${own}/api_keys/${key}`, need: 'member' },
    { method: 'POST', path: `${own}/api_keys/${key}/restore`, need: 'owner' },
    { method: 'POST', path: '/v1/cache/invalidate', need: 'member', body: { project_id: project, selector: {} } },
    {
      method: 'POST',
      path: '/v1/cache/invalidate',
      need: 'member',
      body: { project_id: project, selector: { model: 'x' }, dry_run: false },
    },
    { method: 'DELETE', path: `/v1/cache/entries/${entry}?project_id=${project}`, need: 'member' },
    {
      method: 'POST',
      path: '/v1/cache/invalidate',
      need: 'member',
      body: { project_id: project, selector: {}, dry_run: false },
    },
    { method: 'GET', path: `${own}/end_users/data?end_user=alice`, need: 'owner' },
    { method: 'GET', path: `${own}/end_users/export?end_user=alice`, need: 'owner' },
    { method: 'POST', path: `${own}/end_users/forget`, need: 'owner', body: { end_user: 'alice', dry_run: false } },
    { method: 'POST', path: `${own}/provider_keys/groq`, need: 'owner', body: { value: 'gsk_something_long' } },
    { method: 'DELETE', path: `${own}/provider_keys/groq`, need: 'owner' },
    { method: 'GET', path: `${own}/webhooks`, need: 'viewer' },
    { method: 'GET', path: `${own}/webhooks/${webhook}`, need: 'viewer' },
    { method: 'GET', path: `${own}/deliveries`, need: 'viewer' },
    { method: 'GET', path: `${own}/deliveries/${delivery}`, need: 'viewer' },
    { method: 'POST', path: `${own}/webhooks/${webhook}/test`, need: 'member' },
    { method: 'POST', path: `${own}/deliveries/${delivery}/resend`, need: 'member' },
    { method: 'POST', path: `${own}/webhooks`, need: 'owner', body: { url: 'https://hooks.example.org/here' } },
    { method: 'POST', path: `${own}/webhooks/${webhook}`, need: 'owner', body: { events: ['provider.down'] } },
    { method: 'DELETE', path: `${own}/webhooks/${webhook}`, need: 'owner' },
    { method: 'GET', path: `${own}/budgets`, need: 'viewer' },
    { method: 'GET', path: `${own}/budgets/${budget}`, need: 'viewer' },
    ...['api_key', 'end_user', 'model', 'tag'].map(kind => ({
      method: 'GET',
      path: `/v1/organization/names?kind=${kind}&project_id=${project}`,
      need: 'viewer' as const,
    })),
    ...spendRoutes(own, 'viewer', 'owner', alert),
    ...spendRoutes('/v1/organization', 'administrator', 'administrator', alert),
    { method: 'POST', path: `${own}/budgets`, need: 'owner', body: { unit: 'usd', amount: 1, per: 'day' } },
    { method: 'DELETE', path: `${own}/budgets/${budget}`, need: 'owner' },
    { method: 'POST', path: `${own}/users`, need: 'owner', body: { role: 'viewer', email: 'new-here@example.org' } },
    { method: 'POST', path: `${own}/users/${user}`, need: 'owner', body: { role: 'viewer' } },
    { method: 'POST', path: own, need: 'owner', body: { name: 'renamed' } },
    { method: 'POST', path: own, need: 'administrator', body: { plan: 'pro' } },
    { method: 'POST', path: `${own}/rate_limits/rl_address`, need: 'administrator', body: {} },
    { method: 'POST', path: '/v1/organization/projects', need: 'administrator', body: { name: 'theirs' } },
    { method: 'POST', path: '/v1/organization/plans/free', need: 'administrator', body: { requests_per_month: 5 } },
    { method: 'GET', path: '/v1/organization/vendors', need: 'administrator' },
    {
      method: 'POST',
      path: '/v1/organization/vendors',
      need: 'administrator',
      body: { name: 'acme', columns: { base_url: 'https://acme.example' }, key: 'sk-of-acme-1234' },
    },
    { method: 'GET', path: '/v1/organization/vendors/acme', need: 'administrator' },
    { method: 'POST', path: '/v1/organization/vendors/acme', need: 'administrator', body: { key: null } },
    { method: 'DELETE', path: '/v1/organization/vendors/acme', need: 'administrator' },
    { method: 'POST', path: '/v1/organization/users', need: 'administrator', body: { email: 'x@example.org' } },
    {
      method: 'POST',
      path: '/v1/organization/invites',
      need: 'administrator',
      body: { email: 'y@example.org', role: 'reader', projects: [{ id: project, role: 'owner' }] },
    },
    { method: 'DELETE', path: `/v1/organization/invites/${invite}`, need: 'administrator' },
    { method: 'POST', path: `/v1/organization/users/${user}`, need: 'administrator', body: { role: 'owner' } },
    { method: 'POST', path: `/v1/organization/users/${user}/invitation`, need: 'administrator' },
    { method: 'POST', path: '/v1/organization/admin_api_keys', need: 'administrator', body: { name: 'mine' } },
    {
      method: 'POST',
      path: '/v1/organization/admin_api_keys/admin_key_1',
      need: 'administrator',
      body: { name: 'renamed' },
    },
    { method: 'DELETE', path: '/v1/organization/admin_api_keys/admin_key_1', need: 'administrator' },
    { method: 'DELETE', path: `${own}/users/${user}`, need: 'owner' },
    { method: 'POST', path: `${own}/archive`, need: 'owner' },
    { method: 'DELETE', path: `/v1/organization/users/${user}`, need: 'administrator' },
  ]
}

/** Routes about the caller, about data that everyone may see, or for logging in. */
const OF_ONESELF = [
  'GET /dashboard/api/login-options',
  'GET /dashboard/api/oidc',
  'GET /dashboard/api/oidc/callback',
  'GET /dashboard/api/session',
  'GET /dashboard/api/sessions',
  'DELETE /dashboard/api/sessions/session_1',
  'POST /dashboard/api/invitation',
  'POST /dashboard/api/password-reset',
  'POST /dashboard/api/login',
  'POST /dashboard/api/logout',
  'POST /dashboard/api/logout-everywhere',
  'POST /dashboard/api/password',
  'POST /v1/organization/leaked_keys',
  'GET /v1/organization/plans',
  'GET /v1/organization/plans/free',
]

/** Lists that contain whatever the caller may see. */
const LISTS = [
  '/v1/organization/projects?include_archived=true',
  '/v1/organization/users',
  '/v1/organization/invites',
  '/v1/organization/audit_logs',
  '/v1/organization/admin_api_keys',
  `/v1/organization/usage/completions?start_time=${now - 7200}&bucket_width=1h&group_by[]=project_id`,
  `/v1/organization/usage/completions?start_time=${now - 1800}&bucket_width=1m&group_by[]=project_id`,
  `/v1/organization/usage/embeddings?start_time=${now - 7200}&group_by[]=project_id`,
  `/v1/organization/costs?start_time=${now - 7200}&group_by[]=project_id`,
  ...['moderations', 'images', 'audio_speeches', 'audio_transcriptions', 'rerankings', 'files_and_batches'].map(
    name => `/v1/organization/usage/${name}?start_time=${now - 7200}&group_by[]=project_id`,
  ),
  `/v1/usage?start_time=${now - 7200}&end_time=${now + 60}`,
  `/v1/usage/projects?start_time=${now - 7200}&end_time=${now + 60}`,
  '/v1/organization/names?kind=project',
  '/v1/organization/names?kind=user',
  `/v1/usage/costs?grouping=model&start_time=${now - 7200}&end_time=${now + 60}`,
  `/v1/usage/costs/export?grouping=api_key&start_time=${now - 7200}&end_time=${now + 60}`,
]

describeOnce('access rights', backend => {
  let stores: Stores
  let proxy: TestProxy
  let world: World

  beforeEach(() => open('sealed'))

  /** `sentUnder` is the project's log_content setting while its requests are sent. */
  async function open(sentUnder: 'off' | 'sealed'): Promise<void> {
    if (proxy) await proxy.stop()
    stores = await backend.open()
    proxy = await startProxy({ dashboard: true, stores, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } })
    await addUser(proxy, 'root@example.org', 'owner')
    const victim = await addUser(proxy, 'victim@example.org', 'reader')
    for (const role of ['owner', 'member', 'viewer', 'stranger']) await addUser(proxy, `${role}@example.org`, 'reader')
    await proxy.query(`select create_project('acme', 'free')`)
    for (const role of ['owner', 'member', 'viewer'])
      await proxy.query(`select add_member('acme', '${role}@example.org', '${role}')`)
    await proxy.query(`select set_setting('acme', 'log_content', '${sentUnder}')`)
    await proxy.query(`select set_setting('acme', 'semantic_threshold', '0.5')`)
    await proxy.query(`select add_member('acme', 'victim@example.org', 'viewer')`)
    await proxy.query(`select create_project('elsewhere', 'free'); `)
    await proxy.query(`select add_member('elsewhere', 'stranger@example.org', 'owner')`)
    const [key] = await proxy.query<{ value: string }>(
      `select issue_key('acme', 'test', '<img src=x onerror=alert(1)>') as value`,
    )
    await ask(proxy, key?.value ?? '', 'What is the capital of France?', { 'x-request-id': 'first' })
    await proxy.settle()
    await ask(proxy, key?.value ?? '', 'Please, what is the capital of France?', { 'x-request-id': 'second' })
    // A near miss: similar to the stored question, but below the threshold.
    const passing = { 'x-request-id': 'third', 'x-proxy-cache-ttl': '0' }
    await ask(proxy, key?.value ?? '', 'What is the pretty capital of France?', passing)
    await proxy.settle()
    await proxy.query(`select give_feedback('acme', 'second', 'wrong')`)
    const [hook] = await proxy.query<{ webhook: number; delivery: number }>(
      `select w as webhook, send_test_event('acme', w) as delivery from add_webhook('acme', 'https://127.0.0.1:1/', '{}', '') w`,
    )
    const [budget] = await proxy.query<{ id: number; alert: number }>(
      `select set_budget('acme', 'tokens', 1000, 'day') as id, set_spend_alert('acme', 5, '{ops@example.org}') as alert
        from set_budget('acme', 'usd', 10, 'month')`,
    )
    const [ids] = await proxy.query<{
      project: number
      key: number
      entry: number
      at: string
      verdict: string
      change: number
    }>(
      `select (select min(l.id) from audit_log l where l.project_id = p.id) as change, p.id as project, k.id as key, e.id as entry, to_json(r.recorded_at) as at, format_verdict_id(v) as verdict
        from projects p, api_keys k, cache_entries e, usage_records r, cache_verdicts v where p.name = 'acme' and r.request_id = 'first'`,
    )
    world = {
      project: `proj_${ids?.project}`,
      key: `key_${ids?.key}`,
      entry: `entry_${ids?.entry}`,
      request: Buffer.from(JSON.stringify([ids?.at, 'first'])).toString('base64url'),
      user: `user_${victim}`,
      verdict: ids?.verdict ?? '',
      webhook: `webhook_${hook?.webhook}`,
      delivery: `delivery_${hook?.delivery}`,
      budget: `budget_${budget?.id}`,
      alert: `spend_alert_${budget?.alert}`,
      change: `audit_log_${ids?.change}`,
    }
  }
  afterAll(() => proxy.stop())

  /** The tables as text, so that any change is visible. */
  async function snapshot(): Promise<string> {
    const tables = [
      'projects',
      'api_keys',
      'provider_keys',
      'plans',
      'users',
      'memberships',
      'invitations',
      'admin_keys',
      'audit_log',
      'budgets',
      'spend_alerts',
      'cache_entries',
      'cache_verdicts',
    ]
    const seen: string[] = []
    for (const table of tables) {
      const rows = await proxy.query<{ row: string }>(`select t::text as row from ${table} t order by 1`)
      seen.push(`${table}: ${rows.map(({ row }) => row).join('\n')}`)
    }
    return seen.join('\n')
  }

  test('without a login, with an unknown key, or from another site, no route shows or changes anything', async () => {
    const stranger = await logIn(proxy, 'stranger@example.org')
    const owner = await logIn(proxy, 'root@example.org')
    const before = await snapshot()
    const { csrf: _, ...noToken } = owner
    for (const { method, path, body, need } of draw(routesOf(world))) {
      const name = `${method} ${path}`
      const anonymous = await send(proxy, method, path, { body: body ?? (method === 'POST' ? {} : undefined) })
      expect([name, anonymous.status]).toEqual([name, 401])
      const badKey = await send(proxy, method, path, {
        body,
        headers: { authorization: `Bearer lgw_admin_${'0'.repeat(32)}` },
      })
      // Beyond 120 attempts in a minute, an unknown key is not looked up any more.
      expect([name, [401, 429].includes(badKey.status)]).toEqual([name, true])
      const wrong = await stranger.send(method, path, body)
      expect([name, [403, 404].includes(wrong.status)]).toEqual([name, true])
      if (need !== 'administrator') expect([name, wrong.status]).toEqual([name, 404])
      expect(wrong.text).not.toContain('acme')
      if (method === 'GET') continue
      const headers = { cookie: noToken.cookie }
      expect([name, (await send(proxy, method, path, { body, headers })).status]).toEqual([name, 403])
      const forged = await owner.send(method, path, body, { 'x-csrf-token': stranger.csrf })
      expect([name, forged.status]).toEqual([name, 403])
      for (const foreign of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
      ]) {
        expect([name, (await owner.send(method, path, body, foreign as Record<string, string>)).status]).toEqual([
          name,
          403,
        ])
      }
    }
    expect(await snapshot()).toBe(before)
  }, 120_000)

  test('every route is tested here', async () => {
    const tried = [
      ...routesOf(world).map(({ method, path }) => `${method} ${path}`),
      ...LISTS.map(path => `GET ${path}`),
      ...OF_ONESELF,
    ].map(route => route.split('?')[0] ?? '')
    const described = (await send(proxy, 'GET', '/openapi.json')).json as { paths: Record<string, object> }
    const missing = Object.entries(described.paths).flatMap(([path, operations]) =>
      Object.keys(operations)
        .map(method => `${method.toUpperCase()} ${path}`)
        .filter(route => {
          const pattern = new RegExp(`^${route.replace(/\{\w+\}/g, '[^/]+')}$`)
          return !tried.some(each => pattern.test(each))
        }),
    )
    expect(missing).toEqual([])
  })

  test('each role can do what it is for, and no more', async () => {
    const ranks = ['viewer', 'member', 'owner', 'administrator']
    for (const role of ['viewer', 'member', 'owner'] as const) {
      const browser = await logIn(proxy, `${role}@example.org`)
      const before = await snapshot()
      const all = routesOf(world)
      for (const { method, path, body, need } of draw(
        all.filter(route => ranks.indexOf(route.need) > ranks.indexOf(role)),
      )) {
        const name = `${role}: ${method} ${path}`
        const { status } = await browser.send(method, path, body)
        // Callers who can see the project get a 400 for rate limits: the limits belong to plans.
        const refused = path.includes('/rate_limits/')
          ? [400]
          : path.includes('/users/') && need === 'administrator'
            ? [403, 404]
            : [403]
        expect([name, refused.includes(status)]).toEqual([name, true])
      }
      expect(await snapshot()).toBe(before)
    }
    for (const role of ['viewer', 'member', 'owner'] as const) {
      const browser = await logIn(proxy, `${role}@example.org`)
      for (const { method, path, body } of routesOf(world).filter(route => route.need === role)) {
        const name = `${role}: ${method} ${path}`
        // A deleted cache entry is a 404.
        expect([name, [200, 404].includes((await browser.send(method, path, body)).status)]).toEqual([name, true])
      }
    }
  }, 120_000)

  test('a read-only admin key reads what its administrator reads, and every other method is a 403', async () => {
    const [all, readOnly] = [
      { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` },
      { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org', 'read_only')}` },
    ]
    const before = await snapshot()
    const ofOneself = OF_ONESELF.map(route => route.split(' ') as [string, string])
      .filter(([method, path]) => method === 'DELETE' || /logout|password$/.test(path))
      .map(([method, path]) => ({ method, path, body: {} }))
    const routes = routesOf(world)
    const changes = [...routes.filter(({ method }) => method !== 'GET'), ...ofOneself]
    expect(changes.length).toBeGreaterThan(50)
    for (const { method, path, body } of changes) {
      const answer = await send(proxy, method, path, {
        body: body ?? (method === 'POST' ? {} : undefined),
        headers: readOnly,
      })
      const { code, message } = answer.json.error
      expect([method, path, answer.status, code, message]).toEqual([
        method,
        path,
        403,
        'permission_denied',
        expect.stringContaining('This admin key is read-only'),
      ])
    }
    await proxy.query('update admin_keys set last_used_at = null')
    expect(await snapshot()).toBe(before)
    const reads = [...routes.filter(({ method }) => method === 'GET').map(({ path }) => path), ...LISTS]
    for (const path of reads) {
      const [expected, seen] = [
        await send(proxy, 'GET', path, { headers: all }),
        await send(proxy, 'GET', path, { headers: readOnly }),
      ]
      expect([path, seen.status]).toEqual([path, expected.status])
    }
  }, 120_000)

  test('a one-project admin key does what an owner of the project does, and nothing else', async () => {
    const [inside, outside] = await Promise.all(
      ['acme', 'elsewhere'].map(async project => ({
        authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org', 'all', project)}`,
      })),
    )
    const routes = routesOf(world)
    const before = await snapshot()
    for (const { method, path, body, need } of routes) {
      const sent = { body: body ?? (method === 'POST' ? {} : undefined) }
      const name = `${method} ${path}`
      const elsewhere = await send(proxy, method, path, { ...sent, headers: outside ?? {} })
      expect([name, [403, 404].includes(elsewhere.status)]).toEqual([name, true])
      expect(elsewhere.text).not.toContain('acme')
      // A playground key requires a session.
      if (need !== 'administrator' && !path.includes('playground-key'))
        expect([name, elsewhere.status]).toEqual([name, 404])
      if (need === 'administrator') {
        const { status } = await send(proxy, method, path, { ...sent, headers: inside ?? {} })
        // Callers who can see the project get a 400 for rate limits: the limits belong to plans.
        const expected = path.includes('/rate_limits/') ? [400] : [403, 404]
        expect([name, expected.includes(status)]).toEqual([name, true])
      }
    }
    for (const path of LISTS) {
      const seen = await send(proxy, 'GET', path, { headers: outside ?? {} })
      expect([path, seen.status]).toEqual([path, 200])
      for (const hidden of ['acme', `"${world.project}"`, 'viewer@example.org'])
        expect(`${path} ${seen.text}`).not.toContain(hidden)
    }
    await proxy.query('update admin_keys set last_used_at = null')
    expect(await snapshot()).toBe(before)
    for (const { method, path, body, need } of routes) {
      // Adding a user who has no account yet concerns more than the project.
      if (need === 'administrator' || /new-here/.test(JSON.stringify(body ?? '')) || path.includes('playground-key'))
        continue
      const { status } = await send(proxy, method, path, { body, headers: inside ?? {} })
      const name = `${method} ${path}`
      expect([name, [200, 404].includes(status)]).toEqual([name, true])
    }
  }, 120_000)

  test('lists contain what the caller may see, and nothing else', async () => {
    const stranger = await logIn(proxy, 'stranger@example.org')
    const viewer = await logIn(proxy, 'viewer@example.org')
    for (const path of LISTS) {
      expect([path, (await send(proxy, 'GET', path)).status]).toEqual([path, 401])
      const seen = await stranger.send('GET', path)
      expect([path, seen.status]).toEqual([path, 200])
      for (const hidden of ['acme', world.project, 'viewer@example.org', 'root@example.org', 'gpt-4o-mini']) {
        expect(`${path} ${seen.text}`).not.toContain(hidden)
      }
      const other = await viewer.send('GET', path)
      expect(`${path} ${other.text}`).not.toContain('elsewhere')
    }
    expect((await viewer.send('GET', LISTS[0] ?? '')).json.data).toMatchObject([{ name: 'acme', your_role: 'viewer' }])
    expect((await viewer.send('GET', LISTS[5] ?? '')).text).toContain(world.project)
    const filtered = await stranger.send(
      'GET',
      `/v1/usage?start_time=${now - 7200}&end_time=${now + 60}&project_id=${world.project}`,
    )
    expect(filtered.json.totals.requests).toBe(0)
  })

  test('the audit log can be searched for every recorded value', async () => {
    const known = new Set<string>(AUDIT_ACTIONS.map(({ action }) => action))
    const recorded = await proxy.query<{ action: string }>('select distinct action from audit_log')
    expect(recorded.length).toBeGreaterThan(5)
    expect(recorded.map(({ action }) => action).filter(action => !known.has(action))).toEqual([])
  })

  /** The routes whose responses contain texts of requests when `browser` calls all that read. */
  async function findRoutesWithTexts(browser: Browser): Promise<string[]> {
    const readers = routesOf(world).filter(({ method, path }) => method === 'GET' || path === '/v1/cache/verdicts')
    const routes: string[] = []
    for (const { method, path, body } of [
      ...readers,
      ...LISTS.map(path => ({ method: 'GET', path, body: undefined })),
    ]) {
      const { status, text } = await browser.send(method, path, body)
      expect([path, [200, 403, 404].includes(status)]).toEqual([path, true])
      if (/France/.test(text)) routes.push(`${method} ${path.split('?')[0]}`)
    }
    return routes
  }

  /** The routes that show texts, by role. */
  async function findRoutesByRole() {
    const of = async (name: string) => findRoutesWithTexts(await logIn(proxy, `${name}@example.org`))
    return { viewer: await of('viewer'), member: await of('member'), owner: await of('owner'), root: await of('root') }
  }
  const NOWHERE = { viewer: [], member: [], owner: [], root: [] }

  test('texts of requests and responses are visible only to members, at the routes for them', async () => {
    const routes = [
      'GET /v1/cache/entries',
      `GET /v1/cache/entries/${world.entry}/content`,
      'GET /v1/cache/matches',
      'GET /v1/cache/near_misses',
      'GET /v1/cache/verdicts',
      'POST /v1/cache/verdicts',
      `GET /v1/requests/${world.request}/content`,
    ]
    expect(await findRoutesByRole()).toEqual({ viewer: [], member: routes, owner: routes, root: routes })
  }, 120_000)

  test('texts sent while texts were not kept are never visible, even once they are kept again', async () => {
    await open('off')
    await proxy.query(`select set_setting('acme', 'log_content', 'sealed')`)
    expect(await findRoutesByRole()).toEqual(NOWHERE)
  }, 120_000)

  test.each([
    ['the project', `select set_setting('acme', 'log_content', 'off')`],
    [
      'its key',
      `select set_key_log_content(k.prefix, 'off') from api_keys k where k.project_id = find_project('acme')`,
    ],
  ])(
    'kept texts are no longer visible once %s keeps none',
    async (_, turnOff) => {
      await proxy.query(turnOff)
      expect(await findRoutesByRole()).toEqual(NOWHERE)
    },
    120_000,
  )

  test('dashboard queries read such texts only through functions that check the one rule', async () => {
    const readable = await proxy.query(`
      select c.relname, a.attname
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
      where c.relnamespace = current_schema()::regnamespace
        and (c.relname, a.attname) in (
          ('cache_entries', 'response'), ('cache_prompts', 'prompt'), ('semantic_hits', 'sealed_wording'),
          ('request_contents', 'sealed_request'), ('request_contents', 'sealed_response')
        )
        and has_column_privilege('model_proxy_dashboard', c.oid, a.attnum, 'select')`)
    expect(readable).toEqual([])
    const unchecked = await proxy.query(`
      select p.proname
      from pg_proc p
      where p.pronamespace = current_schema()::regnamespace
        and p.prosecdef
        and p.prosrc ~ '\\m(prompt|response|sealed_wording|sealed_request|sealed_response|find_question_text)\\M'
        and not (p.prosrc ~ 'authorize\\(of_project, |current_project_role\\(of_project\\)' and p.prosrc ~ 'may_read_texts|find_question_text')
      order by 1`)
    expect(unchecked).toEqual([])
  })

  test('the dashboard’s role may not select hashes of keys and passwords, or sealed secrets', async () => {
    const secret = `a.attname ~ '^(key_hash|token_hash|password_hash|sealed.*)$'`
    const readable = await proxy.query(`
      select c.relname, a.attname
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
      where c.relnamespace = current_schema()::regnamespace
        and c.relkind in ('r', 'p', 'v')
        and ${secret}
        and has_column_privilege('model_proxy_dashboard', c.oid, a.attnum, 'select')`)
    expect(readable).toEqual([])
    const select = (columns: string) =>
      proxy.query(`select run_as_actor('{}', true, 'select ${columns} from api_keys', '{}')`)
    await expect(select('key_hash')).rejects.toThrow('permission denied')
    await expect(select('*')).rejects.toThrow('permission denied')
    await select('count(*)')
  })

  test('every readable table about a project or a user has row security', async () => {
    const open = await proxy.query(`
      select c.relname
      from pg_class c
      where c.relnamespace = current_schema()::regnamespace
        and c.relkind in ('r', 'p')
        and not c.relispartition
        and not c.relrowsecurity
        and has_any_column_privilege('model_proxy_dashboard', c.oid, 'select')
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname in ('project_id', 'user_id', 'key_id'))`)
    expect(open).toEqual([])
    const [{ readable = 0 } = {}] = await proxy.query<{ readable: number }>(`
      select count(*)::integer as readable from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relrowsecurity
        and has_any_column_privilege('model_proxy_dashboard', c.oid, 'select')`)
    expect(readable).toBeGreaterThan(15)
  })

  test('a statement without its where clause shows nothing of others', async () => {
    const [user] = await proxy.query<{ id: number }>(`select id from users where email = 'stranger@example.org'`)
    const actor = JSON.stringify({ user_id: user?.id, name: 'stranger@example.org' })
    const tables = [
      'api_keys',
      'cache_entries',
      'cache_prompts',
      'usage_records',
      'usage_hourly',
      'focus_costs',
      'usage_pending',
      'usage_per_record',
      'monthly_counters',
      'semantic_hits',
    ]
    for (const table of tables) {
      const all = await proxy.query<{ rows: number }>(`select count(*)::integer as rows from ${table}`)
      expect([table, (all[0]?.rows ?? 0) > 0]).toEqual([table, true])
      const [seen] = await proxy.query<{ row: { rows: number } }>(
        `select run_as_actor('${actor}', true, 'select count(*)::integer as rows from ${table}', '{}') as row`,
      )
      expect([table, seen?.row.rows]).toEqual([table, 0])
    }
    for (const secret of [
      'select password_hash from users',
      'select key_hash from admin_keys',
      'select sealed from provider_keys',
      'select * from sessions',
      'select * from resolved_keys',
      'select * from invitations',
    ]) {
      await expect(proxy.query(`select run_as_actor('${actor}', true, '${secret}', '{}')`)).rejects.toMatchObject({
        code: '42501',
      })
    }
    await expect(
      proxy.query(`select run_as_actor('${actor}', true, 'delete from projects returning id', '{}')`),
    ).rejects.toThrow()
    // The role lasts only for the statement.
    const [after] = await proxy.query<{ projects: number }>('select count(*)::integer as projects from projects')
    expect(after?.projects).toBe(2)
  })

  test('sessions end: by logging out, everywhere, by time, and with their user', async () => {
    const first = await logIn(proxy, 'viewer@example.org')
    const second = await logIn(proxy, 'viewer@example.org')
    const third = await logIn(proxy, 'viewer@example.org')
    const status = async (browser: Browser) => (await browser.send('GET', '/dashboard/api/session')).status
    expect((await first.send('GET', '/dashboard/api/session')).json.user).toMatchObject({
      email: 'viewer@example.org',
      role: 'reader',
    })
    const out = await first.send('POST', '/dashboard/api/logout', {})
    expect([out.status, out.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('Max-Age=0')])
    expect([await status(first), await status(second), await status(third)]).toEqual([401, 200, 200])
    await second.send('POST', '/dashboard/api/logout-everywhere', {})
    expect([await status(second), await status(third)]).toEqual([401, 401])
    const idle = await logIn(proxy, 'viewer@example.org')
    await proxy.query(`update sessions set last_seen_at = now() - interval '8 days'`)
    expect(await status(idle)).toBe(401)
    const gone = await logIn(proxy, 'viewer@example.org')
    await proxy.query(`delete from users where email = 'viewer@example.org'`)
    expect(await status(gone)).toBe(401)
  })

  test('a key of the playground is listed nowhere, and ends with its session', async () => {
    const [first, second] = [await logIn(proxy, 'member@example.org'), await logIn(proxy, 'member@example.org')]
    const make = (browser: Browser) =>
      browser.send('POST', '/dashboard/api/playground-key', { project_id: world.project, type: 'test' })
    const ask = async ({ json }: Awaited<ReturnType<typeof make>>) =>
      (await fetch(`${proxy.baseUrl}/models`, { headers: { authorization: `Bearer ${json.value}` } })).status
    const [ending, staying] = [await make(first), await make(second)]
    expect([await ask(ending), await ask(staying)]).toEqual([200, 200])
    const own = `/v1/organization/projects/${world.project}`
    for (const path of [`${own}/api_keys?include_inactive=true`, `${own}/limits`]) {
      expect((await second.send('GET', path)).text).not.toContain('playground of')
    }
    await first.send('POST', '/dashboard/api/logout', {})
    expect([await ask(ending), await ask(staying)]).toEqual([403, 200])
    const admin = { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` }
    const body = { project_id: world.project, type: 'test' }
    expect((await send(proxy, 'POST', '/dashboard/api/playground-key', { body, headers: admin })).status).toBe(403)
    const member = `(select id from users where email = 'member@example.org')`
    for (const change of [`set_member('acme', ${member}, 'viewer')`, `remove_member('acme', ${member})`]) {
      await proxy.query(`select set_member('acme', ${member}, 'member')`)
      const key = await make(second)
      expect(await ask(key)).toBe(200)
      await proxy.query(`select ${change}`)
      expect([change, await ask(key)]).toEqual([change, 403])
    }
  })

  test('members read cached texts where texts are kept', async () => {
    const member = await logIn(proxy, 'member@example.org')
    const find = (question: string) =>
      member.send('GET', `/v1/cache/entries?project_id=${world.project}&question=${encodeURIComponent(question)}`)
    const found = await find('CAPITAL of fr')
    expect(found.json.data).toMatchObject([{ id: world.entry, question: 'What is the capital of France?' }])
    expect((await find('100%')).json.data).toEqual([])
    const versioned = `/v1/cache/entries?project_id=${world.project}&question=capital&version=docs@1`
    expect((await member.send('GET', versioned)).json.data).toEqual([])
    const path = `/v1/cache/entries/${world.entry}/content?project_id=${world.project}`
    const { json } = await member.send('GET', path)
    expect(json.question).toBe('What is the capital of France?')
    expect(JSON.parse(json.response).choices[0].message.content).toMatch(/\w/)
    for (const [change, back] of [
      [`select set_setting('acme', 'log_content', 'off')`, `select set_setting('acme', 'log_content', 'sealed')`],
      [`update api_keys set log_content = 'off'`, `update api_keys set log_content = null`],
    ]) {
      await proxy.query(change ?? '')
      expect([(await find('capital')).json.data, (await member.send('GET', path)).status]).toEqual([[], 403])
      await proxy.query(back ?? '')
    }
    expect((await find('capital')).json.data).toHaveLength(1)
  })

  test('the cookie is out of reach of scripts and other sites, and is rejected where it could be stolen', async () => {
    const body = { email: 'viewer@example.org', password: PASSWORD }
    const plain = await send(proxy, 'POST', '/dashboard/api/login', { body })
    expect(plain.headers.get('set-cookie')).toMatch(
      /^model_proxy_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/,
    )
    const elsewhere = await fetch(`${proxy.rootUrl}/dashboard/api/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', host: 'proxy.example.org' },
      body: JSON.stringify(body),
    })
    expect([elsewhere.status, await elsewhere.text()]).toEqual([403, expect.stringContaining('https')])
    const behind = await startProxy({ dashboard: true, stores, environment: { TRUST_PROXY: '1' } })
    const secure = await send(behind, 'POST', '/dashboard/api/login', {
      body,
      headers: { host: 'proxy.example.org', 'x-forwarded-proto': 'https' },
    })
    expect(secure.headers.get('set-cookie')).toMatch(
      /^__Host-model_proxy_session=[\w-]{43}; Secure; Path=\/; HttpOnly; SameSite=Lax; /,
    )
    await behind.stop()
    const crossed = await send(proxy, 'POST', '/dashboard/api/login', {
      body,
      headers: { origin: 'https://evil.example' },
    })
    expect(crossed.status).toBe(403)
  })

  test('passwords cannot be guessed', async () => {
    const attempt = (email: string, password: string) =>
      send(proxy, 'POST', '/dashboard/api/login', { body: { email, password } })
    const wrong = await attempt('viewer@example.org', 'wrong')
    const nobody = await attempt('nobody@example.org', 'wrong')
    expect([wrong.status, nobody.status, nobody.text]).toEqual([401, 401, wrong.text])
    await proxy.query(`update login_attempts set attempts = 10 where subject like 'pair:viewer@example.org %'`)
    const late = await attempt('viewer@example.org', PASSWORD)
    expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await attempt('member@example.org', PASSWORD)).status).toBe(200)
    await proxy.query(`update login_attempts set attempts = 30 where subject like 'address:%'`)
    expect((await attempt('nobody@example.org', PASSWORD)).status).toBe(429)
    await proxy.query(`update login_attempts set first_at = now() - interval '16 minutes'`)
    expect((await attempt('viewer@example.org', PASSWORD)).status).toBe(200)
    const events = await proxy.query<{ actor: string; kind: string }>(
      `select actor, actor_kind as kind from audit_log where action = 'login.failed' order by id`,
    )
    expect(events).toEqual([
      { actor: 'viewer@example.org', kind: 'session' },
      { actor: 'nobody@example.org', kind: 'session' },
    ])
  })

  test('an invitation sets a password once, and a new one ends old sessions', async () => {
    const [row] = await proxy.query<{ token: string }>(`select create_administrator('new@example.org') as token`)
    const use = (password: string) =>
      send(proxy, 'POST', '/dashboard/api/invitation', { body: { invitation: row?.token, password } })
    expect((await use('short')).status).toBe(400)
    expect((await use('a long enough password')).status).toBe(200)
    expect((await use('another long password')).status).toBe(404)
    const browser = await logIn(proxy, 'new@example.org', 'a long enough password')
    expect((await browser.send('GET', '/dashboard/api/session')).json.user.role).toBe('owner')
    const change = await browser.send('POST', '/dashboard/api/password', {
      password: 'wrong',
      new_password: 'yet another password',
    })
    expect(change.status).toBe(401)
    await proxy.query(`select create_administrator('new@example.org')`)
    expect((await browser.send('GET', '/dashboard/api/session')).status).toBe(200)
  })

  test('an admin key acts only for its administrator', async () => {
    const key = await issueAdminKey(proxy, 'root@example.org')
    await expect(issueAdminKey(proxy, 'member@example.org')).rejects.toThrow('there is no administrator')
    await proxy.query(`select set_user_role(u.id, 'owner') from users u where u.email = 'member@example.org'`)
    await proxy.query(`select set_user_role(u.id, 'reader') from users u where u.email = 'root@example.org'`)
    const answer = await send(proxy, 'GET', '/v1/organization/projects', {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(answer.json.data).toEqual([])
  })
})
