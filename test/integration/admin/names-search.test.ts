/** The search for names that exist, which the pickers of the dashboard use. */
import { beforeAll, expect, test } from 'vitest'
import { describeBackends } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './people.ts'

const RECORDS = 6_000

describeBackends('a search for names', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
  let adminKey: string
  let project: string
  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    adminKey = await issueAdminKey(proxy, 'root@example.org')
    await proxy.query(`select create_project('acme', 'free')`)
    await proxy.query(`select create_project('acme-tools', 'free')`)
    const [{ id = 0 } = {}] = await proxy.query<{ id: number }>(`select find_project('acme') as id`)
    project = `proj_${id}`
    await proxy.query(`select issue_key('acme', 'project', name) from unnest('{production,staging}'::text[]) name`)
    await proxy.query(`select issue_key('acme-tools', 'project', 'production of others')`)
    await proxy.query(`
      insert into usage_records (recorded_at, project_id, request_id, status, endpoint, model, streamed, prompt_tokens, cached_prompt_tokens,
        completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms, key_id, end_user)
      select now() - n * interval '1 millisecond', ${id}, 'r' || n, 200, 'chat', 'm', false, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        case when n <= 5500 then 'recent-' || n % 30 else 'Early-' || n end
      from generate_series(1, ${RECORDS}) n`)
    await proxy.query(
      `insert into usage_pending select p.* from usage_records r cross join lateral pending_sums(r, 1) p`,
    )
    await proxy.query('select roll_up_usage()')
    await proxy.query(`
      insert into usage_sums_by_name (project_id, grain, kind, at, name, key_type, requests, hits, misses, failed, tokens, cost_usd, saved_usd)
      select ${id}, 'month', 'tag', date_trunc('month', now(), 'UTC') - make_interval(months => months), name, 'project', 1, 0, 0, 0, 0, 0, 0
      from (values (0, 'team=search'), (0, 'team=support'), (0, 'user_id=alice'), (0, 'zone=eu'), (2, 'team=former'), (3, 'team=ancient')) v (months, name)`)
  })

  async function search(query: Record<string, string>) {
    const { status, json } = await send(proxy, 'GET', `/v1/organization/names?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${adminKey}` },
    })
    if (status !== 200) return { status, message: json.error.message }
    return { names: json.data.map(({ name }: { name: string }) => name), hasMore: json.has_more, data: json.data }
  }

  test('finds keys by a part of their name or by their prefix, and only of the project', async () => {
    const found = await search({ kind: 'api_key', project_id: project, search: 'PROD' })
    expect(found.names).toEqual(['production'])
    expect(found.data[0]).toEqual({
      object: 'organization.name',
      value: expect.stringMatching(/^key_\d+$/),
      name: 'production',
      detail: expect.stringMatching(/^lgw_proj_\w{8}…$/),
    })
    const byPrefix = await search({ kind: 'api_key', project_id: project, search: found.data[0].detail })
    expect(byPrefix.names).toEqual(['production'])
  })

  test('finds end users by any part of their name, ignoring case', async () => {
    expect(await search({ kind: 'end_user', project_id: project, search: 'CENT-7' })).toMatchObject({
      names: ['recent-7'],
      hasMore: false,
    })
  })

  test('finds end users with few requests', async () => {
    expect(await search({ kind: 'end_user', project_id: project, search: 'arly-599' })).toMatchObject({
      names: Array.from({ length: 10 }, (_, n) => `Early-599${9 - n}`),
    })
  })

  test('returns a limited number of names, and reports that there are more', async () => {
    const found = await search({ kind: 'end_user', project_id: project, limit: '5' })
    expect([found.names.length, found.hasMore]).toEqual([5, true])
  })

  test('finds tags of the last three months without the tag user_id', async () => {
    expect(await search({ kind: 'tag', project_id: project })).toMatchObject({
      names: ['team=former', 'team=search', 'team=support', 'zone=eu'],
    })
    expect(await search({ kind: 'tag', project_id: project, search: 'team=S' })).toMatchObject({
      names: ['team=search', 'team=support'],
    })
  })

  test('finds projects and users without a project', async () => {
    expect((await search({ kind: 'project', search: 'acme' })).names).toEqual(['acme', 'acme-tools'])
    expect((await search({ kind: 'user', search: 'ROOT' })).names).toEqual(['root@example.org'])
  })

  test('requires a project for the names of a project', async () => {
    expect(await search({ kind: 'tag' })).toEqual({
      status: 400,
      message: "The query parameter 'project_id' is required for this kind.",
    })
  })
})
