/** `Idempotency-Key` of POST requests to the admin API. */
import { beforeAll, expect, test } from 'vitest'
import { callFunction } from '../../../src/postgres/call.ts'
import { describeBackends } from '../../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { type Answered, addUser, issueAdminKey, send } from './people.ts'

const PROJECTS = '/v1/organization/projects'

describeBackends('idempotency keys of the admin API', backend => {
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), dashboard: true, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } }),
  )
  let key: string
  let project: string
  let used = 0

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    key = await issueAdminKey(proxy, 'root@example.org')
    project = `${PROJECTS}/${(await post(PROJECTS, { name: 'acme' })).json.id}`
  })

  const post = (
    path: string,
    body: unknown,
    idempotencyKey?: string,
    { as = key, on = proxy } = {},
  ): Promise<Answered> =>
    send(on, 'POST', path, {
      headers: {
        authorization: `Bearer ${as}`,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      body,
    })
  const nextKey = () => `key ${++used}`.replace(' ', '-')
  const count = async (table: string, where: string) =>
    (await proxy.query<{ rows: number }>(`select count(*)::integer as rows from ${table} where ${where}`))[0]?.rows

  test('an equal request gets the first response, with its secret, and creates nothing', async () => {
    const once = nextKey()
    const first = await post(`${project}/api_keys`, { name: 'ci', type: 'test' }, once)
    expect([first.status, first.json.value]).toEqual([200, expect.stringMatching(/^lgw_test_/)])
    const again = await post(`${project}/api_keys`, { type: 'test', name: 'ci' }, once)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(await count('api_keys', `name = 'ci'`)).toBe(1)
    // Without a key, the name is in use.
    expect((await post(`${project}/api_keys`, { name: 'ci', type: 'test' })).status).toBe(409)
  })

  test('stores no response and no key in plain text', async () => {
    const once = nextKey()
    const { json } = await post(`${project}/webhooks`, { url: 'https://hooks.example.org/sealed' }, once)
    const rows = await proxy.query<{ row: string; response: string }>(
      `select t::text as row, encode(response, 'escape') as response from idempotent_requests t`,
    )
    expect(rows.length).toBeGreaterThan(0)
    for (const { row, response } of rows) {
      expect(`${row}${response}`).not.toContain(json.secret)
      expect(`${row}${response}`).not.toContain('hooks.example.org')
      expect(row).not.toContain(once)
    }
  })

  test('another path or body with the same key is a 422, and changes nothing', async () => {
    const once = nextKey()
    expect((await post(PROJECTS, { name: 'reused' }, once)).status).toBe(200)
    for (const [path, body] of [
      [PROJECTS, { name: 'reused-2' }],
      [`${project}/api_keys`, { name: 'reused' }],
    ] as const) {
      const { status, json } = await post(path, body, once)
      expect([status, json.error.code]).toEqual([422, 'idempotency_key_reused'])
    }
    expect(await count('projects', `name = 'reused-2'`)).toBe(0)
    expect(await count('api_keys', `name = 'reused'`)).toBe(0)
  })

  test('concurrent equal requests create one object, and get one response', async () => {
    const other = await startProxy({
      stores: proxy.stores,
      dashboard: true,
      environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY },
    })
    const once = nextKey()
    const body = { url: 'https://hooks.example.org/once' }
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        post(`${project}/webhooks`, body, once, { on: index % 2 === 0 ? proxy : other }),
      ),
    )
    await other.stop()
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await count('webhooks', `url = '${body.url}'`)).toBe(1)
  })

  test('a rejected request leaves its key free', async () => {
    const once = nextKey()
    const rejected = await post(`${project}/api_keys`, { name: 'ci', type: 'test' }, once)
    expect([rejected.status, rejected.json.error.code]).toEqual([409, 'already_exists'])
    expect((await post(`${project}/api_keys`, { name: 5 }, once)).status).toBe(400)
    expect((await post(`${project}/api_keys`, { name: 'freed' }, once)).status).toBe(200)
  })

  test('belongs to one admin key', async () => {
    const once = nextKey()
    await addUser(proxy, 'other@example.org', 'owner')
    const other = await issueAdminKey(proxy, 'other@example.org')
    const first = await post(PROJECTS, { name: 'mine' }, once)
    expect(first.status).toBe(200)
    const answer = await post(PROJECTS, { name: 'mine' }, once, { as: other })
    expect([answer.status, answer.json.error.code]).toEqual([409, 'already_exists'])
  })

  test('an equal request after 24 hours is a new one, and upkeep deletes the key', async () => {
    const once = nextKey()
    const body = { url: 'https://hooks.example.org/daily' }
    const first = await post(`${project}/webhooks`, body, once)
    await proxy.query(`update idempotent_requests set started_at = now() - interval '24 hours 1 second'`)
    const second = await post(`${project}/webhooks`, body, once)
    expect([second.status, second.json.id]).toEqual([200, expect.not.stringMatching(first.json.id)])
    await proxy.query(`update idempotent_requests set started_at = now() - interval '25 hours'`)
    await callFunction(proxy.stores.database, 'delete_expired_rows', { max_rows: 1_000 })
    expect(await count('idempotent_requests', 'true')).toBe(0)
  })

  test('names the created object if its response cannot be decrypted', async () => {
    const once = nextKey()
    const { json: made } = await post(`${project}/api_keys`, { name: 'undecrypted' }, once)
    await proxy.query(`update idempotent_requests set response = null where target = '${made.id}'`)
    const { status, json, headers } = await post(`${project}/api_keys`, { name: 'undecrypted' }, once)
    expect([status, json.error.code, headers.get('x-should-retry')]).toEqual([
      409,
      'idempotent_response_missing',
      'false',
    ])
    expect(json.error.message).toContain(made.id)
    expect(json.error.message).not.toContain(made.value)
  })

  test.for(['', 'a b', 'ü', 'a'.repeat(256)])('rejects the key %j', async given => {
    const { status, json } = await post(PROJECTS, { name: 'malformed' }, given === 'ü' ? '\u00fc' : given)
    expect([status, json.error.param]).toEqual([400, 'Idempotency-Key'])
    expect(await count('projects', `name = 'malformed'`)).toBe(0)
  })
})
