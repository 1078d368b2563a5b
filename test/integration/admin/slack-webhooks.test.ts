/** Webhooks with the format slack: a local server receives a sentence for each type of event. */
import { beforeAll, expect, test } from 'vitest'
import { WEBHOOK_EVENT_TYPES } from '../../../src/postgres/seeds.generated.ts'
import { describeOnce } from '../../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { startReceiver } from '../../harness/receiver.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { addUser, type Browser, issueAdminKey, logIn, send } from './people.ts'

const SECRET_PATH = '/services/T000/B000/secret'
const PUBLIC_URL = 'https://proxy.example.com'

describeOnce('webhooks with the format slack', backend => {
  const proxy = duringTests(() =>
    startProxy({
      dashboard: true,
      stores: backend.open(),
      environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, WEBHOOK_PRIVATE_NETWORKS: 'on', PUBLIC_URL },
    }),
  )
  const receiver = duringTests(startReceiver)
  let headers: Record<string, string>
  let viewer: Browser
  let own: string
  let pages: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    await addUser(proxy, 'viewer@example.org', 'reader')
    headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'root@example.org')}` }
    const { json } = await send(proxy, 'POST', '/v1/organization/projects', { headers, body: { name: 'acme' } })
    await proxy.query(`select add_member('acme', 'viewer@example.org', 'viewer')`)
    viewer = await logIn(proxy, 'viewer@example.org')
    own = `/v1/organization/projects/${json.id}`
    pages = `${PUBLIC_URL}/dashboard/${json.id}`
  })

  const post = (path: string, body: unknown = {}) => send(proxy, 'POST', `${own}${path}`, { headers, body })
  const get = async (path: string) => (await send(proxy, 'GET', `${own}${path}`, { headers })).json
  const getAsViewer = async (path: string) => (await viewer.send('GET', `${own}${path}`)).json
  /** Adds a webhook and removes it afterwards. */
  async function withWebhook(body: object, run: (id: string) => Promise<void>): Promise<void> {
    receiver.reset()
    const { json } = await post('/webhooks', { url: `${receiver.url}${SECRET_PATH}`, ...body })
    try {
      await run(json.id)
    } finally {
      await send(proxy, 'DELETE', `${own}/webhooks/${json.id}`, { headers })
    }
  }
  const received = (count: number) => waitUntil('the messages', () => receiver.messages.length >= count)

  test('receives the exact body for each type of event', async () => {
    const budget = { percent: 80, unit: 'usd', used: 80, limit: 100, per: 'month', scope: 'project' }
    const quota = { percent: 100, requests: 1000, limit: 1000, key_type: 'project', month: '2026-11-01' }
    const key = { name: 'R&D <ci>', prefix: 'lgw_proj_AbCd1234', expires_at: '2026-12-01T10:00:00+00:00' }
    const cases: [kind: string, payload: object, sentence: string, page: string][] = [
      [
        'api_key.created',
        { ...key, type: 'project' },
        'The API key "R&amp;D &lt;ci&gt;" was created in project acme. It expires on 2026-12-01 10:00 UTC.',
        'settings/keys',
      ],
      [
        'api_key.deactivated',
        key,
        'The API key "R&amp;D &lt;ci&gt;" of project acme was deactivated.',
        'settings/keys',
      ],
      [
        'api_key.expiring',
        key,
        'The API key "R&amp;D &lt;ci&gt;" of project acme expires on 2026-12-01 10:00 UTC.',
        'settings/keys',
      ],
      [
        'budget.threshold',
        budget,
        'Project acme has reached 80% of its monthly budget: $80.00 of $100.00.',
        'settings/limits',
      ],
      [
        'cache.wrong_hit',
        { request_id: 'req-1', reason: 'verified', similarity: 0.93 },
        'A cached response of project acme was marked as wrong: that of the request req-1.',
        'cache',
      ],
      [
        'circuit.opened',
        { provider: 'openai', wait_ms: 30_000 },
        'The provider openai keeps failing in project acme: no requests are sent to it for 30 seconds.',
        'requests',
      ],
      [
        'quota.threshold',
        quota,
        'Project acme has reached 100% of its monthly quota for API keys: 1,000 of 1,000 requests.',
        'settings/limits',
      ],
      [
        'spend.unusual',
        { state: 'raised', value_usd: 30, limit_usd: 27, usual_usd: 9, requests: 80 },
        'Project acme has spent $30.00 in the last 24 hours; a usual day costs $9.00.',
        'costs',
      ],
      [
        'spend.unusual',
        { state: 'recovered', value_usd: 8, limit_usd: 27, usual_usd: 9, requests: 80 },
        'The spending of project acme is back to normal: $8.00 in the last 24 hours.',
        'costs',
      ],
      [
        'error_rate.high',
        { state: 'raised', value_percent: 12.5, limit_percent: 10, requests: 1240 },
        '12.5% of the 1,240 requests of project acme in the last half hour failed with a 5xx; the limit is 10%.',
        'requests',
      ],
      [
        'latency.high',
        { state: 'raised', value_ms: 45000, limit_ms: 30000, requests: 80 },
        'Responses of project acme are slow: in the last half hour, 5% took 45 seconds or longer to begin; the limit is 30 seconds.',
        'requests',
      ],
      [
        'provider.down',
        { state: 'raised', provider: 'openai', value_percent: 100, requests: 60 },
        'The provider openai is down for project acme: all 60 requests to it in the last half hour failed.',
        'requests',
      ],
      [
        'hit_rate.low',
        { state: 'raised', value_percent: 3, limit_percent: 22.5, usual_percent: 45, requests: 90 },
        'The cache of project acme answers much less than usual: the hit rate of the last hour is 3%, that of the last 7 days was 45%.',
        'cache',
      ],
      ['webhook.test', {}, 'This is a test message of project acme.', 'settings/alerts'],
    ]
    expect(new Set(cases.map(([kind]) => kind))).toEqual(new Set(WEBHOOK_EVENT_TYPES.map(({ kind }) => kind)))
    await withWebhook({ format: 'slack' }, async () => {
      for (const [kind, payload] of cases)
        await proxy.query(`select raise_event(find_project('acme'), '${kind}', '${JSON.stringify(payload)}')`)
      await received(cases.length)
      const bodies = cases.map(([, , sentence, page]) => JSON.stringify({ text: `${sentence}\n${pages}/${page}` }))
      expect(receiver.messages.map(({ body }) => body).toSorted()).toEqual(bodies.toSorted())
      expect(receiver.messages[0]?.headers).toMatchObject({
        'content-type': 'application/json',
        'webhook-id': expect.stringMatching(/^msg_/),
        'webhook-signature': expect.stringMatching(/^v1,/),
      })
    })
  })

  test('sends no part of a created key', async () => {
    await withWebhook({ format: 'slack', events: ['api_key.created'] }, async () => {
      const secret = await proxy.createKey({ project: 'acme', type: 'project' })
      await received(1)
      expect(receiver.messages[0]?.body).not.toContain(secret.slice(0, 17))
      expect(receiver.messages[0]?.body).toContain('was created in project acme')
    })
  })

  test('keeps the format when a 410 disables the webhook and a resend enables it', async () => {
    await withWebhook({ format: 'slack' }, async id => {
      receiver.answerWith(410)
      const { json: sent } = await post(`/webhooks/${id}/test`)
      await waitUntil('it is disabled', async () => (await get(`/webhooks/${id}`)).disabled_at !== null)
      receiver.answerWith(200)
      await post(`/deliveries/${sent.id}/resend`)
      await received(2)
      expect(JSON.parse(receiver.messages[1]?.body ?? '').text).toContain('test message of project acme')
      expect(await get(`/webhooks/${id}`)).toMatchObject({ format: 'slack', disabled_at: null })
    })
  })

  test('the default is Standard Webhooks, and other formats are rejected', async () => {
    await withWebhook({}, async id => {
      expect((await get(`/webhooks/${id}`)).format).toBe('standard')
      await post(`/webhooks/${id}/test`)
      await received(1)
      expect(JSON.parse(receiver.messages[0]?.body ?? '')).toMatchObject({ type: 'webhook.test', data: {} })
    })
    const { status, json } = await post('/webhooks', { url: receiver.url, format: 'xml' })
    expect([status, json.error.param]).toEqual([400, 'format'])
  })

  test('only owners see the path of its URL, which the audit log omits', async () => {
    await withWebhook({ format: 'slack' }, async id => {
      receiver.answerWith(404)
      await post(`/webhooks/${id}/test`)
      await waitUntil('it has failed', async () => (await get('/deliveries')).data[0]?.status === 404)
      expect((await get(`/webhooks/${id}`)).url).toBe(`${receiver.url}${SECRET_PATH}`)
      expect((await getAsViewer(`/webhooks/${id}`)).url).toBe(`${receiver.url}/…`)
      for (const list of ['/webhooks', '/deliveries'])
        expect(JSON.stringify(await getAsViewer(list))).not.toContain('secret')
      const audited = await proxy.query<{ url: string; format: string }>(
        `select details->>'url' as url, details->>'format' as format from audit_log where target = '${id}' and action = 'webhook.created'`,
      )
      expect(audited).toEqual([{ url: `${receiver.url}/…`, format: 'slack' }])
    })
    await withWebhook({}, async id => {
      expect((await getAsViewer(`/webhooks/${id}`)).url).toBe(`${receiver.url}${SECRET_PATH}`)
    })
  })
})
