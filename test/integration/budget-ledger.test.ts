/** Budgets in PostgreSQL and in one process, without requests: each sum is exact, and nothing remains of finished requests. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Budgets, createBudgets } from '../../src/admission/budgets.ts'
import { createTokenRateLimiter } from '../../src/admission/token-rate-limiter.ts'
import { ClientDisconnected } from '../../src/errors/errors.ts'
import { NO_USAGE } from '../../src/formats/token-usage.ts'
import { sumUsedTokens } from '../../src/pipeline/accounting/create-record.ts'
import { RequestSpending } from '../../src/pipeline/spending/reservation.ts'
import type { ResolvedKey } from '../../src/postgres/admit-requests.ts'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { recordUsage, rollUpUsage } from '../../src/postgres/record-usage.ts'
import { batchReservationId, type ReservationRequest, releaseSpending } from '../../src/postgres/spending.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { createInProcessStore } from '../../src/stores/in-process-store.ts'
import { describeBackends } from '../harness/backends.ts'

const DAY_MS = 86_400_000
const MODEL = 'gpt-4o-mini'

describeBackends('the ledger of budgets', backend => {
  let database: Database
  let budgets: Budgets
  let project: string
  let projectId: number
  let keyId: number

  beforeEach(async () => {
    database = (await backend.open()).database
    budgets = createBudgets(database)
    ;({ project, projectId, keyId } = await addProject())
  })
  afterEach(() => void vi.useRealTimers())

  const query = <Row>(text: string) => database.call<Row>(text, [])

  async function addProject() {
    const project = `l-${crypto.randomUUID()}`
    await callFunction(database, 'create_project', { project, plan: 'free' })
    await callFunction(database, 'issue_key', { project, key_type: 'project', key_name: 'k' })
    const projectId = await callFunction(database, 'find_project', { project })
    const [key] = await query<{ id: number }>(`select id::integer from api_keys where project_id = ${projectId}`)
    return { project, projectId, keyId: key?.id ?? 0 }
  }

  /** `more`: further arguments of set_budget(), in SQL. */
  async function setBudget(amount: number, { unit = 'usd', per = 'month', more = '', of = project } = {}) {
    const [row] = await query<{ id: number }>(
      `select set_budget('${of}', '${unit}', ${amount}, '${per}'${more})::integer as id`,
    )
    return row?.id ?? 0
  }

  async function setAlert(amount: number, { of = project, id = 'null' }: { of?: string; id?: number | 'null' } = {}) {
    const [row] = await query<{ id: number }>(
      `select set_spend_alert('${of}', ${amount}, '{ops@example.org}', null, ${id})::integer as id`,
    )
    return row?.id ?? 0
  }

  async function standOf(id: number) {
    const [row] = await query<{ spent: number; reserved: number; held: number }>(
      `select coalesce(sum(c.spent), 0)::float8 as spent, coalesce(sum(c.reserved), 0)::float8 as reserved,
        (select count(*)::integer from budget_reservations r where r.budget_id = ${id}) as held
      from budget_periods c where c.budget_id = ${id}`,
    )
    return row
  }

  async function hasBudgets(of = projectId) {
    const [row] = await query<{ has: boolean }>(`select has_budgets as has from projects where id = ${of}`)
    return row?.has
  }

  function spending(usd: number, more: Partial<ReservationRequest> = {}): ReservationRequest {
    const id = crypto.randomUUID()
    const named = { project_id: projectId, key_id: keyId, request_id: 'r', endpoint: 'chat', model: MODEL }
    return { id, ...named, tags: null, usd, tokens: 1, ...more }
  }

  /** Settles reservations as the records of finished requests do. */
  function settle(asks: readonly ReservationRequest[], at = new Date()) {
    const done = asks.map(ask => ({ ...ask, tags: ask.tags === null ? null : JSON.parse(ask.tags), at }))
    return database.call('select settle_spending($1::text::json)', [JSON.stringify(done)])
  }

  const events = () =>
    query<{ payload: { percent: number; spend_alert_id?: string } }>(
      `select payload from events where project_id = ${projectId} and kind = 'budget.threshold' order by raised_at`,
    )

  test('an alert is changed and removed only by its project', async () => {
    const other = await addProject()
    const alert = await setAlert(5)
    await setAlert(7, { of: other.project })
    await expect(setAlert(1, { of: other.project, id: alert })).rejects.toThrow('no such spend alert')
    await expect(query(`select remove_spend_alert('${other.project}', ${alert})`)).rejects.toThrow(
      'no such spend alert',
    )
    await expect(query(`select remove_spend_alert(null, ${alert})`)).rejects.toThrow('no such spend alert')
    const amounts = await query(`select amount::integer from spend_alerts where id = ${alert}`)
    expect(amounts).toEqual([{ amount: 5 }])
    await query(`select remove_spend_alert('${project}', ${alert})`)
    expect(await query(`select from project_spend_alerts where _project_id = ${projectId}`)).toEqual([])
    expect(await query(`select from project_spend_alerts where _project_id = ${other.projectId}`)).toHaveLength(1)
  })

  test('a budget is removed only by its project', async () => {
    const other = await addProject()
    const budget = await setBudget(5)
    for (const of of [`'${other.project}'`, 'null'])
      await expect(query(`select remove_budget(${of}, ${budget})`)).rejects.toThrow('has no such budget')
    expect(await query(`select from project_budgets where _project_id = ${projectId}`)).toHaveLength(1)
    expect(await query(`select from project_budgets where _project_id = ${other.projectId}`)).toEqual([])
  })

  test('a threshold and an alert raise one event in each period', async () => {
    await setBudget(1, { per: 'day' })
    const today = new Date()
    for (const at of [new Date(today.getTime() - DAY_MS), today, today]) await settle([spending(0.45)], at)
    await settle([spending(0.45)], new Date(today.getTime() - DAY_MS))
    expect((await events()).map(({ payload }) => payload.percent)).toEqual([80, 80])
    await setAlert(0.005)
    await settle([spending(0.01)])
    await settle([spending(0.01)])
    expect((await events()).map(({ payload }) => payload.spend_alert_id !== undefined)).toEqual([false, false, true])
  })

  test('an alert raises none for a period that ended before it existed', async () => {
    await setBudget(1, { per: 'day' })
    await settle([spending(0.5)], new Date(Date.now() - DAY_MS))
    await setBudget(0.3, { per: 'day' })
    await settle([spending(0.1)])
    expect(await events()).toEqual([])
  })

  test('an alert reserves nothing, of a project or of the organization, and counts what is recorded', async () => {
    const budget = await setBudget(1, { per: 'day' })
    await setAlert(0.01)
    await query(`select set_spend_alert(null, 0.01, '{ops@example.org}')`)
    const ask = spending(0.5)
    await budgets.reserve(ask)
    expect(await query('select budget_id::integer as id from budget_reservations')).toEqual([{ id: budget }])
    await settle([{ ...ask, usd: 0.02 }])
    const periods = 'select spent::float8, reserved::float8 from budget_periods'
    expect(await query(periods)).toEqual(Array(3).fill({ spent: 0.02, reserved: 0 }))
    expect((await events()).map(({ payload }) => payload.spend_alert_id !== undefined)).toEqual([true])
  })

  test('a reservation waits for the disk near the limit of any of its budgets', async () => {
    /** The setting of synchronous_commit with which the reservation's transaction commits. */
    async function commitOf(usd: number, of = project): Promise<string | undefined> {
      const ask = { ...spending(usd), ...(of === project ? {} : await other) }
      const [row] = await database.call<{ commit: string }>(
        `with done as materialized (select * from reserve_spending($1::text::json, '${crypto.randomUUID()}', 1))
        select case when d.verdict = 'granted' then current_setting('synchronous_commit') else d.verdict end as commit from done d`,
        [JSON.stringify([ask])],
      )
      return row?.commit
    }
    const other = addProject().then(({ projectId, keyId }) => ({ project_id: projectId, key_id: keyId }))
    await setBudget(1)
    expect(await commitOf(0.8)).toBe('off')
    expect(await commitOf(0.1)).toBe('off')
    expect(await commitOf(0.05)).not.toBe('off')
    expect(await commitOf(0.1)).toBe('reserved')
    expect(await commitOf(1.1)).toBe('exhausted')
    await query(`select set_budget(null, 'usd', 2, 'month')`)
    expect(await commitOf(1, 'other')).toBe('off')
    expect(await commitOf(0.9, 'other')).not.toBe('off')
  })

  describe('amounts reserved by others', () => {
    const PATIENCE_MS = 60_000
    const STAYS = new AbortController().signal
    const reserved = { status: 429, code: 'budget_reserved' }
    // No reservation is found by polling.
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))

    async function addKey(name: string): Promise<number> {
      await callFunction(database, 'issue_key', { project, key_type: 'project', key_name: name })
      const [key] = await query<{ id: number }>(
        `select id::integer from api_keys where project_id = ${projectId} and name = '${name}'`,
      )
      return key?.id ?? 0
    }

    test('are not spent: a request that fits beside what is spent may be tried again, others are rejected at once', async () => {
      await setBudget(1)
      await settle([spending(0.2)])
      await budgets.reserve(spending(0.5))
      const error = await budgets.reserve(spending(0.4)).catch(each => each)
      expect(error).toMatchObject({ ...reserved, headers: { 'retry-after': '5' } })
      expect(error.headers).not.toHaveProperty('x-should-retry')
      expect(error.message).toMatch(
        /of 1 USD a month for this project, 0\.2\d* USD is spent, and 0\.5\d* USD is reserved by requests.* up to 0\.4\d* USD/,
      )
      const tooMuch = await budgets.reserve(spending(0.9), STAYS).catch(each => each)
      expect(tooMuch).toMatchObject({ code: 'insufficient_quota', headers: { 'x-should-retry': 'false' } })
      expect(tooMuch.message).toMatch(
        /0\.8\d* USD is left, and this request may use up to 0\.9\d* USD\. Set a lower max_tokens/,
      )
    })

    test('are awaited until they are released, while their clients stay', async () => {
      const budget = await setBudget(1)
      const patient = createBudgets(database, undefined, { maxWaitMs: PATIENCE_MS })
      const first = spending(0.6)
      await patient.reserve(first)
      const leaving = new AbortController()
      const second = patient.reserve(spending(0.5), STAYS)
      const third = patient.reserve(spending(0.5), leaving.signal)
      leaving.abort()
      await expect(third).rejects.toThrow(ClientDisconnected)
      patient.release(first.id)
      expect(await second).toBeCloseTo(0.5, 9)
      await patient.drain(10_000)
      expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0.5, held: 1 })
    })

    test('are awaited until their request fails', async () => {
      await setBudget(1)
      const patient = createBudgets(database, undefined, { maxWaitMs: PATIENCE_MS })
      const account = {
        project_id: projectId,
        key_id: keyId,
        has_budgets: true,
        tokens_per_minute: null,
      } as ResolvedKey
      const tokenWindows = createTokenRateLimiter(createInProcessStore())
      const request = new RequestSpending({ budgets: patient, tokenWindows }, account, 'r')
      await request.reserve(MODEL, { usd: 0.6, tokens: 1 })
      const second = patient.reserve(spending(0.5), STAYS)
      // The second request is rejected once, and waits then.
      await patient.reserve(spending(0.1))
      request.release()
      expect(await second).toBeCloseTo(0.4, 9)
    })

    test('are awaited until a record settles them', async () => {
      await setBudget(1)
      const patient = createBudgets(database, undefined, { maxWaitMs: PATIENCE_MS })
      const first = spending(0.6)
      await patient.reserve(first)
      const second = patient.reserve(spending(0.5), STAYS)
      // The request is rejected once, and waits then.
      await patient.reserve(spending(0.1))
      await settle([{ ...first, usd: 0.1 }])
      const { id, model, usd, tokens } = first
      patient.onRecordsWritten([
        { project_id: projectId, spent: [{ id, model, usd, tokens }] } as unknown as UsageRecord,
      ])
      expect(await second).toBeCloseTo(0.3, 9)
    })

    test('lead to a rejection if nobody has released them in time', async () => {
      vi.useRealTimers()
      await setBudget(1)
      const hasty = createBudgets(database, undefined, { maxWaitMs: 20 })
      await hasty.reserve(spending(0.6))
      await expect(hasty.reserve(spending(0.5), STAYS)).rejects.toMatchObject(reserved)
    })

    test.each([
      ['a batch', `expires_at = 'infinity'`],
      ['a process that has ended', `expires_at = now() - interval '1 second'`],
      ['a request whose cost is in doubt', `doubtful_at = now(), expires_at = now() + interval '1 hour'`],
    ])('are not awaited if they belong to %s', async (_, change) => {
      await setBudget(1)
      const patient = createBudgets(database, undefined, { maxWaitMs: PATIENCE_MS })
      await patient.reserve(spending(0.6))
      await patient.reserve(spending(0.1))
      await query(`update budget_reservations set ${change} where amount > 0.5`)
      const refused = { ...reserved, headers: { 'retry-after': '60' } }
      await expect(patient.reserve(spending(0.5), STAYS)).rejects.toMatchObject(refused)
    })

    test('by one key are limited to a share of the rest, while there are other keys', async () => {
      const other = await addKey('other')
      await query(`select set_setting('${project}', 'budget_key_share', '50')`)
      await setBudget(1)
      await settle([spending(0.2)])
      await budgets.reserve(spending(0.1, { key_id: other }))
      await budgets.reserve(spending(0.3))
      const error = await budgets.reserve(spending(0.2)).catch(each => each)
      expect(error).toMatchObject(reserved)
      expect(error.message).toMatch(
        /0\.3\d* USD is reserved by other requests of this key, which may reserve 0\.4\d* USD at once \(budget_key_share\)/,
      )
      await budgets.reserve(spending(0.1))
      await budgets.reserve(spending(0.3, { key_id: other }))
    })

    test('by one key may be all for a single request, in the key’s own budget, without another key, or without a share', async () => {
      // Keys of other projects do not count.
      await addProject()
      const other = await addKey('other')
      await query(`select set_setting('${project}', 'budget_key_share', '50')`)
      await setBudget(1)
      const [single, ...rest] = [spending(0.9), spending(0.3), spending(0.3), spending(0.3)]
      await budgets.reserve(single)
      await releaseSpending(database, [single.id])
      const [first, second, third] = rest
      if (!first || !second || !third) throw new Error('fewer than three reservations')
      await budgets.reserve(first)
      await expect(budgets.reserve(second)).rejects.toMatchObject(reserved)
      await query(`update api_keys set expires_at = now() - interval '1 second' where id = ${other}`)
      await budgets.reserve(second)
      await query(`update api_keys set expires_at = null where id = ${other}`)
      await expect(budgets.reserve(third)).rejects.toMatchObject(reserved)
      await query(`update api_keys set deactivated_at = now() where id = ${other}`)
      await budgets.reserve(third)
      await releaseSpending(database, [second.id, third.id])
      await query(`update api_keys set deactivated_at = null, type = 'test' where id = ${other}`)
      await budgets.reserve(second)
      await releaseSpending(database, [second.id])
      await query(`update api_keys set type = 'project' where id = ${other}`)
      await expect(budgets.reserve(third)).rejects.toMatchObject(reserved)
      for (const column of ['replaced_by', 'session_id']) {
        await query(`update api_keys set ${column} = ${keyId} where id = ${other}`)
        await budgets.reserve(third)
        await releaseSpending(database, [third.id])
        await query(`update api_keys set ${column} = null where id = ${other}`)
        await expect(budgets.reserve(third)).rejects.toMatchObject(reserved)
      }
      await query(`select set_setting('${project}', 'budget_key_share', '100')`)
      await budgets.reserve(third)
    })

    test('by one key in its own budget, or in the organization’s, are not limited by the share', async () => {
      await addKey('other')
      await query(`select set_setting('${project}', 'budget_key_share', '10')`)
      await setBudget(1, { more: `, of_key => ${keyId}` })
      await query(`select set_budget(null, 'usd', 1, 'month')`)
      for (let n = 0; n < 3; n++) await budgets.reserve(spending(0.3))
    })

    describe('amounts reserved by one project in the organization’s budget', () => {
      let other: Awaited<ReturnType<typeof addProject>>
      let ofOther: { project_id: number; key_id: number }
      let budget: number
      beforeEach(async () => {
        other = await addProject()
        ofOther = { project_id: other.projectId, key_id: other.keyId }
        const [row] = await query<{ id: number }>(`select set_budget(null, 'usd', 1, 'month')::integer as id`)
        budget = row?.id ?? 0
      })

      test('are limited to a share of the rest, over all of its keys, whatever its setting', async () => {
        const second = await addKey('second')
        await query(`select set_setting('${project}', 'budget_key_share', '100')`)
        await settle([spending(0.2)])
        await budgets.reserve(spending(0.1, ofOther))
        await budgets.reserve(spending(0.3))
        await budgets.reserve(spending(0.3, { key_id: second }))
        const error = await budgets.reserve(spending(0.1)).catch(each => each)
        expect(error).toMatchObject({ ...reserved, headers: { 'retry-after': '5' } })
        expect(error.message).toMatch(
          /of 1 USD a month for this organization, 0\.2\d* USD is spent, and 0\.6\d* USD is reserved by other requests of this project, which may reserve 0\.64\d* USD at once\. This/,
        )
        await budgets.reserve(spending(0.04))
        await budgets.reserve(spending(0.06, ofOther))
      })

      test('limit neither its first request nor what it spends', async () => {
        const single = spending(0.95)
        await budgets.reserve(single)
        await releaseSpending(database, [single.id])
        for (let n = 0; n < 10; n++) {
          const ask = spending(0.1)
          await budgets.reserve(ask)
          await settle([ask])
        }
        expect(await standOf(budget)).toEqual({ spent: 1, reserved: 0, held: 0 })
      })

      test('include doubtful amounts, so that others continue, until they are settled', async () => {
        const doubtful = Array.from({ length: 4 }, () => spending(0.2))
        for (const ask of doubtful) await budgets.reserve(ask)
        const unknown = doubtful.map(ask => ({ ...ask, usd: 0, tokens: 0, doubtful_usd: 0.2, doubtful_tokens: 0 }))
        await settle(unknown)
        const refused = { ...reserved, headers: { 'retry-after': '60' } }
        await expect(budgets.reserve(spending(0.1), STAYS)).rejects.toMatchObject(refused)
        await budgets.reserve(spending(0.15, ofOther))
        await releaseSpending(database, [doubtful[0]?.id ?? ''])
        await budgets.reserve(spending(0.1))
      })

      test('are not limited while no other project has a key that can spend', async () => {
        const [first, second] = [spending(0.5), spending(0.4)]
        await budgets.reserve(first)
        const otherKey = `update api_keys set deactivated_at = now() where id = ${other.keyId}`
        const otherProject = `update projects set archived_at = now() where id = ${other.projectId}`
        for (const alone of [otherKey, otherProject]) {
          await expect(budgets.reserve(second)).rejects.toMatchObject(reserved)
          await query(alone)
          await budgets.reserve(second)
          await releaseSpending(database, [second.id])
          await query(`update api_keys set deactivated_at = null where id = ${other.keyId}`)
        }
      })

      test('are not exceeded by simultaneous requests of several processes', async () => {
        const processes = Array.from({ length: 4 }, () => createBudgets(database))
        const reserving = processes.flatMap(each =>
          [...Array(5).fill({}), ofOther].map(more => each.reserve(spending(0.05, more)).then(() => more)),
        )
        const granted = (await Promise.allSettled(reserving)).flatMap(each =>
          each.status === 'fulfilled' ? [each.value] : [],
        )
        expect(granted.filter(each => each === ofOther)).toHaveLength(4)
        expect(granted).toHaveLength(16 + 4)
      })
    })

    test('by a key’s batches and doubtful requests count in its share, and are not awaited', async () => {
      await addKey('other')
      await query(`select set_setting('${project}', 'budget_key_share', '50')`)
      await setBudget(1)
      await budgets.reserve(spending(0.45))
      const refused = { ...reserved, headers: { 'retry-after': '60' } }
      for (const change of [`doubtful_at = now()`, `doubtful_at = null, expires_at = 'infinity'`]) {
        await query(`update budget_reservations set ${change}`)
        await expect(budgets.reserve(spending(0.1), STAYS)).rejects.toMatchObject(refused)
      }
    })
  })

  test('the same request may reserve again: both are held, and both are released', async () => {
    const budget = await setBudget(1)
    const ask = spending(0.2)
    await budgets.reserve(ask)
    await budgets.reserve({ ...ask, usd: 0.3 })
    expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0.5, held: 1 })
    await expect(budgets.reserve({ ...ask, usd: 0.6 })).rejects.toMatchObject({ code: 'insufficient_quota' })
    budgets.release(ask.id)
    await budgets.drain(10_000)
    expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0, held: 0 })
  })

  test('a reservation is in every budget that applies, or in none', async () => {
    const other = await addProject()
    const [wide, narrow, ofModel, ofOther] = [
      await setBudget(1),
      await setBudget(0.1, { per: 'day' }),
      await setBudget(1, { more: `, of_model => 'gpt-4o'` }),
      await setBudget(0.01, { of: other.project }),
    ]
    const all = [wide, narrow, ofModel, ofOther]
    await expect(budgets.reserve(spending(0.2))).rejects.toMatchObject({ code: 'insufficient_quota' })
    expect(await Promise.all(all.map(standOf))).toEqual(all.map(() => ({ spent: 0, reserved: 0, held: 0 })))
    expect(await budgets.reserve(spending(0.05))).toBeCloseTo(0.05, 9)
    expect((await Promise.all(all.map(standOf))).map(stand => stand?.reserved)).toEqual([0.05, 0.05, 0, 0])
  })

  test.each([
    ['all that was reserved', 100, 0.19],
    ['a part of it', 0.05, 0.05],
    ['nothing', 0, 0],
  ])('doubtful amounts stay reserved: %s', async (_, doubtful_usd, reserved) => {
    const budget = await setBudget(1)
    const ofModel = await setBudget(1, { more: `, of_model => '${MODEL}'` })
    const ask = spending(0.2)
    await budgets.reserve(ask)
    const parts = [
      { ...ask, usd: 0.01 },
      { ...ask, usd: 0, model: 'gpt-4o', doubtful_usd },
    ]
    await settle(parts)
    const held = reserved > 0 ? 1 : 0
    expect(await standOf(budget)).toEqual({ spent: 0.01, reserved: expect.closeTo(reserved, 9), held })
    // The cost that another model may have incurred is not charged to this one.
    expect(await standOf(ofModel)).toEqual({ spent: 0.01, reserved: 0, held: 0 })
    await query(`update budget_reservations set expires_at = now() - interval '1 second'`)
    await callFunction(database, 'expire_reservations', {})
    expect(await standOf(budget)).toEqual({ spent: 0.01, reserved: 0, held: 0 })
  })

  describe('a request that is settled by hand', () => {
    async function record(): Promise<void> {
      const ask = spending(0.2)
      await budgets.reserve(ask)
      const spent = [{ id: ask.id, model: MODEL, usd: 0.01, tokens: 12, doubtful_usd: 0.19, doubtful_tokens: 500 }]
      const estimated = { cost_estimated: 'provider_failed' as const, doubtful_usd: 0.19, cost_usd: 0.01 }
      const named = { request_id: 'r', project_id: projectId, key_id: keyId, endpoint: 'chat', model: MODEL }
      const counts = { prompt_tokens: 10, cached_prompt_tokens: 0, completion_tokens: 2, tokens_saved: 0, saved_usd: 0 }
      const ended = {
        provider: 'openai',
        cache_result: 'MISS',
        status: 200,
        streamed: true,
        latency_ms: 1,
        duration_ms: 1,
      } as const
      const recorded_at = new Date().toISOString()
      await recordUsage(database, [{ recorded_at, ...named, ...ended, ...counts, ...estimated, spent }], ask.id)
    }
    const settleBy = (call: string) => query(`select settle_request('${project}', ${call})`)
    const summed = async () => {
      await rollUpUsage(database)
      const [row] = await query<{ usd: number; tokens: number; requests: number }>(
        `select sum(cost_usd)::float8 as usd, sum(prompt_tokens + completion_tokens)::integer as tokens, sum(requests)::integer as requests
        from usage_sums where project_id = ${projectId} and grain = 'hour'`,
      )
      return row
    }

    test('costs that amount, in its record, in sums and in budgets, and nothing of it stays reserved', async () => {
      const budget = await setBudget(1)
      await record()
      expect(await standOf(budget)).toEqual({ spent: 0.01, reserved: 0.19, held: 1 })
      await settleBy(`'r', 0.05, 100, 20`)
      expect(await standOf(budget)).toEqual({ spent: 0.05, reserved: 0, held: 0 })
      const rows = await query(
        `select cost_usd::float8, prompt_tokens, completion_tokens, cost_estimated, doubtful_usd from usage_records
        where project_id = ${projectId}`,
      )
      const settled = { cost_usd: 0.05, prompt_tokens: 100, completion_tokens: 20 }
      expect(rows).toEqual([{ ...settled, cost_estimated: null, doubtful_usd: null }])
      expect(await summed()).toEqual({ usd: 0.05, tokens: 120, requests: 1 })
      // The cost is known now.
      await expect(settleBy(`'r', 0.5`)).rejects.toThrow('whose cost is estimated')
      expect(await standOf(budget)).toEqual({ spent: 0.05, reserved: 0, held: 0 })
    })

    test('keeps its tokens if only its cost is given, and another with its id stays doubtful', async () => {
      // An hour ago may have been another month.
      const budget = await setBudget(1, { per: 'total' })
      await record()
      await query(`update budgets set created_at = created_at - interval '1 hour' where id = ${budget}`)
      await query(
        `update budget_reservations set reserved_at = reserved_at - interval '1 hour', doubtful_at = doubtful_at - interval '1 hour'`,
      )
      await query(
        `update usage_records set recorded_at = recorded_at - interval '1 hour' where project_id = ${projectId}`,
      )
      await record()
      await settleBy(`'r', 0`)
      expect(await standOf(budget)).toEqual({ spent: 0.01, reserved: expect.closeTo(0.19, 9), held: 1 })
      expect((await summed())?.tokens).toBe(24)
      await settleBy(`'r', 0.02`)
      expect(await standOf(budget)).toEqual({ spent: 0.02, reserved: 0, held: 0 })
    })

    test('rejects a negative cost, and another project or id', async () => {
      const budget = await setBudget(1)
      await record()
      for (const cost of ['-1', 'null', '100001'])
        await expect(settleBy(`'r', ${cost}`)).rejects.toThrow('cost must be')
      await expect(settleBy(`'r', 1, -1`)).rejects.toThrow('must not be negative')
      await expect(settleBy(`'s', 1`)).rejects.toThrow('whose cost is estimated')
      const { project: other } = await addProject()
      await expect(query(`select settle_request('${other}', 'r', 1)`)).rejects.toThrow('whose cost is estimated')
      expect(await standOf(budget)).toEqual({ spent: 0.01, reserved: 0.19, held: 1 })
    })
  })

  test('a request that ends on another day is charged to the day on which it reserved', async () => {
    const budget = await setBudget(1, { per: 'day' })
    const ask = spending(0.2)
    await budgets.reserve(ask)
    await settle([{ ...ask, usd: 0.15 }], new Date(Date.now() + DAY_MS))
    expect(
      await query(`select spent::float8, reserved::float8 from budget_periods where budget_id = ${budget}`),
    ).toEqual([{ spent: 0.15, reserved: 0 }])
  })

  test('a request that reserved on two days is charged to the first', async () => {
    const budget = await setBudget(1, { per: 'day' })
    const ask = spending(0.2)
    await budgets.reserve(ask)
    // Moves the period as if midnight had passed.
    const moved = ['budget_periods', 'budget_reservations'].map(
      table => `update ${table} set begins = begins - interval '1 day' where budget_id = ${budget};`,
    )
    await query(`do $$ begin set local session_replication_role = replica; ${moved.join(' ')} end $$`)
    await budgets.reserve(ask)
    expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0.4, held: 2 })
    await settle([{ ...ask, usd: 0.15 }])
    const periods = `select spent::float8, reserved::float8 from budget_periods where budget_id = ${budget} order by begins`
    expect(await query(periods)).toEqual([
      { spent: 0.15, reserved: 0 },
      { spent: 0, reserved: 0 },
    ])
  })

  test('an enforced budget stays enforced when an alert is added and removed, and none is left when both are gone', async () => {
    await setBudget(1)
    const alert = await setAlert(0.5)
    await expect(budgets.reserve(spending(1.1))).rejects.toMatchObject({ code: 'insufficient_quota' })
    await query(`select remove_spend_alert('${project}', ${alert})`)
    expect([(await query(`select from budgets`)).length, await hasBudgets()]).toEqual([1, true])
    const [{ id = 0 } = {}] = await query<{ id: number }>('select id::integer from budgets')
    await query(`select remove_budget('${project}', ${id})`)
    expect([await query(`select from budgets`), await hasBudgets()]).toEqual([[], false])
  })

  test('an alert outlives the limit beside it, and limits nothing', async () => {
    const budget = await setBudget(1)
    const alert = await setAlert(0.5)
    await query(`select remove_budget('${project}', ${budget})`)
    expect(await query('select id::integer, enforced from budgets')).toEqual([{ id: budget, enforced: false }])
    await budgets.reserve(spending(100))
    await settle([spending(0.6)])
    expect((await events()).map(({ payload }) => payload.spend_alert_id)).toEqual([`spend_alert_${alert}`])
  })

  test('a budget of the organization applies to every project, and leaves their own budgets', async () => {
    const other = await addProject()
    const own = await setBudget(1)
    await query(`select set_budget(null, 'usd', 0.1, 'month')`)
    expect([await hasBudgets(), await hasBudgets(other.projectId)]).toEqual([true, true])
    await expect(
      budgets.reserve(spending(0.2, { project_id: other.projectId, key_id: other.keyId })),
    ).rejects.toMatchObject({ code: 'insufficient_quota' })
    await query(`select remove_budget('${project}', ${own})`)
    expect([await hasBudgets(), await hasBudgets(other.projectId)]).toEqual([true, true])
    await query(`select set_budget(null, 'usd', null, 'month')`)
    expect([await hasBudgets(), await hasBudgets(other.projectId)]).toEqual([false, false])
  })

  test('setting an alert leaves the limit, and its amount', async () => {
    const budget = await setBudget(1)
    await query(`select upsert_budget(${projectId}, 'usd', 9, 'month', null, null, null, 'UTC', false)`)
    expect(await query(`select id::integer, amount::float8, enforced from budgets`)).toEqual([
      { id: budget, amount: 1, enforced: true },
    ])
  })

  test('a budget of a key belongs to a key of the project', async () => {
    const other = await addProject()
    await expect(setBudget(1, { more: `, of_key => ${other.keyId}` })).rejects.toThrow('has no such key')
  })

  test('the judge is charged to no budget of a key or a tag, to none with too little left, and refunded', async () => {
    const [all, ofKey, ofTag] = [
      await setBudget(0.5),
      await setBudget(0.5, { more: `, of_key => ${keyId}` }),
      await setBudget(0.5, { more: `, of_tag => 'team=a'` }),
    ]
    const narrow = await setBudget(0.2, { per: 'day' })
    await settle([spending(0.01)], new Date(Date.now() - 40 * DAY_MS))
    const charge = async (usd: number) =>
      (await query<{ isCharged: boolean }>(`select charge_budgets(${projectId}, '${MODEL}', ${usd}) as "isCharged"`))[0]
        ?.isCharged
    expect([await charge(0.3), await charge(0.15), await charge(-0.05)]).toEqual([false, true, true])
    const spent = (id: number) =>
      query(`select spent::float8 as usd from budget_periods where budget_id = ${id} order by begins desc`)
    for (const id of [all, narrow]) expect(await spent(id)).toEqual([{ usd: 0.1 }, { usd: 0.01 }])
    // The budgets by key and by tag contain the cost of the one request with this key, once.
    expect([await spent(ofKey), await spent(ofTag)]).toEqual([[{ usd: 0 }, { usd: 0.01 }], [{ usd: 0 }]])
    await budgets.reserve(spending(0.1))
    expect([await charge(0.05), await charge(0)]).toEqual([false, true])
    await setBudget(0.01)
    expect([await charge(0.01), await charge(-0.02)]).toEqual([false, true])
  })

  test('a batch’s reservation is held until the batch has ended', async () => {
    const budget = await setBudget(1)
    const ask = spending(0.2)
    await budgets.reserve(ask)
    await callFunction(database, 'retain_batch_reservation', {
      reserved_as: ask.id,
      of_project: projectId,
      batch_id: 'batch_1',
    })
    budgets.stopRenewing(ask.id)
    // An expired reservation is doubtful at first, and released later.
    for (const _ of ['doubtful', 'released']) {
      await query(`update budget_reservations set expires_at = expires_at - interval '1 day'`)
      await callFunction(database, 'expire_reservations', {})
    }
    expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0.2, held: 1 })
    for (const batch of [batchReservationId(projectId + 1, 'batch_1'), batchReservationId(projectId, 'batch_2')])
      await releaseSpending(database, [batch])
    expect((await standOf(budget))?.held).toBe(1)
    await releaseSpending(database, [batchReservationId(projectId, 'batch_1')])
    expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0, held: 0 })
  })

  test('renews reservations of requests in flight each minute, and nothing else', async () => {
    const renewed: unknown[] = []
    const renewing: Promise<unknown>[] = []
    const noting: Database = {
      ...database,
      call(text, values) {
        const called = database.call<never>(text, values)
        if (text.includes('renew_reservations(')) {
          renewed.push(values[0])
          renewing.push(called)
        }
        return called
      },
    }
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const ours = createBudgets(noting)
    const budget = await setBudget(1)
    const [stays, ends, fails] = [spending(0.1), spending(0.1), spending(0.1)]
    for (const ask of [stays, ends, fails]) await ours.reserve(ask)
    ours.stopRenewing(ends.id)
    ours.release(fails.id)
    await ours.drain(10_000)
    await query(`update budget_reservations set expires_at = now() + interval '10 seconds'`)
    vi.advanceTimersByTime(60_000)
    expect(renewed).toEqual([[stays.id]])
    const lasting = `select id from budget_reservations where expires_at > now() + interval '4 minutes'`
    await Promise.all(renewing)
    expect([await query(lasting), (await standOf(budget))?.held]).toEqual([[{ id: stays.id }], 2])
    ours.stopRenewing(stays.id)
    vi.advanceTimersByTime(600_000)
    expect(renewed).toHaveLength(1)
    // The next reservation is renewed again.
    const next = spending(0.1)
    await ours.reserve(next)
    vi.advanceTimersByTime(60_000)
    expect(renewed.slice(1)).toEqual([[next.id]])
    await callFunction(database, 'renew_reservations', { ids: [] })
  })

  test('releases what could not be released when the database is available again', async () => {
    const budget = await setBudget(1)
    let failures = 2
    const failing: Database = {
      ...database,
      async call(text, values) {
        if (text.includes('settle_spending(') && failures-- > 0) throw new Error('gone')
        return database.call(text, values)
      },
    }
    const ours = createBudgets(failing)
    const ask = spending(0.2)
    await ours.reserve(ask)
    ours.release(ask.id)
    await ours.drain(30_000)
    expect([failures, await standOf(budget)]).toEqual([-1, { spent: 0, reserved: 0, held: 0 }])
  })

  test('only an expired reservation becomes doubtful, once', async () => {
    const budget = await setBudget(1)
    const [gone, lives] = [spending(0.2), spending(0.1)]
    for (const ask of [gone, lives]) await budgets.reserve(ask)
    await query(`update budget_reservations set expires_at = now() - interval '1 second' where id = '${gone.id}'`)
    await callFunction(database, 'expire_reservations', {})
    await callFunction(database, 'renew_reservations', { ids: [gone.id, lives.id] })
    await callFunction(database, 'expire_reservations', {})
    expect(await standOf(budget)).toEqual({ spent: 0, reserved: 0.3, held: 2 })
    const doubtful = await query(
      `select id from budget_reservations where doubtful_at is not null and budget_id = ${budget}`,
    )
    expect(doubtful).toEqual([{ id: gone.id }])
  })

  describe('spending of a request', () => {
    const TOKENS = 100
    let tokenWindows: ReturnType<typeof createTokenRateLimiter>
    let account: ResolvedKey
    beforeEach(() => {
      tokenWindows = createTokenRateLimiter(createInProcessStore())
      account = { project_id: projectId, key_id: keyId, has_budgets: true, tokens_per_minute: TOKENS } as ResolvedKey
    })
    const open = () => new RequestSpending({ budgets, tokenWindows }, account, 'r')
    const left = () => tokenWindows.remaining({ project_id: projectId, key_id: keyId, tokens_per_minute: TOKENS })

    test('that ends before its reservation is granted keeps neither money nor tokens', async () => {
      const budget = await setBudget(1)
      const request = open()
      const reserving = request.reserve(MODEL, { usd: 0.2, tokens: 30 })
      request.settle(0)
      await reserving
      await Promise.all([budgets.drain(10_000), tokenWindows.drain(10_000)])
      expect([await standOf(budget), await left()]).toEqual([{ spent: 0, reserved: 0, held: 0 }, TOKENS])
    })

    test('that ends twice refunds tokens once', async () => {
      await setBudget(1)
      const [one, other] = [open(), open()]
      for (const each of [one, other]) await each.reserve(MODEL, { usd: 0.1, tokens: 30 })
      for (let i = 0; i < 2; i++) one.release()
      await tokenWindows.drain(10_000)
      expect(await left()).toBe(TOKENS - 30)
    })

    test('reserved before the cache lookup is not reserved again for the same model, but for another', async () => {
      const budget = await setBudget(1)
      const request = open()
      await request.reserveAhead(MODEL, { usd: 0.2, tokens: 30 })
      expect(await left()).toBe(TOKENS)
      await request.reserve(MODEL, { usd: 0.2, tokens: 30 })
      expect([await standOf(budget), await left()]).toEqual([{ spent: 0, reserved: 0.2, held: 1 }, TOKENS - 30])
      await request.reserve('gpt-4o', { usd: 0.3, tokens: 40 })
      expect([await standOf(budget), await left()]).toEqual([{ spent: 0, reserved: 0.5, held: 1 }, TOKENS - 70])
      request.release()
      await Promise.all([budgets.drain(10_000), tokenWindows.drain(10_000)])
      expect([await standOf(budget), await left()]).toEqual([{ spent: 0, reserved: 0, held: 0 }, TOKENS])
    })

    test('left to a later record is not released with its request', async () => {
      const budget = await setBudget(1)
      const closed: string[] = []
      const closing = { ...budgets, stopRenewing: (id: string) => void closed.push(id) }
      const request = new RequestSpending({ budgets: closing, tokenWindows }, account, 'r')
      await request.reserveMoney(MODEL, { usd: 0.2, tokens: 30 })
      const id = request.detachReservation()
      request.release()
      await budgets.drain(10_000)
      expect([closed, await standOf(budget)]).toEqual([[id], { spent: 0, reserved: 0.2, held: 1 }])
      const later = open()
      later.adoptReservation(id ?? '')
      expect(later.settle(2)).toBe(id)
    })

    test('a miss keeps the tokens that it used, even more than were reserved, and a hit none', async () => {
      for (const [cacheResult, taken, kept] of [
        ['MISS', 30, 25],
        ['MISS', 10, 25],
        ['HIT', 30, 0],
      ] as const) {
        const before = await left()
        account = { ...account, has_budgets: false }
        const request = open()
        await request.reserve(MODEL, { usd: 0.2, tokens: taken })
        request.settle(
          sumUsedTokens({ cacheResult, usage: { ...NO_USAGE, promptTokens: 20, completionTokens: 5 } }, []),
        )
        await tokenWindows.drain(10_000)
        expect(before - (await left())).toBe(kept)
      }
    })
  })
})
