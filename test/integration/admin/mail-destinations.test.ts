/** E-mail addresses as destinations of events: a real SMTP server receives them. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnce } from '../../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { LOCALHOST_CERTIFICATE } from '../../harness/localhost-certificate.ts'
import { MAIL_PASSWORD, readMailText, startMailServer } from '../../harness/mail-server.ts'
import { startProxy } from '../../harness/proxy.ts'
import { createTemporaryDirectory } from '../../harness/temporary-directory.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { addUser, issueAdminKey, send } from './people.ts'

const PUBLIC_URL = 'https://proxy.example.com'

describeOnce('e-mail addresses as destinations', backend => {
  const server = duringTests(() => startMailServer({ login: { user: 'proxy', password: MAIL_PASSWORD } }))
  const proxy = duringTests(async () => {
    const ca = `${createTemporaryDirectory()}/ca.crt`
    await Bun.write(ca, LOCALHOST_CERTIFICATE)
    const environment = {
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      PUBLIC_URL,
      SMTP_URL: `smtp://proxy:${MAIL_PASSWORD}@localhost:${server.port}`,
      SMTP_CA_FILE: ca,
      MAIL_FROM: 'Model Proxy <proxy@example.com>',
    }
    return startProxy({ dashboard: true, stores: backend.open(), environment })
  })
  let headers: Record<string, string>
  let own: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` }
    const { json } = await send(proxy, 'POST', '/v1/organization/projects', { headers, body: { name: 'acme' } })
    own = `/v1/organization/projects/${json.id}`
  })
  beforeEach(async () => {
    server.reset()
    await proxy.query('delete from webhooks')
  })

  const post = (path: string, body: unknown = {}) => send(proxy, 'POST', `${own}${path}`, { headers, body })
  const get = async (path: string) => (await send(proxy, 'GET', `${own}${path}`, { headers })).json
  const settled = (state: string) =>
    waitUntil(`a delivery is ${state}`, async () => (await get('/deliveries')).data[0]?.state === state)
  const raise = (kind: string, payload: object) =>
    proxy.query(`select raise_event(find_project('acme'), '${kind}', '${JSON.stringify(payload)}')`)

  test('an event is mailed, with a sentence and a link, and without a secret', async () => {
    const { json: added } = await post('/webhooks', { url: 'mailto:ops@example.org', events: ['api_key.created'] })
    expect(added).toMatchObject({ url: 'mailto:ops@example.org', format: 'email', events: ['api_key.created'] })
    await raise('circuit.opened', { provider: 'openai', wait_ms: 1000 })
    const secret = await proxy.createKey({ project: 'acme', type: 'project' })
    await settled('delivered')
    expect(server.mails).toMatchObject([{ to: ['ops@example.org'], from: 'proxy@example.com', isEncrypted: true }])
    const raw = server.mails[0]?.raw ?? ''
    expect(raw).toContain('Subject: [acme] API key created')
    expect(readMailText(raw)).toContain('was created in project acme.')
    expect(readMailText(raw)).toContain(`${PUBLIC_URL}/dashboard/${own.split('/').at(-1)}/settings/keys`)
    for (const hidden of [secret.slice(0, 17), MAIL_PASSWORD, 'whsec_']) expect(raw).not.toContain(hidden)
  })

  test('a repeated mail has the same id, and the deliveries show the reply of the server', async () => {
    await post('/webhooks', { url: 'mailto:rejected@example.org' })
    await raise('quota.threshold', { percent: 80, requests: 8, limit: 10, key_type: 'project', month: '2026-11-01' })
    await waitUntil('the first attempt has failed', async () => (await get('/deliveries')).data[0]?.problem !== null)
    const [failed] = (await get('/deliveries')).data
    expect(failed).toMatchObject({
      state: 'pending',
      status: 550,
      problem: 'the mail server rejected the address: 550',
    })
    await proxy.query(`update webhooks set url = 'mailto:ops@example.org'`)
    for (const count of [1, 2]) {
      await post(`/deliveries/${failed.id}/resend`)
      await waitUntil('the mail', () => server.mails.length === count)
      await settled('delivered')
    }
    const ids = server.mails.map(({ raw }) => /^Message-ID: (.*)$/m.exec(raw)?.[1])
    expect(new Set(ids).size).toBe(1)
    expect(server.mails[0]?.raw).toContain('Subject: [acme] Quota almost used')
  })

  test('names are text in HTML, and a recovered alert says so in its subject', async () => {
    await post('/webhooks', { url: 'mailto:ops@example.org' })
    await raise('provider.down', { state: 'recovered', provider: '<b>openai</b>' })
    await settled('delivered')
    expect(server.mails[0]?.raw).toContain('Subject: [acme] Resolved: Provider down')
    expect(server.mails[0]?.raw).toContain('&lt;b&gt;openai&lt;/b&gt; responds')
  })

  test('a test is sent to one destination', async () => {
    const { json: added } = await post('/webhooks', { url: 'mailto:ops@example.org' })
    await post('/webhooks', { url: 'mailto:others@example.org' })
    await post(`/webhooks/${added.id}/test`)
    await settled('delivered')
    expect(server.mails.map(({ to }) => to)).toEqual([['ops@example.org']])
  })

  test.each([
    ['mailto:ops@example.org?bcc=eve@example.org', {}, 'one e-mail address'],
    ['mailto:ops@example.org,eve@example.org', {}, 'one e-mail address'],
    ['mailto:nobody', {}, 'one e-mail address'],
    ['mailto:ops@example.org', { format: 'slack' }, 'needs a url that begins with mailto:'],
    ['https://example.org/', { format: 'email' }, 'needs a url that begins with mailto:'],
  ])('%s with %j is a 400', async (url, more, problem) => {
    const { status, json } = await post('/webhooks', { url, ...more })
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(problem)])
  })

  test('the address and the events can be changed, not the format', async () => {
    const { json: added } = await post('/webhooks', { url: 'mailto:ops@example.org' })
    const path = `/webhooks/${added.id}`
    expect((await post(path, { events: ['spend.unusual'] })).json).toMatchObject({
      url: 'mailto:ops@example.org',
      events: ['spend.unusual'],
      format: 'email',
    })
    expect((await post(path, { url: 'mailto:others@example.org' })).json).toMatchObject({
      url: 'mailto:others@example.org',
      events: ['spend.unusual'],
    })
    expect((await post(path, { events: [] })).json.events).toEqual([])
    for (const body of [{}, { events: ['everything'] }, { format: 'slack' }])
      expect((await post(path, body)).status).toBe(400)
    const { status, json: rejected } = await post(path, { url: 'https://example.org/' })
    expect([status, rejected.error.message]).toEqual([
      400,
      `${added.id} has the format email, which its url must fit: add another webhook instead.`,
    ])
    // From psql, no schema checks the events before the function does.
    const change = (kind: string) =>
      proxy.query(`select update_webhook('acme', ${added.id.replace('webhook_', '')}, null, array['${kind}'])`)
    await expect(change('everything')).rejects.toThrow('there is no event "everything"; events are: ')
    expect((await get(path)).events).toEqual([])
    await change('spend.unusual')
    expect((await get(path)).events).toEqual(['spend.unusual'])
    expect((await get(path)).url).toBe('mailto:others@example.org')
    expect((await post('/webhooks/webhook_999', { events: [] })).status).toBe(404)
  })
})
