/** The view focus_costs: its columns are those of FOCUS 1.2, and its sums are those of the records. */
import { beforeAll, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { rollUpUsage } from '../../src/postgres/record-usage.ts'
import { ALLOWED, mandatory, nameOf, REQUIRED_FOR_USAGE, specified } from '../fixtures/focus-columns.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'
import { recordFocusUsage } from './record-focus-usage.ts'

const TYPES = [
  [/Cost$|Quantity$/, 'numeric'],
  [/Period(Start|End)$/, 'timestamp with time zone'],
  [/^Tags$/, 'jsonb'],
  [/^/, 'text'],
] as const

type Row = Record<string, string | number | null>

/** The view and the records, summed by everything that separates rows. */
const FROM_VIEW = `
select "ChargePeriodStart" as day, "SubAccountId" as project, "ResourceId" as key, x_model as model, x_endpoint as endpoint,
    split_part("SkuId", '/', 1) as provider, x_requests::integer as requests, x_cache_hits::integer as hits,
    "BilledCost"::float8 as cost, "x_cache_saved_usd"::float8 as saved, "x_estimated_usd"::float8 as estimated,
    x_prompt_tokens::integer as prompt, x_cached_prompt_tokens::integer as cached, x_completion_tokens::integer as completion,
    x_tokens_saved::integer as tokens_saved, "ConsumedQuantity"::float8 as consumed, "PricingQuantity"::float8 as priced
from focus_costs`
const FROM_RECORDS = `
select date_trunc('day', recorded_at, 'UTC') as day, 'proj_' || project_id as project, 'key_' || key_id as key, model, endpoint,
    coalesce(provider, model) as provider, count(*)::integer as requests, count(*) filter (where cache_result like 'HIT%')::integer as hits,
    sum(cost_usd)::float8 as cost, sum(saved_usd)::float8 as saved,
    coalesce(sum(cost_usd) filter (where cost_estimated is not null), 0)::float8 as estimated, sum(prompt_tokens)::integer as prompt,
    sum(cached_prompt_tokens)::integer as cached, sum(completion_tokens)::integer as completion, sum(tokens_saved)::integer as tokens_saved,
    coalesce(nullif(sum(prompt_tokens + completion_tokens), 0), count(*) filter (where cache_result is distinct from 'HIT'))::float8 as consumed,
    coalesce(nullif(sum(prompt_tokens + completion_tokens), 0), count(*) filter (where cache_result is distinct from 'HIT'))::float8 as priced
from usage_records
where model <> 'rejected'
group by 1, 2, 3, 4, 5, provider, 6`

describeBackends('costs in FOCUS 1.2', backend => {
  let stores: Stores
  let projects: number[]
  const query = <T = Row>(text: string) => stores.database.call<T>(text, [])
  beforeAll(async () => {
    stores = await backend.open()
    projects = await recordFocusUsage(stores.database)
  })

  test('have the columns of the specification, and custom ones after them', async () => {
    const columns = await query<{ attname: string; type: string }>(
      `select attname, format_type(atttypid, null) as type from pg_attribute where attrelid = 'focus_costs'::regclass and attnum > 0 order by attnum`,
    )
    const names = columns.map(({ attname }) => attname)
    const firstCustom = names.findIndex(name => name.startsWith('x_'))
    const standard = names.slice(0, firstCustom)
    expect(mandatory.map(nameOf).filter(name => !standard.includes(name))).toEqual([])
    expect(standard.filter(name => !specified.map(nameOf).includes(name))).toEqual([])
    expect(names.slice(firstCustom).filter(name => !/^x_[a-z_]+$/.test(name))).toEqual([])
    const types = new Map(columns.map(({ attname, type }) => [attname, type]))
    for (const name of standard)
      expect([name, types.get(name)]).toEqual([name, TYPES.find(([pattern]) => pattern.test(name))?.[1]])
  })

  test('have nulls only where the specification allows them, and only its values', async () => {
    const rows = await query<{ row: Row }>('select to_jsonb(f) as row from focus_costs f')
    expect(rows.length).toBeGreaterThan(30)
    const filled = [...specified.filter(column => !column.endsWith('*')), ...REQUIRED_FOR_USAGE]
    for (const { row } of rows) {
      expect(filled.filter(name => name in row && (row[name] === null || row[name] === ''))).toEqual([])
      for (const [name, values] of Object.entries(ALLOWED)) expect(values).toContain(row[name])
      for (const value of Object.values(row.Tags as unknown as Row)) expect(value).toBeTypeOf('string')
    }
    const kinds = rows.map(({ row }) =>
      [row.x_endpoint, row.ProviderName, row.ConsumedUnit, row.ServiceSubcategory].join(),
    )
    expect(new Set(kinds)).toEqual(
      new Set([
        'chat,OpenAI,Tokens,Generative AI',
        'messages,Anthropic,Tokens,Generative AI',
        'embeddings,OpenAI,Tokens,Machine Learning',
        'images/generations,OpenAI,Requests,Generative AI',
        'chat,elsewhere,Tokens,Generative AI',
        'chat,OpenAI,Requests,Generative AI',
        'chat,Unknown,Tokens,Generative AI',
      ]),
    )
  })

  test('equal the records in both directions, before and after they are rolled up', async () => {
    for (const isRolledUp of [false, true]) {
      if (isRolledUp) await rollUpUsage(stores.database)
      const pending = await query('select from usage_pending')
      expect(pending.length > 0).toBe(!isRolledUp)
      for (const [these, those] of [
        [FROM_VIEW, FROM_RECORDS],
        [FROM_RECORDS, FROM_VIEW],
      ])
        expect(await query(`(${these}) except all (${those})`)).toEqual([])
      const [total] = await query(
        `select (select sum(cost_usd) from usage_records) = sum("BilledCost") as billed, sum("EffectiveCost") = sum("BilledCost") as effective,
          sum("ListCost") = sum("ContractedCost") and sum("ListCost") = sum("BilledCost") as list,
          (select sum(saved_usd) from usage_records) = sum(x_cache_saved_usd) as saved, sum("BilledCost") > 0 as is_some
        from focus_costs`,
      )
      expect(total).toEqual({ billed: true, effective: true, list: true, saved: true, is_some: true })
    }
  })

  test('have UTC days and months in any time zone of the session', async () => {
    const edges = `select jsonb_agg(distinct jsonb_build_array(extract(epoch from "BillingPeriodStart"), extract(epoch from "ChargePeriodStart"),
      extract(epoch from "ChargePeriodEnd"), extract(epoch from "BillingPeriodEnd"))) as edges from focus_costs`
    const [found] = await query<{ edges: number[][] }>(edges)
    for (const [month = 0, day = 0, dayEnd = 0, monthEnd = 0] of found?.edges ?? []) {
      const start = new Date(day * 1_000)
      expect(month * 1_000).toBe(Date.UTC(start.getUTCFullYear(), start.getUTCMonth()))
      expect(monthEnd * 1_000).toBe(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1))
      expect([day % 86_400, dayEnd - day]).toEqual([0, 86_400])
    }
    for (const zone of ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata']) {
      const definition = `set local timezone = '${zone}'; create temporary table edges on commit drop as ${edges};`
      await stores.database.runScript(
        `begin; ${definition} do $$ begin if (select edges from edges) <> '${JSON.stringify(found?.edges)}' then raise 'differs'; end if; end $$; commit;`,
      )
    }
  })

  test('are visible as the project is', async () => {
    for (const email of ['member@example.org', 'stranger@example.org'])
      await callFunction(stores.database, 'create_user', { email, user_role: 'reader' })
    await callFunction(stores.database, 'add_member', {
      project: 'acme',
      member_email: 'member@example.org',
      member_role: 'viewer',
    })
    const seenBy = async (email: string) => {
      const [seen] = await query<{ row: { projects: string[] | null } }>(
        `select run_as_actor(
          (select json_build_object('user_id', id, 'name', email)::json from users where email = '${email}'), true,
          'select array_agg(distinct "SubAccountId") as projects from focus_costs', '{}') as row`,
      )
      return seen?.row.projects
    }
    expect(await seenBy('member@example.org')).toEqual([`proj_${projects[0]}`])
    expect(await seenBy('stranger@example.org')).toBeNull()
  })
})
