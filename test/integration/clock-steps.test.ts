/** The database's clock steps: rows with a time in the future are dated anew, and data with a long retention is not deleted early. */

import { expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { recordUsage, rollUpUsage } from '../../src/postgres/record-usage.ts'
import type { UsageRecord } from '../../src/postgres/usage-record.ts'
import { describeBackends } from '../harness/backends.ts'

/** The length of the clock's step: the clock was ahead by this much when a proxy last read it. */
const STEP = '365 days'
const setClock = (database: Database, seen: string, believed = seen) =>
  database.runScript(
    `update installation set seen_at = now() + interval '${seen}', retention_clock_at = now() + interval '${believed}'`,
  )
const daysOf = async (database: Database, query: string) =>
  (
    await database.call<{ days: number }>(
      `select abs(extract(epoch from ${query}) / 86400)::double precision as days`,
      [],
    )
  )[0]?.days

function recordOf(daysAhead: number): UsageRecord {
  return {
    recorded_at: new Date(Date.now() + daysAhead * 86_400_000).toISOString(),
    request_id: 'r',
    project_id: 1,
    key_id: 1,
    endpoint: 'chat',
    model: 'm',
    provider: null,
    cache_result: 'MISS',
    status: 200,
    streamed: false,
    prompt_tokens: 1,
    cached_prompt_tokens: 0,
    completion_tokens: 1,
    tokens_saved: 0,
    cost_usd: 0,
    saved_usd: 0,
    latency_ms: 1,
    duration_ms: 1,
    tags: null,
  }
}

describeBackends('a clock of the database that steps', backend => {
  test('back: rows dated by it outlive nothing, and wait for nothing', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'kept' })
    await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'made ahead' })
    await database.runScript(`
      update api_keys set expires_at = now() + interval '800 days' where name = 'kept';
      update api_keys set created_at = now() + interval '${STEP}', expires_at = now() + interval '372 days',
        minute_counted_until = now() + interval '${STEP}' where name = 'made ahead';
      insert into users (email, role) values ('ada@example.org', 'reader');
      insert into sessions (user_id, address, user_agent, token_hash, created_at, last_seen_at, expires_at)
        select id, '', '', sha256(n::text::bytea), now() + a.ahead, now() + a.ahead, now() + a.ahead + interval '30 days'
        from users, (values (1, interval '${STEP}'), (2, interval '-1 day')) a (n, ahead);
      insert into login_attempts (subject, attempts, first_at) values ('account:ada@example.org', 1000, now() + interval '${STEP}');
      insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, created_at, expires_at)
        select id, sha256('a'), 'chat', 'm', 'p', '{}', now() + interval '${STEP}', now() + interval '372 days' from projects;
      insert into stored_responses (project_id, key_id, id, input, response, expires_at)
        select project_id, id, 'resp_1', '[]', '{}', now() + interval '372 days' from api_keys where name = 'kept';
      insert into budgets (project_id, unit, amount, per, time_zone) select id, 'usd', 5, 'day', 'UTC' from projects;
      insert into budget_periods (budget_id, begins) select id, 'epoch' from budgets;
      insert into budget_reservations (id, budget_id, begins, amount, project_id, key_id, request_id, endpoint, model, expires_at)
        select gen_random_uuid(), id, 'epoch', n, project_id, 0, 'r', 'chat', 'm', e from budgets,
          (values (1, now() + interval '${STEP}'), (2, 'infinity')) r (n, e);
      insert into unreconciled_responses (project_id, id, provider, request_id, recorded_at, charged_at, usd, due_at)
        select id, 'resp_2', 'p', 'r', a, a, 1, a from projects, (select now() + interval '${STEP}') m (a);
      insert into events (project_id, kind, payload, raised_at) select id, 'webhook.test', '{}', now() + interval '${STEP}' from projects;
    `)
    await setClock(database, STEP)
    expect(await callFunction(database, 'record_database_time', {})).toBeGreaterThan(364 * 86_400)
    const wanted: [string, number][] = [
      [`(select expires_at - now() from api_keys where name = 'kept')`, 800],
      [`(select expires_at - now() from api_keys where name = 'made ahead')`, 7],
      [`(select minute_counted_until - now() from api_keys where name = 'made ahead')`, 0],
      [`(select max(expires_at) - now() from sessions)`, 30],
      [`(select min(expires_at) - now() from sessions)`, 29],
      [`(select max(last_seen_at) - now() from sessions)`, 0],
      [`(select expires_at - now() from cache_entries)`, 7],
      [`(select expires_at - now() from stored_responses)`, 7],
      [`(select expires_at - now() from budget_reservations where amount = 1)`, 0],
      [`(select due_at - now() from unreconciled_responses)`, 0],
      [`(select charged_at - now() from unreconciled_responses)`, 365],
      [`(select max(raised_at) - now() from events)`, 0],
    ]
    for (const [query, days] of wanted)
      expect([query, (await daysOf(database, query))?.toFixed(0)]).toEqual([query, `${days}`])
    const [wait] = await database.call<{ seconds: number }>(
      `select count_login_attempt('ada@example.org', '192.0.2.1', 0) as seconds, (select expires_at::text from budget_reservations where amount = 2) as held`,
      [],
    )
    expect(wait).toMatchObject({ held: 'infinity' })
    expect(wait?.seconds).toBeLessThanOrEqual(15 * 60)
    expect(await callFunction(database, 'record_database_time', {})).toBe(0)
  })

  test('columns of future times state how far ahead they may be', async () => {
    const { database } = await backend.open()
    const undeclared = await database.call(
      `select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.atttypid = 'timestamptz'::regtype
      where c.relnamespace = 'model_proxy'::regnamespace and c.relkind = 'r' and a.attname ~ '^(expires_at|due_at|not_before)$|_until$'
        and coalesce(col_description(c.oid, a.attnum), '') !~ 'Ahead( of [a-z_]+\\.|: at most [0-9]+ [a-z]+\\.|: .*\\.)'`,
      [],
    )
    expect(undeclared).toEqual([])
  })

  test('by a year: records of a time without a partition are kept, and summed; impossible times become now', async () => {
    const { database } = await backend.open()
    await database.runScript(`do $$ declare each text; begin
      for each in select p.name from list_partitions('usage_records') p loop execute format('drop table %I', each); end loop;
    end $$`)
    const write = (...daysAhead: number[]) => recordUsage(database, daysAhead.map(recordOf), crypto.randomUUID())
    await write(0)
    await write(0, 400, -400)
    await rollUpUsage(database)
    const recorded = `select count(*)::integer as records,
      max(abs(extract(epoch from now() - recorded_at))) < 60 as are_of_now,
      (select sum(requests)::integer from usage_sums where grain = 'quarter' and project_id = 1) as summed from usage_records`
    expect(await database.call(recorded, [])).toEqual([{ records: 4, are_of_now: true, summed: 4 }])
  })

  test('on by a year: long-lived rows are not deleted at once, as after a month without proxies', async () => {
    const { database } = await backend.open()
    const past = (name: string) =>
      database.runScript(`create table usage_records_${name} partition of usage_records for values from ('2020-01-01') to ('2020-02-01');
        insert into rejections_hourly values (now() - interval '500 days', '${name}', 0, 0, 1)`)
    const left = async () => {
      await callFunction(database, 'record_database_time', {})
      await callFunction(database, 'maintain_usage_partitions', {})
      await callFunction(database, 'delete_expired_rows', { max_rows: 100 })
      const [row] = await database.call<{ partitions: number; rejections: number }>(
        `select (select count(*)::integer from list_partitions('usage_records') where begins = '2020-01-01Z') as partitions,
          (select count(*)::integer from rejections_hourly) as rejections`,
        [],
      )
      return row
    }
    await past('kept')
    await setClock(database, '-3000 days')
    expect(await left()).toEqual({ partitions: 1, rejections: 1 })
    // Each look at the clock moves the time of retention by only some minutes.
    expect(await left()).toEqual({ partitions: 1, rejections: 1 })
    expect(await daysOf(database, `(select now() - retention_clock_at from installation)`)).toBeGreaterThan(2_999)
    await setClock(database, '-30 days')
    expect(await left()).toEqual({ partitions: 0, rejections: 0 })
  })
})
