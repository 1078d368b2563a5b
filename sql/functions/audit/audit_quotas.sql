create or replace function audit_quotas(from_time timestamptz, until_time timestamptz, of_project bigint) returns setof audit_observation
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    with counters as materialized (
        select c.*, m.begins, m.ends, l.highest as quota
        from monthly_counters c
        cross join lateral (
            select c.month::timestamp at time zone 'UTC' as begins, (c.month + interval '1 month') at time zone 'UTC' as ends
        ) m
        cross join lateral limits_in_period(
            c.project_id,
            case c.key_type when 'test' then 'test_requests_per_month' else 'requests_per_month' end,
            m.begins,
            least(m.ends, now())
        ) l
        where m.begins < until_time
            and m.ends > from_time
            and (of_project is null or c.project_id = of_project)
    ),
    -- Requests with a response have been counted. A batch counts as its requests, and a realtime session as its responses, however many
    -- records each has.
    answered as (
        select s.project_id, k.type as key_type, s.month, sum(s.requests)::bigint as requests
        from (
            select s.project_id, s.key_id, (s.at at time zone 'UTC')::date as month, s.endpoint, s.status_class, s.requests
            from usage_sums s
            where s.grain = 'month'
                and s.project_id > 0
                and s.at >= date_trunc('month', from_time, 'UTC')
            union all
            select p.project_id, p.key_id, date_trunc('month', p.at at time zone 'UTC')::date, p.endpoint, p.status_class, p.requests
            from usage_pending p
        ) s
        join api_keys k on k.id = s.key_id
        where s.status_class < 4
            and s.endpoint not in ('batches', 'message_batches', 'realtime')
            and (of_project is null or s.project_id = of_project)
        group by s.project_id, k.type, s.month
    ),
    compared as materialized (
        select c.*, coalesce(a.requests, 0) as answered
        from counters c
        left join answered a on a.project_id = c.project_id and a.key_type = c.key_type and a.month = c.month
    ),
    -- A request counts in the month in which it was admitted. The counter may also include requests of disconnected clients, requests that
    -- failed after a provider was called, the requests of batches, and requests in flight, which are at most as many as were recorded in
    -- ten minutes.
    recorded as materialized (
        select
            r.project_id, r.key_id, r.month,
            count(*) filter (where r.arrived < r.month + interval '10 seconds') as begun_before,
            count(*) filter (
                where r.status >= 400 and (r.status = 499 or r.attempts is not null)
                    or r.endpoint in ('batches', 'message_batches', 'realtime')
                    or r.recorded_at >= now() - interval '10 minutes'
            ) as may_count
        from (
            select r.*, date_trunc('month', r.recorded_at, 'UTC') as month, r.recorded_at - r.duration_ms * interval '1 millisecond' as arrived
            from usage_records r
            where exists (select from compared c where c.requests <> c.answered)
                and r.recorded_at >= date_trunc('month', from_time, 'UTC')
                and (of_project is null or r.project_id = of_project)
        ) r
        where r.arrived < r.month + interval '10 seconds'
            or r.status >= 400
            or r.endpoint in ('batches', 'message_batches', 'realtime')
            or r.recorded_at >= now() - interval '10 minutes'
        group by r.project_id, r.key_id, r.month
    ),
    explained as (
        select
            c.*,
            coalesce(x.begun_before, 0) as begun_before,
            coalesce(x.may_count, 0) + coalesce(x.ended_after, 0) + (
                select coalesce(sum(o.requests), 0)::bigint
                from stored_objects o
                where o.project_id = c.project_id
                    and o.collection in ('batches', 'message_batches')
            ) as may_count
        from compared c
        cross join lateral (
            select
                sum(r.begun_before) filter (where r.month = c.begins) as begun_before,
                sum(r.may_count) filter (where r.month = c.begins) as may_count,
                sum(r.begun_before) filter (where r.month = c.ends) as ended_after
            from recorded r
            join api_keys k on k.id = r.key_id and k.type = c.key_type
            where r.project_id = c.project_id
                and r.month in (c.begins, c.ends)
        ) x
        where c.requests <> c.answered
            -- Without this partition, the records that would explain the difference have expired.
            and exists (select from list_partitions('usage_records') p where p.begins <= c.begins and p.ends > c.begins)
    )
    select
        'quota_exceeded', c.project_id, null::bigint, c.begins, c.key_type || ' keys, ' || to_char(c.month, 'YYYY-MM'),
        'at most ' || c.quota || ' requests', c.requests || ' requests'
    from counters c
    where c.requests > c.quota
    union all
    select
        'request_not_counted', e.project_id, null, e.begins, e.key_type || ' keys, ' || to_char(e.month, 'YYYY-MM'),
        'at least ' || e.answered - e.begun_before || ' requests, which were answered', e.requests || ' counted'
    from explained e
    where e.requests < e.answered - e.begun_before
    union all
    select
        'request_not_recorded', e.project_id, null, e.begins, e.key_type || ' keys, ' || to_char(e.month, 'YYYY-MM'),
        'at most ' || e.answered + e.may_count || ' requests, which records explain', e.requests || ' counted'
    from explained e
    where e.requests > e.answered + e.may_count;
$$;

comment on function audit_quotas(timestamptz, timestamptz, bigint) is
    'Compares the monthly counters with plans, and with the number of requests that got a response. Null: of_project (all).';
