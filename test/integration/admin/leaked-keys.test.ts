/** Finding a leaked key by its text, and restoring a key that was deactivated by mistake. */
import { beforeAll, expect, test } from 'vitest'
import { hashGoModelKey } from '../../../src/postgres/key-hash.ts'
import { describeOnce } from '../../harness/backends.ts'
import { ask } from '../../harness/client.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, logIn, send } from './people.ts'

describeOnce('leaked keys', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
  let adminKey: string
  let [leaked, project] = ['', '']
  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    await addUser(proxy, 'stranger@example.org', 'reader')
    adminKey = await issueAdminKey(proxy, 'root@example.org')
    for (const name of ['acme', 'other']) await proxy.query(`select create_project('${name}', 'free')`)
    await proxy.query(`select add_member('other', 'stranger@example.org', 'owner')`)
    const [row] = await proxy.query<{ key: string; project: string }>(
      `select issue_key('acme', 'test', 'ci') as key, 'proj_' || find_project('acme') as project`,
    )
    ;[leaked, project] = [row?.key ?? '', row?.project ?? '']
  })

  const find = (text: string, key = adminKey) =>
    send(proxy, 'POST', '/v1/organization/leaked_keys', { body: { text }, headers: { authorization: `Bearer ${key}` } })

  test('are found by their whole text, also amid other text', async () => {
    for (const text of [leaked, ` ${leaked}\n`, `curl -H "Authorization: Bearer ${leaked}" https://example.org`]) {
      expect((await find(text)).json.data).toEqual([
        expect.objectContaining({
          ...{ kind: 'api_key', name: 'ci', project_id: project, project_name: 'acme', state: 'active' },
          ...{ redacted_value: `${leaked.slice(0, 17)}…`, is_whole_key: true },
        }),
      ])
    }
  })

  test.each(['sk-', 'sk_gom_'])(
    'are found if they were imported from another gateway, by their whole text alone: %s',
    async prefix => {
      const rest = crypto.randomUUID()
      const imported = `${prefix}${rest}`
      const hash =
        prefix === 'sk_gom_' ? hashGoModelKey(Bun.SHA256.hash(rest, 'hex')) : Bun.SHA256.hash(imported, 'hex')
      await proxy.query(
        `insert into api_keys (project_id, key_hash, imported_hash, prefix, type, name)
      select find_project('acme'), decode('${hash}', 'hex'), decode('${hash}', 'hex'), 'sk-', 'project', 'moved ${prefix}'`,
      )
      expect((await find(` ${imported}\n`)).json.data).toMatchObject([{ name: `moved ${prefix}`, is_whole_key: true }])
      for (const text of [imported.slice(0, -1), 'sk-12345']) expect((await find(text)).json.data).toEqual([])
    },
  )

  test('are found by their displayed beginning, and by a text that is cut off', async () => {
    for (const text of [`${leaked.slice(0, 17)}…`, leaked.slice(0, 30)])
      expect((await find(text)).json.data).toMatchObject([{ name: 'ci', is_whole_key: false }])
  })

  test('are not found by less than that, without quoting the text', async () => {
    const short = await find(leaked.slice(0, 16))
    expect([short.status, short.json.data, short.text.includes(leaked.slice(0, 16))]).toEqual([200, [], false])
    const { status, text } = await find(`${leaked.slice(0, 16)} and more`)
    expect([status, text.includes(leaked.slice(0, 16))]).toEqual([400, false])
  })

  test('are found only by those who may see their project', async () => {
    const stranger = await logIn(proxy, 'stranger@example.org')
    const of = async (text: string) =>
      (await stranger.send('POST', '/v1/organization/leaked_keys', { text })).json.data as unknown[]
    expect(await of(leaked)).toEqual([])
    expect(await of(adminKey)).toEqual([])
    const limited = await issueAdminKey(proxy, 'root@example.org', 'all', 'other')
    expect((await find(leaked, limited)).json.data).toEqual([])
    expect((await find(adminKey, limited)).json.data).toEqual([])
    expect((await find(adminKey)).json.data).toMatchObject([{ kind: 'admin_api_key', name: 'tests', project_id: null }])
  })

  test('are in no log and no metric', async () => {
    await find(leaked)
    const metrics = await (await fetch(`${proxy.rootUrl}/metrics`)).text()
    expect(metrics).not.toContain(leaked.slice(9))
    const [row] = await proxy.query<{ n: number }>(
      `select count(*)::integer as n from audit_log l where l::text like '%${leaked.slice(17)}%'`,
    )
    expect(row).toEqual({ n: 0 })
  })

  test('can be revoked, and restored unless they have expired', async () => {
    const headers = { authorization: `Bearer ${adminKey}` }
    const [{ id }] = (await find(leaked)).json.data
    const path = `/v1/organization/projects/${project}/api_keys/${id}`
    const restore = () => send(proxy, 'POST', `${path}/restore`, { headers })
    expect((await restore()).json.error.message).toContain('is not deactivated')
    await send(proxy, 'DELETE', path, { headers })
    expect((await find(leaked)).json.data).toMatchObject([{ state: 'deactivated' }])
    expect((await ask(proxy, leaked, 'Hello?')).status).toBe(403)
    expect(await restore()).toMatchObject({ status: 200, json: { state: 'active', deactivated_at: null } })
    await expect.poll(async () => (await ask(proxy, leaked, 'Hello?')).status).toBe(200)
    expect(
      await proxy.query(`select details ->> 'name' as name from audit_log where action = 'api_key.restored'`),
    ).toEqual([{ name: 'ci' }])
    await send(proxy, 'DELETE', path, { headers })
    await proxy.query(`select issue_key('acme', 'test', 'ci')`)
    expect((await restore()).json.error.message).toContain('already has an active key named')
    await proxy.query(
      `update api_keys set expires_at = created_at + interval '1 microsecond' where deactivated_at is not null`,
    )
    expect((await restore()).json.error.message).toContain('has expired')
  })

  test('cannot be guessed: unknown keys count as failed attempts of the address', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 130; n++) statuses.push((await find(`lgw_proj_${String(n).padStart(32, 'x')}`)).status)
    expect([statuses.slice(0, 100).every(status => status === 200), statuses.at(-1)]).toEqual([true, 429])
    // A key that was found before is still found.
    expect((await find(leaked)).status).toBe(200)
  })
})
