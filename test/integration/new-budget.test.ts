/**
 * A budget begins with the cost of its period so far: read from the sums, exact in races, and without blocking the records of other
 * projects.
 */

import { afterEach, beforeEach, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { recordUsage, rollUpUsage } from '../../src/postgres/record-usage.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { describeBackends, describeReal } from '../harness/backends.ts'
import { waitUntil } from '../harness/wait-until.ts'

const MODEL = 'gpt-4o-mini'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The number of tag sets that roll_up_usage() stores for each project and hour. */
const MOST_SETS = 500

async function addProject(database: Database): Promise<number> {
  return Number(await callFunction(database, 'create_project', { project: `s-${crypto.randomUUID()}`, plan: 'free' }))
}

function recordOf(project: number, usd: number, more: Partial<UsageRecord> = {}): UsageRecord {
  const record = {
    recorded_at: new Date().toISOString(),
    request_id: 'r',
    project_id: project,
    key_id: 1,
    endpoint: 'chat',
    model: MODEL,
    provider: 'openai',
    cache_result: 'MISS' as const,
    status: 200,
    streamed: false,
    prompt_tokens: 10,
    cached_prompt_tokens: 0,
    completion_tokens: 1,
    tokens_saved: 0,
    cost_usd: usd,
    saved_usd: 0,
    latency_ms: 1,
    duration_ms: 1,
    ...more,
  }
  return { ...record, spent: [{ id: null, model: record.model, usd, tokens: 11 }] }
}

interface Scope {
  of: number | null
  unit?: string
  per?: string
  model?: string
  key?: number
  tag?: string
  zone?: string
}

const quoted = (text?: string) => (text === undefined ? 'null' : `'${text}'`)
const putting = ({ of, unit = 'usd', per = 'month', model, key, tag, zone = 'UTC' }: Scope, amount = 100) =>
  `select upsert_budget(${of}, '${unit}', ${amount}, '${per}', ${key ?? null}, ${quoted(model)}, ${quoted(tag)}, '${zone}', true)::integer as id`

async function put(database: Database, scope: Scope, amount?: number): Promise<number> {
  const [row] = await database.call<{ id: number }>(putting(scope, amount), [])
  return row?.id ?? 0
}

async function spentOf(database: Database, budget: number): Promise<number | undefined> {
  const [row] = await database.call<{ spent: number }>(
    `select c.spent::float8 as spent from budgets b cross join lateral budget_period_at(b.per, b.time_zone, now()) p
    join budget_periods c on c.budget_id = b.id and c.begins = p.begins where b.id = ${budget}`,
    [],
  )
  return row?.spent
}

describeBackends('a budget that begins', backend => {
  let database: Database
  let project: number
  let other: number
  beforeEach(async () => {
    ;({ database } = await backend.open())
    ;[project, other] = [await addProject(database), await addProject(database)]
  })

  const write = (...records: UsageRecord[]) => recordUsage(database, records, crypto.randomUUID())
  const spent = async (scope: Scope) => spentOf(database, await put(database, scope))

  /** The day begins a quarter past an hour of UTC, so it has no whole hours of UTC. */
  const begins = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 45 * MINUTE_MS)
  const zone = `<x>+${begins.toISOString().slice(11, 16)}`
  const inHour = new Date(begins.getTime() + MINUTE_MS).toISOString()

  test.each(['pending', 'summed', 'both'])(
    'includes the cost of its own requests since its period began: %s',
    async how => {
      const records = [
        recordOf(project, 1, { recorded_at: inHour, tags: { team: 'a' } }),
        recordOf(project, 2, { model: 'gpt-4o', tags: { team: 'a', of: 'x' } }),
        recordOf(project, 4, { key_id: 2, tags: { team: 'b' } }),
        recordOf(other, 8, { tags: { team: 'a' } }),
        recordOf(project, 16, { recorded_at: new Date(begins.getTime() - 1).toISOString(), tags: { team: 'a' } }),
        recordOf(project, 32),
      ]
      for (const record of records) {
        await write(record)
        if (how === 'summed' || (how === 'both' && record.cost_usd < 4)) await rollUpUsage(database)
      }
      const day = { of: project, per: 'day', zone }
      expect(await spent(day)).toBe(39)
      expect(await spent({ ...day, model: 'openai/gpt-4o-mini' })).toBe(37)
      expect(await spent({ ...day, tag: '{"team": "a"}' })).toBe(3)
      expect(await spent({ ...day, tag: '{"team": "a"}', model: 'gpt-4o' })).toBe(2)
      expect(await spent({ ...day, unit: 'tokens' })).toBe(44)
      expect(await spent({ ...day, unit: 'tokens', tag: '{"team": "a"}' })).toBe(22)
      expect(await spent({ ...day, per: 'total' })).toBe(0)
      expect(await spent({ ...day, of: null })).toBe(47)
    },
  )

  async function keyId(): Promise<number> {
    const [row] = await database.call<{ name: string }>(`select name from projects where id = ${project}`, [])
    await callFunction(database, 'issue_key', { project: row?.name ?? '', key_type: 'project', key_name: 'k' })
    const [key] = await database.call<{ id: number }>(
      `select id::integer from api_keys where project_id = ${project}`,
      [],
    )
    return key?.id ?? 0
  }

  test('of a key, includes the cost of requests with that key', async () => {
    const key = await keyId()
    for (const each of [key, key + 1_000]) {
      await write(recordOf(project, each === key ? 1 : 2, { key_id: each, tags: { team: 'a' } }))
      await rollUpUsage(database)
    }
    await write(
      recordOf(project, 4, { key_id: key, tags: { team: 'a' } }),
      recordOf(project, 8, { key_id: key + 1_000 }),
    )
    expect(await spent({ of: project, key })).toBe(5)
    expect(await spent({ of: project, key, tag: '{"team": "a"}' })).toBe(5)
  })

  test('includes the cost of earlier days, from whichever quarter of an hour on', async () => {
    const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS
    // One pending row every 7 hours. Partitions of usage_records are not needed: some rows belong to another month.
    const times = Array.from({ length: 14 }, (_, n) => midnight - n * 7 * HOUR_MS)
    const pending = times.map(
      (at, n) =>
        `(${project}, '${new Date(at).toISOString()}', 1, 'chat', '${MODEL}', '', '', 2, 1, 0, 0, 0, 0, ${2 ** n}, 0, 1, 1, 0, 1)`,
    )
    await database.call(
      `insert into usage_pending (project_id, at, key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms, slow_requests, bucket) values ${pending.join()}`,
      [],
    )
    await rollUpUsage(database)
    const [mine, all] = [await put(database, { of: project }), await put(database, { of: null })]
    for (const [n, at] of times.entries()) {
      for (const [from, expected] of [
        [at, 2 ** (n + 1) - 1],
        [at + 15 * MINUTE_MS, 2 ** n - 1],
      ] as const) {
        const time = new Date(from).toISOString()
        const rows = await database.call(
          `select summed_spending(b, '${time}')::float8 as usd from budgets b where id in (${mine}, ${all})`,
          [],
        )
        expect([time, rows]).toEqual([time, [{ usd: expected }, { usd: expected }]])
      }
    }
  })

  test('of a tag, includes the cost of requests whose tags the sums omitted', async () => {
    const named = (n: number) => recordOf(project, 1, { tags: { request: `r${n}`, team: 'a' } })
    await write(...Array.from({ length: MOST_SETS + 20 }, (_, n) => named(n)))
    await rollUpUsage(database)
    await write(named(MOST_SETS + 5), recordOf(project, 1, { tags: { team: 'b' } }))
    expect(await spent({ of: project, tag: '{"team": "a"}' })).toBe(MOST_SETS + 21)
  })

  test('is not summed again when it is set again, and is in another time zone', async () => {
    await write(recordOf(project, 5))
    const budget = await put(database, { of: project })
    await database.call(`update budget_periods set spent = 7 where budget_id = ${budget}`, [])
    for (const amount of [100, 50]) expect(await put(database, { of: project }, amount)).toBe(budget)
    expect(await spentOf(database, budget)).toBe(7)
    // The zone is changed and changed back: the first zone's period was not charged in between.
    await put(database, { of: project, zone: 'Pacific/Kiritimati' })
    await write(recordOf(project, 1))
    expect(await put(database, { of: project })).toBe(budget)
    expect(await spentOf(database, budget)).toBe(6)
    const rows = await database.call('select amount::float8 as amount from budgets', [])
    expect(rows).toEqual([{ amount: 100 }])
  })
})

describeBackends('locks of a budget that begins', backend => {
  const ORGANIZATION = 'model_proxy organization_budget'
  let database: Database
  let project: number
  beforeEach(async () => {
    ;({ database } = await backend.open())
    project = await addProject(database)
  })

  /** Runs a statement that returns one row. Resolves to the advisory locks that it takes, and whether it locks the project's row. */
  async function locksOf(text: string, values: readonly unknown[] = []): Promise<[string[], boolean]> {
    const holder = `select concat(p.xmin, ' ', p.xmax) as held from projects p where p.id = ${project}`
    const before = await database.call(holder, [])
    const [row] = await database.call<{ locks: string[] }>(
      `with done as materialized (${text})
      select array(
        select concat_ws(' ', a.name, l.mode) from pg_locks l join advisory_locks() a on (a.number::bigint & 4294967295) = l.objid::bigint
        where l.locktype = 'advisory' and l.pid = pg_backend_pid() and d is not null order by 1
      ) as locks from done d`,
      values as never[],
    )
    const after = await database.call(holder, [])
    return [row?.locks ?? [], JSON.stringify(after) !== JSON.stringify(before)]
  }

  test('conflict with recording usage, and are not taken if the budget existed', async () => {
    const recorded: unknown[] = []
    const locking = {
      ...database,
      async call(text: string, values: readonly unknown[]) {
        recorded.push(await locksOf(text, values))
        return [{ record_usage: null }]
      },
    } as unknown as Database
    const record = recordOf(project, 5)
    await recordUsage(locking, [record], crypto.randomUUID())
    // A record without cost takes no lock.
    await recordUsage(locking, [{ ...record, spent: [] }], crypto.randomUUID())
    const shared = [`${ORGANIZATION} ShareLock`]
    expect(recorded).toEqual([
      [shared, true],
      [[], false],
    ])
    expect(await locksOf(`select settle_record(${project}, 'r', 2)::text`)).toEqual([shared, true])

    const sums = 'model_proxy roll_up_usage ExclusiveLock'
    for (const per of ['month', 'day']) expect(await locksOf(putting({ of: project, per }))).toEqual([[sums], true])
    expect(await locksOf(putting({ of: project }))).toEqual([[], false])
    expect(await locksOf(putting({ of: null }))).toEqual([[`${ORGANIZATION} ExclusiveLock`, sums], false])
  })

  test('conflict with creating a project, and with removing a budget', async () => {
    const shared = [`${ORGANIZATION} ShareLock`]
    expect(await locksOf(`select create_project('p-${crypto.randomUUID()}', 'free')`)).toEqual([shared, false])
    await put(database, { of: project })
    const dropping = `select delete_unused_budget(${project}, 0)::text`
    expect(await locksOf(dropping)).toEqual([shared, true])
  })
})

describeReal('a budget that is set while records are written', backend => {
  let database: Database
  /** A database with one connection: a transaction that begins on it stays open until it ends. */
  let open: Database
  let project: number
  let other: number

  beforeEach(async () => {
    const stores = await backend.open()
    database = stores.database
    open = openServerDatabase({ url: stores.databaseUrl ?? '', maxConnections: 1 })
    ;[project, other] = [await addProject(database), await addProject(database)]
    await open.call('begin', [])
  })
  afterEach(() => open.close())

  const write = (into: Database, of: number, usd = 5) => recordUsage(into, [recordOf(of, usd)], crypto.randomUUID())

  /** Resolves once another connection waits for a lock that `open` holds. */
  async function isWaitedFor(): Promise<void> {
    const text = 'select from pg_locks l where not l.granted and pg_backend_pid() = any (pg_blocking_pids(l.pid))'
    await waitUntil('another connection waits for the lock', async () => (await open.call(text, [])).length > 0)
  }

  const scopes = [
    ['a project', () => project],
    ['the organization', () => null],
  ] as const

  test.each(scopes)('of %s, includes what a batch wrote that began before it', async (_, of) => {
    await write(open, project)
    const budget = put(database, { of: of() })
    await isWaitedFor()
    await open.call('commit', [])
    expect(await spentOf(database, await budget)).toBe(5)
  })

  test.each(scopes)('of %s, includes what a batch writes that began after it', async (_, of) => {
    const budget = await put(open, { of: of() })
    const written = write(database, project)
    await isWaitedFor()
    await open.call('commit', [])
    await written
    expect(await spentOf(database, budget)).toBe(5)
  })

  test('includes usage of a response that is reported meanwhile', async () => {
    const record = { ...recordOf(project, 5), cost_estimated: 'client_left' } as const
    await recordUsage(database, [record], crypto.randomUUID())
    const at = record.recorded_at
    await database.call(`select queue_reconciliation(${project}, 'resp', 'openai', 'r', '${at}', '${at}', 5)`, [])
    await open.call(`select reconcile_response(${project}, 'resp', 3, 0, 1, 2)`, [])
    const budget = put(database, { of: project })
    await isWaitedFor()
    await open.call('commit', [])
    expect(await spentOf(database, await budget)).toBe(2)
  })

  test('delays no record of another project', async () => {
    await put(open, { of: project })
    await write(database, other)
    // The other project's record stays pending while the transaction is open. Otherwise the budget would be missing its amount.
    await rollUpUsage(database)
    expect(await database.call('select from usage_pending', [])).toHaveLength(1)
    await open.call('commit', [])
    expect(await spentOf(database, await put(database, { of: other }))).toBe(5)
  })

  test('waits for no record when it is set again, and no change of a project waits for records', async () => {
    const budget = await put(database, { of: project })
    await write(open, project)
    expect(await put(database, { of: project }, 50)).toBe(budget)
    await database.call(`update projects set cache_generation = cache_generation + 1 where id = ${project}`, [])
    await open.call('commit', [])
    expect(await spentOf(database, budget)).toBe(5)
  })

  test('of the organization, applies to a project that is created meanwhile', async () => {
    await put(open, { of: null })
    const created = addProject(database)
    await isWaitedFor()
    await open.call('commit', [])
    const rows = await database.call(`select has_budgets from projects where id = ${await created}`, [])
    expect(rows).toEqual([{ has_budgets: true }])
  })

  test('that is removed meanwhile leaves reservations for another that is set', async () => {
    const [{ name = '' } = {}] = await database.call<{ name: string }>(
      `select name from projects where id = ${project}`,
      [],
    )
    const budget = await put(database, { of: project })
    await put(open, { of: project, per: 'day' })
    const removed = database.call(`select remove_budget('${name}', ${budget})`, [])
    await isWaitedFor()
    await open.call('commit', [])
    await removed
    const rows = await database.call(`select has_budgets from projects where id = ${project}`, [])
    expect(rows).toEqual([{ has_budgets: true }])
  })

  test('counts each of many records once, whatever is set and summed meanwhile', { timeout: 60_000 }, async () => {
    await open.call('commit', [])
    let isDone = false
    const written = new Map([
      [project, 0],
      [other, 0],
    ])
    const writer = async (of: number) => {
      while (!isDone) {
        await write(database, of, 1)
        written.set(of, (written.get(of) ?? 0) + 1)
      }
    }
    const summer = async () => {
      while (!isDone) await rollUpUsage(database)
    }
    const running = [...[project, other].flatMap(of => [writer(of), writer(of)]), summer()]
    const [pers, units] = [
      ['day', 'week', 'month'],
      ['usd', 'tokens'],
    ]
    const budgets: { id: number; of: number | null; unit: string }[] = []
    for (const of of [project, null, other])
      for (const per of pers)
        for (const unit of units) budgets.push({ id: await put(database, { of, per, unit }), of, unit })
    isDone = true
    await Promise.all(running)
    const total = [...written.values()].reduce((sum, each) => sum + each, 0)
    for (const { id, of, unit } of budgets) {
      const records = of === null ? total : (written.get(of) ?? 0)
      expect(await spentOf(database, id)).toBe(unit === 'usd' ? records : records * 11)
    }
    expect(total).toBeGreaterThan(20)
  })
})
