/** Events of projects, and the webhooks that receive them. */

import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  SECRET_SEAL_LABEL,
  startWebhookDeliveries,
  type WebhookDeliveryLoop,
} from '../../src/admin/webhooks/deliver-webhooks.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { createVault } from '../../src/providers/keys/vault.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { describeOnce, type Stores } from '../harness/backends.ts'
import { TEST_ENCRYPTION_KEY } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { queriesOf } from '../harness/queries.ts'
import { startReceiver } from '../harness/receiver.ts'
import { waitUntil } from '../harness/wait-until.ts'

const SECRET = `whsec_${Buffer.alloc(32, 'signs').toString('base64')}`
const key = Buffer.from(TEST_ENCRYPTION_KEY, 'base64')
const vault = createVault(async () => ({ current: key, others: [] }))

describeOnce('webhooks', backend => {
  let stores: Stores
  const running: WebhookDeliveryLoop[] = []
  let polls = 0
  /** Until they have looked so many times more for what is to be delivered. */
  function polled(times: number): Promise<unknown> {
    const until = polls + times
    return waitUntil('they have looked', () => polls >= until)
  }
  const receiver = duringTests(startReceiver)
  let project: string

  beforeAll(async () => {
    stores = await backend.open()
    deliver()
  })
  beforeEach(async () => {
    await query('delete from webhooks')
    receiver.reset()
    project = `p-${crypto.randomUUID()}`
    await callFunction(stores.database, 'create_project', { project, plan: 'free' })
  })
  afterAll(() => Promise.all(running.map(each => each.stop())))

  function deliver(toPrivateNetworks = true): WebhookDeliveryLoop {
    const log = createLog('silent')
    const deliveries = startWebhookDeliveries({
      database: {
        ...stores.database,
        async call<Row>(text: string, values: readonly unknown[]) {
          const rows = await stores.database.call<Row>(text, values)
          if (text.includes('.claim_deliveries(')) polls++
          return rows
        },
      },
      vault,
      allowsPrivateNetworks: toPrivateNetworks,
      mailer: null,
      dashboardOrigin: null,
      log,
      pollIntervalMs: 20,
    })
    running.push(deliveries)
    return deliveries
  }
  const query = async <Row>(text: string) => (await sql.raw<Row>(text).execute(queriesOf(stores.database))).rows
  const createKey = (name: string = crypto.randomUUID()) =>
    callFunction(stores.database, 'issue_key', { project, key_type: 'test', key_name: name })

  async function addWebhook(path = '/', kinds: string[] = []): Promise<number> {
    const projectId = await callFunction(stores.database, 'find_project', { project })
    const sealed = Buffer.from(await vault.seal(SECRET, { projectId, provider: SECRET_SEAL_LABEL })).toString('hex')
    const list = `{${kinds.join(',')}}`
    const [row] = await query<{ id: number }>(
      `select add_webhook('${project}', '${receiver.url}${path}', '${list}', '\\x${sealed}')::int as id`,
    )
    return row?.id ?? 0
  }
  const raise = (payload: object = {}, once: string | null = null) =>
    query(
      `select raise_event(find_project('${project}'), 'budget.threshold', '${JSON.stringify(payload)}', ${once === null ? 'null' : `'${once}'`})`,
    )
  const deliveries = () =>
    query<{
      id: number
      kind: string
      state: string
      attempts: number
      status: number | null
      problem: string | null
      wait: number
    }>(
      `select _id::int as id, kind, state, attempts::int, status, problem, next_at - tried_at as wait
      from project_deliveries where _project_id = find_project('${project}') order by _id`,
    )
  const received = (count: number) =>
    waitUntil(
      () => `${receiver.messages.length} of ${count} messages`,
      async () => receiver.messages.length >= count,
    )
  /** Ends the wait for the next attempt. */
  const hurry = () => query('update event_deliveries set not_before = now() where not_before is not null')

  test('a created and a deactivated key are delivered, signed, once each', async () => {
    await addWebhook()
    const secret = await createKey()
    await query(`select deactivate_key('${secret}')`)
    await received(2)
    for (const { body, headers } of receiver.messages) {
      const event = new Webhook(SECRET).verify(body, headers) as { type: string; data: { prefix: string } }
      expect(event.type).toMatch(/^api_key\.(created|deactivated)$/)
      expect(event.data.prefix).toBe(secret.slice(0, 17))
      expect(body).not.toContain(secret)
    }
    expect(new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
    await waitUntil('both deliveries are settled', async () =>
      (await deliveries()).every(({ state }) => state === 'delivered'),
    )
  })

  test('an event that is rolled back is not delivered, a named one is delivered once', async () => {
    await addWebhook()
    await query(
      `do $$ begin perform raise_event(find_project('${project}'), 'budget.threshold', '{"undone":1}'); raise exception 'no'; end $$`,
    ).catch(() => {})
    await raise({ percent: 80 }, '2026-11:80')
    await raise({ percent: 80 }, '2026-11:80')
    await received(1)
    await polled(2)
    expect(receiver.messages.map(({ body }) => JSON.parse(body).data)).toEqual([{ percent: 80 }])
  })

  test('a failed delivery is retried, under the same id, over ten hours, and then no more', async () => {
    await addWebhook()
    receiver.answerWith(500)
    await raise()
    const waits: number[] = []
    for (let attempt = 1; attempt <= 9; attempt++) {
      await waitUntil(`attempt ${attempt} is settled`, async () => {
        const [delivery] = await deliveries()
        const busy = await query('select from webhooks where busy_until > now()')
        return delivery?.attempts === attempt && busy.length === 0
      })
      waits.push((await deliveries())[0]?.wait ?? 0)
      await hurry()
    }
    const [delivery] = await deliveries()
    expect(delivery).toMatchObject({ state: 'failed', attempts: 9, status: 500, problem: 'it answered 500' })
    const hours = waits.reduce((sum, wait) => sum + wait, 0) / 3600
    expect(hours).toBeGreaterThan(9.9)
    expect(hours).toBeLessThan(11.1)
    expect(new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    receiver.answerWith(200)
    await query(`select resend_delivery('${project}', ${delivery?.id})`)
    await waitUntil('the event is delivered again', async () => (await deliveries())[0]?.state === 'delivered')
  })

  test('after a 410 a webhook gets nothing more, until a delivery is repeated by hand', async () => {
    await addWebhook()
    receiver.answerWith(410)
    await raise()
    await waitUntil('the delivery has failed', async () => (await deliveries())[0]?.state === 'failed')
    await raise()
    expect(await deliveries()).toHaveLength(1)
    receiver.answerWith(200)
    const [first] = await deliveries()
    await query(`select resend_delivery('${project}', ${first?.id})`)
    await raise()
    await received(3)
  })

  test('one that hangs delays no other', async () => {
    await addWebhook('/hang')
    await addWebhook('/other')
    for (let i = 0; i < 20; i++) await raise({ i })
    await waitUntil(
      'the other webhook has received all events',
      async () => receiver.messages.filter(({ path }) => path === '/other').length === 20,
    )
    expect(receiver.messages.filter(({ path }) => path === '/hang')).toHaveLength(1)
  })

  test('a process delivers to sixteen webhooks at once, and no more', async () => {
    await Promise.all(running.splice(0).map(each => each.stop()))
    const own = deliver()
    for (let n = 0; n < 10; n++) await addWebhook('/hang')
    await raise()
    await received(10)
    // Another project adds ten deliveries, of which only six may start.
    project = `p-${crypto.randomUUID()}`
    await callFunction(stores.database, 'create_project', { project, plan: 'free' })
    for (let n = 0; n < 10; n++) await addWebhook('/hang')
    await raise()
    await received(16)
    // The proxy looks for deliveries every 20 ms.
    await Bun.sleep(300)
    expect(receiver.messages).toHaveLength(16)
    await own.stop()
    deliver()
  })

  test('a webhook may be removed during a delivery', async () => {
    const webhook = await addWebhook('/hang')
    await raise()
    await received(1)
    const [delivery] = await deliveries()
    const removing = query(`do $$ begin
      perform 1 from webhooks where id = ${webhook} for update;
      perform pg_sleep(0.4);
      delete from webhooks where id = ${webhook};
    end $$`)
    await Bun.sleep(200)
    await Promise.all([removing, query(`select record_delivery_result(${delivery?.id}, '', 200, null)`)])
    expect(await deliveries()).toEqual([])
  })

  test('a webhook gets the event types that it selected', async () => {
    await addWebhook('/', ['api_key.created'])
    await raise()
    await createKey()
    await received(1)
    expect((await deliveries()).map(({ kind }) => kind)).toEqual(['api_key.created'])
    await expect(addWebhook('/', ['everything'])).rejects.toThrow(/there is no event/)
  })

  test('a nearly exhausted quota, and a key that soon expires, are delivered once', async () => {
    await addWebhook()
    await query(`insert into plans values ('p-${project}', 1000, 1000, 10, 1000, 10)`)
    await query(`select set_plan('${project}', 'p-${project}')`)
    await query(
      `insert into monthly_counters (project_id, key_type, month, requests) values (find_project('${project}'), 'project', current_month(), 9)`,
    )
    await query(`select issue_key('${project}', 'project', 'short', now() + interval '1 day')`)
    await query(
      `update api_keys set created_at = created_at - interval '20 days' where name = 'short' and project_id = find_project('${project}')`,
    )
    for (let i = 0; i < 3; i++) await query('select raise_due_events()')
    await query(`update monthly_counters set requests = 10 where project_id = find_project('${project}')`)
    for (let i = 0; i < 3; i++) await query('select raise_due_events()')
    await received(4)
    const events = receiver.messages
      .map(({ body }) => JSON.parse(body))
      .map(({ type, data }) => [type, data.percent ?? data.name])
    expect(events.toSorted()).toEqual([
      ['api_key.created', 'short'],
      ['api_key.expiring', 'short'],
      ['quota.threshold', 100],
      ['quota.threshold', 80],
    ])
  })

  test('two processes deliver each event once', async () => {
    await addWebhook('/one')
    await addWebhook('/two')
    for (let i = 0; i < 3; i++) deliver()
    for (let i = 0; i < 30; i++) await raise({ i })
    await received(60)
    await polled(4)
    const ids = receiver.messages.map(({ path, headers }) => `${path} ${headers['webhook-id']}`)
    expect(new Set(ids).size).toBe(60)
    expect(ids).toHaveLength(60)
  })

  test('nothing is delivered to a private address where none is allowed, and the list says why', async () => {
    await Promise.all(running.splice(0).map(each => each.stop()))
    deliver(false)
    await addWebhook()
    await query(`update webhooks set url = replace(url, 'http:', 'https:')`)
    await raise()
    await waitUntil('the first attempt has failed', async () => (await deliveries())[0]?.problem !== null)
    expect((await deliveries())[0]?.problem).toContain('private network')
    expect(receiver.messages).toHaveLength(0)
  })
})
