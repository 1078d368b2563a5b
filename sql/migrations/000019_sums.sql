-- Usage by the UTC day beside that by the hour: what a year comes to is read from a tenth of the rows. And what was refused, by reason.
-- squawk-ignore-file

create table usage_daily (
    project_id bigint not null,
    day timestamptz not null,
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
    primary key (project_id, day, key_id, endpoint, model, provider, cache_result, status_class)
) with (fillfactor = 70);

create index usage_daily_day_idx on usage_daily using brin (day);

comment on table usage_daily is 'usage_hourly summed up by the UTC day.';
comment on column usage_daily.project_id is 'As in usage_hourly.';
comment on column usage_daily.day is 'Beginning of the UTC day in which the answers ended.';
comment on column usage_daily.key_id is 'As in usage_hourly.';
comment on column usage_daily.endpoint is 'As in usage_hourly.';
comment on column usage_daily.model is 'As in usage_hourly.';
comment on column usage_daily.provider is 'As in usage_hourly.';
comment on column usage_daily.cache_result is 'As in usage_hourly.';
comment on column usage_daily.status_class is 'As in usage_hourly.';
comment on column usage_daily.requests is 'As in usage_hourly.';
comment on column usage_daily.prompt_tokens is 'As in usage_hourly.';
comment on column usage_daily.cached_prompt_tokens is 'As in usage_hourly.';
comment on column usage_daily.completion_tokens is 'As in usage_hourly.';
comment on column usage_daily.tokens_saved is 'As in usage_hourly.';
comment on column usage_daily.cost_usd is 'As in usage_hourly.';
comment on column usage_daily.saved_usd is 'As in usage_hourly.';
comment on column usage_daily.latency_ms is 'As in usage_hourly.';
comment on column usage_daily.duration_ms is 'As in usage_hourly.';

create table latency_daily (
    project_id bigint not null,
    day timestamptz not null,
    cache_result text not null,
    bucket smallint not null,
    requests bigint not null,
    primary key (project_id, day, cache_result, bucket)
) with (fillfactor = 70);

create index latency_daily_day_idx on latency_daily using brin (day);

comment on table latency_daily is 'latency_hourly summed up by the UTC day.';
comment on column latency_daily.project_id is 'As in latency_hourly.';
comment on column latency_daily.day is 'Beginning of the UTC day.';
comment on column latency_daily.cache_result is 'As in latency_hourly.';
comment on column latency_daily.bucket is 'As in latency_hourly.';
comment on column latency_daily.requests is 'As in latency_hourly.';

-- Nothing is rolled up meanwhile by a proxy that knows the hours alone.
select pg_advisory_xact_lock(hashtext('roll_up_usage'));

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

alter table usage_daily enable row level security;
alter table latency_daily enable row level security;

create policy members_see on usage_daily for select using (project_id in (select visible_projects()));
create policy members_see on latency_daily for select using (project_id in (select visible_projects()));

create table refusals_hourly (
    hour timestamptz not null,
    reason text not null,
    requests bigint not null,
    primary key (hour, reason)
);

comment on table refusals_hourly is 'Requests that were refused with 401, 403 or 429, by the hour: no project need be known. Kept as long as usage.';
comment on column refusals_hourly.hour is 'Beginning of the hour in which they were counted.';
comment on column refusals_hourly.reason is 'Code of the error.';
comment on column refusals_hourly.requests is 'How many, over all proxies.';

alter table refusals_hourly enable row level security;

create policy administrators_see on refusals_hourly for select using ((select is_administrator()));
