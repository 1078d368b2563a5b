create or replace function usage_with_tags(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    of_tags jsonb,
    of_model text,
    of_key bigint,
    width text,
    zone text,
    cut text
)
returns table (
    bucket_start timestamptz,
    project_id bigint,
    tags jsonb,
    key_id bigint,
    endpoint text,
    model text,
    requests bigint,
    hits bigint,
    misses bigint,
    failed bigint,
    prompt_tokens bigint,
    cached_prompt_tokens bigint,
    completion_tokens bigint,
    tokens_saved bigint,
    cost_usd numeric,
    saved_usd numeric
)
language sql
stable
-- Without settings, the function is inlined into the calling query, which then reads only the columns that it needs.
as $$
    with pieces as materialized (
        -- A time zone whose hours begin with those of UTC is read by day, others by hour.
        select p.*, p.grain in ('month', 'day', 'hour') as is_summed
        from (select extract(minute from from_time at time zone zone) = extract(minute from from_time at time zone 'UTC') as fits) z
        cross join lateral split_usage_range(
            from_time, until_time, case when z.fits or width = 'all' then width else 'hour' end, case when z.fits then zone else 'UTC' end
        ) p
    ),
    seen as materialized (
        select p.id from projects p where of_projects is null or p.id = any (of_projects)
    ),
    test_keys as materialized (
        select k.id from api_keys k where cut <> 'projects' and k.type = 'test'
    ),
    summed as materialized (
        select s.id from seen s where cut = 'projects' union all select 0 where cut <> 'projects'
    ),
    counted (
        at, sign, project_id, tags, key_id, endpoint, model, requests, hits, misses, failed, prompt_tokens, cached_prompt_tokens, completion_tokens,
        tokens_saved, cost_usd, saved_usd
    ) as (
        -- One index range for each part of the time, as in usage_in_range(). Under row-level security, no index finds a set of tags: jsonb's
        -- operators are not leakproof.
        select
            coalesce(w.counted_at, u.at + w.middle), w.sign, u.project_id, u.tags, u.key_id, u.endpoint, u.model, u.requests, u.hits, u.misses, u.failed,
            u.prompt_tokens, u.cached_prompt_tokens, u.completion_tokens, u.tokens_saved, u.cost_usd, u.saved_usd
        from summed s
        join pieces w on w.is_summed
        cross join lateral (
            select x.*
            from usage_sums_by_tag x
            where x.project_id = s.id
                and x.grain = w.grain
                and x.at >= w.begins
                and x.at < w.ends
                and x.tags @> of_tags
                and (of_model is null or x.model = of_model)
                and (of_key is null or x.key_id = of_key)
            offset 0
        ) u
        union all
        -- Tags have no sums by quarter.
        select
            coalesce(w.counted_at, u.at), w.sign, u.project_id, u.tags, u.key_id, u.endpoint, u.model, 1,
            (u.cache_result in ('HIT', 'HIT-SEMANTIC'))::integer, (u.cache_result = 'MISS')::integer, (u.status_class >= 4)::integer, u.prompt_tokens, u.cached_prompt_tokens,
            u.completion_tokens, u.tokens_saved, u.cost_usd, u.saved_usd
        from seen s
        join pieces w on not w.is_summed
        cross join lateral (
            select x.* from usage_per_record x where x.project_id = s.id and x.at >= w.begins and x.at < w.ends offset 0
        ) u
        where u.tags @> of_tags
            and (of_model is null or u.model = of_model)
            and (of_key is null or u.key_id = of_key)
        union all
        select
            p.at, w.sign, p.project_id, p.tags, p.key_id, p.endpoint, p.model, p.requests,
            case when p.cache_result in ('HIT', 'HIT-SEMANTIC') then p.requests else 0 end,
            case when p.cache_result = 'MISS' then p.requests else 0 end,
            case when p.status_class >= 4 then p.requests else 0 end,
            p.prompt_tokens, p.cached_prompt_tokens, p.completion_tokens, p.tokens_saved, p.cost_usd, p.saved_usd
        from usage_pending p
        join pieces w on w.is_summed and w.counted_at is null and p.at >= w.begins and p.at < w.ends
        where p.tags @> of_tags
            and (of_model is null or p.model = of_model)
            and (of_key is null or p.key_id = of_key)
            and p.project_id in (select s.id from seen s)
    )
    select
        case width when 'all' then from_time else date_trunc(width, c.at, zone) end,
        c.project_id,
        c.tags,
        case when cut = 'projects' or c.key_id <= 0 then c.key_id else key_type_id(case when c.key_id in (select k.id from test_keys k) then 'test' end) end,
        c.endpoint,
        c.model,
        c.sign * c.requests,
        c.sign * c.hits,
        c.sign * c.misses,
        c.sign * c.failed,
        c.sign * c.prompt_tokens,
        c.sign * c.cached_prompt_tokens,
        c.sign * c.completion_tokens,
        c.sign * c.tokens_saved,
        c.sign * c.cost_usd,
        c.sign * c.saved_usd
    from counted c;
$$;

comment on function usage_with_tags(bigint[], timestamptz, timestamptz, jsonb, text, bigint, text, text, text) is
    'Usage of requests that have all of these tags ({}: any tags), of one model and key, or of any, of some or all projects that the current user may see, divided as in usage_in_range(): rows to be added up, some of which are negative, to move usage between buckets. cut: projects, or models, from choose_usage_sums(): all projects together, by type of key, as in key_type_id(), without project. Null: of_model, of_key (any).';
