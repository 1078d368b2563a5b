create or replace function usage_within(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    width text,
    zone text,
    in_detail boolean
)
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
-- JIT compilation would take ten times as long as the query.
set jit = off
-- All projects' days of a year are summed in memory, rather than sorted on disk.
set work_mem = '64MB'
as $$
    with pieces as materialized (
        select p.begins, p.ends, p.grain from usage_pieces(from_time, until_time, width, zone) p
    ),
    seen as materialized (
        select p.id from projects p where of_projects is null or p.id = any (of_projects)
    ),
    counted (
        at, project_id, key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, duration_ms
    ) as (
        select
            m.month, m.project_id, m.key_id, m.endpoint, m.model, m.provider, m.cache_result, m.status_class, m.requests,
            m.prompt_tokens, m.cached_prompt_tokens, m.completion_tokens, m.tokens_saved, m.cost_usd, m.saved_usd, m.duration_ms
        from usage_monthly m
        where in_detail
            and m.project_id in (select s.id from seen s)
            and m.month >= from_time
            and m.month < until_time
            and m.month in (select w.begins from pieces w where w.grain = 'month')
        union all
        select
            d.day, d.project_id, d.key_id, d.endpoint, d.model, d.provider, d.cache_result, d.status_class, d.requests,
            d.prompt_tokens, d.cached_prompt_tokens, d.completion_tokens, d.tokens_saved, d.cost_usd, d.saved_usd, d.duration_ms
        from usage_daily d
        where in_detail
            and d.project_id in (select s.id from seen s)
            and d.day >= from_time
            and d.day < until_time
            and d.day in (select w.begins from pieces w where w.grain = 'day')
        union all
        -- Hours: one index range after the other. A plain join would read the whole table.
        select
            h.hour, h.project_id, h.key_id, h.endpoint, h.model, h.provider, h.cache_result, h.status_class, h.requests,
            h.prompt_tokens, h.cached_prompt_tokens, h.completion_tokens, h.tokens_saved, h.cost_usd, h.saved_usd, h.duration_ms
        from seen s
        join pieces w on w.grain = 'hour' and in_detail
        cross join lateral (
            select x.* from usage_hourly x where x.project_id = s.id and x.hour >= w.begins and x.hour < w.ends offset 0
        ) h
        union all
        select
            t.at, null::bigint, null::bigint, t.endpoint, null::text, null::text, t.cache_result, t.status_class, t.requests,
            t.prompt_tokens, t.cached_prompt_tokens, t.completion_tokens, t.tokens_saved, t.cost_usd, t.saved_usd, t.duration_ms
        from usage_totals t
        where not in_detail
            and t.grain = 'day'
            and t.at >= from_time
            and t.at < until_time
            and t.at in (select w.begins from pieces w where w.grain = 'day')
        union all
        select
            t.at, null::bigint, null::bigint, t.endpoint, null::text, null::text, t.cache_result, t.status_class, t.requests,
            t.prompt_tokens, t.cached_prompt_tokens, t.completion_tokens, t.tokens_saved, t.cost_usd, t.saved_usd, t.duration_ms
        from pieces w
        cross join lateral (
            select x.* from usage_totals x where x.grain = 'hour' and x.at >= w.begins and x.at < w.ends offset 0
        ) t
        where not in_detail
            and w.grain = 'hour'
        union all
        select
            p.hour, p.project_id, p.key_id, p.endpoint, p.model, p.provider, p.cache_result, p.status_class, p.requests,
            p.prompt_tokens, p.cached_prompt_tokens, p.completion_tokens, p.tokens_saved, p.cost_usd, p.saved_usd, p.duration_ms
        from usage_pending p
        where p.project_id in (select s.id from seen s)
            and p.hour >= from_time
            and p.hour < until_time
    )
    -- Summed here, because returning every row would cost more.
    select
        case width when 'all' then from_time else date_trunc(width, c.at, zone) end,
        case when in_detail then c.project_id end,
        case when in_detail then c.key_id end,
        c.endpoint,
        case when in_detail then c.model end,
        case when in_detail then c.provider end,
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

comment on function usage_within(bigint[], timestamptz, timestamptz, text, text, boolean) is
    'Usage of some or all projects that the current user may see, with the bucket of each row (width: hour, day or month of a zone; all: one), up to the last record. Read from the sums of a month or a day that lies in one bucket, else of hours. in_detail: false gives all projects together, without project, key, model and provider, to administrators only.';
