-- Makes usage records to measure the dashboard with: so many over the last days, in twenty projects of ten keys each. For a
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
insert into api_keys (project_id, key_hash, prefix, type, name)
select p.id, sha256(convert_to(p.name || '/' || n, 'UTF8')), 'lgw_proj_' || left(md5(p.name || '/' || n), 8), 'project', 'key ' || n
from projects p, generate_series(1, 10) n;

with drawn as (
    select n, random() as place, random() as r, random() as size
    from generate_series(1, :records) n
),
keys as (
    select k.id, k.project_id, (row_number() over (order by k.id) - 1)::integer as at from api_keys k
)
insert into usage_records
select
    now() - d.place * :days * interval '1 day', 'req_' || d.n, k.project_id, k.id, case when d.r < 0.9 then 'chat' else 'embeddings' end,
    'vendor/model-' || (k.id % 12), 'openai', case when d.r < 0.4 then 'HIT' when d.r < 0.55 then 'HIT-SEMANTIC' else 'MISS' end,
    case when d.size < 0.02 then 429 when d.size < 0.03 then 502 else 200 end, d.size < 0.5, (d.size * 1000)::integer, 0,
    (d.size * 500)::integer, ((1 - d.size) * 500)::integer, d.size * 0.004, (1 - d.size) * 0.004, d.size * 800, d.size * 3000
from drawn d
-- The square leans to the first keys, as in life.
join keys k on k.at = floor(power(d.r, 2) * 200)::integer;

insert into usage_hourly
select
    r.project_id, date_trunc('hour', r.recorded_at, 'UTC'), r.key_id, r.endpoint, r.model, coalesce(r.provider, ''),
    coalesce(r.cache_result, ''), (r.status / 100)::smallint, count(*), sum(r.prompt_tokens), sum(r.cached_prompt_tokens),
    sum(r.completion_tokens), sum(r.tokens_saved), sum(r.cost_usd), sum(r.saved_usd), sum(r.latency_ms), sum(r.duration_ms)
from usage_records r
group by 1, 2, 3, 4, 5, 6, 7, 8;

insert into latency_hourly
select
    r.project_id, date_trunc('hour', r.recorded_at, 'UTC'), coalesce(r.cache_result, ''),
    floor(4 * ln(greatest(r.latency_ms, 0.01)::double precision) / ln(2::double precision))::smallint, count(*)
from usage_records r
group by 1, 2, 3, 4;
insert into usage_daily
select
    h.project_id, date_trunc('day', h.hour, 'UTC'), h.key_id, h.endpoint, h.model, h.provider, h.cache_result, h.status_class,
    sum(h.requests), sum(h.prompt_tokens), sum(h.cached_prompt_tokens), sum(h.completion_tokens), sum(h.tokens_saved), sum(h.cost_usd),
    sum(h.saved_usd), sum(h.latency_ms), sum(h.duration_ms)
from usage_hourly h
group by 1, 2, 3, 4, 5, 6, 7, 8;

insert into latency_daily
select l.project_id, date_trunc('day', l.hour, 'UTC'), l.cache_result, l.bucket, sum(l.requests)
from latency_hourly l
group by 1, 2, 3, 4;
insert into usage_monthly
select
    h.project_id, date_trunc('month', h.day, 'UTC'), h.key_id, h.endpoint, h.model, h.provider, h.cache_result, h.status_class,
    sum(h.requests), sum(h.prompt_tokens), sum(h.cached_prompt_tokens), sum(h.completion_tokens), sum(h.tokens_saved), sum(h.cost_usd),
    sum(h.saved_usd), sum(h.latency_ms), sum(h.duration_ms)
from usage_daily h
group by 1, 2, 3, 4, 5, 6, 7, 8;

insert into usage_totals
select
    g.grain, date_trunc(g.grain, h.hour, 'UTC'), h.endpoint, h.cache_result, h.status_class,
    sum(h.requests), sum(h.prompt_tokens), sum(h.cached_prompt_tokens), sum(h.completion_tokens), sum(h.tokens_saved), sum(h.cost_usd),
    sum(h.saved_usd), sum(h.latency_ms), sum(h.duration_ms)
from usage_hourly h, (values ('hour'), ('day')) as g (grain)
group by 1, 2, 3, 4, 5;

insert into latency_monthly
select l.project_id, date_trunc('month', l.day, 'UTC'), l.cache_result, l.bucket, sum(l.requests)
from latency_daily l
group by 1, 2, 3, 4;
analyze;
select (select count(*) from usage_hourly) || ' sums by the hour, ' || (select count(*) from usage_daily) || ' by the day';
