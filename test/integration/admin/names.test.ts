/** Finds objects by name, reads single ones, and renames them. */
import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { type Answered, addUser, issueAdminKey, send } from './people.ts'

const ORGANIZATION = '/v1/organization'
const PROJECTS = `${ORGANIZATION}/projects`

describeOnce('names in the admin API', backend => {
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), dashboard: true, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } }),
  )
  let key: string
  let project: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    key = await issueAdminKey(proxy, 'root@example.org')
    const { json } = await call('POST', PROJECTS, { name: 'acme' })
    await call('POST', PROJECTS, { name: 'acme-2' })
    project = `${PROJECTS}/${json.id}`
    for (const name of ['ci', 'ci-2']) {
      await call('POST', `${project}/api_keys`, { name })
      await call('POST', `${ORGANIZATION}/admin_api_keys`, { name })
      await call('POST', `${project}/provider_keys/openai`, { name, value: 'sk-0123456789' })
      await call('POST', `${project}/webhooks`, { url: `https://${name}.example.org/` })
    }
    await call('POST', `${project}/budgets`, { unit: 'usd', amount: 5, per: 'month' })
    await call('POST', `${project}/spend_alerts`, {
      ...{ currency: 'USD', interval: 'month', threshold_amount: 20 },
      notification_channel: { type: 'email', recipients: ['ops@example.org'] },
    })
  })

  const call = (method: string, path: string, body?: unknown): Promise<Answered> =>
    send(proxy, method, path, { headers: { authorization: `Bearer ${key}` }, ...(body !== undefined && { body }) })

  test.for([
    ['projects', PROJECTS, 'name', 'acme'],
    ['API keys', 'PROJECT/api_keys', 'name', 'ci'],
    ['service accounts', 'PROJECT/service_accounts', 'name', 'ci'],
    ['admin keys', '/v1/organization/admin_api_keys', 'name', 'ci'],
    ['provider keys', 'PROJECT/provider_keys', 'name', 'ci'],
    ['webhooks', 'PROJECT/webhooks', 'url', 'https://ci.example.org/'],
    ['plans', '/v1/organization/plans', 'name', 'free'],
    ['vendors', '/v1/organization/vendors', 'name', 'openai'],
  ] as const)('a list of %s has only the object with exactly this name', async ([, list, field, value]) => {
    const path = list.replace('PROJECT', project)
    const { json } = await call('GET', `${path}?${field}=${encodeURIComponent(value)}`)
    expect(json.data.map((each: Record<string, string>) => each[field])).toEqual([value])
    const other = await call('GET', `${path}?${field}=${encodeURIComponent(value.slice(0, -1))}`)
    expect([other.status, other.json.data]).toEqual([200, []])
  })

  test('reads each listed object by its id or name', async () => {
    for (const [list, nameOf] of [
      [PROJECTS],
      [`${project}/api_keys`],
      [`${project}/service_accounts`],
      [`${project}/users`],
      [`${project}/webhooks`],
      [`${project}/budgets`],
      [`${project}/spend_alerts`],
      [`${project}/rate_limits`],
      [`${project}/provider_keys`, (each: { provider: string; name: string }) => `${each.provider}?name=${each.name}`],
      [`${ORGANIZATION}/users`],
      [`${ORGANIZATION}/admin_api_keys`],
      [`${ORGANIZATION}/audit_logs`],
      [`${ORGANIZATION}/plans`, (each: { name: string }) => each.name],
      [`${ORGANIZATION}/vendors`],
    ] as const) {
      const { data } = (await call('GET', list)).json
      if (!list.endsWith('/users') && !list.endsWith('projects')) expect([list, data.length > 0]).toEqual([list, true])
      for (const each of data) {
        const found = await call('GET', `${list}/${nameOf ? nameOf(each) : each.id}`)
        // An admin key's last use changes with each request.
        expect([list, found.status, { ...found.json, last_used_at: 0 }]).toEqual([
          list,
          200,
          { ...each, last_used_at: 0 },
        ])
      }
      const missing = await call('GET', `${list}/${String(data[0]?.id ?? 'proj_1').replace(/\d*$/, '99999')}`)
      expect([list, missing.status]).toEqual([list, 404])
    }
  })

  test('renames keys and changes their expiry, but not to a name that is in use', async () => {
    const [found] = (await call('GET', `${project}/api_keys?name=ci-2`)).json.data
    const path = `${project}/api_keys/${found.id}`
    const renamed = await call('POST', path, { name: 'deploys', expires_in_seconds: 600, requests_per_minute: 5 })
    expect(renamed.json).toMatchObject({ id: found.id, name: 'deploys', requests_per_minute: 5 })
    expect(renamed.json.expires_at).toBeGreaterThan(found.created_at)
    expect((await call('POST', path, { expires_in_seconds: null })).json).toMatchObject({
      name: 'deploys',
      expires_at: null,
    })
    const taken = await call('POST', path, { name: 'ci', requests_per_minute: 7 })
    expect([taken.status, taken.json.error.code]).toEqual([409, 'already_exists'])
    expect((await call('GET', path)).json).toMatchObject({ name: 'deploys', requests_per_minute: 5 })

    const [adminKey] = (await call('GET', `${ORGANIZATION}/admin_api_keys?name=ci-2`)).json.data
    const changed = await call('POST', `${ORGANIZATION}/admin_api_keys/${adminKey.id}`, { name: 'deploys' })
    expect(changed.json).toMatchObject({ id: adminKey.id, name: 'deploys' })
  })

  test('an expired key is valid again with a later expiry', async () => {
    const made = (await call('POST', `${project}/api_keys`, { name: 'short', type: 'test', expires_in_seconds: 1 }))
      .json
    await proxy.query(`update api_keys set expires_at = now() - interval '1 second' where name = 'short'`)
    const models = () => fetch(`${proxy.baseUrl}/models`, { headers: { authorization: `Bearer ${made.value}` } })
    expect((await models()).status).toBe(401)
    const renewed = await call('POST', `${project}/api_keys/${made.id}`, { expires_in_seconds: 600 })
    expect(renewed.json.state).toBe('active')
    expect((await models()).status).toBe(200)
  })
})
