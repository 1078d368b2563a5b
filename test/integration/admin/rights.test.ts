/** Rights that PostgreSQL itself enforces, below the admin API: callers' rights, sessions, invitations and keys that expire. */

import { afterEach, beforeEach, expect, test } from 'vitest'
import { callFunction } from '../../../src/postgres/call.ts'
import type { Database } from '../../../src/postgres/database.ts'
import { openServerDatabase } from '../../../src/postgres/server-database.ts'
import { describeOnce, describeReal } from '../../harness/backends.ts'
import { waitUntil } from '../../harness/wait-until.ts'

describeOnce('rights in the database', backend => {
  let database: Database
  beforeEach(async () => {
    database = (await backend.open()).database
  })

  const query = <Row>(text: string) => database.call<Row>(text, [])
  const read = async <T = string>(expression: string) =>
    (await query<{ value: T }>(`select ${expression} as value`))[0]?.value as T
  /** Runs a statement as the admin API does for a logged-in user; null means an operator. */
  const actAs = (user: number | null, statement: string) =>
    database.call<{ row: { value: unknown } }>('select run_as_actor($1::json, false, $2, null::json) as row', [
      JSON.stringify(user === null ? {} : { user_id: user, name: 'somebody' }),
      `select ${statement} as value`,
    ])
  const addUser = (name: string, role = 'reader') =>
    read<number>(`create_user('${name}@example.org', '${role}', 'hash')::integer`)

  let tokens = 0
  const openSession = async (name: string) => {
    const token = String(++tokens).padStart(64, '0')
    await query(`select open_session('${name}@example.org', '${token}', '192.0.2.7', 'test', '192.0.2.7')`)
    return token
  }
  const idOf = (token: string) =>
    read<number>(`(select id::integer from sessions where token_hash = decode('${token}', 'hex'))`)
  const isOpen = async (token: string) => (await query(`select from authenticate_session('${token}')`)).length === 1

  /** Creates a project with a key and a user of each role. */
  async function openProject(name = 'acme') {
    await callFunction(database, 'create_project', { project: name, plan: 'free' })
    const secret = await callFunction(database, 'issue_key', { project: name, key_type: 'project', key_name: 'k' })
    const id = await callFunction(database, 'find_project', { project: name })
    const people: Record<string, number> = {}
    for (const role of ['owner', 'member', 'viewer']) {
      people[role] = await addUser(`${role}-of-${name}`)
      await query(`select add_membership('${name}', ${people[role]}, '${role}')`)
    }
    const key = await read<number>(`find_key('${secret}')::integer`)
    return { id, key, secret, people, stranger: await addUser(`stranger-to-${name}`) }
  }

  test('what concerns the installation requires an administrator', async () => {
    const [reader, admin] = [await addUser('reader'), await addUser('admin', 'owner')]
    const { people } = await openProject()
    for (const statement of [
      `set_user_role(${reader}, 'owner')`,
      `delete_user(${admin})`,
      `delete_invite(${admin})`,
      `invite_user(${reader})`,
      `create_user('new@example.org', 'owner')`,
      `create_administrator('reader@example.org')`,
      `create_administrator('reader@example.org', true)`,
      `issue_admin_key('admin@example.org', 'k')`,
      `delete_admin_key(1)`,
      `rename_admin_key(1, 'renamed')`,
      `set_budget(null, 'usd', 1, 'month')`,
      `set_spend_alert(null, 1, '{ops@example.org}')`,
    ])
      for (const user of [reader, people.owner ?? 0])
        await expect(actAs(user, statement), statement).rejects.toThrow('only administrators can do this')
    expect(await read(`(select role from users where id = ${reader})`)).toBe('reader')
    await expect(query(`select issue_admin_key('reader@example.org', 'k')`)).rejects.toThrow(
      'there is no administrator',
    )
    await actAs(admin, `create_administrator('reader@example.org', true)`)
    expect(await read(`(select role from users where id = ${reader})`)).toBe('owner')
  })

  test('create_administrator promotes a known user only with an explicit option, and gives an administrator another token', async () => {
    const reader = await addUser('reader')
    const invitations = () => read<number>(`(select count(*)::integer from invitations where user_id = ${reader})`)
    for (const statement of [
      `create_administrator('reader@example.org')`,
      `create_administrator(' Reader@Example.org ')`,
      `create_administrator('reader@example.org', false)`,
      `create_administrator('reader@example.org', null)`,
    ])
      await expect(query(`select ${statement}`), statement).rejects.toThrow(
        'user "reader@example.org" exists and is not an administrator',
      )
    expect(await invitations()).toBe(0)
    expect(await read(`(select role from users where id = ${reader})`)).toBe('reader')

    await query(`select create_administrator('reader@example.org', true)`)
    expect(await read(`(select role from users where id = ${reader})`)).toBe('owner')
    // An operator can invite the only administrator again, who lost the password.
    expect(await read(`create_administrator('READER@example.org')`)).toMatch(/^lgw_invite_/)
    expect(await invitations()).toBe(1)
    expect(await read(`create_administrator('new@example.org')`)).toMatch(/^lgw_invite_/)
    expect(await read(`(select role from users where email = 'new@example.org')`)).toBe('owner')
  })

  test('what concerns a project requires a role in it', async () => {
    const { id, key, secret, people, stranger } = await openProject()
    const { people: elsewhere } = await openProject('elsewhere')
    const needed = {
      owner: [
        `set_key_limits(${key}, '{"requests_per_minute": 1}')`,
        `update_key(${key}, '{"name": "renamed"}')`,
        `set_budget('acme', 'usd', 1, 'month')`,
        `set_spend_alert('acme', 1, '{ops@example.org}')`,
        `add_webhook('acme', 'https://example.com/', '{}', '')`,
        `add_membership('acme', ${stranger}, 'viewer')`,
        `set_member('acme', ${people.viewer}, 'member')`,
        `remove_member('acme', ${people.viewer})`,
        `archive_project('acme')`,
      ],
      member: [
        `rotate_key(${key}, interval '0')`,
        `issue_key('acme', 'project', 'another')`,
        `purge_cache('acme')`,
        `set_setting('acme', 'cache_mode', 'off')`,
        `deactivate_key('${secret}')`,
      ],
    }
    for (const statement of needed.owner)
      for (const role of ['member', 'viewer'])
        await expect(actAs(people[role] ?? 0, statement), statement).rejects.toThrow('this action requires owner')
    for (const statement of needed.member)
      await expect(actAs(people.viewer ?? 0, statement), statement).rejects.toThrow('this action requires member')
    for (const statement of [...needed.owner, ...needed.member])
      for (const user of [stranger, elsewhere.owner ?? 0])
        await expect(actAs(user, statement), statement).rejects.toThrow('you are not a member')
    expect(await query(`select from api_keys where project_id = ${id} and deactivated_at is null`)).toHaveLength(1)
    for (const statement of needed.member.slice(1, 3)) await actAs(people.member ?? 0, statement)
  })

  test('the last administrator who can log in is neither demoted nor deleted', async () => {
    const [first, second] = [await addUser('first', 'owner'), await addUser('second', 'owner')]
    await query(`select create_user('invited@example.org', 'owner')`)
    await query(`select set_user_role(${second}, 'reader')`)
    for (const change of [`set_user_role(${first}, 'reader')`, `delete_user(${first})`])
      await expect(query(`select ${change}`)).rejects.toThrow('is the last administrator who can log in')
    await query(`select set_user_role(${second}, 'owner')`)
    await query(`select delete_user(${first})`)
  })

  // The test needs two connections, and the embedded backend has one.
  test.skipIf(backend.name === 'embedded')('of the last two who leave at once, one remains', async () => {
    const { people } = await openProject()
    await query(`select set_member('acme', ${people.member}, 'owner')`)
    const [one, other] = [people.owner ?? 0, people.member ?? 0]
    const ways: [first: string, second: string, back: string][] = [
      [
        `remove_member('acme', ${one})`,
        `set_member('acme', ${other}, 'viewer')`,
        `add_membership('acme', ${one}, 'owner')`,
      ],
      [`set_member('acme', ${one}, 'viewer')`, `delete_user(${other})`, `set_member('acme', ${one}, 'owner')`],
      [`delete_user(${one})`, `remove_member('acme', ${other})`, 'true'],
    ]
    for (const [first, second, back] of ways) {
      // The first owner has left in an open transaction when the second leaves.
      const going = database.runScript(`begin; select model_proxy.${first}; select pg_sleep(1); commit`)
      await waitUntil('the first owner has left', async () =>
        read<boolean>(
          `exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep')`,
        ),
      )
      await expect(query(`select ${second}`), second).rejects.toThrow('the last owner of project')
      await going
      await query(`select ${back}`)
    }
  })

  test('a user is identified by the id of the identity provider', async () => {
    const logIn = async (issuer: string, email: string) => {
      const token = String(++tokens).padStart(64, '0')
      const user = await read<number>(
        `log_in_by_identity('${issuer}', 'the-subject', '${email}', null, '${token}', '192.0.2.7', 'test', '192.0.2.7')::integer`,
      )
      return { user, token }
    }
    const [one, other] = [
      await logIn('https://one', 'one@example.org'),
      await logIn('https://other', 'other@example.org'),
    ]
    expect(one.user).not.toBe(other.user)
    expect((await logIn('https://one', 'renamed@example.org')).user).toBe(one.user)
    await query(`select revoke_identity_sessions('https://other', 'the-subject')`)
    expect([await isOpen(one.token), await isOpen(other.token)]).toEqual([true, false])
  })

  test('a session ends by itself, at the latest at its stated time', async () => {
    await addUser('ada')
    const [idle, over, lasting] = [await openSession('ada'), await openSession('ada'), await openSession('ada')]
    const set = (token: string, change: string) =>
      query(`update sessions set ${change} where token_hash = decode('${token}', 'hex')`)
    await set(idle, `last_seen_at = now() - interval '8 days'`)
    await set(over, `expires_at = now()`)
    await set(lasting, `last_seen_at = now() - interval '6 days'`)
    expect(await Promise.all([idle, over, lasting].map(isOpen))).toEqual([false, false, true])
    const seen = `(select last_seen_at > now() - interval '1 minute' from sessions where token_hash = decode('${lasting}', 'hex'))`
    expect(await read<boolean>(seen)).toBe(true)
  })

  test('an invitation ends after a week and with its use, and what was open before ends with it', async () => {
    const ada = await addUser('ada')
    const earlier = await openSession('ada')
    const [late, good] = [await read(`create_invitation(${ada})`), await read(`create_invitation(${ada})`)]
    await expect(query(`select accept_invitation('${late}', 'new')`)).rejects.toThrow(
      'does not exist, was used, or has expired',
    )
    const lasts = `(select expires_at - created_at = interval '7 days' from invitations)`
    expect(await read<boolean>(lasts)).toBe(true)
    await query(`update invitations set expires_at = now()`)
    await expect(query(`select accept_invitation('${good}', 'new')`)).rejects.toThrow('has expired')
    expect([await query(`select from find_invitation('${good}')`), await isOpen(earlier)]).toEqual([[], true])
    await query(`update invitations set expires_at = now() + interval '1 minute'`)
    await query(`select accept_invitation('${good}', 'new')`)
    expect([await isOpen(earlier), await read(`find_password_hash('ada@example.org')`)]).toEqual([false, 'new'])
    await expect(query(`select accept_invitation('${good}', 'newer')`)).rejects.toThrow('was used')
  })

  test('a new password ends all other sessions of its user, and nobody else’s', async () => {
    const [ada] = [await addUser('ada'), await addUser('eve')]
    const [here, there, others] = [await openSession('ada'), await openSession('ada'), await openSession('eve')]
    await actAs(ada, `set_password('new', ${await idOf(here)})`)
    expect(await Promise.all([here, there, others].map(isOpen))).toEqual([true, false, true])
  })

  test('a session’s id ends it only for its own user, who sees no other', async () => {
    const [ada, eve] = [await addUser('ada'), await addUser('eve')]
    const [hers, others] = [await openSession('ada'), await openSession('eve')]
    const id = await idOf(hers)
    await expect(actAs(eve, `close_session(${id}, false)`)).rejects.toThrow('does not exist, or has ended')
    await actAs(eve, `close_session(${id}, true)`)
    expect(await isOpen(hers)).toBe(true)
    const seen = await actAs(ada, `(select array_agg(o.id) from list_own_sessions(${id}) o)`)
    expect(seen).toEqual([{ row: { value: [`session_${id}`] } }])
    await actAs(ada, `close_session(${id}, false)`)
    expect([await isOpen(hers), await isOpen(others)]).toEqual([false, true])
  })

  test('the last login of a member is visible to members of the same project only', async () => {
    const { people, stranger } = await openProject()
    const seenBy = async (user: number) =>
      (await actAs(user, `(select count(*) from visible_logins where user_id = ${people.member})`))[0]?.row.value
    const admin = await addUser('admin', 'owner')
    expect(await Promise.all([people.member ?? 0, people.viewer ?? 0, admin, stranger].map(seenBy))).toEqual([
      1, 1, 1, 0,
    ])
  })

  test('a key of a session belongs to its user, lasts an hour, and ends with the right to create it', async () => {
    const { people, stranger } = await openProject()
    const session = await idOf(await openSession('member-of-acme'))
    const issue = `issue_session_key('acme', 'project', ${session})`
    await expect(actAs(stranger, issue)).rejects.toThrow('this session does not exist')
    await expect(actAs(people.owner ?? 0, issue)).rejects.toThrow('this session does not exist')
    await actAs(people.member ?? 0, issue)
    const made = `from api_keys where session_id is not null and deactivated_at is null`
    expect(await query(`select expires_at - created_at = interval '1 hour' as lasts ${made}`)).toEqual([
      { lasts: true },
    ])
    await query(`select set_member('acme', ${people.member}, 'owner')`)
    expect(await query(`select ${made}`)).toHaveLength(1)
    // Leaving another project does not change this one.
    await callFunction(database, 'create_project', { project: 'elsewhere', plan: 'free' })
    await query(`select add_membership('elsewhere', ${people.member}, 'member')`)
    await query(`select remove_member('elsewhere', ${people.member})`)
    expect(await query(`select ${made}`)).toHaveLength(1)
    await query(`select set_member('acme', ${people.member}, 'viewer')`)
    expect(await query(`select ${made}`)).toEqual([])
    await query(`select set_member('acme', ${people.member}, 'member')`)
    await actAs(people.member ?? 0, issue)
    await query(`select remove_member('acme', ${people.member})`)
    expect(await query(`select ${made}`)).toEqual([])
    await query(`select add_membership('acme', ${people.member}, 'member')`)
    await actAs(people.member ?? 0, issue)
    await actAs(people.member ?? 0, `close_session(${session}, true)`)
    expect(await query(`select ${made}`)).toEqual([])
  })

  test('a former value of a key has the key’s state, and ends with it at the latest', async () => {
    const { key, secret } = await openProject()
    const limits = {
      requests_per_minute: 7,
      tokens_per_minute: 700,
      allowed_models: ['gpt-4o'],
      allowed_addresses: ['10.0.0.0/8'],
    }
    await query(`select set_key_limits(${key}, '${JSON.stringify(limits)}')`)
    await query(`update api_keys set expires_at = now() + interval '1 hour' where id = ${key}`)
    await query(`select rotate_key(${key}, interval '1 day')`)
    const former = await read<number>(`find_key('${secret}')::integer`)
    const rows = () =>
      query<object>(`select a.key_id::integer, a.key_type, a.verdict, a.requests_per_minute, a.tokens_per_minute, a.key_allowed_models,
        a.allowed_addresses::text[], (select k.expires_at = o.expires_at from api_keys o where o.id = ${key}) as is_as_long
        from resolved_keys a join api_keys k on k.key_hash = a.key_hash order by k.id`)
    const [ofKey, ofFormer] = await rows()
    expect(ofKey).toMatchObject({ key_id: key, verdict: 'active', requests_per_minute: 7, tokens_per_minute: 700 })
    expect(ofFormer).toEqual(ofKey)
    // Limits of a rotated key can be set by the id of either value.
    await query(`select set_key_limits(${former}, '{"requests_per_minute": 5}')`)
    expect((await rows()).map(row => (row as typeof limits).requests_per_minute)).toEqual([5, 5])
    await expect(query(`select rotate_key(${former}, interval '0')`)).rejects.toThrow('a former value of another')
    await query(`select deactivate_key_with_id(${key})`)
    expect((await rows()).map(row => (row as { verdict: string }).verdict)).toEqual(['disabled', 'disabled'])
    await expect(query(`select rotate_key(${key}, interval '0')`)).rejects.toThrow('is not active')
  })

  test('rejects rotation of an expired key, and creation in an archived project', async () => {
    const { key } = await openProject()
    await query(`update api_keys set expires_at = now() where id = ${key}`)
    await expect(query(`select rotate_key(${key}, interval '1 day')`)).rejects.toThrow('is not active')
    await query(`update api_keys set expires_at = null where id = ${key}`)
    await query(`select archive_project('acme')`)
    expect(await query(`select verdict from resolved_keys`)).toEqual([{ verdict: 'disabled' }])
    await expect(query(`select issue_key('acme', 'project', 'new')`)).rejects.toThrow('is archived')
  })

  test('a test key accepts tokens and gets responses as long as its plan allows, at most a day', async () => {
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    for (const type of ['project', 'test'] as const)
      await callFunction(database, 'issue_key', { project: 'acme', key_type: type, key_name: type })
    await query('update api_keys set tokens_per_minute = 500')
    const ofType = (column: string) =>
      query<{ value: number }>(`select ${column} as value from resolved_keys order by key_type`)
    expect((await ofType('tokens_per_minute')).map(({ value }) => value)).toEqual([500, null])
    expect((await ofType('max_cache_ttl_seconds')).map(({ value }) => value > 86_400)).toEqual([true, false])
    expect((await ofType(`(settings ->> 'cache_ttl_seconds')::integer`)).map(({ value }) => value > 86_400)).toEqual([
      true,
      false,
    ])
  })

  test('networks of a key have no host bits, and contain no IPv4 address in IPv6 form', async () => {
    for (const network of ['10.0.0.1/8', '2001:db8::1/32', '::ffff:10.0.0.0/104', '::ffff:10.0.0.1', 'x', ''])
      await expect(query(`select parse_networks('{"${network}"}')`), network).rejects.toThrow('use an address')
    expect(await read(`parse_networks('{" 10.0.0.0/8",192.0.2.7,2001:db8::/32}')::text`)).toBe(
      '{10.0.0.0/8,192.0.2.7/32,2001:db8::/32}',
    )
  })
})

describeReal('at the same time', backend => {
  let database: Database
  /** A database with one connection: a transaction that begins on it stays open until it ends. */
  let open: Database
  let key: number
  beforeEach(async () => {
    const stores = await backend.open()
    database = stores.database
    open = openServerDatabase({ url: stores.databaseUrl ?? '', maxConnections: 1 })
    await callFunction(database, 'create_project', { project: 'acme', plan: 'free' })
    const secret = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'k' })
    key = await callFunction(database, 'find_key', { key_or_prefix: secret })
  })
  afterEach(() => open.close())

  const isWaitedFor = () =>
    waitUntil('another connection waits', async () => {
      const text = 'select from pg_locks l where not l.granted and pg_backend_pid() = any (pg_blocking_pids(l.pid))'
      return (await open.call(text, [])).length > 0
    })

  test('keys with budgets are created, one after the other', async () => {
    const budget = '{"unit": "usd", "amount": 1, "per": "month"}'
    await open.call('begin', [])
    await open.call(`select issue_key('acme', 'project', 'one')`, [])
    const other = database.call(`select create_api_key('acme', 'project', 'other', null, '${budget}')`, [])
    await isWaitedFor()
    await open.call(`select set_budget('acme', 'usd', 1, 'month', ${key})`, [])
    await open.call('commit', [])
    await other
    expect(await database.call('select from budgets', [])).toHaveLength(2)
  })

  test.each<[change: string, statement: () => string, isDeactivated?: boolean]>([
    ['created', () => `issue_key('acme', 'project', 'late')`],
    ['rotated', () => `rotate_key(${key}, interval '1 day')`],
    ['restored', () => `restore_key(${key})`, true],
  ])('no key of a project that is archived is %s', async (_, statement, isDeactivated = false) => {
    if (isDeactivated) await callFunction(database, 'deactivate_key_with_id', { key_id: key })
    await open.call('begin', [])
    await callFunction(open, 'archive_project', { project: 'acme' })
    const changed = expect(database.call(`select ${statement()}`, [])).rejects.toThrow('is archived')
    await isWaitedFor()
    await open.call('commit', [])
    await changed
    expect(await database.call('select from api_keys k where k.deactivated_at is null', [])).toEqual([])
  })
})
