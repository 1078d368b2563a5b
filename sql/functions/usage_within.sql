create or replace function usage_within(of_projects bigint[], from_time timestamptz, until_time timestamptz, width text, zone text)
returns table (
    bucket_start timestamptz,
    project_id bigint,
    key_id bigint,
    endpoint text,
    model text,
    provider text,
    cache_result text,
    status_class smallint,
    requests bigint,
    prompt_tokens bigint,
    cached_prompt_tokens bigint,
    completion_tokens bigint,
    tokens_saved bigint,
    cost_usd numeric,
    saved_usd numeric,
    duration_ms double precision
)
language sql
stable
set search_path = public, pg_temp
-- Compiling would take ten times as long as running.
set jit = off
-- All projects' days of a year are added up in memory, rather than sorted on disk.
set work_mem = '64MB'
as $$
    with days as materialized (
        select d.begins, d.ends, d.is_whole from whole_days(from_time, until_time, width, zone) d
    ),
    seen as materialized (
        select p.id from projects p where of_projects is null or p.id = any (of_projects)
    ),
    counted as (
        select
            d.day as at, d.project_id, d.key_id, d.endpoint, d.model, d.provider, d.cache_result, d.status_class, d.requests,
            d.prompt_tokens, d.cached_prompt_tokens, d.completion_tokens, d.tokens_saved, d.cost_usd, d.saved_usd, d.duration_ms
        from usage_daily d
        where width <> 'hour'
            and d.project_id in (select s.id from seen s)
            and d.day >= from_time
            and d.day < until_time
            and d.day in (select w.begins from days w where w.is_whole)
        union all
        select
            h.hour, h.project_id, h.key_id, h.endpoint, h.model, h.provider, h.cache_result, h.status_class, h.requests,
            h.prompt_tokens, h.cached_prompt_tokens, h.completion_tokens, h.tokens_saved, h.cost_usd, h.saved_usd, h.duration_ms
        from seen s
        join days w on not w.is_whole
        -- One stretch of the index after the other: joined as a whole, it would be read as a whole.
        cross join lateral (
            select x.* from usage_hourly x where x.project_id = s.id and x.hour >= w.begins and x.hour < w.ends offset 0
        ) h
        union all
        select
            p.hour, p.project_id, p.key_id, p.endpoint, p.model, p.provider, p.cache_result, p.status_class, p.requests,
            p.prompt_tokens, p.cached_prompt_tokens, p.completion_tokens, p.tokens_saved, p.cost_usd, p.saved_usd, p.duration_ms
        from usage_pending p
        where p.project_id in (select s.id from seen s)
            and p.hour >= from_time
            and p.hour < until_time
    )
    -- Added up here: handing every row on would cost more.
    select
        case width when 'all' then from_time else date_trunc(width, c.at, zone) end,
        c.project_id,
        c.key_id,
        c.endpoint,
        c.model,
        c.provider,
        c.cache_result,
        c.status_class,
        sum(c.requests)::bigint,
        sum(c.prompt_tokens)::bigint,
        sum(c.cached_prompt_tokens)::bigint,
        sum(c.completion_tokens)::bigint,
        sum(c.tokens_saved)::bigint,
        sum(c.cost_usd),
        sum(c.saved_usd),
        sum(c.duration_ms)
    from counted c
    group by 1, 2, 3, 4, 5, 6, 7, 8;
$$;

comment on function usage_within(bigint[], timestamptz, timestamptz, text, text) is
    'Usage of the projects that may be seen, or of some of them, with the bucket it belongs to (width: hour, day or month of a zone; all: one), up to the last record. From sums by the day where a whole day lies in one bucket, else by the hour.';
