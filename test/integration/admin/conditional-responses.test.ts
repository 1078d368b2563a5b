/** Responses of the admin API are compressed, and omitted if the client has them. */
import { beforeAll, expect, test } from 'vitest'
import { createJsonResponse } from '../../../src/admin/json-response.ts'
import type { HttpRequestContext } from '../../../src/http/respond.ts'
import { describeBackends } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey } from './people.ts'

const PATH = '/v1/organization/projects?limit=100'

describeBackends('conditional and compressed responses', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
  let adminKey: string
  beforeAll(async () => {
    await addUser(proxy, 'all@example.com', 'owner')
    adminKey = await issueAdminKey(proxy, 'all@example.com')
    for (let n = 0; n < 10; n++) await proxy.query(`select create_project('project-${n}', 'free')`)
  })

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${proxy.rootUrl}${path}`, {
      headers: { authorization: `Bearer ${adminKey}`, 'accept-encoding': 'identity', ...headers },
    })

  test('an unchanged response is a 304 without a body, a changed one is sent', async () => {
    const first = await get(PATH)
    const etag = first.headers.get('etag') ?? ''
    expect([first.status, first.headers.get('cache-control'), etag]).toEqual([
      200,
      'no-store',
      expect.stringMatching(/^W\/".+"$/),
    ])
    for (const known of [etag, `"another", ${etag}`]) {
      const same = await get(PATH, { 'if-none-match': known })
      expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, etag, ''])
      expect(same.headers.get('x-request-id')).not.toBeNull()
    }
    expect((await get(PATH, { 'if-none-match': '"another"' })).status).toBe(200)
    await proxy.query(`select create_project('four', 'free')`)
    const changed = await get(PATH, { 'if-none-match': etag })
    expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false])
    expect(await changed.text()).toContain('four')
  })

  test('a 304 needs the same rights as the response', async () => {
    const etag = (await get(PATH)).headers.get('etag') ?? ''
    const headers = { authorization: 'Bearer wrong', 'if-none-match': etag }
    expect((await fetch(`${proxy.rootUrl}${PATH}`, { headers })).status).toBe(401)
  })

  test.each([
    ['gzip', true],
    ['br, gzip;q=0.5', true],
    ['identity', false],
    ['gzip;q=0', false],
    ['gzip; q=0.0, br', false],
    ['x-gzipped', false],
  ])('with Accept-Encoding: %s, is compressed: %s', async (accepted, isCompressed) => {
    const plain = await (await get(PATH)).text()
    const response = await get(PATH, { 'accept-encoding': accepted })
    expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([
      isCompressed ? 'gzip' : null,
      'accept-encoding',
    ])
    expect(await response.text()).toBe(plain)
    expect(Number(response.headers.get('content-length')) < plain.length / 2).toBe(isCompressed)
  })

  test('a long response with a secret of the session is not compressed', async () => {
    const context = { requestId: '', arrivedAtMs: 0, corsHeaders: {}, apiForm: 'openai' } as HttpRequestContext
    const encodings = ['/dashboard/api/session', '/v1/requests'].map(async path => {
      const request = new Request(`http://localhost${path}`, { headers: { 'accept-encoding': 'gzip' } })
      const { headers } = await createJsonResponse(request, { token: 'x'.repeat(10_000) }, context)
      return headers.get('content-encoding')
    })
    expect(await Promise.all(encodings)).toEqual([null, 'gzip'])
  })

  test('a change has no ETag', async () => {
    const created = await fetch(`${proxy.rootUrl}/v1/organization/projects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', 'accept-encoding': 'gzip' },
      body: JSON.stringify({ name: 'five' }),
    })
    expect([created.status, created.headers.get('etag'), created.headers.get('content-encoding')]).toEqual([
      200,
      null,
      null,
    ])
  })
})
