/** Read-only admin keys. access.test.ts tests them at every route. */
import { beforeAll, expect, test } from 'vitest'
import { callFunction } from '../../../src/postgres/call.ts'
import type { Database } from '../../../src/postgres/database.ts'
import { describeBackends } from '../../harness/backends.ts'

describeBackends('read-only admin keys, in the database', backend => {
  let database: Database
  let [user, readOnly, full, webhook, budget] = [0, 0, 0, 0, 0]

  const read = async <Row>(text: string) => (await database.call<Row>(text, []))[0] as Row
  /** Runs a statement as the admin API does for a change with an admin key. */
  const actWith = (key: number, statement: string) =>
    database.call('select run_as_actor($1::json, false, $2, null::json)', [
      JSON.stringify({ user_id: user, admin_key_id: key, name: 'root@example.org', address: '192.0.2.7' }),
      `select ${statement}`,
    ])
  const issue = async (name: string, permissions: string) =>
    (
      await read<{ id: number }>(
        `select id::integer from issue_admin_key('root@example.org', '${name}', null, '${permissions}')`,
      )
    ).id

  beforeAll(async () => {
    database = (await backend.open()).database
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    user = await callFunction(database, 'create_user', { email: 'root@example.org', user_role: 'owner' })
    readOnly = await issue('reads', 'read_only')
    full = await issue('changes', 'all')
    const made = await read<{ webhook: number; budget: number }>(
      `select add_webhook('acme', 'https://example.com/', '{}', '')::integer as webhook, set_budget('acme', 'usd', 1, 'month')::integer as budget`,
    )
    ;[webhook, budget] = [made.webhook, made.budget]
  })

  const CHANGES: [name: string, statement: () => string][] = [
    ['a project', () => `create_project('another', 'free')`],
    ['a plan', () => `set_plan_limits('free', '{"requests_per_month": 7}')`],
    ['a vendor', () => `set_vendor('mine', '{"base_url": "https://api.example.com/v1"}')`],
    ['an API key', () => `issue_key('acme', 'project', 'another')`],
    ['a setting', () => `set_setting('acme', 'cache_mode', 'off')`],
    ['a budget', () => `set_budget('acme', 'usd', 2, 'month')`],
    ['a removed budget', () => `remove_budget('acme', ${budget})`],
    ['a spend alert', () => `set_spend_alert('acme', 1, '{ops@example.org}')`],
    ['a webhook', () => `add_webhook('acme', 'https://example.com/2', '{}', '')`],
    ['a test event', () => `send_test_event('acme', ${webhook})`],
    ['the cache', () => `purge_cache('acme')`],
    ['a user', () => `create_user('new@example.org', 'owner')`],
    ['an admin key', () => `issue_admin_key('root@example.org', 'all', null, 'all')`],
    ['its own name', () => `rename_admin_key(${readOnly}, 'renamed')`],
    ['its own existence', () => `delete_admin_key(${readOnly})`],
  ]
  test.for(CHANGES)('cannot change %s', async ([, statement]) => {
    await expect(actWith(readOnly, statement())).rejects.toMatchObject({
      code: '42501',
      message: expect.stringContaining('this admin key is read-only'),
    })
  })

  test('can count and export the data of an end user, which the audit log records', async () => {
    await actWith(readOnly, `count(*) from find_end_user('acme', 'alice')`)
    await actWith(readOnly, `count(*) from export_end_user('acme', 'alice')`)
    expect(
      await read(
        `select count(*)::integer as n from audit_log where action = 'end_user.exported' and admin_key_id = ${readOnly}`,
      ),
    ).toEqual({ n: 1 })
  })

  test('other keys of the same administrator can make changes', async () => {
    await actWith(full, `set_setting('acme', 'cache_mode', 'off')`)
    expect(await read(`select cache_mode from projects where name = 'acme'`)).toEqual({ cache_mode: 'off' })
  })

  test('the audit log records the permissions of a key', async () => {
    expect(
      await read(
        `select details from audit_log where action = 'admin_api_key.created' and target = 'admin_key_${readOnly}'`,
      ),
    ).toEqual({ details: { name: 'reads', permissions: 'read_only' } })
  })

  test.for(['none', ''])('rejects the permissions %j', async permissions => {
    await expect(issue('k', permissions)).rejects.toThrow('are not valid: use all or read_only')
  })
})
