/** Webhooks in the admin API: created, called, listed, called again, deleted. */
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { startProxy, type TestProxy } from '../../harness/proxy.ts'
import { type Receiver, startReceiver } from '../../harness/receiver.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { addUser, issueAdminKey, send } from './people.ts'

describeOnce('the admin API’s webhooks', backend => {
  let proxy: TestProxy
  let receiver: Receiver
  let headers: Record<string, string>
  let own: string

  beforeAll(async () => {
    const environment = { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, WEBHOOK_PRIVATE_NETWORKS: 'on' }
    proxy = await startProxy({ dashboard: true, stores: await backend.open(), environment })
    await addUser(proxy, 'root@example.org', 'owner')
    headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` }
    const { json } = await send(proxy, 'POST', '/v1/organization/projects', { headers, body: { name: 'acme' } })
    own = `/v1/organization/projects/${json.id}`
    receiver = startReceiver()
  })
  afterAll(() => Promise.all([proxy.stop(), receiver.stop()]))

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
    [{ url: 'nowhere' }, 'must be a URL'],
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

  test('another project’s webhooks are not found', async () => {
    for (const path of ['/webhooks/webhook_999/test', '/deliveries/delivery_999/resend']) {
      expect((await post(path)).status).toBe(404)
    }
  })
})
