/** Admin keys that are limited to one project, in the database. access.test.ts tests them at every route. */
import { beforeAll, expect, test } from 'vitest'
import { callFunction } from '../../../src/postgres/call.ts'
import type { Database } from '../../../src/postgres/database.ts'
import { describeBackends } from '../../harness/backends.ts'

describeBackends('admin keys for one project, in the database', backend => {
  let database: Database
  let [user, limited, full] = [0, 0, 0]

  const read = async <Row>(text: string) => (await database.call<Row>(text, []))[0] as Row
  /** Runs a statement as the admin API does with an admin key. */
  async function actWith<Row>(key: number, statement: string, reads = false): Promise<Row[]> {
    const actor = { user_id: user, admin_key_id: key, name: 'root@example.org', address: '192.0.2.7' }
    const rows = await database.call<{ row: Row }>(
      `select run_as_actor('${JSON.stringify(actor)}'::json, ${reads}, $1, null::json) as row`,
      [statement],
    )
    return rows.map(({ row }) => row)
  }
  const issue = async (project: string | null) =>
    (
      await read<{ id: number }>(
        `select id::integer from issue_admin_key('root@example.org', 'k', null, 'all', ${project === null ? 'null' : `'${project}'`})`,
      )
    ).id

  beforeAll(async () => {
    database = (await backend.open()).database
    for (const project of ['acme', 'other']) await callFunction(database, 'create_project', { project, plan: 'free' })
    user = await callFunction(database, 'create_user', { email: 'root@example.org', user_role: 'owner' })
    limited = await issue('acme')
    full = await issue(null)
    await read(`select set_plan_limits('free', '{"requests_per_month": 1000}')`)
  })

  test('act as an owner in their project', async () => {
    await actWith(limited, `select issue_key('acme', 'project', 'mine')`)
    await actWith(limited, `select set_budget('acme', 'usd', 2, 'month')`)
    expect(await actWith(limited, `select your_role from organization_projects`, true)).toEqual([
      { your_role: 'owner' },
    ])
  })

  const CHANGES: [name: string, statement: string][] = [
    ['another project', `set_setting('other', 'cache_mode', 'off')`],
    ['a key of another project', `issue_key('other', 'project', 'theirs')`],
    ['the projects', `create_project('another', 'free')`],
    ['a plan', `set_plan_limits('free', '{"requests_per_month": 7}')`],
    ['the limit of the organization', `set_budget(null, 'usd', 2, 'month')`],
    ['a vendor', `set_vendor('mine', '{"base_url": "https://api.example.com/v1"}')`],
    ['the users', `create_user('new@example.org', 'owner')`],
    ['the users through a membership', `count(*) from add_member('acme', 'unknown@example.org', 'owner')`],
    ['the admin keys', `issue_admin_key('root@example.org', 'all', null, 'all')`],
    ['the sessions of its user', 'close_sessions()'],
    ['the password of its user', `set_password('x', null)`],
  ]
  test.for(CHANGES)('cannot change %s', async ([, statement]) => {
    await expect(actWith(limited, `select ${statement}`)).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|P0002)$/),
    })
  })

  test('sees only its project', async () => {
    expect(await actWith(limited, 'select name from organization_projects', true)).toEqual([{ name: 'acme' }])
    expect(await actWith(full, 'select count(*)::integer as n from organization_projects', true)).toEqual([{ n: 2 }])
  })

  test('sees no other admin key of its user', async () => {
    expect(await actWith(limited, 'select id from admin_api_keys', true)).toEqual([])
    expect(await actWith(full, 'select count(*)::integer as n from admin_api_keys', true)).toEqual([{ n: 2 }])
  })

  test('sees no session of its user', async () => {
    await read(`insert into sessions (token_hash, user_id, expires_at, address, user_agent)
      values (sha256('s'), ${user}, now() + interval '1 day', '', '') returning id`)
    expect(await actWith(limited, 'select * from list_own_sessions(null)', true)).toEqual([])
    expect(await actWith(full, 'select * from list_own_sessions(null)', true)).toHaveLength(1)
  })

  test('has no role in another project, and its user is no administrator', async () => {
    const rights = `select current_project_role(find_project('acme')) as own, current_project_role(find_project('other')) as other, is_administrator()`
    expect(await actWith(limited, rights)).toEqual([{ own: 'owner', other: null, is_administrator: false }])
    expect(await actWith(full, rights)).toEqual([{ own: 'owner', other: 'owner', is_administrator: true }])
  })

  test('a deleted key may act in no project', async () => {
    const gone = await issue(null)
    await actWith(full, `select delete_admin_key(${gone})`)
    expect(await actWith(gone, 'select name from organization_projects', true)).toEqual([])
    await expect(actWith(gone, `select set_setting('acme', 'cache_mode', 'off')`)).rejects.toMatchObject({
      code: 'P0002',
    })
  })

  test('keys can delete themselves', async () => {
    const own = await issue(null)
    await actWith(own, `select delete_admin_key(${own})`)
    expect(await read(`select count(*)::integer as n from admin_keys where id = ${own}`)).toEqual({ n: 0 })
  })

  test('the audit log records the project of a key', async () => {
    expect(
      await read(`select details ->> 'project' as project from audit_log where target = 'admin_key_${limited}'`),
    ).toEqual({ project: 'acme' })
  })
})
