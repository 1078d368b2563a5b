create or replace function usage_in_range(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    width text,
    zone text,
    cut text,
    by_key boolean default true,
    by_model boolean default true
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
set search_path = model_proxy, pg_temp
-- JIT compilation would take ten times as long as the query.
set jit = off
-- A year of all projects by day is summed in memory, instead of sorted on disk.
set work_mem = '64MB'
-- The planner expects few rows, and would sort them. Hashing takes a third of the time.
set enable_sort = off
as $$
    with pieces as materialized (
        select p.* from split_usage_range(from_time, until_time, width, zone) p
    ),
    seen as materialized (
        select p.id from projects p where of_projects is null or p.id = any (of_projects)
    ),
    test_keys as materialized (
        select k.id from api_keys k where (cut <> 'projects' or not by_key) and k.type = 'test'
    ),
    summed as materialized (
        select case cut when 'totals' then -s.id else s.id end as id from seen s where cut <> 'models' union all select 0 where cut = 'models'
    ),
    counted (
        at, sign, project_id, key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, duration_ms
    ) as (
        -- One index range for each part of the time. A plain join would read the whole table.
        select
            coalesce(w.counted_at, u.at + w.middle), w.sign, u.project_id, u.key_id, u.endpoint, u.model, u.provider, u.cache_result,
            u.status_class, u.requests, u.prompt_tokens, u.cached_prompt_tokens, u.completion_tokens, u.tokens_saved, u.cost_usd,
            u.saved_usd, u.duration_ms
        from summed s
        join pieces w on w.grain <> 'record'
        cross join lateral (
            select x.*
            from usage_sums x
            where x.project_id = s.id and x.grain = w.grain and x.at >= w.begins and x.at < w.ends
            offset 0
        ) u
        union all
        select
            coalesce(w.counted_at, u.at), w.sign, u.project_id, u.key_id, u.endpoint, u.model, u.provider, u.cache_result,
            u.status_class, u.requests, u.prompt_tokens, u.cached_prompt_tokens, u.completion_tokens, u.tokens_saved, u.cost_usd,
            u.saved_usd, u.duration_ms
        from seen s
        join pieces w on w.grain = 'record'
        cross join lateral (
            select x.* from usage_per_record x where x.project_id = s.id and x.at >= w.begins and x.at < w.ends offset 0
        ) u
        union all
        select
            p.at, w.sign, p.project_id, p.key_id, p.endpoint, p.model, p.provider, p.cache_result, p.status_class, p.requests,
            p.prompt_tokens, p.cached_prompt_tokens, p.completion_tokens, p.tokens_saved, p.cost_usd, p.saved_usd, p.duration_ms
        from usage_pending p
        join pieces w on w.grain <> 'record' and w.counted_at is null and p.at >= w.begins and p.at < w.ends
        where p.project_id in (select s.id from seen s)
    )
    -- Rows are summed here, because returning every row would cost more.
    select
        case width when 'all' then from_time else date_trunc(width, c.at, zone) end,
        case when cut <> 'models' then abs(c.project_id) end,
        case when cut = 'projects' and by_key or c.key_id <= 0 then c.key_id else key_type_id(case when c.key_id in (select k.id from test_keys k) then 'test' end) end,
        case when cut <> 'totals' then c.endpoint end,
        case when cut <> 'totals' and by_model then c.model end,
        case when cut <> 'totals' and by_model then c.provider end,
        c.cache_result,
        c.status_class,
        -- As in name_shares(), no count is negative where sums are wrong.
        sum(c.sign * c.requests)::bigint,
        greatest(0, sum(c.sign * c.prompt_tokens))::bigint,
        greatest(0, sum(c.sign * c.cached_prompt_tokens))::bigint,
        greatest(0, sum(c.sign * c.completion_tokens))::bigint,
        greatest(0, sum(c.sign * c.tokens_saved))::bigint,
        sum(c.sign * c.cost_usd),
        sum(c.sign * c.saved_usd),
        sum(c.sign * c.duration_ms)
    from counted c
    group by 1, 2, 3, 4, 5, 6, 7, 8
    having sum(c.sign * c.requests) > 0;
$$;

comment on function usage_in_range(bigint[], timestamptz, timestamptz, text, text, text, boolean, boolean) is
    'Usage of some or all projects that the current user may see, with the bucket of each row (width: hour, day or month of a zone; all: one), up to the last record. Read from the sums that split_usage_range() chooses. cut, as choose_usage_sums() says: projects (by project, key, endpoint, model and provider), totals (by project and type of key, as key_type_id() says) or models (for administrators: all projects together, by type of key, endpoint, model and provider). Not by_key: by type of key; not by_model: without model and provider, so that far fewer rows are returned. Null: project_id (models), endpoint, model, provider (not by them).';
