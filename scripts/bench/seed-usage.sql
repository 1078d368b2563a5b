-- Makes usage records to measure the dashboard with: so many over the last days, in twenty projects of ten keys each, a test key among
-- them. For a
-- database of its own, migrated and otherwise empty; scripts/bench/dashboard.ts makes one.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v records=5000000 -v days=390 -f scripts/bench/seed-usage.sql
\set ON_ERROR_STOP 1
\if :{?records}
\else
\set records 5000000
\endif
\if :{?days}
\else
\set days 390
\endif
set synchronous_commit = off;
set work_mem = '256MB';
select maintain_usage_partitions() \gset
create table if not exists usage_records_older partition of usage_records
    for values from ('2020-01-01') to (date_trunc('month', now(), 'UTC'));
insert into projects (name, plan) select 'seed-' || n, 'enterprise' from generate_series(1, 20) n;
insert into api_keys (project_id, key_hash, prefix, type, name, created_at, last_used_at)
select p.id, sha256(convert_to(p.name || '/' || n, 'UTF8')), 'lgw_proj_' || left(md5(p.name || '/' || n), 8),
    case when n = 10 then 'test' else 'project' end, 'key ' || n, now() - :days * interval '1 day', now()
from projects p, generate_series(1, 10) n;

with drawn as (
    select n, random() as place, random() as r, random() as size
    from generate_series(1, :records) n
),
keys as (
    select k.id, k.project_id, (row_number() over (order by k.id) - 1)::integer as at from api_keys k
)
insert into usage_records (recorded_at, request_id, project_id, key_id, endpoint, model, provider, cache_result, status, streamed,
    prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms)
select
    now() - d.place * :days * interval '1 day', 'req_' || d.n, k.project_id, k.id, case when d.r < 0.9 then 'chat' else 'embeddings' end,
    'vendor/model-' || (k.id % 12), 'openai', case when d.r < 0.4 then 'HIT' when d.r < 0.55 then 'HIT-SEMANTIC' else 'MISS' end,
    case when d.size < 0.02 then 429 when d.size < 0.03 then 502 else 200 end, d.size < 0.5, (d.size * 1000)::integer, 0,
    (d.size * 500)::integer, ((1 - d.size) * 500)::integer, d.size * 0.004, (1 - d.size) * 0.004, d.size * 800, d.size * 3000
from drawn d
-- The square leans to the first keys, as in life.
join keys k on k.at = floor(power(d.r, 2) * 200)::integer;

-- As roll_up_usage() does, straight from the records.
insert into usage_sums
select
    case when w.of_all then 0 else r.project_id end, w.grain,
    case w.grain when 'quarter' then date_bin('15 minutes', r.at, 'epoch') else date_trunc(w.grain, r.at, 'UTC') end,
    case when w.of_all then 0 else r.key_id end, r.endpoint, case when w.of_all then '' else r.model end,
    case when w.of_all then '' else r.provider end, r.cache_result, r.status_class, sum(r.requests), sum(r.prompt_tokens),
    sum(r.cached_prompt_tokens), sum(r.completion_tokens), sum(r.tokens_saved), sum(r.cost_usd), sum(r.saved_usd), sum(r.latency_ms),
    sum(r.duration_ms)
from usage_by_record r
cross join (
    select g.grain, a.of_all
    from unnest(array['quarter', 'hour', 'day', 'month']) as g (grain), (values (false), (true)) as a (of_all)
) w
group by 1, 2, 3, 4, 5, 6, 7, 8, 9;

insert into latency_counts
select
    r.project_id, g.grain, case g.grain when 'quarter' then date_bin('15 minutes', r.at, 'epoch') else date_trunc(g.grain, r.at, 'UTC') end,
    r.cache_result, r.bucket, sum(r.requests)
from usage_by_record r, unnest(array['quarter', 'hour', 'day', 'month']) as g (grain)
group by 1, 2, 3, 4, 5;
analyze;
select string_agg(n || ' sums by the ' || grain, ', ') from (select grain, count(*) as n from usage_sums group by 1) s;
