/** Webhooks in the admin API: created, called, listed, called again, deleted. */
import { Webhook } from 'standardwebhooks'
import { beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { startReceiver } from '../../harness/receiver.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { addUser, issueAdminKey, logIn, send } from './people.ts'

describeOnce('the admin API’s webhooks', backend => {
  const proxy = duringTests(() =>
    startProxy({
      dashboard: true,
      stores: backend.open(),
      environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, WEBHOOK_PRIVATE_NETWORKS: 'on' },
    }),
  )
  const receiver = duringTests(startReceiver)
  let headers: Record<string, string>
  let own: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` }
    const { json } = await send(proxy, 'POST', '/v1/organization/projects', { headers, body: { name: 'acme' } })
    own = `/v1/organization/projects/${json.id}`
  })

  const post = (path: string, body: unknown = {}) => send(proxy, 'POST', `${own}${path}`, { headers, body })
  const get = async (path: string) => (await send(proxy, 'GET', `${own}${path}`, { headers })).json

  test('shows the secret once, and signs deliveries with it', async () => {
    const { json: added } = await post('/webhooks', { url: `${receiver.url}/here`, events: ['webhook.test'] })
    expect(added.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(JSON.stringify(await get('/webhooks'))).not.toContain(added.secret.slice(6))
    receiver.answerWith(500)
    const { json: sent } = await post(`/webhooks/${added.id}/test`)
    await waitUntil('the delivery has failed', async () => (await get('/deliveries')).data[0]?.problem !== null)
    const listed = await get(`/deliveries?webhook_id=${added.id}`)
    expect(listed.data).toMatchObject([{ id: sent.id, kind: 'webhook.test', state: 'pending' }])
    receiver.answerWith(200)
    expect((await post(`/deliveries/${sent.id}/resend`)).status).toBe(200)
    await waitUntil('the event is delivered', async () => (await get('/deliveries')).data[0]?.state === 'delivered')
    const last = receiver.messages.at(-1)
    const verified = new Webhook(added.secret).verify(last?.body ?? '', last?.headers ?? {}) as { type: string }
    expect(verified.type).toBe('webhook.test')
    expect((await send(proxy, 'DELETE', `${own}/webhooks/${added.id}`, { headers })).json.deleted).toBe(true)
    expect([(await get('/webhooks')).data, (await get('/deliveries')).data]).toEqual([[], []])
  })

  test.each([
    [{ url: 'ftp://example.com/' }, 'https://'],
    [{ url: 'https://user:secret@example.com/' }, 'must not contain a user'],
    [{ url: 'mailto:ops@example.org' }, 'SMTP_URL'],
    [{ url: 'nowhere' }, 'begins with https://'],
    [{ url: 'HTTPS:' }, 'must be a URL'],
    [{ url: `https://example.com/${'é'.repeat(339)}` }, 'at most 2048 characters'],
    [{ url: 'https://example.com/', events: ['everything'] }, 'api_key.created'],
  ])('%j is a 400 that says what to change', async (body, problem) => {
    const refused = await post('/webhooks', body)
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining(problem)])
  })

  test('stores an address as it was parsed', async () => {
    const given = [
      ['HTTPS://Example.COM:443/a b?q=ü#x', 'https://example.com/a%20b?q=%C3%BC#x'],
      ['hTTp:example.org', 'http://example.org/'],
      ['https://bücher.example/\n', 'https://xn--bcher-kva.example/'],
      [`https://example.com/${'é'.repeat(338)}`, `https://example.com/${'%C3%A9'.repeat(338)}`],
    ]
    for (const [url, stored] of given) {
      const { status, json } = await post('/webhooks', { url })
      expect([status, json.url]).toEqual([200, stored])
      const [found] = (await get('/webhooks')).data.filter(({ id }: { id: string }) => id === json.id)
      expect(found.url).toBe(stored)
      expect((await send(proxy, 'DELETE', `${own}/webhooks/${json.id}`, { headers })).status).toBe(200)
    }
  })

  test('a changed address receives events again, with the same secret', async () => {
    const { json: added } = await post('/webhooks', { url: `${receiver.url}/old` })
    receiver.reset()
    receiver.answerWith(410)
    await post(`/webhooks/${added.id}/test`)
    await waitUntil('it is disabled', async () => (await get(`/webhooks/${added.id}`)).disabled_at !== null)
    receiver.answerWith(200)
    expect((await post(`/webhooks/${added.id}`, { events: ['webhook.test'] })).json.disabled_at).not.toBeNull()
    const { json: changed } = await post(`/webhooks/${added.id}`, { url: `${receiver.url}/new` })
    expect(changed).toMatchObject({ url: `${receiver.url}/new`, events: ['webhook.test'], disabled_at: null })
    expect(changed).not.toHaveProperty('secret')
    await post(`/webhooks/${added.id}/test`)
    await waitUntil('the test event', () => receiver.messages.length === 2)
    const last = receiver.messages[1]
    expect(last?.path).toBe('/new')
    new Webhook(added.secret).verify(last?.body ?? '', last?.headers ?? {})
    expect((await post(`/webhooks/${added.id}`, { url: 'mailto:ops@example.org' })).status).toBe(400)
    await send(proxy, 'DELETE', `${own}/webhooks/${added.id}`, { headers })
  })

  test('only an owner changes a webhook of the project', async () => {
    await addUser(proxy, 'member@example.org', 'reader')
    await proxy.query(`select add_member('acme', 'member@example.org', 'member')`)
    const { json: added } = await post('/webhooks', { url: `${receiver.url}/mine` })
    const member = await logIn(proxy, 'member@example.org')
    const changed = await member.send('POST', `${own}/webhooks/${added.id}`, { events: [] })
    expect(changed.status).toBe(403)
    await send(proxy, 'DELETE', `${own}/webhooks/${added.id}`, { headers })
  })

  test('another project’s webhooks are not found', async () => {
    for (const path of ['/webhooks/webhook_999/test', '/deliveries/delivery_999/resend']) {
      expect((await post(path)).status).toBe(404)
    }
  })
})
