-- Usage by the UTC month, and that of all projects together by the hour and the day: what they come to in a year is read from few rows.
-- squawk-ignore-file

create table usage_monthly (
    project_id bigint not null,
    month timestamptz not null,
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
    primary key (project_id, month, key_id, endpoint, model, provider, cache_result, status_class)
) with (fillfactor = 70);

create index usage_monthly_month_idx on usage_monthly using brin (month);

comment on table usage_monthly is 'usage_hourly summed up by the UTC month.';
comment on column usage_monthly.project_id is 'As in usage_hourly.';
comment on column usage_monthly.month is 'Beginning of the UTC month in which the answers ended.';
comment on column usage_monthly.key_id is 'As in usage_hourly.';
comment on column usage_monthly.endpoint is 'As in usage_hourly.';
comment on column usage_monthly.model is 'As in usage_hourly.';
comment on column usage_monthly.provider is 'As in usage_hourly.';
comment on column usage_monthly.cache_result is 'As in usage_hourly.';
comment on column usage_monthly.status_class is 'As in usage_hourly.';
comment on column usage_monthly.requests is 'As in usage_hourly.';
comment on column usage_monthly.prompt_tokens is 'As in usage_hourly.';
comment on column usage_monthly.cached_prompt_tokens is 'As in usage_hourly.';
comment on column usage_monthly.completion_tokens is 'As in usage_hourly.';
comment on column usage_monthly.tokens_saved is 'As in usage_hourly.';
comment on column usage_monthly.cost_usd is 'As in usage_hourly.';
comment on column usage_monthly.saved_usd is 'As in usage_hourly.';
comment on column usage_monthly.latency_ms is 'As in usage_hourly.';
comment on column usage_monthly.duration_ms is 'As in usage_hourly.';

create table usage_totals (
    grain text not null
        check (grain in ('hour', 'day')),
    at timestamptz not null,
    endpoint text not null,
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
    primary key (grain, at, endpoint, cache_result, status_class)
) with (fillfactor = 70);

create index usage_totals_at_idx on usage_totals using brin (at);

comment on table usage_totals is 'usage_hourly summed up over all projects, keys, models and providers, by the hour and by the UTC day: for administrators.';
comment on column usage_totals.grain is 'hour or day.';
comment on column usage_totals.at is 'Beginning of the hour or the UTC day in which the answers ended.';
comment on column usage_totals.endpoint is 'As in usage_hourly.';
comment on column usage_totals.cache_result is 'As in usage_hourly.';
comment on column usage_totals.status_class is 'As in usage_hourly.';
comment on column usage_totals.requests is 'As in usage_hourly.';
comment on column usage_totals.prompt_tokens is 'As in usage_hourly.';
comment on column usage_totals.cached_prompt_tokens is 'As in usage_hourly.';
comment on column usage_totals.completion_tokens is 'As in usage_hourly.';
comment on column usage_totals.tokens_saved is 'As in usage_hourly.';
comment on column usage_totals.cost_usd is 'As in usage_hourly.';
comment on column usage_totals.saved_usd is 'As in usage_hourly.';
comment on column usage_totals.latency_ms is 'As in usage_hourly.';
comment on column usage_totals.duration_ms is 'As in usage_hourly.';

create table latency_monthly (
    project_id bigint not null,
    month timestamptz not null,
    cache_result text not null,
    bucket smallint not null,
    requests bigint not null,
    primary key (project_id, month, cache_result, bucket)
) with (fillfactor = 70);

create index latency_monthly_month_idx on latency_monthly using brin (month);

comment on table latency_monthly is 'latency_hourly summed up by the UTC month.';
comment on column latency_monthly.project_id is 'As in latency_hourly.';
comment on column latency_monthly.month is 'Beginning of the UTC month.';
comment on column latency_monthly.cache_result is 'As in latency_hourly.';
comment on column latency_monthly.bucket is 'As in latency_hourly.';
comment on column latency_monthly.requests is 'As in latency_hourly.';

-- Nothing is rolled up meanwhile by a proxy that does not know them.
select pg_advisory_xact_lock(hashtext('roll_up_usage'));

insert into usage_monthly
select
    h.project_id, date_trunc('month', h.day, 'UTC'), h.key_id, h.endpoint, h.model, h.provider, h.cache_result, h.status_class,
    sum(h.requests), sum(h.prompt_tokens), sum(h.cached_prompt_tokens), sum(h.completion_tokens), sum(h.tokens_saved),
    sum(h.cost_usd), sum(h.saved_usd), sum(h.latency_ms), sum(h.duration_ms)
from usage_daily h
group by 1, 2, 3, 4, 5, 6, 7, 8;

insert into usage_totals
select
    'hour', h.hour, h.endpoint, h.cache_result, h.status_class,
    sum(h.requests), sum(h.prompt_tokens), sum(h.cached_prompt_tokens), sum(h.completion_tokens), sum(h.tokens_saved),
    sum(h.cost_usd), sum(h.saved_usd), sum(h.latency_ms), sum(h.duration_ms)
from usage_hourly h
group by 1, 2, 3, 4, 5;

insert into usage_totals
select
    'day', h.day, h.endpoint, h.cache_result, h.status_class,
    sum(h.requests), sum(h.prompt_tokens), sum(h.cached_prompt_tokens), sum(h.completion_tokens), sum(h.tokens_saved),
    sum(h.cost_usd), sum(h.saved_usd), sum(h.latency_ms), sum(h.duration_ms)
from usage_daily h
group by 1, 2, 3, 4, 5;

insert into latency_monthly
select l.project_id, date_trunc('month', l.day, 'UTC'), l.cache_result, l.bucket, sum(l.requests)
from latency_daily l
group by 1, 2, 3, 4;

alter table usage_monthly enable row level security;
alter table usage_totals enable row level security;
alter table latency_monthly enable row level security;

create policy members_see on usage_monthly for select using (project_id in (select visible_projects()));
create policy administrators_see on usage_totals for select using ((select is_administrator()));
create policy members_see on latency_monthly for select using (project_id in (select visible_projects()));

drop function if exists usage_within(bigint[], timestamptz, timestamptz, text, text);
drop function if exists whole_days(timestamptz, timestamptz, text, text);
