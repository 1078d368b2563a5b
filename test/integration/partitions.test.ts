import postgres from 'postgres'
import { expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'
import { describeBackends, describeReal } from '../harness/backends.ts'

const DAY_MS = 86_400_000

/** The table's partitions, as the days (UTC) on which they begin and end. */
async function partitions(database: Database, parent: string): Promise<string[]> {
  const rows = await database.call<{ span: string }>(
    `select to_char(p.begins at time zone 'UTC', 'YYYY-MM-DD') || ' ' || to_char(p.ends at time zone 'UTC', 'YYYY-MM-DD') as span
    from list_partitions($1::regclass) p where p.begins > '-infinity' order by p.begins`,
    [parent],
  )
  return rows.map(({ span }) => span)
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const daysFrom = (ms: number, days: number) =>
  Array.from({ length: days }, (_, i) => `${dayOf(ms + i * DAY_MS)} ${dayOf(ms + (i + 1) * DAY_MS)}`)

/** Leaves one partition, until midnight, with this estimated number of rows. */
async function beginWith(database: Database, rows: number, next = ''): Promise<void> {
  await database.runScript(`
    do $$ declare old text; begin
      for old in select p.name from list_partitions('usage_records') p loop execute format('drop table %I', old); end loop;
      execute format('create table usage_records_first partition of usage_records for values from (''2026-01-01'') to (%L)',
        date_trunc('day', now(), 'UTC'));
      ${next}
    end $$;
    update pg_class set reltuples = ${rows} where relname = 'usage_records_first'`)
}

describeBackends('partitions', backend => {
  test('cover a month each, and a day each once there are many records', async () => {
    const { database } = await backend.open()
    const today = Date.parse(dayOf(Date.now()))
    await beginWith(database, 4_000_000)
    await callFunction(database, 'maintain_usage_partitions', {})
    const months = await partitions(database, 'usage_records')
    expect(months[1]).toMatch(new RegExp(`^${dayOf(today)} \\d{4}-\\d\\d-01$`))

    // A partition ahead, as the previous release created it. Days replace it as long as it is empty.
    const ahead = (name: string, days: number) => `execute format('create table ${name} partition of usage_records
      for values from (%L) to (%L)', date_trunc('day', now(), 'UTC') + interval '${days} days', date_trunc('day', now(), 'UTC') + interval '${days + 30} days');`
    await beginWith(database, 6_000_000, ahead('usage_records_ahead', 2))
    await callFunction(database, 'maintain_usage_partitions', {})
    await callFunction(database, 'maintain_usage_partitions', {})
    expect((await partitions(database, 'usage_records')).slice(1)).toEqual(daysFrom(today, 4))

    await beginWith(database, 6_000_000, ahead('usage_records_taken', 2))
    await database.runScript(`insert into usage_records_taken (recorded_at, request_id, project_id, key_id, endpoint, model, status, streamed,
      prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms)
      select p.begins, 'r', 1, 1, 'chat', 'm', 200, false, 0, 0, 0, 0, 0, 0, 1, 1 from list_partitions('usage_records') p where p.name like '%taken'`)
    await callFunction(database, 'maintain_usage_partitions', {})
    expect((await partitions(database, 'usage_records')).slice(1)).toEqual([
      ...daysFrom(today, 2),
      `${dayOf(today + 2 * DAY_MS)} ${dayOf(today + 32 * DAY_MS)}`,
    ])
    await beginWith(database, 0)
    await database.runScript('drop table usage_records_first')
    await callFunction(database, 'maintain_usage_partitions', {})
  })

  test('of sums cover a month each, and are dropped after 13 months; other tables are deleted from in small steps', async () => {
    const { database } = await backend.open()
    await database.runScript(`
      create table usage_by_hour_old (like usage_by_hour including all);
      alter table usage_by_hour detach partition usage_by_hour_before;
      alter table usage_by_hour attach partition usage_by_hour_old for values from ('2020-01-01') to ('2020-02-01');
      delete from applied_batches`)
    await callFunction(database, 'maintain_usage_partitions', {})
    expect((await partitions(database, 'usage_by_hour'))[0]).toMatch(/^\d{4}-\d\d-01 \d{4}-\d\d-01$/)
    expect(await partitions(database, 'usage_by_hour')).not.toContain('2020-01-01 2020-02-01')
    await database.runScript(`
      do $$ declare old text; begin
        for old in select p.name from list_partitions('usage_by_hour') p loop execute format('drop table %I', old); end loop;
      end $$;
      alter table usage_by_hour attach partition usage_by_hour_before for values from (minvalue) to (date_trunc('month', now() + interval '93 days', 'UTC'))`)

    const old = (table: string, rest: string) => `insert into ${table} select ${rest} from generate_series(1, 25) n`
    await database.runScript(`
      ${old('applied_batches', `gen_random_uuid(), now() - interval '2 days'`)};
      ${old('rejections_hourly', `'2020-01-01'::timestamptz + n * interval '1 hour', 'r', 0, 0, 1`)};
      insert into applied_batches values (gen_random_uuid(), now());
      insert into usage_sums select 1, g, '2020-01-01', n, 'chat', 'm', '', '', 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
      from generate_series(1, 25) n, unnest(array['quarter', 'hour', 'day', 'month']) g;
      insert into usage_sums_by_tag select 1, g, at, '{}', n, 'chat', 'm', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
      from unnest('{2020-01-01,2100-01-01}'::timestamptz[]) at, generate_series(1, 5) n, unnest(array['hour', 'day', 'month']) g;
      insert into usage_sums_by_name select 1, g, 'tag', at, 'n' || n, 'project', 1, 0, 0, 0, 0, 0, 0
      from unnest('{2020-01-01,2100-01-01}'::timestamptz[]) at, generate_series(1, 5) n, unnest(array['hour', 'day', 'third', 'month']) g`)
    expect([
      await callFunction(database, 'delete_expired_rows', { max_rows: 10 }),
      await callFunction(database, 'delete_expired_rows', { max_rows: 10 }),
      await callFunction(database, 'delete_expired_rows', { max_rows: 10 }),
    ]).toEqual([10, 10, 5])
    expect(await callFunction(database, 'delete_expired_rows', { max_rows: 10 })).toBe(0)
    const [left] = await database.call(
      `select (select count(*)::integer from applied_batches) as batches, (select count(*)::integer from rejections_hourly) as rejections,
        (select count(*)::integer from usage_sums where at < '2021-01-01') as sums,
        (select array_agg(distinct to_char(at, 'YYYY')) from usage_sums_by_tag) as by_tag, (select count(*)::integer from usage_sums_by_tag) as tags,
        (select array_agg(distinct to_char(at, 'YYYY')) from usage_sums_by_name) as by_name, (select count(*)::integer from usage_sums_by_name) as names`,
      [],
    )
    expect(left).toEqual({
      batches: 1,
      rejections: 0,
      sums: 0,
      by_tag: ['2100'],
      tags: 15,
      by_name: ['2100'],
      names: 20,
    })
  })
})

describeReal('dropping partitions', backend => {
  test('a partition that is read for long is dropped later, and nobody waits for it', async () => {
    const { database, databaseUrl } = await backend.open()
    await database.runScript(
      `create table usage_records_old partition of usage_records for values from ('2020-01-01') to ('2020-02-01')`,
    )
    const reader = postgres(databaseUrl ?? '', { max: 1, onnotice: () => {} })
    const [reading, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const dump = reader.begin(async sql => {
      await sql`select from usage_records limit 1`
      reading.resolve()
      await done.promise
    })
    await reading.promise
    const has = async () => (await partitions(database, 'usage_records')).includes('2020-01-01 2020-02-01')
    // Other tables get their partitions in the meantime.
    await database.runScript(`do $$ declare ahead text; begin
      for ahead in select p.name from list_partitions('request_contents') p loop execute format('drop table %I', ahead); end loop; end $$`)
    // A dump is still reading.
    await callFunction(database, 'maintain_usage_partitions', {})
    expect(await has()).toBe(true)
    expect(await partitions(database, 'request_contents')).toHaveLength(4)
    done.resolve()
    await dump
    await callFunction(database, 'maintain_usage_partitions', {})
    expect(await has()).toBe(false)
    await reader.end()
  })
})
