/**
 * Inserts usage records into a database, in the order of time and with their sums, as the program would have. Few projects, keys, models,
 * end users and questions have most of the requests. Times, amounts and texts vary; all numbers come from a seed.
 */
import { callFunction } from '../../src/postgres/call.ts'
import type { Database } from '../../src/postgres/database.ts'

export interface UsageSize {
  records: number
  /** The records are of this many days up to now. */
  days: number
  /** Over all projects. */
  endUsers: number
  /** Whether the records are added to the sums, as the program does: this takes most of the time. */
  isSummed: boolean
}

/** Records are inserted in parts of this size, so that no statement runs for minutes. */
const PART = 100_000
export const WITHOUT_LIMITS = 'set local statement_timeout = 0; set local synchronous_commit = off;'

/** Inserts records of the projects whose names begin with `prefix`. */
export async function insertUsage(database: Database, prefix: string, size: UsageSize): Promise<void> {
  await callFunction(database, 'maintain_usage_partitions', {})
  await database.runScript(partitionsFor(size.days))
  for (let from = 0; from < size.records; from += PART) {
    await database.runScript(`${WITHOUT_LIMITS} ${recordsFrom(from, prefix, size)}`)
    while (size.isSummed && (await callFunction(database, 'roll_up_usage', {})) > 0);
    process.stderr.write(`inserted ${Math.min(size.records, from + PART)} of ${size.records} records\n`)
  }
  await database.runScript(`${WITHOUT_LIMITS} analyze`)
}

/** Creates the partitions of the months before this one, as time would have. */
function partitionsFor(days: number): string {
  return `
    do $$
    declare
      parent text;
      first timestamptz := date_trunc('month', now(), 'UTC');
      month timestamptz;
    begin
      foreach parent in array array['usage_records', 'usage_by_quarter', 'usage_by_hour', 'latency_by_quarter', 'latency_by_hour'] loop
        if to_regclass(parent || '_before') is not null then
          execute format('drop table %I', parent || '_before');
        end if;
        for month in
          select m from generate_series(date_trunc('month', now() - interval '${days} days', 'UTC'), first - interval '1 day', interval '1 month') m
        loop
          execute format(
            'create table if not exists %I partition of %I for values from (%L) to (%L)', parent || to_char(month at time zone 'UTC', '_YYYY_MM'), parent, month,
            (month at time zone 'UTC' + interval '1 month') at time zone 'UTC'
          );
        end loop;
      end loop;
    end
    $$`
}

function recordsFrom(from: number, prefix: string, { records, days, endUsers, isSummed }: UsageSize): string {
  const until = Math.min(records, from + PART)
  return `
    select setseed(${(from / records) * 2 - 1});
    with projects_in_order as materialized (
      select p.id, row_number() over (order by p.id) - 1 as place, count(*) over () as projects from projects p where starts_with(p.name, '${prefix}')
    ),
    keys_in_order as materialized (
      select k.id, k.project_id, row_number() over (partition by k.project_id order by k.id) - 1 as place, count(*) over (partition by k.project_id) as keys
      from api_keys k
    ),
    drawn as materialized (
      select
        n, now() - interval '${days} days' * (1 - n / ${records}::float8) as recorded_at, random() ^ 3 as project, random() ^ 2 as key, random() ^ 2 as model,
        random() as named, random() ^ 2 as end_user, random() as tagged, random() ^ 2 as team, random() ^ 2 as feature, random() as result,
        random() as failure, random() ^ 3 as question, random() as amount, random() as time, random() as session
      from generate_series(${from}, ${until - 1}) n
    ),
    placed as (
      select d.*, p.id as project_id, p.place as project_place, k.id as key_id,
        (p.place * 3 + k.place * 7 + floor(6 * d.model))::integer % 40 as model_place,
        power((p.place + 1)::float8 / p.projects, 1 / 3.0) - power(p.place::float8 / p.projects, 1 / 3.0) as share,
        case when d.result < .03 then null when d.result < .3 then 'HIT' when d.result < .36 then 'HIT-SEMANTIC' else 'MISS' end as cache_result
      from drawn d
      join projects_in_order p on p.place = floor(d.project * p.projects)
      join keys_in_order k on k.project_id = p.id and k.place = floor(d.key * k.keys)
    ),
    recorded as (
      insert into usage_records (recorded_at, project_id, request_id, status, error_code, endpoint, model, provider, provider_keys, cache_result,
        cache_reason, asked_id, streamed, prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, cost_estimated, doubtful_usd,
        saved_usd, latency_ms, duration_ms, admission_ms, lookup_ms, upstream_ms, attempts, key_id, end_user, tags, session, cache_write_tokens,
        prompt_cache_saved_usd)
      select
        p.recorded_at, p.project_id, md5(random()::text || p.n), s.status,
        case s.status when 400 then 'invalid_request' when 429 then 'rate_limited' when 502 then 'upstream_failed' when 503 then 'unavailable' end,
        case when p.model_place % 9 = 8 then 'embeddings' when p.model_place % 9 = 7 then 'responses' else 'chat' end,
        'vendor/model-' || p.model_place, case when cache_result is not null then 'vendor-' || p.model_place % 6 end,
        case when p.model_place % 6 = 0 and p.cache_result = 'MISS' then case when p.amount < .9 then 'main' else 'main 429, spare' end end,
        p.cache_result, case p.cache_result when 'MISS' then case when p.amount < .8 then 'new' else 'near' end end,
        left(md5(p.project_id || '/' || floor(${Math.ceil(records / 8)} * p.share * p.question)), 16), p.time < .3,
        case s.is_paid when true then (50 + 2000 * p.amount)::integer else 0 end, case when s.is_paid and p.amount > .5 then 40 else 0 end,
        case s.is_paid when true then (20 + 500 * p.time)::integer else 0 end, case when p.cache_result like 'HIT%' then (50 + 2000 * p.amount)::integer else 0 end,
        case s.is_paid when true then (0.00001 + p.amount ^ 4 * 0.05)::numeric(18, 9) else 0 end,
        case when s.is_paid and p.failure between .5 and .504 then 'client_left' end, case when s.is_paid and p.failure between .5 and .504 then 0.001 end,
        case when p.cache_result like 'HIT%' then (0.00001 + p.amount ^ 4 * 0.05)::numeric(18, 9) else 0 end,
        case s.is_paid when true then 200 + 3000 * p.time ^ 3 else 1 + 8 * p.time end, case s.is_paid when true then 210 + 9000 * p.time ^ 3 else 2 + 8 * p.time end,
        1, 2, case when s.is_paid then 190 + 3000 * p.time ^ 3 end, 1, p.key_id,
        case when p.named < .8 then 'user-' || p.project_place || '-' || floor(${endUsers} * p.share * p.end_user) end,
        case when p.tagged < .6 then jsonb_build_object('team', 'team-' || floor(8 * p.team), 'feature', 'feature-' || floor(12 * p.feature)) end
          || case when p.tagged < .02 then jsonb_build_object('user_id', 'user-' || floor(${endUsers} * p.share * p.end_user)) else '{}' end,
        case when p.session < .2 then 'session-' || floor(p.n / 400) || '-' || floor(p.session * 40) end, case when p.session < .05 then 100 end,
        case when p.session < .2 then 0.0001 end
      from placed p
      cross join lateral (
        select f.status, p.cache_result = 'MISS' and f.status < 400 as is_paid
        from (select case when p.cache_result is null then 400 when p.cache_result <> 'MISS' then 200 when p.failure < .01 then 429 when p.failure < .02 then 502 when p.failure < .022 then 503 else 200 end) f (status)
      ) s
      returning usage_records
    )
    insert into usage_pending
    select s.* from recorded r cross join lateral pending_sums(r.usage_records, 1) s where ${isSummed}`
}
