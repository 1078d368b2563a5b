create or replace function project_shares(
    previous_time timestamptz,
    from_time timestamptz,
    until_time timestamptz,
    width text,
    zone text,
    of_key_type text default null,
    with_archived boolean default false,
    sorted text default 'cost',
    after_project bigint default null,
    page_size integer default 20
)
returns setof project_share
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
set work_mem = '64MB'
as $$
    with current_usage as materialized (
        select
            u.project_id, u.bucket_start, sum(u.requests) as requests,
            coalesce(sum(u.requests) filter (where u.cache_result in ('HIT', 'HIT-SEMANTIC')), 0) as hits,
            coalesce(sum(u.requests) filter (where u.cache_result = 'MISS'), 0) as misses,
            coalesce(sum(u.requests) filter (where u.status_class >= 4), 0) as failed,
            sum(u.cost_usd) as cost_usd, sum(u.saved_usd) as saved_usd
        from usage_in_range(null, from_time, until_time, width, zone, 'totals') u
        where of_key_type is null
            or u.key_id = key_type_id(of_key_type)
        group by 1, 2
    ),
    previous_usage as materialized (
        select u.project_id, sum(u.cost_usd) as cost_usd
        from usage_in_range(null, previous_time, from_time, 'all', zone, 'totals') u
        where of_key_type is null
            or u.key_id = key_type_id(of_key_type)
        group by 1
    ),
    summed as (
        select
            c.project_id, sum(c.requests) as requests, sum(c.hits) as hits, sum(c.misses) as misses, sum(c.failed) as failed, sum(c.cost_usd) as cost_usd,
            sum(c.saved_usd) as saved_usd,
            array_agg(row(to_unix_seconds(c.bucket_start), c.cost_usd)::cost_bucket order by c.bucket_start) as buckets
        from current_usage c
        group by 1
    ),
    measured as materialized (
        select
            p._id, p.id, p.name, p.created_at, p.status, p.plan, p.your_role, coalesce(s.requests, 0) as requests, coalesce(s.hits, 0) as hits,
            coalesce(s.misses, 0) as misses, coalesce(s.failed, 0) as failed, coalesce(s.cost_usd, 0) as cost_usd, coalesce(s.saved_usd, 0) as saved_usd,
            coalesce(b.cost_usd, 0) as previous_cost_usd, coalesce(s.buckets, '{}') as buckets,
            case sorted
                when 'requests' then coalesce(s.requests, 0)
                when 'saved' then coalesce(s.saved_usd, 0)
                when 'hit_rate' then coalesce(s.hits / nullif(s.hits + s.misses, 0), -1)
                when 'failed' then coalesce(s.failed / nullif(s.requests, 0), 0)
                when 'change' then coalesce(s.cost_usd, 0) - coalesce(b.cost_usd, 0)
                else coalesce(s.cost_usd, 0)
            end as measure
        from organization_projects p
        left join summed s on s.project_id = p._id
        left join previous_usage b on b.project_id = p._id
        where with_archived
            or not p._archived
    )
    select
        m.id, m.name, m.created_at, m.status, m.plan, m.your_role, m.requests::bigint, m.hits::bigint, m.misses::bigint, m.failed::bigint, m.cost_usd, m.saved_usd,
        m.previous_cost_usd, m.buckets
    from measured m
    where after_project is null
        or (m.measure, m._id) < (select a.measure, a._id from measured a where a._id = after_project)
    order by m.measure desc, m._id desc
    limit page_size;
$$;

comment on function project_shares(timestamptz, timestamptz, timestamptz, text, text, text, boolean, text, bigint, integer) is
    'A page of the projects that the current user may see, with their usage from from_time to until_time, their cost from previous_time to from_time, and their cost by hour, day or month of a time zone (width; buckets without requests are missing). The order is sorted, highest first: cost, saved, hit_rate, requests, failed (share of requests) or change (of the cost). Null: of_key_type (any), after_project (the first page).';
