create or replace function latency_percentiles(of_projects bigint[], from_time timestamptz, until_time timestamptz)
returns table (
    cache_result text,
    requests bigint,
    p50_ms double precision,
    p95_ms double precision,
    p99_ms double precision
)
language sql
stable
set search_path = public, pg_temp
as $$
    with counted as (
        select l.cache_result, l.bucket, sum(l.requests) as requests
        from latency_sums l
        where l.project_id in (select visible.id from projects visible where of_projects is null or visible.id = any (of_projects))
            and l.hour >= from_time
            and l.hour < until_time
            and l.cache_result <> ''
        group by 1, 2
    ),
    ranked as (
        select
            c.cache_result,
            -- The middle of the bucket, on its own scale.
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

comment on function latency_percentiles(bigint[], timestamptz, timestamptz) is 'Median, 95th and 99th percentile of how long answers took to begin, by how they were answered, to within a tenth.';
