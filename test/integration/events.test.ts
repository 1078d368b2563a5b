/** Which event is raised when, and which webhooks receive it, without any delivery. */

import { afterEach, beforeEach, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { describeOnce } from '../harness/backends.ts'

describeOnce('the outbox of events', backend => {
  let database: Database
  let ours: number
  let theirs: number
  beforeEach(async () => {
    database = (await backend.open()).database
    await query('delete from webhooks')
    for (const name of ['ours', 'theirs'])
      await callFunction(database, 'create_project', { project: name, plan: 'free' })
    ;[ours, theirs] = [
      await callFunction(database, 'find_project', { project: 'ours' }),
      await callFunction(database, 'find_project', { project: 'theirs' }),
    ]
  })

  afterEach(async () => {
    // Other tests may have left their own events.
    const untold = `select e.kind, said from events e join webhook_event_types k on k.kind = e.kind, jsonb_object_keys(e.payload) said
      where said <> all (k.payload) and e.project_id in (${ours}, ${theirs})
      union all select kind, null from events where kind not in (select kind from webhook_event_types)`
    expect(await query(untold), 'the row of the kind says all that is told').toEqual([])
  })

  const query = <Row>(text: string) => database.call<Row>(text, [])
  const addWebhook = async (project: string, kinds = '{}') =>
    (
      await query<{ id: number }>(
        `select add_webhook('${project}', 'https://example.com/', '${kinds}', '')::integer as id`,
      )
    )[0]?.id ?? 0
  const raise = (project: number, once: string | null = null) =>
    query(`select raise_event(${project}, 'budget.threshold', '{}', ${once === null ? 'null' : `'${once}'`})`)
  const delivered = async (webhook: number) =>
    (
      await query<{ kind: string }>(
        `select e.kind from event_deliveries d join events e on e.id = d.event_id where d.webhook_id = ${webhook} order by d.id`,
      )
    ).map(({ kind }) => kind)
  const raised = async (project: number) =>
    (
      await query<{ once: string }>(
        `select once from events where project_id = ${project} and once is not null order by 1`,
      )
    ).map(({ once }) => once)

  test('delivers an event to the active webhooks of its project that receive its type', async () => {
    const [all, some, none, gone, other] = [
      await addWebhook('ours'),
      await addWebhook('ours', '{budget.threshold}'),
      await addWebhook('ours', '{api_key.created}'),
      await addWebhook('ours'),
      await addWebhook('theirs'),
    ]
    await query(`update webhooks set disabled_at = now() where id = ${gone}`)
    await raise(ours)
    expect(await Promise.all([all, some, none, gone, other].map(delivered))).toEqual([
      ['budget.threshold'],
      ['budget.threshold'],
      [],
      [],
      [],
    ])
  })

  test('raises a named event once in its project, whatever other projects have', async () => {
    const [mine, other] = [await addWebhook('ours'), await addWebhook('theirs')]
    for (const project of [ours, ours, theirs]) await raise(project, 'a name')
    expect([await delivered(mine), await delivered(other)]).toEqual([['budget.threshold'], ['budget.threshold']])
  })

  test('raises an event for an exhausted quota of this month, by its own limit, once each', async () => {
    await query(`insert into plans values ('quotas', 1000, 1000, 100, 1000, 10)`)
    for (const project of ['ours', 'theirs']) await query(`select set_plan('${project}', 'quotas')`)
    const count = (project: number, type: string, month: string, requests: number) =>
      query(
        `insert into monthly_counters (project_id, key_type, month, requests) values (${project}, '${type}', ${month}, ${requests})`,
      )
    await count(ours, 'project', 'current_month()', 79)
    await count(ours, 'test', 'current_month()', 8)
    await count(ours, 'test', `(current_month() - interval '1 month')::date`, 10)
    await count(theirs, 'project', 'current_month()', 100)
    await query(`update projects set archived_at = now() where id = ${theirs}`)
    const due = async () => {
      await query('select raise_due_events()')
      const month = (await query<{ month: string }>('select current_month()::text as month'))[0]?.month ?? ''
      return (await raised(ours)).map(once => once.replace(month, 'now'))
    }
    expect(await due()).toEqual(['test:now:80'])
    await query(`update monthly_counters set requests = 80 where project_id = ${ours} and key_type = 'project'`)
    expect(await due()).toEqual(['project:now:80', 'test:now:80'])
    expect([await due(), await raised(theirs)]).toEqual([['project:now:80', 'test:now:80'], []])
  })

  test('raises an event a week before a key expires, or when a tenth of its life is left', async () => {
    const add = async (name: string, created: string, expires: string) => {
      await callFunction(database, 'issue_key', { project: 'ours', key_type: 'project', key_name: name })
      await query(
        `update api_keys set created_at = now() - interval '${created}', expires_at = now() + interval '${expires}' where name = '${name}'`,
      )
      return `key_${(await query<{ id: number }>(`select id::integer from api_keys where name = '${name}'`))[0]?.id}`
    }
    const [soon, short] = [await add('soon', '100 days', '6 days'), await add('short', '10 hours', '1 hour')]
    const off = await add('off', '100 days', '6 days')
    await add('later', '100 days', '8 days')
    await add('young', '1 hour', '2 hours')
    await add('over', '100 days', '-1 hour')
    await query(`update api_keys set deactivated_at = now() where name = 'off'`)
    for (let i = 0; i < 2; i++) await query('select raise_due_events()')
    const expiring = (await raised(ours)).toSorted()
    expect([expiring, expiring.includes(off)]).toEqual([[soon, short].toSorted(), false])
  })

  test('delivers to a webhook one event at a time, when it is due, and none once it is removed', async () => {
    const [webhook, gone] = [await addWebhook('ours'), await addWebhook('ours')]
    for (let i = 0; i < 2; i++) await raise(ours)
    await query(`update webhooks set disabled_at = now() where id = ${gone}`)
    const take = async () =>
      (await callFunction(database, 'claim_deliveries', { max_rows: 10 })).filter(
        ({ project_id }) => project_id === ours,
      )
    const settle = ({ id, url }: { id: number; url: string }, response_status: number, failure: string | null) =>
      callFunction(database, 'record_delivery_result', { of_delivery: id, to_url: url, response_status, failure })
    const [first, ...more] = await take()
    expect([Number(first?.webhook_id), more, await take()]).toEqual([webhook, [], []])
    if (!first) throw new Error('no delivery was claimed')
    // The first delivery failed, so it is retried later, and the other one is next.
    await settle(first, 500, 'it answered 500')
    const [second, ...others] = await take()
    expect([second?.id === first.id, others]).toEqual([false, []])
    // The process that claimed the delivery has ended: another claims it after a minute.
    await query(`update webhooks set busy_until = now()`)
    expect(await take()).toEqual([])
    await query(`update event_deliveries set not_before = now() where id = ${second?.id}`)
    expect((await take()).map(({ id }) => id)).toEqual([second?.id])
    await settle(first, 200, null)
    expect(await query(`select from event_deliveries where id = ${first.id} and not_before is not null`)).toEqual([])
    await query(`update event_deliveries set not_before = now() where not_before is not null`)
    await query(`update webhooks set busy_until = now()`)
    expect((await take()).map(({ id }) => id)).toEqual([second?.id])
    const isDisabled = async () =>
      (await query(`select from webhooks where id = ${webhook} and disabled_at is not null`)).length === 1
    await settle({ ...first, url: 'https://former.example/' }, 410, 'it answered 410')
    expect(await isDisabled()).toBe(false)
    await query(`update event_deliveries set not_before = now() where id = ${second?.id}`)
    expect((await take()).map(({ id }) => id)).toEqual([second?.id])
    await settle(first, 410, 'it answered 410')
    expect(await isDisabled()).toBe(true)
    await query(`update webhooks set disabled_at = null, busy_until = now() where id = ${webhook}`)
    await query(`update event_deliveries set not_before = now() where not_before is not null`)
    expect(await take()).toEqual([])
  })

  test('shows a project its own deliveries only, and repeats only those', async () => {
    const webhook = await addWebhook('ours')
    await raise(ours)
    const [{ id = 0 } = {}] = await query<{ id: number }>('select id::integer from event_deliveries')
    await query(`update event_deliveries set attempts = 9, not_before = null`)
    await query(`update webhooks set disabled_at = now()`)
    for (const statement of [
      `resend_delivery('theirs', ${id})`,
      `send_test_event('theirs', ${webhook})`,
      `remove_webhook('theirs', ${webhook})`,
    ])
      await expect(query(`select ${statement}`), statement).rejects.toThrow('there is no')
    const seen = (project: number) =>
      Promise.all([
        query(`select from project_webhooks where _project_id = ${project}`),
        query(`select from project_deliveries where _project_id = ${project}`),
      ])
    expect([(await seen(ours)).map(rows => rows.length), (await seen(theirs)).map(rows => rows.length)]).toEqual([
      [1, 1],
      [0, 0],
    ])
    await query(`select resend_delivery('ours', ${id})`)
    expect(await query('select attempts, not_before is null as over from event_deliveries')).toEqual([
      { attempts: 0, over: false },
    ])
    expect(await query('select from webhooks where disabled_at is null')).toHaveLength(1)
    for (let i = 1; i < 20; i++) await addWebhook('ours')
    await expect(addWebhook('ours')).rejects.toThrow('has 20 webhooks already')
    await addWebhook('theirs')
  })

  test('reads a page of a project’s deliveries by an index, however many there are', async () => {
    const [one, other] = [await addWebhook('ours'), await addWebhook('theirs')]
    await database.runScript(`
      with happened as (
        insert into events (project_id, kind, payload)
        select case i % 20 when 0 then ${ours} else ${theirs} end, 'webhook.test', '{}' from generate_series(1, 10000) i
        returning id, project_id
      )
      insert into event_deliveries (project_id, event_id, webhook_id)
      select h.project_id, h.id, case h.project_id when ${ours} then ${one} else ${other} end from happened h;
      analyze events;
      analyze event_deliveries;
      analyze webhooks
    `)
    const plan = await query<object>(
      `explain select id from project_deliveries where _project_id = ${ours} order by _id desc limit 21`,
    )
    expect(JSON.stringify(plan)).toMatch(/^(?!.*Sort).*Index Scan Backward using event_deliveries_project_idx/)
  })
})
