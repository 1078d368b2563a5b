/**
 * An audit finds each planted fault as its own kind only, and finds nothing in the normal work of proxies, during requests or afterwards.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { admitRequests } from '../../src/postgres/admit-requests.ts'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { recordUsage, rollUpUsage } from '../../src/postgres/record-usage.ts'
import { AUDIT_KINDS } from '../../src/postgres/seeds.generated.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { describeBackends } from '../harness/backends.ts'
import { sha256 } from '../harness/cached-responses.ts'
import { question } from '../harness/chat.ts'
import { ask, post } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

interface Finding {
  kind: string
  project: string | null
  api_key: string | null
  subject: string
  expected: string
  found: string
}

/** Audits one day around now. The last two minutes are included, because everything has been recorded. */
async function audit({ call }: Pick<Database, 'call'>): Promise<Finding[]> {
  return call<Finding>(
    `select kind, project, api_key, subject, expected, found from run_audit(now() - interval '1 day', now() + interval '1 hour')`,
    [],
  )
}

const kindsOf = (findings: readonly Finding[]) => [...new Set(findings.map(({ kind }) => kind))].sort()

describeBackends('an audit of planted faults', backend => {
  let database: Database
  let keyHash: string
  let projectId: number
  let keyId: number
  let made = 0

  const query = <Row>(text: string) => database.call<Row>(text, [])

  function recordOf(more: Partial<UsageRecord> = {}): UsageRecord {
    const record = {
      recorded_at: new Date().toISOString(),
      request_id: `r-${made++}`,
      project_id: projectId,
      key_id: keyId,
      endpoint: 'chat',
      model: 'gpt-4o-mini',
      provider: 'openai',
      cache_result: 'MISS' as const,
      status: 200,
      streamed: false,
      prompt_tokens: 10,
      cached_prompt_tokens: 0,
      completion_tokens: 5,
      tokens_saved: 0,
      cost_usd: 0.05,
      saved_usd: 0,
      latency_ms: 12,
      duration_ms: 15,
      ...more,
    }
    const { model, cost_usd: usd, prompt_tokens, completion_tokens } = record
    return { ...record, spent: [{ id: null, model, usd, tokens: prompt_tokens + completion_tokens }] }
  }

  /** Records what an admitted request of a project with budgets does. */
  async function answer(...records: UsageRecord[]): Promise<void> {
    await admitRequests(database, [{ keyHash, requests: records.length }])
    await recordUsage(database, records, crypto.randomUUID())
  }

  async function rollUp(): Promise<void> {
    while ((await query<{ n: number }>('select count(*)::integer as n from usage_pending'))[0]?.n)
      await rollUpUsage(database)
  }

  const ofProject = () => `project_id = ${projectId}`
  const newBudget = (amount: number, unit = 'usd', per = 'month') =>
    query(`select set_budget('acme', '${unit}', ${amount}, '${per}')`)
  /** Runs statements without the triggers that record changes. */
  const unnoted = (text: string) =>
    query(
      `do $$ begin set local session_replication_role = replica; ${text}; set local session_replication_role = origin; end $$`,
    )
  const reserve = (expires: string, id = 'gen_random_uuid()') =>
    query(`with reserved as (update budget_periods c set reserved = reserved + 0.5 from budgets b where b.id = c.budget_id and b.per = 'month' and b.unit = 'usd' returning c.*)
      insert into budget_reservations (id, budget_id, begins, amount, project_id, key_id, request_id, endpoint, model, expires_at)
      select ${id}, r.budget_id, r.begins, 0.5, ${projectId}, ${keyId}, 'planted', 'chat', 'gpt-4o', ${expires} from reserved r`)

  beforeEach(async () => {
    database = (await backend.open()).database
    await callFunction(database, 'maintain_usage_partitions', {})
    await query(`insert into plans values ('audited', 100, 1000, 1000)`)
    await callFunction(database, 'create_project', { project: 'acme', plan: 'audited' })
    projectId = await callFunction(database, 'find_project', { project: 'acme' })
    const key = await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' })
    keyHash = sha256(key)
    keyId = (await query<{ id: number }>(`select id::integer from api_keys where ${ofProject()}`))[0]?.id ?? 0
    await newBudget(1)
    await newBudget(1000, 'tokens', 'day')
    await answer(recordOf(), recordOf({ tags: { team: 'search' } as never, model: 'gpt-4o' }))
    await rollUp()
    await answer(
      recordOf({ tags: { team: 'support' } as never }),
      recordOf({ cache_result: 'HIT', prompt_tokens: 0, completion_tokens: 0, cost_usd: 0 }),
    )
  })

  const FAULTS: Record<string, { plant: () => Promise<unknown>; also?: string[] }> = {
    quota_exceeded: { plant: () => unnoted(`update plans set requests_per_month = 3 where name = 'audited'`) },
    request_not_counted: { plant: () => query(`update monthly_counters set requests = 3 where ${ofProject()}`) },
    request_not_recorded: { plant: () => query(`update monthly_counters set requests = 40 where ${ofProject()}`) },
    rate_exceeded: { plant: () => unnoted(`update plans set requests_per_minute_per_key = 3 where name = 'audited'`) },
    inactive_key_used: {
      plant: () => query(`update api_keys set deactivated_at = now() - interval '1 hour' where id = ${keyId}`),
    },
    unknown_key: { plant: () => recordUsage(database, [recordOf({ key_id: 999_999_999 })], crypto.randomUUID()) },
    unknown_project: {
      plant: () => recordUsage(database, [recordOf({ project_id: 999_999_999 })], crypto.randomUUID()),
    },
    recorded_twice: {
      async plant() {
        const record = recordOf()
        await answer(record)
        await answer(record)
      },
    },
    hit_with_cost: { plant: () => answer(recordOf({ cache_result: 'HIT' })) },
    cost_without_provider: { plant: () => answer(recordOf({ provider: null })) },
    negative_amount: { plant: () => answer(recordOf({ duration_ms: -5 })) },
    cost_estimated: { plant: () => answer(recordOf({ cost_estimated: 'client_left' })) },
    sums_differ: {
      plant: () => query(`update usage_records set model = 'o3' where ${ofProject()} and model = 'gpt-4o'`),
    },
    grains_differ: {
      plant: () =>
        query(`update usage_sums set model = 'o3' where ${ofProject()} and model = 'gpt-4o' and grain = 'hour'`),
    },
    total_differs: { plant: () => query('update usage_sums set cost_usd = 2 * cost_usd where project_id = 0') },
    latency_counts_differ: {
      plant: () => query(`update latency_counts set requests = requests + 1 where ${ofProject()} and grain = 'hour'`),
    },
    tagged_sums_differ: {
      plant: () => query(`update usage_sums_by_tag set requests = requests + 1 where ${ofProject()} or project_id = 0`),
    },
    overspent: { plant: () => answer(...Array.from({ length: 3 }, () => recordOf({ cost_usd: 0.7 }))) },
    record_not_settled: {
      plant: () => query(`update budget_periods set spent = spent - 0.001 where spent < 1`),
    },
    spent_without_record: { plant: () => query('update budget_periods set spent = spent + 0.001 where spent < 1') },
    reserved_differs: { plant: () => query('update budget_periods set reserved = reserved + 0.001 where spent < 1') },
    expired_reservation: { plant: () => reserve(`now() - interval '1 hour'`) },
    reservation_without_batch: { plant: () => reserve(`'infinity'`) },
    budget_not_applied: { plant: () => query(`update projects set has_budgets = false where id = ${projectId}`) },
    response_not_settled: {
      plant: () =>
        query(`insert into unreconciled_responses (project_id, id, provider, request_id, recorded_at, charged_at, usd)
          values (${projectId}, 'resp_1', 'openai', 'r', now() - interval '2 days', now() - interval '2 days', 1)`),
    },
    usage_not_summed: {
      plant: () =>
        query(`insert into usage_pending values (${projectId}, date_bin('15 minutes', now() - interval '3 days', 'epoch'), ${keyId},
          'chat', 'gpt-4o', 'openai', 'MISS', 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14)`),
    },
    partition_missing: {
      async plant() {
        const [partition] = await query<{ name: string }>(
          `select p.name from list_partitions('request_contents') p where p.begins > now() and p.begins <= now() + interval '1 day'`,
        )
        await query(`drop table ${partition?.name}`)
      },
    },
  }

  test('covers a fault of each kind', () => {
    expect(Object.keys(FAULTS).sort()).toEqual(AUDIT_KINDS.map(({ kind }) => kind).sort())
  })

  test('finds nothing before one is planted, in psql and by the command', async () => {
    expect(await audit(database)).toEqual([])
    await query(`update budget_periods set reserved = reserved + 0.001 where spent < 1`)
    const [finding] = await query<Record<string, unknown>>('select * from audit_findings')
    expect(finding).toMatchObject({ kind: 'reserved_differs', severity: 'violation', project: 'acme', api_key: null })
    const parts = await callFunction(database, 'audit_parts', {})
    const found = await Promise.all(
      parts.map(({ part, begins, ends }) =>
        callFunction(database, 'run_audit_part', { part, from_time: begins, until_time: ends, project: 'acme' }),
      ),
    )
    expect(found.flat()).toEqual([finding])
    await expect(query(`select * from run_audit(project => 'nobody')`)).rejects.toThrow('does not exist')
  })

  test.each(Object.keys(FAULTS))('finds %s, and nothing else', async kind => {
    await FAULTS[kind]?.plant()
    const findings = await audit(database)
    expect([kind, kindsOf(findings)], JSON.stringify(findings)).toEqual([kind, [kind]])
  })

  test.each([
    ['usage_by_quarter', 'hour'],
    ['usage_by_hour', 'hour'],
    ['usage_by_day', 'day'],
    ['usage_by_month', 'month'],
  ])('finds another amount in %s, also of another key', async (place, grain) => {
    for (const [change, back] of [
      ['cost_usd = cost_usd + 0.001', 'cost_usd = cost_usd - 0.001'],
      ['requests = requests + 1', 'requests = requests - 1'],
      ['completion_tokens = completion_tokens + 1', 'completion_tokens = completion_tokens - 1'],
      ['key_id = key_id + 1000000', 'key_id = key_id - 1000000'],
    ] as const) {
      await query(`update ${place} set ${change} where ${ofProject()}`)
      const found = (await audit(database)).filter(({ kind }) => kind === 'grains_differ')
      const subjects = found.map(({ subject }) => subject.split(' of ')[0])
      expect([change, subjects]).toEqual([change, expect.arrayContaining([`sums by the ${grain}`])])
      await query(`update ${place} set ${back} where ${ofProject()}`)
    }
    expect(await audit(database)).toEqual([])
  })

  test.each([
    ['sums_differ', `update usage_records set recorded_at = recorded_at + interval '15 minutes' where cost_usd = 0`],
    [
      'grains_differ',
      `update usage_by_quarter set at = at + interval '1 hour' where project_id <> 0 and model = 'gpt-4o'`,
    ],
  ])('finds usage at another time of the day as %s', async (kind, text) => {
    await query(text)
    expect(kindsOf(await audit(database))).toContain(kind)
  })

  test('a recorded change of a plan explains what was admitted before', async () => {
    await query(`update plans set requests_per_month = 3, requests_per_minute_per_key = 3 where name = 'audited'`)
    expect(await audit(database)).toEqual([])
    await query(`insert into plans values ('small', 1, 1, 1)`)
    await callFunction(database, 'set_plan', { project: 'acme', plan: 'small' })
    expect(await audit(database)).toEqual([])
    const actions = await query(`select action, details from audit_log where details ? 'was' order by id`)
    expect(actions).toEqual([
      {
        action: 'rate_limit.updated',
        details: {
          requests_per_month: 3,
          requests_per_minute_per_key: 3,
          was: { requests_per_month: 1000, requests_per_minute_per_key: 100 },
        },
      },
      { action: 'project.updated', details: { plan: 'small', was: 'audited' } },
    ])
    // The limit was in force before the requests.
    await query(`update audit_log set recorded_at = recorded_at - interval '1 hour'`)
    expect(kindsOf(await audit(database))).toContain('rate_exceeded')
    await query(`update audit_log set recorded_at = date_trunc('month', now(), 'UTC') - interval '1 hour'`)
    expect(kindsOf(await audit(database))).toEqual(['quota_exceeded', 'rate_exceeded'])
  })

  test('limits of test keys and own limits of keys count', async () => {
    await unnoted(`update api_keys set requests_per_minute = 3 where id = ${keyId}`)
    expect(kindsOf(await audit(database))).toEqual(['rate_exceeded'])
    await callFunction(database, 'set_key_limits', { of_key: keyId, limits: { requests_per_minute: 2 } })
    expect(await audit(database)).toEqual([])
    await unnoted(`update plans set test_requests_per_minute = 3 where name = 'audited'`)
    expect(await audit(database)).toEqual([])
    await unnoted(`update api_keys set type = 'test' where id = ${keyId}`)
    expect(kindsOf(await audit(database))).toContain('rate_exceeded')
  })

  test('an import may have changed the limit of an imported key, and of no other', async () => {
    await unnoted(`update api_keys set requests_per_minute = 3 where id = ${keyId}`)
    await query(`select audit('accounts.imported', null, 'litellm', '{}')`)
    expect(kindsOf(await audit(database))).toEqual(['rate_exceeded'])
    await unnoted(`update api_keys set imported_hash = key_hash where id = ${keyId}`)
    expect(await audit(database)).toEqual([])
    await query(`delete from audit_log where action = 'accounts.imported'`)
    expect(kindsOf(await audit(database))).toEqual(['rate_exceeded'])
  })

  test('ignores requests before a key was deactivated, or in flight then', async () => {
    await answer(recordOf({ recorded_at: new Date(Date.now() + 60_000).toISOString(), duration_ms: 90_000 }))
    await query(
      `update api_keys set deactivated_at = now(), expires_at = now() + interval '1 hour' where id = ${keyId}`,
    )
    // The request was not admitted.
    const rejected = recordOf({ recorded_at: new Date(Date.now() + 60_000).toISOString(), provider: null, cost_usd: 0 })
    await recordUsage(database, [{ ...rejected, cache_result: null, status: 403 }], crypto.randomUUID())
    expect(kindsOf(await audit(database))).toEqual([])
    await query(`update api_keys set deactivated_at = null, expires_at = now() - interval '1 hour' where id = ${keyId}`)
    expect(kindsOf(await audit(database))).toEqual(['inactive_key_used'])
  })

  test('the judge’s cost may be spent without a record, and belong to a hit', async () => {
    const judged = recordOf({ cache_result: 'HIT-SEMANTIC', prompt_tokens: 0, completion_tokens: 0, cost_usd: 0.01 })
    await answer({ ...judged, spent: [] })
    expect(kindsOf(await audit(database))).toEqual(['hit_with_cost', 'record_not_settled'])
    await query(`insert into judge_spending values (${projectId}, (now() at time zone 'UTC')::date, 1, 0.02)`)
    expect(await audit(database)).toEqual([])
    await query(`update budget_periods set spent = spent + 0.03 where spent < 1`)
    expect(await audit(database)).toEqual([])
    await query(`update budget_periods set spent = spent + 0.01 where spent < 1`)
    expect(kindsOf(await audit(database))).toEqual(['spent_without_record'])
  })

  test('an unsettled batch keeps its reservation; doubtful amounts belong to no batch', async () => {
    await query(
      `insert into stored_objects (project_id, id, collection, provider) values (${projectId}, 'batch_1', 'batches', 'openai')`,
    )
    await reserve(`'infinity'`, `md5('${projectId} batch_1')::uuid`)
    expect(await audit(database)).toEqual([])
    await query(`update stored_objects set settled_at = now() - interval '1 hour' where ${ofProject()}`)
    expect(kindsOf(await audit(database))).toEqual(['reservation_without_batch'])
    await query(`update budget_reservations set expires_at = now() - interval '1 minute'`)
    await callFunction(database, 'expire_reservations', {})
    expect(kindsOf(await audit(database))).toEqual(['cost_estimated'])
  })

  test('a budget may be exceeded by one request, and by what was spent before it was set', async () => {
    await answer(recordOf({ cost_usd: 0.8 }), recordOf({ cost_usd: 0.2 }))
    expect(await audit(database)).toEqual([])
    await newBudget(0.1, 'usd', 'week')
    expect(await audit(database)).toEqual([])
    // A lowered amount applies to later requests only.
    await newBudget(0.2)
    expect(await audit(database)).toEqual([])
    await answer(recordOf({ cost_usd: 1.5 }))
    expect(kindsOf(await audit(database))).toEqual(['overspent'])
  })

  test('checks only the project that is named', async () => {
    await query('update budget_periods set reserved = reserved + 0.001 where spent < 1')
    await callFunction(database, 'create_project', { project: 'other', plan: 'audited' })
    expect(await query(`select from run_audit(now() - interval '1 day', now(), 'other')`)).toEqual([])
    expect(await query(`select from run_audit(now() - interval '1 day', now(), 'acme')`)).toHaveLength(1)
  })
})

describeBackends('an audit beside requests', backend => {
  const MODEL = 'gpt-4o-mini'
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ stores: backend.open(), environment: { ...upstreams.environment, UPSTREAM_MAX_RETRIES: '0' } }),
  )
  beforeAll(async () => {
    await callFunction(proxy.stores.database, 'maintain_usage_partitions', {})
  })

  const violations = async () => {
    const severities = new Map<string, string>(AUDIT_KINDS.map(({ kind, severity }) => [kind, severity]))
    return (await audit(proxy.stores.database)).filter(({ kind }) => severities.get(kind) === 'violation')
  }

  describe('finds no violation', () => {
    test('in hits, misses, streams, fallbacks, errors and clients that disconnect, within budgets of every kind', async () => {
      const project = `a-${crypto.randomUUID()}`
      const key = await proxy.createKey({ project, type: 'project', settings: { fallbacks: 'gpt-4o' } })
      const test = await proxy.createKey({ project, type: 'test' })
      const other = await proxy.createKey({ type: 'project' })
      for (const provider of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, provider, 'sk-own')
      const [owned] = await proxy.query<{ id: number }>(
        `select min(k.id)::integer as id from api_keys k join projects p on p.id = k.project_id where p.name = '${project}'`,
      )
      const set = (rest: string) => proxy.query(`select set_budget('${project}', ${rest})`)
      upstreams.openai.script(({ bodyText }) => {
        if (bodyText.includes('fails') && bodyText.includes(MODEL)) return { kind: 'error', status: 503 }
        if (bodyText.includes('breaks')) return { kind: 'cut', after: 2 }
        if (bodyText.includes('leaves')) return { kind: 'answer', chunkPauseMs: 20 }
        return bodyText.includes('wrong') ? { kind: 'error', status: 400 } : undefined
      })
      async function ask1(n: number): Promise<void> {
        const fields = { model: MODEL, max_tokens: 200, stream: n % 3 === 0 }
        const headers: Record<string, string> = n % 4 === 0 ? { 'x-proxy-tags': 'team=search' } : {}
        const words = ['plain', 'fails', 'plain', 'breaks', 'plain', 'wrong', 'leaves'][n % 7]
        const body = question(`A ${words} question ${n % 20}?`, fields)
        if (words !== 'leaves') return void (await ask(proxy, [key, key, test, other][n % 4] ?? key, body, headers))
        const leaving = new AbortController()
        const asking = post(proxy, key, '/chat/completions', body, { signal: leaving.signal })
        await asking.then(({ body }) => body?.getReader().read()).catch(() => {})
        leaving.abort()
      }
      const found: Finding[] = []
      async function audit(): Promise<void> {
        found.push(...(await violations()))
        await rollUpUsage(proxy.stores.database)
      }
      /** Each six requests are audited while they are in flight. */
      async function traffic(): Promise<void> {
        for (let n = 0; n < 60; n += 6)
          await Promise.all([audit(), ...Array.from({ length: 6 }, (_, i) => ask1(n + i).catch(() => {}))])
      }
      await set(`'usd', 5, 'day'`)
      await set(`'usd', 5, 'total'`)
      await set(`'usd', 5, 'month', of_model => 'gpt-4o'`)
      await set(`'tokens', 1000000, 'week', of_key => ${owned?.id}`)
      await proxy.query(`select set_spend_alert(null, 100, '{ops@example.org}')`)
      await traffic()
      // These budgets begin with existing usage.
      await set(`'usd', 5, 'month', of_tag => 'team=search'`)
      await set(`'usd', 5, 'week', of_model => '${MODEL}', in_zone => 'Asia/Kolkata'`)
      await set(`'tokens', 1000000, 'day'`)
      await traffic()
      expect(found).toEqual([])
      // A stream whose client disconnected is read to its end.
      await waitUntil('all reservations are settled', async () => {
        await proxy.settle()
        const held = await proxy.query('select from budget_reservations where doubtful_at is null')
        return held.length === 0
      })
      await rollUpUsage(proxy.stores.database)
      expect(await violations()).toEqual([])
      const [checked] = await proxy.query<{ records: number; spent: number; models: number }>(
        `select count(*)::integer as records, count(*) filter (where fallbacks is not null)::integer as models,
          (select count(*)::integer from budget_periods where spent > 0) as spent from usage_records`,
      )
      expect(checked?.records).toBeGreaterThan(60)
      expect(checked?.models).toBeGreaterThan(0)
      expect(checked?.spent).toBeGreaterThan(4)
    }, 120_000)
  })
})
