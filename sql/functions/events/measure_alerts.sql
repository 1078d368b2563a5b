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
        select w.id, u.*
        from watched w
        cross join lateral (
            select x.at >= w.half_hour as in_half_hour, x.provider, x.cache_result, x.status_class, sum(x.requests) as requests
            from usage_sums x
            where x.project_id = w.id and x.grain = 'quarter' and x.at >= w.hour and x.at <= moment
                and x.key_id not in (select test_keys())
            group by 1, 2, 3, 4
        ) u
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
    -- The last two weeks and today. Test keys are free: with their days, a usual day would cost nothing.
    days as materialized (
        select w.id, w.today, u.*
        from watched w
        cross join lateral (
            select
                x.at, sum(x.cost_usd) as usd,
                coalesce(sum(x.requests) filter (where x.cache_result <> '' and x.status_class = 2), 0) as requests,
                coalesce(sum(x.requests) filter (where x.cache_result not in ('', 'MISS') and x.status_class = 2), 0) as hits
            from usage_sums x
            where x.project_id = w.id and x.grain = 'day' and x.at >= w.today - interval '14 days' and x.at <= moment
                and x.key_id not in (select test_keys())
            group by 1
        ) u
    ),
    usual_hits as (
        select d.id, sum(d.requests) as requests, coalesce(100.0 * sum(d.hits) / nullif(sum(d.requests), 0), 0) as percent
        from days d
        where d.at >= d.today - interval '7 days' and d.at < d.today
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
    usual_spent as (
        select
            d.id, count(*) filter (where d.at < d.today) as days,
            (percentile_cont(0.5) within group (order by d.usd::double precision) filter (where d.at < d.today))::numeric as usd,
            -- The last 24 hours are part of yesterday and today.
            sum(d.usd) filter (where d.at >= d.today - interval '1 day') as most_usd
        from days d
        group by 1
    ),
    spending as (
        select w.id, w.day, u.usd as usual_usd, u.most_usd, greatest(u.usd * w.alert_spend_times::numeric, 1) as limit_usd
        from watched w
        join usual_spent u on u.id = w.id and u.days >= 3
        where w.alert_spend_times > 0
    ),
    spent as (
        select s.id, s.usual_usd, s.limit_usd, u.requests, u.usd
        from spending s
        cross join lateral (
            select sum(x.requests) as requests, sum(x.cost_usd) as usd
            from usage_sums x
            where x.project_id = s.id and x.grain = 'hour' and x.at >= s.day and x.at <= moment
                and x.key_id not in (select test_keys())
        ) u
        -- The hours of few projects are read.
        where s.most_usd >= s.limit_usd
            or exists (select from active_alerts a where a.project_id = s.id and a.kind = 'spend.unusual')
    )
    select
        w.id, 'spend.unusual', '', (s.usd / s.limit_usd)::double precision,
        jsonb_build_object(
            'value_usd', round(s.usd, 6), 'limit_usd', round(s.limit_usd, 6), 'usual_usd', round(s.usual_usd, 6), 'requests', s.requests
        )
    from watched w
    join spent s on s.id = w.id and s.requests >= w.alert_min_requests
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
    'What alerts are raised about, of all projects with a destination, from the sums of usage. level is 1 at the limit, and more beyond it. There is no row with fewer requests than the project''s minimum, or where the limit is 0, and one about spending only if it may have reached the limit, or had when it was last measured.';
