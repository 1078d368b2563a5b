create or replace function request_filter_values(of_project bigint, from_time timestamptz, until_time timestamptz, max_values integer)
returns setof request_filter_value
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take longer than the query.
set jit = off
as $$
    with recursive sums as materialized (
        select u.model, u.provider, u.endpoint, u.key_id, u.cache_result, u.status_class, sum(u.requests)::bigint as requests
        from usage_in_range(array[of_project], from_time, until_time, 'all', 'UTC', 'projects') u
        group by 1, 2, 3, 4, 5, 6
    ),
    -- Each step finds the next status in an index, however many requests have the one before.
    statuses as (
        select (
            select min(r.status) from usage_records r
            where r.project_id = of_project and r.status >= 400 and r.recorded_at >= from_time and r.recorded_at < until_time
        ) as status
        union all
        select (
            select min(r.status) from usage_records r
            where r.project_id = of_project and r.status >= 400 and r.status > s.status and r.recorded_at >= from_time and r.recorded_at < until_time
        )
        from statuses s
        where s.status is not null
    ),
    counted as (
        select g.kind, g.value, sum(s.requests)::bigint as requests
        from sums s
        cross join lateral (
            values
                ('model', s.model),
                ('provider', s.provider),
                ('endpoint', s.endpoint),
                ('api_key', s.key_id::text),
                ('cache_result', s.cache_result),
                ('outcome', case when s.status_class < 4 then 'ok' else 'failed' end),
                ('outcome', case when s.status_class = 4 then 'client_error' when s.status_class > 4 then 'server_error' end)
        ) g (kind, value)
        where g.value <> ''
        group by g.kind, g.value
        union all
        select 'tag', t.name, t.requests
        from name_shares(array[of_project], from_time, until_time, null, 'tag') t
        union all
        select 'status', s.status::text, null
        from statuses s
        where s.status is not null
        union all
        -- The newest failures of each status show its error codes.
        select distinct 'error_code', f.error_code, null::bigint
        from statuses s
        cross join lateral (
            select r.error_code from usage_records r
            where r.project_id = of_project and r.status >= 400 and r.status = s.status and r.recorded_at >= from_time and r.recorded_at < until_time
            order by r.recorded_at desc
            limit 500
        ) f
        where f.error_code is not null
        union all
        select 'end_user', u.name, u.requests
        from list_end_users(of_project, from_time, until_time, page_size => max_values) u
    ),
    ranked as (
        select c.kind, c.value, c.requests, row_number() over (partition by c.kind order by c.requests desc nulls last, c.value) as place
        from counted c
    )
    select r.kind, r.value, r.requests
    from ranked r
    where r.place <= max_values
    order by r.kind, r.place;
$$;

comment on function request_filter_values(bigint, timestamptz, timestamptz, integer) is
    'The values that occur in a project''s requests in a time, by which find_requests() can filter: at most max_values of each kind (model, provider, endpoint, api_key, cache_result, outcome, tag, status, error_code, end_user), most used first; of end users the most expensive, of error codes, those of the newest 500 requests with each status.';
