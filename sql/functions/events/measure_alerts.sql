create or replace function measure_alerts(moment timestamptz)
returns table (
    project_id bigint,
    kind text,
    subject text,
    level double precision,
    payload jsonb
)
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    with times as (
        select
            -- Sums have a row for each quarter of an hour, so the last half hour is between 15 and 30 minutes long.
            q.begins - interval '15 minutes' as half_hour,
            q.begins - interval '45 minutes' as hour,
            date_trunc('hour', moment, 'UTC') - interval '23 hours' as day,
            date_trunc('day', moment, 'UTC') as today
        from date_bin('15 minutes', moment, '2000-01-01 00:00:00+00') q (begins)
    ),
    -- Without a destination, nobody is alerted.
    watched as materialized (
        select p.id, p.alert_min_requests, p.alert_spend_times, p.alert_error_percent, p.alert_latency_ms, p.alert_hit_rate_percent, t.*
        from projects p
        cross join times t
        where p.archived_at is null
            and exists (select from webhooks w where w.project_id = p.id and w.disabled_at is null)
    ),
    recent as materialized (
        select w.id, u.at >= w.half_hour as in_half_hour, u.provider, u.cache_result, u.status_class, sum(u.requests) as requests
        from watched w
        cross join lateral (
            select x.*
            from usage_sums x
            where x.project_id = w.id and x.grain = 'quarter' and x.at >= w.hour and x.at <= moment
            offset 0
        ) u
        where u.key_id not in (select k.id from api_keys k where k.type = 'test')
        group by 1, 2, 3, 4, 5
    ),
    errors as (
        select r.id, sum(r.requests) as requests, coalesce(100.0 * sum(r.requests) filter (where r.status_class = 5) / sum(r.requests), 0) as percent
        from recent r
        where r.in_half_hour
        group by 1
    ),
    providers as (
        select
            r.id, r.provider, sum(r.requests) as requests,
            coalesce(100.0 * sum(r.requests) filter (where r.status_class = 5) / sum(r.requests), 0) as percent
        from recent r
        where r.in_half_hour
            and r.provider <> ''
            -- A hit has the provider that responded first.
            and r.cache_result not in ('HIT', 'HIT-SEMANTIC')
        group by 1, 2
    ),
    hits as (
        select
            r.id, sum(r.requests) as requests,
            coalesce(100.0 * sum(r.requests) filter (where r.cache_result <> 'MISS') / sum(r.requests), 0) as percent
        from recent r
        -- While a provider fails, only hits succeed, or neither.
        where r.cache_result <> ''
            and r.status_class = 2
        group by 1
    ),
    usual_hits as (
        select
            w.id, sum(u.requests) as requests,
            coalesce(100.0 * sum(u.requests) filter (where u.cache_result <> 'MISS') / sum(u.requests), 0) as percent
        from watched w
        join hits h on h.id = w.id
        cross join lateral (
            select x.*
            from usage_sums x
            where x.project_id = w.id and x.grain = 'day' and x.at >= w.today - interval '7 days' and x.at < w.today
            offset 0
        ) u
        where u.key_id not in (select k.id from api_keys k where k.type = 'test')
            and u.cache_result <> ''
            and u.status_class = 2
        group by 1
    ),
    latencies as (
        select w.id, u.bucket, sum(u.requests) over (partition by w.id) as total, sum(u.requests) over (partition by w.id order by u.bucket) as up_to_here
        from watched w
        cross join lateral (
            select x.bucket, sum(x.requests) as requests
            from latency_counts x
            where x.project_id = w.id and x.grain = 'quarter' and x.at >= w.half_hour and x.at <= moment and x.cache_result = 'MISS'
            group by 1
        ) u
    ),
    slowest as (
        -- The middle of the bucket, as in latency_percentiles().
        select l.id, max(l.total) as requests, round(power(2, (min(l.bucket) filter (where l.up_to_here >= 0.95 * l.total) + 0.5) / 4)) as ms
        from latencies l
        group by 1
    ),
    spent as (
        select w.id, sum(u.requests) as requests, sum(u.cost_usd) as usd
        from watched w
        cross join lateral (
            select x.requests, x.cost_usd
            from usage_sums x
            where x.project_id = w.id and x.grain = 'hour' and x.at >= w.day and x.at <= moment
            offset 0
        ) u
        group by 1
    ),
    usual_spent as (
        select d.id, count(*) as days, percentile_cont(0.5) within group (order by d.usd::double precision)::numeric as usd
        from (
            select w.id, u.at, sum(u.cost_usd) as usd
            from watched w
            join spent s on s.id = w.id
            cross join lateral (
                select x.at, x.cost_usd
                from usage_sums x
                where x.project_id = w.id and x.grain = 'day' and x.at >= w.today - interval '14 days' and x.at < w.today
                offset 0
            ) u
            group by 1, 2
        ) d
        group by 1
    )
    select
        w.id, 'spend.unusual', '', (s.usd / greatest(u.usd * w.alert_spend_times::numeric, 1))::double precision,
        jsonb_build_object(
            'value_usd', round(s.usd, 6), 'limit_usd', round(greatest(u.usd * w.alert_spend_times::numeric, 1), 6), 'usual_usd', round(u.usd, 6),
            'requests', s.requests
        )
    from watched w
    join spent s on s.id = w.id and s.requests >= w.alert_min_requests
    join usual_spent u on u.id = w.id and u.days >= 3
    where w.alert_spend_times > 0
    union all
    select
        w.id, 'error_rate.high', '', e.percent / w.alert_error_percent,
        jsonb_build_object('value_percent', round(e.percent, 1), 'limit_percent', w.alert_error_percent, 'requests', e.requests)
    from watched w
    join errors e on e.id = w.id and e.requests >= w.alert_min_requests
    where w.alert_error_percent > 0
    union all
    select
        w.id, 'latency.high', '', l.ms / w.alert_latency_ms,
        jsonb_build_object('value_ms', l.ms, 'limit_ms', w.alert_latency_ms, 'requests', l.requests)
    from watched w
    join slowest l on l.id = w.id and l.requests >= w.alert_min_requests
    where w.alert_latency_ms > 0
    union all
    select
        w.id, 'provider.down', p.provider, (p.percent / 100)::double precision,
        jsonb_build_object('provider', p.provider, 'value_percent', round(p.percent, 1), 'requests', p.requests)
    from watched w
    join providers p on p.id = w.id and p.requests >= w.alert_min_requests
    union all
    select
        w.id, 'hit_rate.low', '',
        case when h.percent = 0 then 'Infinity' else u.percent * w.alert_hit_rate_percent / 100 / h.percent end,
        jsonb_build_object(
            'value_percent', round(h.percent, 1), 'limit_percent', round((u.percent * w.alert_hit_rate_percent / 100)::numeric, 1),
            'usual_percent', round(u.percent, 1), 'requests', h.requests
        )
    from watched w
    join hits h on h.id = w.id and h.requests >= w.alert_min_requests
    -- Of a cache that seldom hits, no hit in an hour says nothing.
    join usual_hits u on u.id = w.id and u.requests >= w.alert_min_requests and u.percent >= 10
    where w.alert_hit_rate_percent > 0;
$$;

comment on function measure_alerts(timestamptz) is
    'What alerts are raised about, of all projects with a destination, from the sums of usage. level is 1 at the limit, and more beyond it. There is no row with fewer requests than the project''s minimum, or where the limit is 0.';
