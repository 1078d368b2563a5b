create or replace function name_shares(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    of_key_type text,
    of_kind text,
    of_prefix text default '',
    of_names text[] default null
)
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
        select p.*, p.grain <> 'record' as is_summed
        from split_range(from_time, until_time, case of_kind when 'tag' then '{month,third,day,hour}' else '{month,third,day}' end::text[]) p
    ),
    seen as materialized (
        select p.id from projects p where of_projects is null or p.id = any (of_projects)
    ),
    -- Tags have sums of all projects together.
    summed as materialized (
        select s.id from seen s where of_kind <> 'tag' or choose_usage_sums(of_projects, false, true) = 'projects'
        union all
        select 0 where of_kind = 'tag' and choose_usage_sums(of_projects, false, true) <> 'projects'
    ),
    counted as (
        -- One index range for each part of the time, as in usage_in_range().
        select w.sign, u.name, u.requests, u.hits, u.misses, u.failed, u.tokens, u.cost_usd, u.saved_usd
        from summed s
        join pieces w on w.is_summed
        cross join lateral (
            select x.*
            from usage_sums_by_name x
            where x.project_id = s.id and x.grain = w.grain and x.kind = of_kind and x.at >= w.begins and x.at < w.ends
                and (of_key_type is null or x.key_type = of_key_type)
                and starts_with(x.name, of_prefix)
            offset 0
        ) u
        union all
        -- Usage that is not summed yet, and the parts of days or hours at both ends of the time.
        select
            u.sign, n.name, u.requests, case when u.cache_result in ('HIT', 'HIT-SEMANTIC') then u.requests else 0 end,
            case when u.cache_result = 'MISS' then u.requests else 0 end, case when u.status_class >= 4 then u.requests else 0 end,
            u.prompt_tokens + u.completion_tokens, u.cost_usd, u.saved_usd
        from (
            select
                w.sign, r.key_id, r.provider, r.end_user, r.provider_keys, r.tags, r.requests, r.cache_result, r.status_class, r.prompt_tokens,
                r.completion_tokens, r.cost_usd, r.saved_usd
            from seen s
            join pieces w on not w.is_summed
            cross join lateral (
                select x.* from usage_per_record x where x.project_id = s.id and x.at >= w.begins and x.at < w.ends offset 0
            ) r
            union all
            select
                w.sign, p.key_id, p.provider, p.end_user, p.provider_keys, p.tags, p.requests, p.cache_result, p.status_class, p.prompt_tokens,
                p.completion_tokens, p.cost_usd, p.saved_usd
            from usage_pending p
            join pieces w on w.is_summed and p.at >= w.begins and p.at < w.ends
            where p.project_id in (select s.id from seen s)
        ) u
        cross join lateral usage_names(u.end_user, u.provider, u.provider_keys, u.tags) n
        where n.kind = of_kind
            and starts_with(n.name, of_prefix)
            and (of_key_type is null or (u.key_id in (select test_keys())) = (of_key_type = 'test'))
    )
    select
        case when of_names is null or c.name in (select l.name from unnest(of_names) as l (name)) then c.name end,
        -- What is subtracted exceeds the sums only where these are wrong, which the audit reports. No count is negative then.
        sum(c.sign * c.requests)::bigint, greatest(0, sum(c.sign * c.hits))::bigint, greatest(0, sum(c.sign * c.misses))::bigint,
        greatest(0, sum(c.sign * c.failed))::bigint, greatest(0, sum(c.sign * c.tokens))::bigint, sum(case c.sign when 1 then c.cost_usd else -c.cost_usd end), sum(case c.sign when 1 then c.saved_usd else -c.saved_usd end)
    from counted c
    group by 1
    having sum(c.sign * c.requests) > 0;
$$;

comment on function name_shares(bigint[], timestamptz, timestamptz, text, text, text, text[]) is
    'Usage in a time by end user, provider key or tag (of_kind: end_user, provider_key, tag), of those that requests name, in no order. A tag''s name is name=value. Only names that begin with of_prefix; with of_names, all others are one row. Null: of_projects (all that may be seen), of_key_type (any), of_names (all), name (others).';
