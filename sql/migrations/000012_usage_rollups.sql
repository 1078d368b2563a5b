-- Usage by the hour, so that no page has to read single records.

create table usage_hourly (
    project_id bigint not null,
    hour timestamptz not null,
    key_id bigint not null,
    endpoint text not null,
    model text not null,
    provider text not null,
    cache_result text not null,
    status_class smallint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    cached_prompt_tokens bigint not null,
    completion_tokens bigint not null,
    tokens_saved bigint not null,
    cost_usd numeric(18, 9) not null,
    saved_usd numeric(18, 9) not null,
    latency_ms double precision not null,
    duration_ms double precision not null,
    primary key (project_id, hour, key_id, endpoint, model, provider, cache_result, status_class)
) with (fillfactor = 70);

create index usage_hourly_hour_idx on usage_hourly using brin (hour);

comment on table usage_hourly is 'usage_records summed up by the hour; what was recorded in the last seconds is in usage_pending.';
comment on column usage_hourly.project_id is 'As in usage_records.';
comment on column usage_hourly.hour is 'Beginning of the hour in which the answers ended.';
comment on column usage_hourly.key_id is 'As in usage_records.';
comment on column usage_hourly.endpoint is 'As in usage_records.';
comment on column usage_hourly.model is 'As in usage_records.';
comment on column usage_hourly.provider is 'As in usage_records; empty where none was reached.';
comment on column usage_hourly.cache_result is 'As in usage_records; empty where the request ended before the cache.';
comment on column usage_hourly.status_class is 'First digit of the HTTP status.';
comment on column usage_hourly.requests is 'How many records.';
comment on column usage_hourly.prompt_tokens is 'Sum over them.';
comment on column usage_hourly.cached_prompt_tokens is 'Sum over them.';
comment on column usage_hourly.completion_tokens is 'Sum over them.';
comment on column usage_hourly.tokens_saved is 'Sum over them.';
comment on column usage_hourly.cost_usd is 'Sum over them.';
comment on column usage_hourly.saved_usd is 'Sum over them.';
comment on column usage_hourly.latency_ms is 'Sum over them.';
comment on column usage_hourly.duration_ms is 'Sum over them.';

create table latency_hourly (
    project_id bigint not null,
    hour timestamptz not null,
    cache_result text not null,
    bucket smallint not null,
    requests bigint not null,
    primary key (project_id, hour, cache_result, bucket)
) with (fillfactor = 70);

create index latency_hourly_hour_idx on latency_hourly using brin (hour);

comment on table latency_hourly is 'How long answers took to begin, counted by the hour on a logarithmic scale: percentiles to within a tenth.';
comment on column latency_hourly.project_id is 'As in usage_records.';
comment on column latency_hourly.hour is 'Beginning of the hour.';
comment on column latency_hourly.cache_result is 'As in usage_hourly.';
comment on column latency_hourly.bucket is 'The n for which the latency lies from 2^(n/4) to 2^((n+1)/4) milliseconds.';
comment on column latency_hourly.requests is 'How many records.';

create table usage_pending (
    project_id bigint not null,
    hour timestamptz not null,
    key_id bigint not null,
    endpoint text not null,
    model text not null,
    provider text not null,
    cache_result text not null,
    status_class smallint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    cached_prompt_tokens bigint not null,
    completion_tokens bigint not null,
    tokens_saved bigint not null,
    cost_usd numeric(18, 9) not null,
    saved_usd numeric(18, 9) not null,
    latency_ms double precision not null,
    duration_ms double precision not null,
    bucket smallint not null
);

comment on table usage_pending is 'What was recorded in the last seconds, until roll_up_usage() adds it to the sums by the hour: a row that every batch rewrote would cost more than recording itself. Readers add both up.';
comment on column usage_pending.project_id is 'As in usage_hourly.';
comment on column usage_pending.hour is 'As in usage_hourly.';
comment on column usage_pending.key_id is 'As in usage_hourly.';
comment on column usage_pending.endpoint is 'As in usage_hourly.';
comment on column usage_pending.model is 'As in usage_hourly.';
comment on column usage_pending.provider is 'As in usage_hourly.';
comment on column usage_pending.cache_result is 'As in usage_hourly.';
comment on column usage_pending.status_class is 'As in usage_hourly.';
comment on column usage_pending.requests is 'As in usage_hourly.';
comment on column usage_pending.prompt_tokens is 'As in usage_hourly.';
comment on column usage_pending.cached_prompt_tokens is 'As in usage_hourly.';
comment on column usage_pending.completion_tokens is 'As in usage_hourly.';
comment on column usage_pending.tokens_saved is 'As in usage_hourly.';
comment on column usage_pending.cost_usd is 'As in usage_hourly.';
comment on column usage_pending.saved_usd is 'As in usage_hourly.';
comment on column usage_pending.latency_ms is 'As in usage_hourly.';
comment on column usage_pending.duration_ms is 'As in usage_hourly.';
comment on column usage_pending.bucket is 'As in latency_hourly.';

-- What was recorded before this migration.
insert into usage_hourly
select
    r.project_id,
    date_trunc('hour', r.recorded_at, 'UTC'),
    r.key_id,
    r.endpoint,
    r.model,
    coalesce(r.provider, ''),
    coalesce(r.cache_result, ''),
    (r.status / 100)::smallint,
    count(*),
    sum(r.prompt_tokens),
    sum(r.cached_prompt_tokens),
    sum(r.completion_tokens),
    sum(r.tokens_saved),
    sum(r.cost_usd),
    sum(r.saved_usd),
    sum(r.latency_ms),
    sum(r.duration_ms)
from usage_records r
group by 1, 2, 3, 4, 5, 6, 7, 8;

insert into latency_hourly
select
    r.project_id,
    date_trunc('hour', r.recorded_at, 'UTC'),
    coalesce(r.cache_result, ''),
    floor(4 * ln(greatest(r.latency_ms, 0.01)::double precision) / ln(2::double precision))::smallint,
    count(*)
from usage_records r
group by 1, 2, 3, 4;
