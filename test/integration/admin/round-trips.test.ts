/**
 * Declared state equals read state, as tools that keep a plan need it: each resource is created with all fields, read back, changed field
 * by field, applied again without a change, and deleted. Resources and fields are those of the description.
 */
import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { type DescribedOperation, listOperations } from '../../harness/description.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

type Fields = Record<string, unknown>

interface Resource {
  /** The path that creates the resource. */
  path: string
  made: Fields
  /** Another value for each field that can change. All other fields stay. */
  changed?: Fields
  /** Fields that no response repeats. */
  unread?: string[]
  /** The path that reads, changes and deletes the resource. A resource without one is set by the creating path and read from its list. */
  item?: string
  /** The fields that identify the resource in a list. */
  by?: string[]
  /** The fields of a deleted resource, if it is not a 404. */
  gone?: Fields
}

const MONTH = { currency: 'USD', interval: 'month', threshold_amount: 1_000 }
const channel = (name: string) => ({
  type: 'email',
  recipients: [`${name}@example.org`],
  subject_prefix: name,
})
const ALERT = {
  made: { ...MONTH, notification_channel: channel('one') },
  changed: { threshold_amount: 2_000, notification_channel: channel('two') },
}
const P = '/v1/organization/projects/{project_id}'

const RESOURCES: Resource[] = [
  {
    path: `${P}/api_keys`,
    item: '/{key_id}',
    made: { name: 'ci', type: 'test', expires_in_seconds: 1_000, budget: { unit: 'usd', amount: 2, per: 'day' } },
    changed: {
      name: 'deploy',
      expires_in_seconds: null,
      requests_per_minute: 5,
      tokens_per_minute: 7,
      allowed_models: ['openai/gpt-4o-mini'],
      allowed_addresses: ['10.0.0.0/8'],
    },
    unread: ['expires_in_seconds', 'budget'],
    gone: { state: 'deactivated' },
  },
  {
    path: `${P}/service_accounts`,
    item: '/{service_account_id}',
    made: { name: 'terraform', expires_in_seconds: 1_000 },
    unread: ['expires_in_seconds'],
  },
  {
    path: `${P}/model_permissions`,
    made: { mode: 'allow_list', model_ids: ['openai/gpt-4o-mini'] },
    changed: { model_ids: ['openai/*', 'gpt-4o'] },
    gone: { mode: 'deny_list', model_ids: [] },
  },
  {
    path: `${P}/provider_keys/openai`,
    made: { value: 'sk-0123456789abcdef', name: 'first', weight: 2 },
    changed: { weight: 3 },
    unread: ['value'],
    by: ['name'],
  },
  {
    path: `${P}/webhooks`,
    item: '/{webhook_id}',
    made: { url: 'https://hooks.example.org/a', events: ['webhook.test'], format: 'slack' },
    changed: { url: 'https://hooks.example.org/b', events: ['provider.down'] },
    by: ['id'],
  },
  {
    path: `${P}/users`,
    item: '/{user_id}',
    made: { email: 'member@example.org', role: 'viewer' },
    changed: { role: 'owner' },
  },
  {
    path: `${P}/budgets`,
    item: '/{budget_id}',
    made: {
      unit: 'usd',
      amount: 12.5,
      per: 'week',
      api_key_id: 'KEY',
      model: 'openai/gpt-4o',
      tag: 'team=search',
      time_zone: 'Europe/Vienna',
    },
    changed: { amount: 3 },
    by: ['unit', 'per', 'model'],
  },
  { path: `${P}/spend_limit`, made: MONTH, changed: { threshold_amount: 3_000 } },
  { path: '/v1/organization/spend_limit', made: MONTH, changed: { threshold_amount: 3_000 } },
  { path: `${P}/spend_alerts`, item: '/{alert_id}', ...ALERT },
  { path: '/v1/organization/spend_alerts', item: '/{alert_id}', ...ALERT },
  {
    path: '/v1/organization/users',
    item: '/{user_id}',
    made: { email: 'new@example.org', role: 'reader' },
    changed: { role: 'owner' },
  },
  {
    path: '/v1/organization/invites',
    item: '/{invite_id}',
    made: { email: 'invited@example.org', role: 'reader', projects: [{ id: 'PROJECT', role: 'member' }] },
  },
  {
    path: '/v1/organization/admin_api_keys',
    item: '/{key_id}',
    made: { name: 'deploys', expires_in_seconds: 1_000, permissions: 'read_only', project_id: 'PROJECT' },
    changed: { name: 'releases' },
    unread: ['expires_in_seconds'],
  },
]
/** Resources that are created or changed in another way, each with its own test, and operations that store nothing. */
const OTHERS = [
  '/v1/organization/leaked_keys',
  '/v1/organization/projects',
  '/v1/organization/vendors',
  '/v1/organization/vendors/{vendor}',
  P,
  `${P}/settings`,
  '/v1/organization/plans/{plan}',
  `${P}/api_keys/{key_id}/rotate`,
  `${P}/end_users/forget`,
  `${P}/rate_limits/{rate_limit_id}`,
]

describeOnce('round trips through the admin API', backend => {
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } }),
  )
  let key: string
  let project: string
  let operations: DescribedOperation[]

  const call = (method: string, path: string, body?: unknown) =>
    send(proxy, method, path, { body, headers: { authorization: `Bearer ${key}` } })

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    key = await issueAdminKey(proxy, 'root@example.org')
    project = (await call('POST', '/v1/organization/projects', { name: 'acme', plan: 'free' })).json.id
    // A second owner, so that an owner who is added by a test can be removed.
    await addUser(proxy, 'owner@example.org', 'reader')
    await proxy.query(`select add_member('acme', 'owner@example.org', 'owner')`)
    operations = await listOperations()
  })

  /** The fields of the operation's request body. */
  function fieldsAt(path: string): { all: string[]; required: string[] } {
    const schema = operations.find(each => each.method === 'POST' && each.path === path)?.operation.requestBody
      ?.content['application/json'].schema
    return { all: Object.keys(schema?.properties ?? {}), required: schema?.required ?? [] }
  }

  test('each operation with input belongs to a resource that is tested here', () => {
    const described = operations
      .filter(
        ({ method, path, operation }) =>
          method === 'POST' && path.startsWith('/v1/organization') && operation.requestBody,
      )
      .map(({ path }) => path.replace('{provider}', 'openai'))
    const known = RESOURCES.flatMap(({ path, item, changed }) => [path, ...(item && changed ? [path + item] : [])])
    expect(described.filter(path => ![...known, ...OTHERS].includes(path))).toEqual([])
  })

  test.each(RESOURCES)('$path', async ({ path, item, made, changed = {}, unread = [], by, gone }) => {
    const at = path.replace('{project_id}', project)
    const described = path.replace('/openai', '/{provider}')
    if (made.project_id === 'PROJECT') made.project_id = project
    if ('api_key_id' in made) made.api_key_id = (await call('POST', `${at}/../api_keys`, { name: 'spender' })).json.id
    if ('projects' in made) made.projects = [{ id: project, role: 'member' }]
    // Every field of the description is set. A member is identified by `email` or `user_id`, of which one is enough.
    const { all } = fieldsAt(described)
    expect(Object.keys(made).sort()).toEqual(all.filter(name => name !== 'user_id').sort())

    const answer = await call('POST', at, made)
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
    const own = item && !by ? `${at}/${answer.json.id}` : at
    const list = by === undefined ? null : at.replace(/\/openai$/, '')
    const read = async () => {
      const found = await call('GET', list ?? own)
      if (list === null) return found
      const one = found.json.data.find((each: Fields) =>
        by?.every(name => each[name] === (answer.json[name] ?? made[name])),
      )
      return { status: one === undefined ? 404 : 200, json: one }
    }
    const readable = (fields: Fields) =>
      Object.fromEntries(Object.entries(fields).filter(([name]) => !unread.includes(name)))
    expect((await read()).json).toMatchObject(readable(made))

    const target = item && fieldsAt(path + item).all.length > 0 ? `${at}/${answer.json.id}` : at
    const { required } = fieldsAt(target === at ? described : path + item)
    const isWhole = target === at || required.length > 1
    if (target !== at)
      expect(Object.keys(changed).sort()).toEqual(
        expect.arrayContaining(fieldsAt(path + item).all.filter(name => !(name in MONTH))),
      )
    let now: Fields = { ...made }
    for (const [name, value] of Object.entries(changed)) {
      now = { ...now, [name]: value }
      const body = isWhole ? now : { [name]: value }
      const { status, text } = await call('POST', target, body)
      expect([name, status, text]).toEqual([name, 200, expect.any(String)])
      const { json } = await read()
      expect(json).toMatchObject(readable(now))
      // Applying the same values again changes nothing.
      await call('POST', target, body)
      expect({ ...(await read()).json, updated_at: 0 }).toEqual({ ...json, updated_at: 0 })
    }

    const name = by?.includes('name') ? `?name=${made.name}` : ''
    const end = item ? `${at}/${answer.json.id}` : at
    expect((await call('DELETE', end + name)).status).toBe(200)
    const left = await read()
    if (gone) return expect(left.json).toMatchObject(gone)
    expect(left.status).toBe(404)
    expect((await call('DELETE', end + name)).status).toBe(404)
  })

  test('a project, until it is archived', async () => {
    const path = '/v1/organization/projects'
    const made = await call('POST', path, { name: 'other', plan: 'free' })
    for (const field of [{ name: 'renamed' }, { plan: 'pro' }]) {
      for (const _ of ['once', 'again'])
        expect((await call('POST', `${path}/${made.json.id}`, field)).json).toMatchObject(field)
    }
    expect(fieldsAt(P).all).toEqual(['name', 'plan'])
    expect((await call('GET', `${path}/${made.json.id}`)).json).toEqual({ ...made.json, name: 'renamed', plan: 'pro' })
    expect((await call('POST', `${path}/${made.json.id}/archive`)).json.status).toBe('archived')
  })

  test('every limit of a plan', async () => {
    const path = '/v1/organization/plans/free'
    const { all } = fieldsAt('/v1/organization/plans/{plan}')
    for (const [at, name] of all.entries()) {
      const plan = (await call('POST', path, { [name]: 100 + at })).json
      expect([name, plan[name]]).toEqual([name, 100 + at])
      expect((await call('POST', path, { [name]: 100 + at })).json).toEqual(plan)
    }
  })

  test('every setting of a project', async () => {
    const path = `/v1/organization/projects/${project}/settings`
    const { settings, kinds } = (await call('GET', path)).json
    const ofType: Record<string, (kind: { words: string[]; least: number | null; most: number | null }) => unknown> = {
      choice: ({ words }) => words.at(-1),
      number: ({ least, most }) => most ?? (least ?? 0) + 1,
      whole: ({ least, most }) => most ?? (least ?? 0) + 1,
      text: () => 'openai/gpt-4o-mini',
      models: () => ['openai/gpt-4o-mini'],
      aliases: () => ['quick=openai/gpt-4o-mini'],
      contexts: () => [`${'a'.repeat(16)}=question`],
      durations: () => ['20000', 'openai/gpt-4o-mini=30000'],
    }
    for (const kind of kinds) {
      const value = ofType[kind.type]?.(kind)
      const set = await call('POST', path, { [kind.name]: value })
      expect([kind.name, set.status, set.text]).toEqual([kind.name, 200, expect.any(String)])
      expect([kind.name, set.json.settings[kind.name]]).toEqual([kind.name, value])
      const again = await call('POST', path, { [kind.name]: set.json.settings[kind.name] })
      expect([kind.name, again.json.settings]).toEqual([kind.name, set.json.settings])
    }
    // Two settings can still be read by their former names.
    const names = kinds.map(({ name }: { name: string }) => name)
    expect(
      Object.keys(settings)
        .filter(name => !names.includes(name))
        .sort(),
    ).toEqual(['semantic_enabled', 'semantic_guards'])
  })
})
