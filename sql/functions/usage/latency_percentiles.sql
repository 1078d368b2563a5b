create or replace function latency_percentiles(of_projects bigint[], from_time timestamptz, until_time timestamptz)
returns setof latency
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take ten times as long as the query.
set jit = off
as $$
    with pieces as materialized (
        select p.begins, p.ends, p.grain, p.sign from split_usage_range(from_time, until_time, 'all', 'UTC') p
    ),
    seen as materialized (
        select p.id from projects p where of_projects is null or p.id = any (of_projects)
    ),
    summed as materialized (
        select s.id from seen s where choose_usage_sums(of_projects, false, false) <> 'models'
        union all
        select 0 where choose_usage_sums(of_projects, false, false) = 'models'
    ),
    noted as (
        -- One index range for each part of the time, as in usage_in_range().
        select u.cache_result, u.bucket, w.sign * u.requests as requests
        from summed s
        join pieces w on w.grain <> 'record'
        cross join lateral (
            select x.*
            from latency_counts x
            where x.project_id = s.id and x.grain = w.grain and x.at >= w.begins and x.at < w.ends
            offset 0
        ) u
        union all
        select u.cache_result, u.bucket, w.sign * u.requests
        from seen s
        join pieces w on w.grain = 'record'
        cross join lateral (
            select x.* from usage_per_record x where x.project_id = s.id and x.at >= w.begins and x.at < w.ends offset 0
        ) u
        union all
        select p.cache_result, p.bucket, w.sign * p.requests
        from usage_pending p
        join pieces w on w.grain <> 'record' and p.at >= w.begins and p.at < w.ends
        where p.project_id in (select s.id from seen s)
    ),
    counted as (
        select n.cache_result, n.bucket, sum(n.requests) as requests
        from noted n
        where n.cache_result <> ''
        group by 1, 2
        having sum(n.requests) <> 0
    ),
    ranked as (
        select
            c.cache_result,
            -- The middle of the bucket, on its logarithmic scale.
            power(2, (c.bucket + 0.5) / 4)::double precision as latency_ms,
            sum(c.requests) over (partition by c.cache_result) as total,
            sum(c.requests) over (partition by c.cache_result order by c.bucket) as up_to_here
        from counted c
    )
    select
        r.cache_result,
        max(r.total)::bigint,
        min(r.latency_ms) filter (where r.up_to_here >= 0.50 * r.total),
        min(r.latency_ms) filter (where r.up_to_here >= 0.95 * r.total),
        min(r.latency_ms) filter (where r.up_to_here >= 0.99 * r.total)
    from ranked r
    group by 1
    order by 1;
$$;

comment on function latency_percentiles(bigint[], timestamptz, timestamptz) is 'Median, 95th and 99th percentile of the time until responses began, by cache result, accurate to a tenth. Null: of_projects (any).';
