create or replace function roll_up_usage() returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
set jit = off
-- The planner expects few groups, and would sort on disk.
set enable_sort = off
set work_mem = '64MB'
as $$
declare
    -- The maximum number of rows per call, which take a fraction of the time limit of statements even if each has its own sums. Later calls
    -- add the rest, for example after a downtime.
    most constant integer := 10000;
    -- The maximum number of tag sets in a project's hour, because clients choose tags.
    most_sets constant integer := 500;
    taken usage_pending[];
begin
    -- One proxy at a time; the others return at once.
    if not pg_try_advisory_xact_lock(hashtext('model_proxy roll_up_usage')) then
        return 0;
    end if;
    perform set_config('synchronous_commit', 'off', true);

    with gone as (
        delete from usage_pending p
        where p.ctid = any (array(select x.ctid from usage_pending x limit most))
        returning p
    )
    select coalesce(array_agg(gone.p), '{}') into taken from gone;
    if cardinality(taken) = 0 then
        return 0;
    end if;

    insert into usage_sums as s
    -- Sums by quarter first, which yields far fewer rows than were read.
    with quarters as materialized (
        select
            t.project_id,
            t.at,
            t.key_id,
            t.endpoint,
            t.model,
            t.provider,
            t.cache_result,
            t.status_class,
            sum(t.requests) as requests,
            sum(t.prompt_tokens) as prompt_tokens,
            sum(t.cached_prompt_tokens) as cached_prompt_tokens,
            sum(t.completion_tokens) as completion_tokens,
            sum(t.tokens_saved) as tokens_saved,
            sum(t.cost_usd) as cost_usd,
            sum(t.saved_usd) as saved_usd,
            sum(t.latency_ms) as latency_ms,
            sum(t.duration_ms) as duration_ms,
            sum(t.slow_requests) as slow_requests
        from unnest(taken) t
        group by 1, 2, 3, 4, 5, 6, 7, 8
    )
    select
        case c.cut when 'projects' then t.project_id when 'models' then 0 else -t.project_id end,
        g.grain,
        grain_start(t.at, g.grain),
        case when c.cut = 'projects' then t.key_id else key_type_id(k.type) end,
        case when c.cut = 'totals' then '' else t.endpoint end,
        case when c.cut = 'totals' then '' else t.model end,
        case when c.cut = 'totals' then '' else t.provider end,
        t.cache_result,
        t.status_class,
        sum(t.requests),
        sum(t.prompt_tokens),
        sum(t.cached_prompt_tokens),
        sum(t.completion_tokens),
        sum(t.tokens_saved),
        sum(t.cost_usd),
        sum(t.saved_usd),
        sum(t.latency_ms),
        sum(t.duration_ms),
        sum(t.slow_requests)
    from quarters t
    left join api_keys k on k.id = t.key_id
    cross join unnest(array['quarter', 'hour', 'day', 'month']) as g (grain)
    cross join unnest(array['projects', 'models', 'totals']) as c (cut)
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    on conflict (project_id, grain, at, key_id, endpoint, model, provider, cache_result, status_class) do update
    set requests = s.requests + excluded.requests,
        prompt_tokens = s.prompt_tokens + excluded.prompt_tokens,
        cached_prompt_tokens = s.cached_prompt_tokens + excluded.cached_prompt_tokens,
        completion_tokens = s.completion_tokens + excluded.completion_tokens,
        tokens_saved = s.tokens_saved + excluded.tokens_saved,
        cost_usd = s.cost_usd + excluded.cost_usd,
        saved_usd = s.saved_usd + excluded.saved_usd,
        latency_ms = s.latency_ms + excluded.latency_ms,
        duration_ms = s.duration_ms + excluded.duration_ms,
        slow_requests = s.slow_requests + excluded.slow_requests;

    insert into latency_counts as c
    select
        p.project_id,
        g.grain,
        grain_start(t.at, g.grain),
        t.cache_result,
        t.bucket,
        sum(t.requests)
    from unnest(taken) t
    cross join unnest(array['quarter', 'hour', 'day', 'month']) as g (grain)
    cross join unnest(array[t.project_id, 0]) as p (project_id)
    group by 1, 2, 3, 4, 5
    on conflict (project_id, grain, at, cache_result, bucket) do update
    set requests = c.requests + excluded.requests;

    insert into usage_miss_sums as m
    select t.project_id, date_trunc('day', t.at, 'UTC'), t.miss_reason, sum(t.requests), sum(t.cost_usd)
    from unnest(taken) t
    where t.miss_reason is not null
    group by 1, 2, 3
    on conflict (project_id, at, miss_reason) do update
    set requests = m.requests + excluded.requests,
        cost_usd = m.cost_usd + excluded.cost_usd;

    -- Rows with tags. A set of tags is summed if the hour already has it, or has fewer than the maximum; usage of other sets is summed
    -- without tags.
    with tagged as materialized (
        select
            t.project_id,
            date_trunc('hour', t.at, 'UTC') as at,
            t.tags,
            t.key_id,
            t.endpoint,
            t.model,
            sum(t.requests) as requests,
            coalesce(sum(t.requests) filter (where t.cache_result in ('HIT', 'HIT-SEMANTIC')), 0) as hits,
            coalesce(sum(t.requests) filter (where t.cache_result = 'MISS'), 0) as misses,
            coalesce(sum(t.requests) filter (where t.status_class >= 4), 0) as failed,
            sum(t.prompt_tokens) as prompt_tokens,
            sum(t.cached_prompt_tokens) as cached_prompt_tokens,
            sum(t.completion_tokens) as completion_tokens,
            sum(t.tokens_saved) as tokens_saved,
            sum(t.cost_usd) as cost_usd,
            sum(t.saved_usd) as saved_usd
        from unnest(taken) t
        where t.tags is not null
        group by 1, 2, 3, 4, 5, 6
    ),
    sets as (
        select x.project_id, x.at, x.tags, dense_rank() over (partition by x.project_id, x.at order by x.is_new, x.tags) as place
        from (
            select h.project_id, h.at, u.tags, false as is_new
            from (select distinct t.project_id, t.at from tagged t) h
            cross join lateral (
                select distinct u.tags
                from usage_sums_by_tag u
                where u.project_id = h.project_id and u.grain = 'hour' and u.at = h.at and u.tags <> '{}'
            ) u
            union all
            select distinct t.project_id, t.at, t.tags, true
            from tagged t
            where not exists (
                select from usage_sums_by_tag u where u.project_id = t.project_id and u.grain = 'hour' and u.at = t.at and u.tags = t.tags
            )
        ) x
    ),
    placed as materialized (
        select t.*, n.place <= most_sets as has_place, k.type as key_type, p.project_id as sum_id, g.grain, date_trunc(g.grain, t.at, 'UTC') as sum_at
        from tagged t
        join sets n on n.project_id = t.project_id and n.at = t.at and n.tags = t.tags
        left join api_keys k on k.id = t.key_id
        cross join unnest(array['hour', 'day', 'month']) as g (grain)
        cross join unnest(array[t.project_id, 0]) as p (project_id)
    ),
    by_set as (
        insert into usage_sums_by_tag as s
        select
            t.sum_id,
            t.grain,
            t.sum_at,
            case when t.has_place then t.tags else '{}' end,
            case when t.sum_id = 0 then key_type_id(t.key_type) else t.key_id end,
            t.endpoint,
            t.model,
            sum(t.requests),
            sum(t.hits),
            sum(t.misses),
            sum(t.failed),
            sum(t.prompt_tokens),
            sum(t.cached_prompt_tokens),
            sum(t.completion_tokens),
            sum(t.tokens_saved),
            sum(t.cost_usd),
            sum(t.saved_usd)
        from placed t
        group by 1, 2, 3, 4, 5, 6, 7
        on conflict (project_id, grain, at, tags, key_id, endpoint, model) do update
        set requests = s.requests + excluded.requests,
            hits = s.hits + excluded.hits,
            misses = s.misses + excluded.misses,
            failed = s.failed + excluded.failed,
            prompt_tokens = s.prompt_tokens + excluded.prompt_tokens,
            cached_prompt_tokens = s.cached_prompt_tokens + excluded.cached_prompt_tokens,
            completion_tokens = s.completion_tokens + excluded.completion_tokens,
            tokens_saved = s.tokens_saved + excluded.tokens_saved,
            cost_usd = s.cost_usd + excluded.cost_usd,
            saved_usd = s.saved_usd + excluded.saved_usd
    ),
    without_place as (
        insert into usage_tag_filters as f
        select t.project_id, t.at, bit_or(tag_bits(t.tags))
        from (select distinct x.project_id, x.at, x.tags from placed x where not x.has_place) t
        group by 1, 2
        on conflict (project_id, at) do update
        set bits = f.bits | excluded.bits
    )
    insert into usage_sums_by_name as s
    select
        n.project_id, g.grain, n.kind, grain_start(n.at, g.grain), n.name, coalesce(n.key_type, 'project'), sum(n.requests), sum(n.hits), sum(n.misses),
        sum(n.failed), sum(n.tokens), sum(n.cost_usd), sum(n.saved_usd)
    from (
        select
            t.project_id, t.at, n.kind, n.name, k.type as key_type, t.requests, case when t.cache_result in ('HIT', 'HIT-SEMANTIC') then t.requests else 0 end as hits,
            case when t.cache_result = 'MISS' then t.requests else 0 end as misses, case when t.status_class >= 4 then t.requests else 0 end as failed,
            t.prompt_tokens + t.completion_tokens as tokens, t.cost_usd, t.saved_usd
        from unnest(taken) t
        left join api_keys k on k.id = t.key_id
        cross join lateral usage_names(t.end_user, t.provider, t.provider_keys, null) n
        union all
        select
            t.sum_id, t.at, n.kind, n.name, t.key_type, t.requests, t.hits, t.misses, t.failed, t.prompt_tokens + t.completion_tokens, t.cost_usd, t.saved_usd
        from placed t
        cross join lateral usage_names(null, null, null, t.tags) n
        where t.has_place
            and t.grain = 'hour'
    ) n
    cross join unnest(array['hour', 'day', 'third', 'month']) as g (grain)
    where g.grain <> 'hour'
        or n.kind = 'tag'
    group by 1, 2, 3, 4, 5, 6
    on conflict (project_id, grain, kind, at, name, key_type) do update
    set requests = s.requests + excluded.requests,
        hits = s.hits + excluded.hits,
        misses = s.misses + excluded.misses,
        failed = s.failed + excluded.failed,
        tokens = s.tokens + excluded.tokens,
        cost_usd = s.cost_usd + excluded.cost_usd,
        saved_usd = s.saved_usd + excluded.saved_usd;
    return cardinality(taken);
end;
$$;

comment on function roll_up_usage() is 'Adds up to 10,000 pending rows to the sums and latency counts of every grain, to the sums by name, those with tags to the sums by tags, and returns how many rows it added. Called every few seconds.';
