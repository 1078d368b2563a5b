create or replace function tag_shares(of_projects bigint[], from_time timestamptz, until_time timestamptz, of_key_type text, of_name text, ordered_by text, max_rows integer)
returns setof usage_share
language sql
stable
set search_path = model_proxy, pg_temp
-- As in usage_by_tag().
set jit = off
set enable_sort = off
set work_mem = '64MB'
as $$
    with pieces as materialized (
        select p.*, p.grain in ('month', 'day', 'hour') as is_summed from split_usage_range(from_time, until_time, 'all', 'UTC') p
    ),
    seen as materialized (
        select p.id from projects p where of_projects is null or p.id = any (of_projects)
    ),
    summed as materialized (
        select s.id from seen s where choose_usage_sums(of_projects, false, true) = 'projects'
        union all
        select 0 where choose_usage_sums(of_projects, false, true) <> 'projects'
    ),
    signed as (
        -- One index range for each part of the time, as in usage_in_range().
        select w.sign, u.name, u.value, u.requests, u.hits, u.misses, u.failed, u.tokens, u.cost_usd, u.saved_usd
        from summed s
        join pieces w on w.is_summed
        cross join lateral (
            select x.*
            from usage_sums_by_tag_value x
            where x.project_id = s.id and x.grain = w.grain and x.at >= w.begins and x.at < w.ends and (of_key_type is null or x.key_type = of_key_type)
                and (of_name is null or x.name = of_name)
            offset 0
        ) u
        union all
        -- Usage that is not in hourly sums yet, and the partial hours at both ends of the time.
        select
            u.sign, g.name, g.value, u.requests, case when u.cache_result in ('HIT', 'HIT-SEMANTIC') then u.requests else 0 end,
            case when u.cache_result = 'MISS' then u.requests else 0 end, case when u.status_class >= 4 then u.requests else 0 end, u.prompt_tokens + u.completion_tokens, u.cost_usd, u.saved_usd
        from (
            select w.sign, r.key_id, r.tags, r.requests, r.cache_result, r.status_class, r.prompt_tokens, r.completion_tokens, r.cost_usd, r.saved_usd
            from seen s
            join pieces w on not w.is_summed
            cross join lateral (
                select x.* from usage_per_record x where x.project_id = s.id and x.at >= w.begins and x.at < w.ends offset 0
            ) r
            union all
            select w.sign, p.key_id, p.tags, p.requests, p.cache_result, p.status_class, p.prompt_tokens, p.completion_tokens, p.cost_usd, p.saved_usd
            from usage_pending p
            join pieces w on w.is_summed and p.at >= w.begins and p.at < w.ends
            where p.project_id in (select s.id from seen s)
        ) u
        cross join jsonb_each_text(u.tags) as g (name, value)
        where (of_key_type is null or (u.key_id in (select test_keys())) = (of_key_type = 'test'))
            and (of_name is null or g.name = of_name)
    ),
    counted as (
        select
            s.name, s.value, sum(s.sign * s.requests) as requests, sum(s.sign * s.hits) as hits, sum(s.sign * s.misses) as misses,
            sum(s.sign * s.failed) as failed, sum(s.sign * s.tokens) as tokens, sum(s.sign * s.cost_usd) as cost_usd,
            sum(s.sign * s.saved_usd) as saved_usd
        from signed s
        group by 1, 2
    )
    select
        c.name || '=' || c.value, c.requests::bigint, c.hits::bigint, c.misses::bigint, c.failed::bigint,
        c.tokens::bigint, c.cost_usd, c.saved_usd
    from counted c
    where c.requests <> 0
    order by share_measure(ordered_by, c.requests, c.failed, c.tokens, c.cost_usd) desc, 1
    limit max_rows;
$$;

comment on function tag_shares(bigint[], timestamptz, timestamptz, text, text, text, integer) is 'The first max_rows tags in a time, in the order of share_measure(), of some or all projects that the current user may see; of one type of keys, and of one name, or of all. Null: of_projects, of_key_type, of_name (any), max_rows (all).';
