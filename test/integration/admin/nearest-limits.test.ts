/** All limits of a project in one list, of which the largest share is used first. */
import { beforeAll, expect, test } from 'vitest'
import type { NearestLimit } from '../../../src/dashboard/pages/types.ts'
import { recordUsage } from '../../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../../src/postgres/usage-record.ts'
import { describeBackends } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, type Browser, logIn } from './people.ts'

describeBackends('the list of limits', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
  let root: Browser
  let owner: Browser
  let project: string

  const read = async (by: Browser, limit = 100): Promise<{ data: NearestLimit[]; has_more: boolean }> =>
    (await by.send('GET', `/v1/organization/projects/${project}/limits/nearest?limit=${limit}`)).json
  const describeLimit = ({ kind, key_type, api_key_name, per, used, amount, is_of_plan }: NearestLimit) =>
    [kind, api_key_name ?? key_type ?? per, used, amount, ...(is_of_plan ? ['plan'] : [])].join(' ')

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    await addUser(proxy, 'owner@example.org', 'reader')
    await proxy.query(`insert into plans values ('tight', 100, 10, 1000, 50, 40)`)
    const [made] = await proxy.query<{ id: number }>(`select create_project('near', 'tight')::integer as id`)
    project = `proj_${made?.id}`
    await proxy.query(`select add_member('near', 'owner@example.org', 'owner')`)
    await proxy.query(`select issue_key('near', 'project', name) from unnest(array['busy', 'idle', 'gone']) as name`)
    await proxy.query(`select deactivate_key_with_id(id) from api_keys where name = 'gone'`)
    await proxy.query(
      `select set_key_limits(id, '{"requests_per_minute": 4, "tokens_per_minute": 1000}') from api_keys where name = 'busy'`,
    )
    await proxy.query(`select set_budget('near', 'usd', 10, 'month')`)
    await proxy.query(`select set_budget('near', 'usd', 0, 'day', of_model => 'never')`)
    await proxy.query(`select set_budget(null, 'usd', 100, 'month')`)
    // Another project's limits are not listed, not even for administrators.
    await proxy.query(`select create_project('other', 'tight')`)
    await proxy.query(`select set_budget('other', 'usd', 7, 'month')`)
    await proxy.query(
      `update budget_periods set spent = 4, reserved = 1 where budget_id = (select id from budgets where project_id = ${made?.id} and amount = 10)`,
    )
    await proxy.query(
      `insert into monthly_counters (project_id, key_type, month, requests) values (${made?.id}, 'project', current_month(), 900)`,
    )
    // Two requests in the last minute, one earlier, and one that was rejected before the cache.
    const records = await proxy.query<UsageRecord>(`
      select to_char((now() - ago) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as recorded_at, ${made?.id} as project_id, 'r-' || n as request_id, 200 as status, 'chat' as endpoint,
        'gpt-4o-mini' as model, case when n = 4 then null else 'openai' end as provider, case when n = 4 then null else 'MISS' end as cache_result,
        false as streamed, 300 as prompt_tokens, 0 as cached_prompt_tokens, 50 as completion_tokens, 0 as tokens_saved, 0 as cost_usd,
        0 as saved_usd, 1 as latency_ms, 1 as duration_ms, (select id from api_keys where name = 'busy') as key_id
      from (values (1, interval '5 seconds'), (2, interval '10 seconds'), (3, interval '2 minutes'), (4, interval '5 seconds')) as v (n, ago)`)
    await recordUsage(proxy.stores.database, records, crypto.randomUUID())
    root = await logIn(proxy, 'root@example.org')
    owner = await logIn(proxy, 'owner@example.org')
  })

  test('has quotas, keys and budgets, the nearest to its limit first', async () => {
    const { data, has_more } = await read(owner)
    expect(data.map(describeLimit)).toEqual([
      'budget day 0 0',
      'monthly_requests project 900 1000 plan',
      'tokens_per_minute busy 700 1000',
      'budget month 5 10',
      'requests_per_minute busy 2 4',
      'monthly_requests test 0 40 plan',
      'requests_per_minute idle 0 100 plan',
    ])
    expect(has_more).toBe(false)
    expect(data.map(({ share }) => share)).toEqual([1, 0.9, 0.7, 0.5, 0.5, 0, 0])
  })

  test('equals what the tables say of each budget and counter', async () => {
    const { data } = await read(owner)
    const counted = await proxy.query<{ used: number }>(
      `select c.requests::float as used from monthly_counters c join projects p on p.id = c.project_id where p.name = 'near'`,
    )
    const spent = await proxy.query<{ used: number }>(
      `select (b.spent + b.reserved)::float as used from project_budgets b where b._project_id = ${project.slice(5)} order by used`,
    )
    const used = (kind: string) => data.filter(limit => limit.kind === kind).map(limit => limit.used)
    expect(used('monthly_requests')).toEqual([counted[0]?.used, 0])
    expect(used('budget').sort()).toEqual(spent.map(row => row.used))
  })

  test('shows budgets of the organization to administrators only', async () => {
    const organization = async (by: Browser) => (await read(by)).data.filter(limit => limit.is_of_organization).length
    expect([await organization(root), await organization(owner)]).toEqual([1, 0])
    expect((await read(root)).data).toHaveLength((await read(owner)).data.length + 1)
  })

  test('is cut, and says so', async () => {
    const { data, has_more } = await read(owner, 2)
    expect([data.map(({ kind }) => kind), has_more]).toEqual([['budget', 'monthly_requests'], true])
  })
})
