import type OpenAI from 'openai'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { shortenEndUser } from '../../../src/formats/end-user.ts'
import { describeOnce, type Stores } from '../../harness/backends.ts'
import { question } from '../../harness/chat.ts'
import { ask } from '../../harness/client.ts'
import { storeKey, TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { addUser, adminClient, issueAdminKey, send } from './people.ts'

type Organization = OpenAI.Admin.Organization

async function toArray<Item>(page: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of page) items.push(item)
  return items
}

describeOnce('the admin API through the openai package', backend => {
  let stores: Stores
  let proxy: TestProxy
  let adminKey: string
  let organization: Organization
  const bearer = () => ({ authorization: `Bearer ${adminKey}` })
  const post = (path: string, body: unknown) => send(proxy, 'POST', path, { body, headers: bearer() })
  const get = (path: string) => send(proxy, 'GET', path, { headers: bearer() })

  beforeEach(async () => {
    if (proxy) await proxy.stop()
    stores = await backend.open()
    proxy = await startProxy({ dashboard: true, stores, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } })
    await addUser(proxy, 'root@example.org', 'owner')
    adminKey = await issueAdminKey(proxy, 'root@example.org')
    organization = adminClient(proxy, adminKey)
  })
  afterAll(() => proxy.stop())

  test('projects are created, read, renamed, listed page by page, and archived', async () => {
    const acme = await organization.projects.create({ name: 'acme' })
    expect(acme).toMatchObject({ object: 'organization.project', name: 'acme', status: 'active', archived_at: null })
    expect(Math.abs(acme.created_at - Date.now() / 1000)).toBeLessThan(60)
    expect(await organization.projects.retrieve(acme.id)).toMatchObject({ id: acme.id, plan: 'free' })
    expect(await organization.projects.update(acme.id, { name: 'acme-2' })).toMatchObject({ name: 'acme-2' })
    for (let at = 0; at < 5; at++) await organization.projects.create({ name: `more-${at}` })
    const listed = await toArray(organization.projects.list({ limit: 2 }))
    expect(listed.map(project => project.name)).toEqual(['acme-2', 'more-0', 'more-1', 'more-2', 'more-3', 'more-4'])

    const { value } = (await post(`/v1/organization/projects/${acme.id}/api_keys`, { name: 'ci', type: 'test' })).json
    expect((await ask(proxy, value, 'hello')).status).toBe(200)
    expect(await organization.projects.archive(acme.id)).toMatchObject({ status: 'archived' })
    expect((await ask(proxy, value, 'hello')).status).toBe(403)
    expect(await toArray(organization.projects.list())).toHaveLength(5)
    expect(await toArray(organization.projects.list({ include_archived: true }))).toHaveLength(6)
    const another = await post(`/v1/organization/projects/${acme.id}/api_keys`, { name: 'late' })
    expect([another.status, another.json.error.message]).toEqual([400, 'Project "acme-2" is archived.'])
  })

  test('a spend limit is the budget of US dollars a month, and other budgets exist beside it', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const limits = organization.projects.spendLimit
    await expect(limits.retrieve(id)).rejects.toMatchObject({ status: 404 })
    const requested = { currency: 'USD', interval: 'month', threshold_amount: 1_250 } as const
    const reported = { ...requested, object: 'project.spend_limit', enforcement: { status: 'inactive' } }
    expect(await limits.update(id, requested)).toEqual(reported)
    expect(await limits.retrieve(id)).toEqual(reported)
    const path = `/v1/organization/projects/${id}/budgets`
    // Spend limits are in cents, budgets in US dollars.
    expect((await get(path)).json.data).toMatchObject([{ unit: 'usd', amount: 12.5, per: 'month' }])
    const { value, id: keyId } = (await post(`/v1/organization/projects/${id}/api_keys`, { name: 'ci' })).json
    expect(typeof value).toBe('string')
    const set = await post(path, { unit: 'tokens', amount: 1000, per: 'day', api_key_id: keyId, tag: 'team=search' })
    expect([set.status, set.json]).toMatchObject([
      200,
      { unit: 'tokens', amount: 1000, remaining: 1000, per: 'day', api_key_name: 'ci', tag: 'team=search' },
    ])
    expect((await get(path)).json.data.map((budget: { unit: string }) => budget.unit)).toEqual(['usd', 'tokens'])
    for (const bad of [{ per: 'year' }, { amount: -1 }, { tag: 'team' }, { api_key_id: 'key_999999' }]) {
      const { status } = await post(path, { unit: 'usd', amount: 1, per: 'day', ...bad })
      expect([bad, status >= 400 && status < 500]).toEqual([bad, true])
    }
    expect((await send(proxy, 'DELETE', `${path}/${set.json.id}`, { headers: bearer() })).status).toBe(200)
    expect(await limits.delete(id)).toEqual({ object: 'project.spend_limit.deleted', deleted: true })
    expect((await get(path)).json.data).toEqual([])
  })

  test('the organization’s spend limit is the budget of all projects together, including later ones', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    await expect(organization.spendLimit.retrieve()).rejects.toMatchObject({ status: 404 })
    const requested = { currency: 'USD', interval: 'month', threshold_amount: 0 } as const
    const reported = { ...requested, object: 'organization.spend_limit', enforcement: { status: 'enforcing' } }
    expect(await organization.spendLimit.update({ ...requested, threshold_amount: 99 })).toMatchObject({
      threshold_amount: 99,
    })
    expect(await organization.spendLimit.update(requested)).toEqual(reported)
    expect(await organization.spendLimit.retrieve()).toEqual(reported)
    const newer = await organization.projects.create({ name: 'newer' })
    expect((await get(`/v1/organization/projects/${id}/budgets`)).json.data).toEqual([])
    const statusOf = async (project: string) => {
      const key = await proxy.createKey({ project, type: 'project' })
      await storeKey(stores, project, 'openai', 'sk-own')
      const { status, json } = await ask(proxy, key, question('Once?', { model: 'gpt-4o-mini', max_tokens: 5 }))
      return [status, json.error?.message]
    }
    for (const project of ['acme', 'newer'])
      expect(await statusOf(project)).toEqual([429, expect.stringContaining('0 USD a month for this organization')])
    expect(await organization.spendLimit.delete()).toEqual({
      object: 'organization.spend_limit.deleted',
      deleted: true,
    })
    await expect(organization.spendLimit.delete()).rejects.toMatchObject({ status: 404 })
    const bound = await proxy.query('select from projects where has_budgets')
    expect([bound, newer.status]).toEqual([[], 'active'])
  })

  test('spend alerts of a project and of the organization are created, changed, listed page by page and removed', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const channel = { type: 'email' as const, recipients: ['ops@example.org'], subject_prefix: 'Money' }
    const amount = { currency: 'USD', interval: 'month', threshold_amount: 500 } as const
    const requested = { ...amount, notification_channel: channel }
    const { spendAlerts } = organization.projects
    const made = await spendAlerts.create(id, requested)
    expect(made).toEqual({
      ...requested,
      id: expect.stringMatching(/^spend_alert_\d+$/),
      object: 'project.spend_alert',
    })
    expect(await spendAlerts.retrieve(made.id, { project_id: id })).toEqual(made)
    const changed = { ...requested, threshold_amount: 501, notification_channel: { ...channel, subject_prefix: null } }
    expect(await spendAlerts.update(made.id, { project_id: id, ...changed })).toEqual({ ...made, ...changed })
    const others = [2, 3].map(threshold_amount => spendAlerts.create(id, { ...requested, threshold_amount }))
    await Promise.all(others)
    const amounts = async (page: AsyncIterable<{ threshold_amount: number }>) =>
      (await toArray(page)).map(each => each.threshold_amount)
    const ascending = await amounts(spendAlerts.list(id, { limit: 1 }))
    expect([ascending.length, ascending[0]]).toEqual([3, 501])
    expect(await amounts(spendAlerts.list(id, { limit: 2, order: 'desc' }))).toEqual(ascending.toReversed())
    const [, , last] = await toArray(spendAlerts.list(id))
    const before = await get(`/v1/organization/projects/${id}/spend_alerts?limit=1&before=${last?.id}`)
    expect([before.json.data.map((each: typeof made) => each.threshold_amount), before.json.has_more]).toEqual([
      [ascending[1]],
      true,
    ])
    // Spend alerts limit nothing and are not listed as budgets.
    expect((await get(`/v1/organization/projects/${id}/budgets`)).json.data).toEqual([])
    await expect(organization.projects.spendLimit.retrieve(id)).rejects.toMatchObject({ status: 404 })
    // Creating and deleting a spend limit leaves the alerts unchanged.
    await organization.projects.spendLimit.update(id, { currency: 'USD', interval: 'month', threshold_amount: 1 })
    await organization.projects.spendLimit.delete(id)
    expect(await toArray(spendAlerts.list(id))).toHaveLength(3)

    const all = await organization.spendAlerts.create(requested)
    expect(all).toMatchObject({ object: 'organization.spend_alert', threshold_amount: 500 })
    expect(await organization.spendAlerts.retrieve(all.id)).toEqual(all)
    expect(await organization.spendAlerts.update(all.id, changed)).toMatchObject({ threshold_amount: 501 })
    expect(await amounts(organization.spendAlerts.list())).toEqual([501])
    await expect(spendAlerts.retrieve(all.id, { project_id: id })).rejects.toMatchObject({ status: 404 })
    await expect(organization.spendAlerts.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    expect(await organization.spendAlerts.delete(all.id)).toEqual({
      id: all.id,
      object: 'organization.spend_alert.deleted',
      deleted: true,
    })
    for (const alert of await toArray(spendAlerts.list(id))) await spendAlerts.delete(alert.id, { project_id: id })
    await expect(spendAlerts.delete(made.id, { project_id: id })).rejects.toMatchObject({ status: 404 })
    expect(await proxy.query('select from projects where has_budgets union all select from budgets')).toEqual([])
    for (const bad of [
      { threshold_amount: -1 },
      { currency: 'EUR' },
      { interval: 'day' },
      { notification_channel: { type: 'sms', recipients: ['ops@example.org'] } },
      { notification_channel: { type: 'email', recipients: ['nobody'] } },
      { notification_channel: { type: 'email', recipients: [] } },
    ])
      await expect(spendAlerts.create(id, { ...requested, ...bad } as typeof requested)).rejects.toMatchObject({
        status: 400,
      })
    for (let at = 0; at < 20; at++) await spendAlerts.create(id, requested)
    await expect(spendAlerts.create(id, requested)).rejects.toThrow(/20 spend alerts already/)
  })

  test('an unknown path is rejected by the admin API, whoever calls', async () => {
    for (const path of ['/v1/organization/nothing', '/v1/organization/projects/proj_1/nothing/at/all']) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, json } = await send(proxy, method, path)
        expect([path, method, status, json.error.message]).toEqual([
          path,
          method,
          404,
          expect.stringContaining('admin API'),
        ])
      }
    }
    expect((await send(proxy, 'PUT', '/v1/organization/projects')).status).toBe(405)
  })

  test('what OpenAI’s client has and this API lacks is an error that names the alternative', async () => {
    const named = (resources: object) =>
      Object.entries(resources)
        .filter(([, each]) => typeof each === 'object' && each !== null && '_client' in each)
        .map(([name]) => name.replace('API', 'Api').replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`))
    const described = Object.keys((await get('/openapi.json')).json.paths)
    // The proxy has no counterpart of these paths of OpenAI's API.
    const without = /workload_identity|storage|certificates|service_tier|hosted_tool|data_retention/
    const paths = [
      ...named(organization).map(name => `/v1/organization/${name}`),
      ...named(organization.projects).map(name => `/v1/organization/projects/{project_id}/${name}`),
    ]
    expect(paths.length).toBeGreaterThan(20)
    for (const path of paths.filter(each => !described.some(known => known.startsWith(each)))) {
      const { status, json } = await get(path.replace('{project_id}', 'proj_1'))
      const isNamed = /no such path\. .+ \/openapi\.json/.test(json.error.message)
      expect([path, status, isNamed || without.test(path)]).toEqual([path, 404, true])
    }
  })

  test('a bad name, a used one and an unknown project are errors that say what is wrong', async () => {
    await organization.projects.create({ name: 'acme' })
    await expect(organization.projects.create({ name: 'acme' })).rejects.toMatchObject({
      status: 409,
      code: 'already_exists',
    })
    await expect(organization.projects.create({ name: 'a b' })).rejects.toMatchObject({ status: 400 })
    await expect(organization.projects.retrieve('proj_999999999')).rejects.toMatchObject({ status: 404 })
    await expect(organization.projects.retrieve('nonsense')).rejects.toMatchObject({ status: 404 })
    // PostgreSQL's text cannot contain NUL, so it is rejected in every field and parameter.
    const nul = '\u0000'
    await expect(organization.projects.create({ name: `a${nul}b` })).rejects.toMatchObject({ status: 400 })
    const usage = organization.usage.completions({ start_time: 1, models: [`m${nul}`] })
    await expect(usage).rejects.toMatchObject({ status: 400 })
  })

  test('keys are shown once when created, listed without their value, and deactivated', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const made = await post(`/v1/organization/projects/${id}/api_keys`, { name: 'ci', type: 'test' })
    expect(made.json).toMatchObject({ name: 'ci', type: 'test', state: 'active', owner_project_access: 'active' })
    expect(made.json.value).toMatch(/^lgw_test_[0-9A-Za-z]{32}$/)
    await post(`/v1/organization/projects/${id}/api_keys`, { name: 'app', expires_in_seconds: 3600 })
    const keys = await toArray(organization.projects.apiKeys.list(id, { limit: 1 }))
    expect(keys.map(key => key.name)).toEqual(['ci', 'app'])
    expect(JSON.stringify(keys)).not.toContain(made.json.value)
    const key = await organization.projects.apiKeys.retrieve(made.json.id, { project_id: id })
    expect(key).toMatchObject({ redacted_value: `${made.json.value.slice(0, 17)}…`, last_used_at: null })
    expect((await ask(proxy, made.json.value, 'hello')).status).toBe(200)
    expect(await organization.projects.apiKeys.delete(key.id, { project_id: id })).toMatchObject({ deleted: true })
    expect((await ask(proxy, made.json.value, 'hello')).status).toBe(403)
    expect((await toArray(organization.projects.apiKeys.list(id))).map(each => each.name)).toEqual(['app'])
    expect((await get(`/v1/organization/projects/${id}/api_keys?include_inactive=true`)).json.data).toHaveLength(2)
  })

  test('a service account is created with its key, which ends with it', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const { serviceAccounts } = organization.projects
    const made = await serviceAccounts.create(id, { name: 'terraform', expires_in_seconds: 3600 })
    expect(made).toMatchObject({ object: 'organization.project.service_account', name: 'terraform', role: 'member' })
    const { value = '', id: keyId = '' } = made.api_key ?? {}
    expect(value).toMatch(/^lgw_proj_/)
    const key = await organization.projects.apiKeys.retrieve(keyId, { project_id: id })
    expect(key.owner.service_account).toMatchObject({ id: made.id, name: 'terraform' })
    const listed = await toArray(serviceAccounts.list(id))
    expect([listed.map(each => each.id), JSON.stringify(listed).includes(value)]).toEqual([[made.id], false])
    const { id: other } = await organization.projects.create({ name: 'other' })
    await expect(serviceAccounts.retrieve(made.id, { project_id: other })).rejects.toMatchObject({ status: 404 })
    await expect(serviceAccounts.delete(made.id, { project_id: other })).rejects.toMatchObject({ status: 404 })
    expect((await get(`/v1/organization/projects/${id}/service_accounts/${keyId}`)).status).toBe(404)
    expect(await serviceAccounts.delete(made.id, { project_id: id })).toMatchObject({ id: made.id, deleted: true })
    await expect(serviceAccounts.retrieve(made.id, { project_id: id })).rejects.toMatchObject({ status: 404 })
    expect((await ask(proxy, value, 'hello')).status).toBe(403)
  })

  test('model permissions are the setting allowed_models, and apply from the next request on', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const { modelPermissions } = organization.projects
    const { value } = (await post(`/v1/organization/projects/${id}/api_keys`, { name: 'ci', type: 'test' })).json
    const none = { object: 'project.model_permissions', mode: 'deny_list', model_ids: [] }
    expect(await modelPermissions.retrieve(id)).toEqual(none)
    const set = await modelPermissions.update(id, { mode: 'allow_list', model_ids: ['anthropic/*'] })
    expect(set).toEqual({ ...none, mode: 'allow_list', model_ids: ['anthropic/*'] })
    expect((await ask(proxy, value, 'hello')).status).toBe(403)
    // Both would mean the opposite of the setting: an empty list means no restriction.
    for (const body of [
      { mode: 'allow_list', model_ids: [] },
      { mode: 'deny_list', model_ids: ['gpt-4o'] },
    ] as const) {
      const refused = modelPermissions.update(id, { ...body, model_ids: [...body.model_ids] })
      await expect(refused).rejects.toMatchObject({ status: 400, param: 'model_ids' })
    }
    expect(await modelPermissions.retrieve(id)).toEqual(set)
    expect(await modelPermissions.delete(id)).toMatchObject({ deleted: true })
    expect([await modelPermissions.retrieve(id), (await ask(proxy, value, 'hello')).status]).toEqual([none, 200])
  })

  test('an invited user becomes a member at once, and the invite is pending until it is accepted', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const { invites } = organization
    const requested = { email: 'New@Example.org', role: 'reader', projects: [{ id, role: 'owner' }] } as const
    const unknown = {
      ...requested,
      projects: [requested.projects[0], { id: 'proj_999999999', role: 'member' as const }],
    }
    await expect(invites.create(unknown)).rejects.toMatchObject({ status: 404 })
    const made = (await post('/v1/organization/invites', requested)).json
    expect(made).toMatchObject({ email: 'new@example.org', status: 'pending', projects: requested.projects })
    await expect(invites.create({ email: 'new@example.org', role: 'reader' })).rejects.toMatchObject({ status: 409 })
    const { invitation, mailed: _mailed, ...shown } = made
    expect(await invites.retrieve(made.id)).toEqual(shown)
    expect((await toArray(invites.list({ limit: 1 }))).at(-1)).toEqual(shown)
    const taken = await post('/dashboard/api/invitation', { invitation, password: 'a long enough one' })
    expect(taken.status).toBe(200)
    expect(await invites.retrieve(made.id)).toMatchObject({ status: 'accepted', expires_at: null })
    await expect(invites.delete(made.id)).rejects.toMatchObject({ status: 400 })
    const second = await invites.create({ email: 'second@example.org', role: 'owner' })
    expect(await invites.delete(second.id)).toMatchObject({ object: 'organization.invite.deleted', deleted: true })
    await expect(invites.retrieve(second.id)).rejects.toMatchObject({ status: 404 })
    expect((await toArray(organization.users.list())).map(({ email }) => email)).not.toContain('second@example.org')
  })

  test('a key is limited and rotated, and keeps its id', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const keys = `/v1/organization/projects/${id}/api_keys`
    const made = (await post(keys, { name: 'ci', type: 'test' })).json
    const none = { requests_per_minute: null, allowed_models: null, allowed_addresses: null, former_value_of: null }
    expect(made).toMatchObject(none)
    const limits = {
      requests_per_minute: 9,
      allowed_models: ['gpt-4o*'],
      allowed_addresses: ['127.0.0.1/32', '::1/128'],
    }
    expect((await post(`${keys}/${made.id}`, limits)).json).toMatchObject({ id: made.id, ...limits })
    expect((await ask(proxy, made.value, { ...question('x'), model: 'gpt-5' })).status).toBe(403)
    const known = { ...question('x'), model: 'gpt-4o' }
    expect((await ask(proxy, made.value, known)).headers.get('x-ratelimit-limit-requests')).toBe('9')

    const rotated = (await post(`${keys}/${made.id}/rotate`, { grace_seconds: 60 })).json
    expect(rotated).toMatchObject({ id: made.id, name: 'ci', ...limits })
    expect(rotated.value).toMatch(/^lgw_test_[0-9A-Za-z]{32}$/)
    const former = (await get(keys)).json.data.find((key: { id: string }) => key.id !== made.id)
    expect(former).toMatchObject({ former_value_of: made.id, ...limits })
    expect(former.expires_at - former.created_at).toBe(60)
    const statuses = await Promise.all(
      [made.value, rotated.value].map(async value => (await ask(proxy, value, known)).status),
    )
    expect(statuses).toEqual([200, 200])
    expect((await post(`${keys}/${former.id}/rotate`, {})).status).toBe(400)
    expect((await post(`${keys}/${made.id}/rotate`, {})).json.value).not.toBe(rotated.value)
    expect((await ask(proxy, rotated.value, known)).status).toBe(401)

    expect((await post(`${keys}/${made.id}`, { allowed_models: null })).json).toMatchObject({
      ...limits,
      allowed_models: null,
    })
    for (const [body, problem] of [
      [{ allowed_addresses: ['10.0.0.1/8'] }, 'without host bits'],
      [{ allowed_models: [] }, 'allowed_models'],
      [{ requests_per_minute: 0 }, 'requests_per_minute'],
    ] as const) {
      const refused = await post(`${keys}/${made.id}`, body)
      expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining(problem)])
    }
    expect((await post(`${keys}/${made.id}/rotate`, { grace_seconds: 7_776_001 })).status).toBe(400)
  })

  test('usage and costs are those of the records, by bucket and by group', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const key = (await post(`/v1/organization/projects/${id}/api_keys`, { name: 'ci', type: 'test' })).json
    for (let at = 0; at < 3; at++) await ask(proxy, key.value, `question ${at % 2}`)
    await proxy.settle()
    const today = await organization.usage.completions({
      start_time: Math.floor(Date.now() / 1000) - 3600,
      bucket_width: '1h',
      group_by: ['project_id', 'model', 'api_key_id'],
    })
    const results = today.data.flatMap(bucket => bucket.results)
    expect(results).toHaveLength(1)
    expect(results[0]).toMatchObject({
      project_id: id,
      api_key_id: key.id,
      model: 'openai/gpt-4o-mini',
      num_model_requests: 3,
    })

    const minutes = await organization.usage.completions({
      start_time: Math.floor(Date.now() / 1000) - 1800,
      bucket_width: '1m',
      limit: 60,
    })
    const counts = minutes.data.flatMap(bucket =>
      bucket.results.map(result => ('num_model_requests' in result ? result.num_model_requests : 0)),
    )
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3)
  })

  test('buckets follow one another without a gap, and pages lose none', async () => {
    const start = 1_700_006_400
    await organization.projects.create({ name: 'acme' })
    const seen: number[] = []
    let page: string | undefined
    do {
      const got = await organization.usage.costs({
        start_time: start,
        end_time: start + 10 * 86_400,
        limit: 4,
        ...(page === undefined ? {} : { page }),
      })
      seen.push(...got.data.map(bucket => bucket.start_time))
      page = got.next_page ?? undefined
      expect(got.has_more).toBe(page !== undefined)
    } while (page !== undefined)
    const first = start - (start % 86_400)
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, at) => first + at * 86_400))
    expect(seen.at(-1)).toBeGreaterThanOrEqual(start + 9 * 86_400 - 86_400)
    await expect(
      organization.usage.completions({ start_time: start, group_by: ['nonsense' as 'model'] }),
    ).rejects.toMatchObject({ status: 400, param: 'group_by' })
  })

  test('members are added and removed, by e-mail address or id', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const ada = await addUser(proxy, 'ada@example.org', 'reader')
    const added = await organization.projects.users.create(id, { role: 'viewer', email: 'Ada@Example.org' })
    expect(added).toMatchObject({ id: `user_${ada}`, role: 'viewer', email: 'ada@example.org' })
    expect(await organization.projects.users.update(added.id, { project_id: id, role: 'member' })).toMatchObject({
      role: 'member',
    })
    const invited = await post(`/v1/organization/projects/${id}/users`, {
      role: 'viewer',
      email: 'NE\u00c9@example.org',
    })
    expect(invited.json.invitation).toMatch(/^lgw_invite_/)
    expect((await toArray(organization.projects.users.list(id, { limit: 1 }))).map(user => user.email)).toEqual([
      'ada@example.org',
      'ne\u00c9@example.org',
    ])
    expect(await organization.projects.users.delete(added.id, { project_id: id })).toMatchObject({ deleted: true })
    await expect(organization.projects.users.retrieve(added.id, { project_id: id })).rejects.toMatchObject({
      status: 404,
    })
    expect(await toArray(organization.users.list())).toHaveLength(3)
    const namedBy = async (...emails: string[]) =>
      (await toArray(organization.users.list({ emails }))).map(({ email }) => email)
    expect(await namedBy('Ada@Example.org', 'nobody@example.org')).toEqual(['ada@example.org'])
    expect(await namedBy('NE\u00c9@example.org')).toEqual(['ne\u00c9@example.org'])
    await expect(organization.users.update('user_1', { role: 'king' })).rejects.toMatchObject({ status: 400 })
  })

  test('the last administrator cannot be removed', async () => {
    const [root] = await toArray(organization.users.list())
    await expect(organization.users.delete(root?.id ?? '')).rejects.toMatchObject({ status: 400, code: 'not_possible' })
    await expect(organization.users.update(root?.id ?? '', { role: 'reader' })).rejects.toMatchObject({ status: 400 })
  })

  test('admin keys work until they are deleted or expire', async () => {
    const made = await organization.adminAPIKeys.create({ name: 'deploys', expires_in_seconds: 3600 })
    expect(made.value).toMatch(/^lgw_admin_[0-9A-Za-z]{32}$/)
    const second = adminClient(proxy, made.value)
    await second.projects.create({ name: 'by-key' })
    expect((await organization.adminAPIKeys.retrieve(made.id)).last_used_at).not.toBeNull()
    expect((await toArray(organization.adminAPIKeys.list({ order: 'desc', limit: 1 }))).map(key => key.name)).toEqual([
      'deploys',
      'tests',
    ])
    await organization.adminAPIKeys.delete(made.id)
    await expect(second.projects.list()).rejects.toMatchObject({ status: 401 })
    const short = await organization.adminAPIKeys.create({ name: 'short', expires_in_seconds: 3600 })
    await proxy.query(`update admin_keys set expires_at = now() where name = 'short'`)
    await expect(adminClient(proxy, short.value).projects.list()).rejects.toMatchObject({ status: 401 })
  })

  test('every change is in the audit log, with its actor', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    await proxy.query(`select set_setting('acme', 'semantic_threshold', '0.9')`)
    const [latest] = await toArray(organization.auditLogs.list({ project_ids: [id], limit: 1 }))
    expect(latest).toMatchObject({ type: 'project.updated', actor: { session: { user: { id: 'operator' } } } })
    const events = await toArray(organization.auditLogs.list({ event_types: ['project.created'], limit: 1 }))
    expect(events[0]).toMatchObject({
      type: 'project.created',
      actor: { type: 'api_key', api_key: { user: { email: 'root@example.org' } } },
      'project.created': { id, data: { name: 'acme', plan: 'free' } },
    })
    const all = await toArray(organization.auditLogs.list({ limit: 2 }))
    expect(all.map(event => event.type)).toEqual([
      'project.updated',
      'project.created',
      'admin_api_key.created',
      'user.added',
    ])
    const [newest, second, third, oldest] = all.map(event => event.id)
    const targets = all.map(event => (event as unknown as Record<string, { id: string }>)[event.type]?.id ?? '')
    const now = Math.floor(Date.now() / 1000)
    const filters = [
      [{ effective_at: { lt: now - 3600 } }, []],
      [{ effective_at: { gte: now + 3600 } }, []],
      [{ effective_at: { gt: now - 3600, lte: now + 3600 } }, [newest, second, third, oldest]],
      [{ actor_emails: ['root@example.org'] }, [second]],
      [{ actor_ids: [events[0]?.actor?.api_key?.user?.id ?? ''] }, [second]],
      [{ actor_ids: ['nobody'] }, []],
      [{ resource_ids: targets.slice(2) }, [third, oldest]],
    ] as const
    for (const [filter, found] of filters) {
      const listed = await toArray(organization.auditLogs.list(structuredClone(filter) as object))
      expect([filter, listed.map(event => event.id)]).toEqual([filter, found])
    }
    const previous = async (before = '', limit = 2) => {
      const { data, has_more } = (await get(`/v1/organization/audit_logs?before=${before}&limit=${limit}`)).json
      return [...data.map((event: { id: string }) => event.id), has_more]
    }
    expect(await previous(oldest)).toEqual([second, third, true])
    expect([await previous(third), await previous(second)]).toEqual([
      [newest, second, false],
      [newest, false],
    ])
  })

  test('rate limits are those of the plan, and a plan is changed for all its projects', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const limits = await toArray(organization.projects.rateLimits.listRateLimits(id))
    expect(limits.map(limit => limit.max_requests_per_1_minute)).toEqual([60, 120, 20])
    expect((await toArray(organization.projects.rateLimits.listRateLimits(id, { limit: 1 }))).length).toBe(3)
    const after = { after: limits[1]?.id ?? '' }
    expect(await toArray(organization.projects.rateLimits.listRateLimits(id, after))).toEqual(limits.slice(2))
    const before = { before: limits[1]?.id ?? '' }
    expect((await organization.projects.rateLimits.listRateLimits(id, before)).data).toEqual(limits.slice(0, 1))
    await proxy.query(`insert into plans values ('small', 5, 10, 100) on conflict do nothing`)
    await post('/v1/organization/plans/small', { requests_per_minute_per_key: 7, tokens_per_minute_per_key: 900 })
    await post(`/v1/organization/projects/${id}`, { plan: 'small' })
    const changed = await toArray(organization.projects.rateLimits.listRateLimits(id))
    expect(changed[0]).toMatchObject({ max_requests_per_1_minute: 7, max_tokens_per_1_minute: 900 })
    const unlimited = await post('/v1/organization/plans/small', { tokens_per_minute_per_key: null })
    expect(unlimited.json).toMatchObject({ requests_per_minute_per_key: 7, tokens_per_minute_per_key: null })
    expect((await get(`/v1/organization/projects/${id}/limits`)).json).toMatchObject({
      plan: 'small',
      quotas: [
        { keys: 'project', used: 0, quota: 100 },
        { keys: 'test', used: 0, quota: 1000 },
      ],
    })
    await expect(
      organization.projects.rateLimits.updateRateLimit('rl_address', { project_id: id, max_requests_per_1_minute: 1 }),
    ).rejects.toMatchObject({ status: 400, code: 'not_possible' })
  })

  test('settings are set together or not at all', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const path = `/v1/organization/projects/${id}/settings`
    const set = await post(path, { semantic_threshold: 0.9, fallbacks: ['a/x', 'b/y'], cache_ttl_seconds: '60' })
    expect(set.json.settings).toMatchObject({
      semantic_threshold: 0.9,
      fallbacks: ['a/x', 'b/y'],
      cache_ttl_seconds: 60,
    })
    const refused = await post(path, { cache_ttl_seconds: 120, semantic_threshold: 2 })
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      'Value "2" is not valid for setting semantic_threshold: use a number from 0.0 to 1.0.',
    ])
    expect((await get(path)).json.settings).toEqual(set.json.settings)
  })

  test('a provider key is stored, replaced and removed, and never shown', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const path = `/v1/organization/projects/${id}/provider_keys`
    const secret = `sk-${crypto.randomUUID()}`
    expect((await post(`${path}/openai`, { value: secret })).json.redacted_value).toBe(`…${secret.slice(-4)}`)
    const listed = await get(path)
    expect(listed.json.data).toMatchObject([{ provider: 'openai', redacted_value: `…${secret.slice(-4)}` }])
    const refused = await post(`${path}/openai`, { value: `${secret} two words` })
    expect(refused.status).toBe(400)
    for (const text of [listed.text, refused.text]) expect(text).not.toContain(secret.slice(0, 20))
    expect((await post(`${path}/nobody`, { value: secret })).status).toBe(404)
    expect((await send(proxy, 'DELETE', `${path}/openai`, { headers: bearer() })).json.deleted).toBe(true)
    expect((await get(path)).json.data).toEqual([])
  })

  test('cache entries are counted, listed, and purged by a selector', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const key = (await post(`/v1/organization/projects/${id}/api_keys`, { name: 'ci', type: 'test' })).json.value
    const question = (content: string, model: string) => ({ model, messages: [{ role: 'user', content }] })
    for (const model of ['openai/gpt-4o-mini', 'openai/gpt-4o']) await ask(proxy, key, question('hello there', model))
    await proxy.settle()
    expect((await get(`/v1/cache/stats?project_id=${id}`)).json).toMatchObject({ entries: 2 })
    const entries = (await get(`/v1/cache/entries?project_id=${id}&limit=1`)).json
    expect(entries).toMatchObject({ has_more: true, data: [{ model: 'openai/gpt-4o', namespace: '' }] })
    const dry = await post('/v1/cache/invalidate', { project_id: id, selector: { model: 'openai/gpt-4o' } })
    expect(dry.json).toMatchObject({ entries: 1, dry_run: true })
    expect((await ask(proxy, key, question('hello there', 'openai/gpt-4o'))).cache).toBe('HIT')
    const wet = await post('/v1/cache/invalidate', {
      project_id: id,
      selector: { model: 'openai/gpt-4o' },
      dry_run: false,
    })
    expect(wet.json).toMatchObject({ entries: 1, dry_run: false })
    expect((await ask(proxy, key, question('hello there', 'openai/gpt-4o'))).cache).toBe('MISS')
    expect((await ask(proxy, key, question('hello there', 'openai/gpt-4o-mini'))).cache).toBe('HIT')
    await proxy.settle()
    const [entry] = (await get(`/v1/cache/entries?project_id=${id}&model=openai/gpt-4o-mini`)).json.data
    const path = `/v1/cache/entries/${entry.id}?project_id=${id}`
    expect((await get(path)).json).toMatchObject({ id: entry.id })
    expect((await send(proxy, 'DELETE', path, { headers: bearer() })).json.deleted).toBe(true)
    expect((await ask(proxy, key, question('hello there', 'openai/gpt-4o-mini'))).cache).toBe('MISS')
  })

  test('cache entries are listed and purged by version', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const key = (await post(`/v1/organization/projects/${id}/api_keys`, { name: 'ci', type: 'test' })).json.value
    for (const version of ['docs@1', 'faq@1'])
      await ask(proxy, key, question('hello there'), { 'x-proxy-cache-version': version })
    await ask(proxy, key, question('hello there'))
    await proxy.settle()
    const versionsOf = async (query: object) =>
      (await get(`/v1/cache/entries?${new URLSearchParams({ project_id: id, ...query })}`)).json.data.map(
        (entry: { version: string | null }) => entry.version,
      )
    expect(await versionsOf({})).toEqual([null, 'faq@1', 'docs@1'])
    expect(await versionsOf({ version: 'docs@1' })).toEqual(['docs@1'])
    expect(await versionsOf({ version: 'docs@2' })).toEqual([])
    const purge = async (version: string, dry_run: boolean) =>
      (await post('/v1/cache/invalidate', { project_id: id, selector: { version }, dry_run })).json.entries
    expect([await purge('docs@2', true), await purge('docs', true), await purge('docs@1', false)]).toEqual([0, 1, 1])
    expect(await versionsOf({})).toEqual([null, 'faq@1'])
  })

  test('cache entries are listed and purged by end user and key', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const other = await organization.projects.create({ name: 'other' })
    const make = async (name: string, of = id) =>
      (await post(`/v1/organization/projects/${of}/api_keys`, { name, type: 'test' })).json
    const [one, two, foreign] = [await make('one'), await make('two'), await make('foreign', other.id)]
    const users = ['alice', 'x'.repeat(300)]
    for (const { value } of [one, two]) {
      await ask(proxy, value, { ...question(`hello from ${value}`) })
      for (const user of users) await ask(proxy, value, { ...question(`${user} of ${value}`), user })
    }
    await proxy.settle()
    const listed = async (query: object) =>
      (await get(`/v1/cache/entries?${new URLSearchParams({ project_id: id, ...query })}`)).json.data
    const forget = async (selector: object, dry_run = false) =>
      (await post('/v1/cache/invalidate', { project_id: id, selector, dry_run })).json
    expect(await listed({ end_user: 'alice' })).toMatchObject([
      { api_key_id: two.id, end_user: 'alice' },
      { api_key_id: one.id, end_user: 'alice' },
    ])
    expect(await listed({ end_user: users[1], api_key_id: one.id })).toHaveLength(1)
    expect(await listed({ end_user: users[1]?.slice(0, 200) })).toEqual([])
    expect(await listed({ api_key_id: two.id })).toHaveLength(3)
    for (const form of [users[1] ?? '', shortenEndUser(users[1] ?? '')]) {
      const found = await get(`/v1/requests?${new URLSearchParams({ project_id: id, end_user: form })}`)
      expect(found.json.data).toHaveLength(2)
    }
    const bothWays = { end_user: users[1], api_key_id: one.id }
    for (const dry of [true, false]) expect(await forget(bothWays, dry)).toMatchObject({ entries: 1, dry_run: dry })
    expect(await forget({ api_key_id: two.id })).toMatchObject({ entries: 3, vectors: 0 })
    expect((await listed({})).map((entry: { end_user: string | null }) => entry.end_user)).toEqual(['alice', null])
    const refused = [{ end_user: '' }, { end_user: 'a\0' }, { api_key_id: 'one' }, { api_key_id: foreign.id }].map(
      selector => post('/v1/cache/invalidate', { project_id: id, selector, dry_run: false }),
    )
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([400, 400, 404, 404])
    const { data } = (await get(`/v1/organization/audit_logs?event_types=cache.invalidated`)).json
    expect(JSON.stringify(data)).not.toContain('alice')
    expect(JSON.stringify(data)).not.toContain('xxx')
    expect(JSON.stringify(data)).toContain('"of_an_end_user":true')
  })

  test('a purge includes entries that are still being written', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const key = (await post(`/v1/organization/projects/${id}/api_keys`, { name: 'ci', type: 'test' })).json.value
    await post(`/v1/organization/projects/${id}/settings`, { semantic_enabled: false })
    const model = 'openai/gpt-4o'
    const question = (at: number) => ({ model, messages: [{ role: 'user', content: `hello number ${at}` }] })
    for (let at = 0; at < 3; at++) {
      expect((await ask(proxy, key, question(at))).cache).toBe('MISS')
      expect((await ask(proxy, key, question(at))).cache).toBe('HIT')
      await post('/v1/cache/invalidate', { project_id: id, selector: { model }, dry_run: false })
      expect((await ask(proxy, key, question(at))).cache).toBe('MISS')
    }
  })

  test('requests are listed newest first, filtered, and read one by one', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const key = (await post(`/v1/organization/projects/${id}/api_keys`, { name: 'ci', type: 'test' })).json
    for (let at = 0; at < 3; at++) await ask(proxy, key.value, 'same question', { 'x-request-id': `req-${at}` })
    await proxy.settle()
    const first = (await get(`/v1/requests?project_id=${id}&limit=2`)).json
    expect(first).toMatchObject({ has_more: true })
    const rest = (await get(`/v1/requests?project_id=${id}&limit=2&after=${first.last_id}`)).json
    expect([...first.data, ...rest.data].map((row: { cache_result: string }) => row.cache_result)).toEqual([
      'HIT',
      'HIT',
      'MISS',
    ])
    const misses = (await get(`/v1/requests?project_id=${id}&cache_result=MISS`)).json.data
    expect(misses).toMatchObject([{ request_id: 'req-0', api_key_id: key.id, key_name: 'ci', status: 200 }])
    expect((await get(`/v1/requests/${misses[0].id}?project_id=${id}`)).json).toEqual(misses[0])
    const overview = (
      await get(
        `/v1/usage?project_id=${id}&start_time=${Math.floor(Date.now() / 1000) - 7200}&end_time=${Math.floor(Date.now() / 1000) + 60}`,
      )
    ).json
    expect(overview.totals).toMatchObject({ requests: 3, exact_hits: 2, misses: 1 })
    expect(overview.by_api_key).toMatchObject([{ name: 'ci', requests: 3 }])
    expect(overview.latency.map((row: { cache_result: string }) => row.cache_result)).toEqual(['HIT', 'MISS'])
  })

  test('invalid input is reported in OpenAI’s envelope, and never repeated', async () => {
    const { id } = await organization.projects.create({ name: 'acme' })
    const cases: [path: string, body: unknown, param: string | null][] = [
      ['/v1/organization/projects', { name: 5, secret: 'zebra' }, null],
      ['/v1/organization/projects', { name: 'a', zebra: 'zebra' }, 'zebra'],
      ['/v1/organization/projects', ['zebra'], null],
      // The body of this operation has no required field.
      [`/v1/organization/projects/${id}`, null, null],
      [`/v1/organization/projects/${id}`, 'zebra', null],
      ['/v1/organization/admin_api_keys', { name: 'zebra', expires_in_seconds: 'zebra' }, 'expires_in_seconds'],
    ]
    for (const [path, body, param] of cases) {
      const { status, json, text } = await post(path, body)
      expect([path, status]).toEqual([path, 400])
      expect(Object.keys(json.error).sort()).toEqual(['code', 'message', 'param', 'type'])
      if (param !== null) expect(json.error.param).toBe(param)
      if (param !== 'zebra') expect(text).not.toContain('zebra')
    }
    const unreadable = await fetch(`${proxy.baseUrl}/organization/projects`, {
      method: 'POST',
      headers: { ...bearer(), 'content-type': 'application/json' },
      body: '{"name": zebra',
    })
    expect([unreadable.status, await unreadable.text()]).toEqual([400, expect.not.stringContaining('zebra')])
    const form = await fetch(`${proxy.baseUrl}/organization/projects`, {
      method: 'POST',
      headers: { ...bearer(), 'content-type': 'text/plain' },
      body: '{}',
    })
    expect(form.status).toBe(415)
    expect((await get('/v1/organization/projects?limit=0')).json.error.param).toBe('limit')
    expect((await get('/v1/organization/projects?limit=1000')).status).toBe(400)
  })

  test('the API describes itself', async () => {
    const { json } = await send(proxy, 'GET', '/openapi.json')
    const { post } = json.paths['/v1/organization/projects/{project_id}/api_keys']
    expect(post.requestBody.content['application/json'].schema).toMatchObject({
      type: 'object',
      required: ['name'],
      additionalProperties: false,
    })
    expect(Object.keys(post.responses)).toEqual(['200', '4XX', '5XX'])
    // The description has no paths of the proxied API: OpenAI describes those.
    expect(Object.keys(json.paths).filter(path => /chat|\*/.test(path))).toEqual([])
    const bodies = Object.values<Record<string, { requestBody?: { content: object } }>>(json.paths).flatMap(path =>
      Object.values(path).flatMap(({ requestBody }) => (requestBody ? [requestBody.content] : [])),
    )
    expect(bodies.length).toBeGreaterThan(15)
    for (const content of bodies) expect(content).toHaveProperty('application/json')
  })
})
