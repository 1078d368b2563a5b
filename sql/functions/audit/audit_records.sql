create or replace function audit_records(from_time timestamptz, until_time timestamptz, of_project bigint) returns setof audit_observation
language plpgsql
stable
set search_path = model_proxy, pg_temp
set jit = off
-- Enough memory to group millions of records.
set work_mem = '256MB'
as $$
declare
    -- Allows for differing clocks, and for changes that commit a moment after the time that they record.
    slack constant interval := '10 seconds';
    -- Shorter than a minute, so that it contains at most one minute's limit of requests.
    window_length constant interval := '58 seconds';
    -- The lowest limit that any key has ever had.
    lowest_limit constant bigint := (
        select min(l.value)
        from (
            select least(p.requests_per_minute_per_key, p.test_requests_per_minute) as value from plans p
            union all
            select min(k.requests_per_minute) from api_keys k
            union all
            select least((l.details -> 'was' ->> 'requests_per_minute_per_key')::bigint, (l.details -> 'was' ->> 'test_requests_per_minute')::bigint)
            from audit_log l
            where l.action = 'rate_limit.updated'
                and l.recorded_at > from_time - slack
        ) l
    );
begin
    return query
    select f.kind, r.project_id, r.key_id, min(r.recorded_at), count(*) || ' records, as ' || min(r.request_id), f.expected, 'US dollars: ' || trim_scale(sum(r.cost_usd))
    from usage_records r
    cross join lateral (
        values
            (
                'hit_with_cost',
                r.cost_usd > 0 and (
                    r.cache_result = 'HIT'
                    or r.cache_result = 'HIT-SEMANTIC' and not exists (
                        select
                        from judge_spending j
                        where j.project_id = r.project_id
                            and j.day between (r.recorded_at at time zone 'UTC')::date - 1 and (r.recorded_at at time zone 'UTC')::date
                    )
                ),
                'no cost'
            ),
            ('cost_without_provider', r.cost_usd > 0 and r.provider is null, 'no cost'),
            (
                'negative_amount',
                least(r.cost_usd, r.saved_usd) < 0
                or least(r.prompt_tokens, r.cached_prompt_tokens, r.completion_tokens, r.tokens_saved) < 0
                or least(r.duration_ms, r.latency_ms) < 0,
                'nothing below zero'
            ),
            ('cost_estimated', r.cost_estimated is not null, 'a settled cost')
    ) as f (kind, is_so, expected)
    where r.recorded_at >= from_time
        and r.recorded_at < until_time
        and (of_project is null or r.project_id = of_project)
        -- This condition excludes nearly all records.
        and (
            r.cost_estimated is not null
            or r.cost_usd > 0 and (r.provider is null or r.cache_result in ('HIT', 'HIT-SEMANTIC'))
            or least(r.cost_usd, r.saved_usd) < 0
            or least(r.prompt_tokens, r.cached_prompt_tokens, r.completion_tokens, r.tokens_saved) < 0
            or least(r.duration_ms, r.latency_ms) < 0
        )
        and f.is_so
    group by f.kind, f.expected, r.project_id, r.key_id;

    -- Selects the keys of all records first, then the records of the keys that may be wrong. Only admitted requests have a provider or a
    -- cache result.
    return query
    with used as (
        select r.project_id, r.key_id, max(r.recorded_at) as latest
        from usage_records r
        where r.recorded_at >= from_time
            and r.recorded_at < until_time
            and (of_project is null or r.project_id = of_project)
        group by r.project_id, r.key_id
    ),
    wrong as materialized (
        select
            u.*,
            case
                when p.id is null then 'unknown_project'
                when k.id is null then 'unknown_key'
                else 'inactive_key_used'
            end as kind,
            least(k.deactivated_at, k.expires_at) as ended
        from used u
        left join projects p on p.id = u.project_id
        left join api_keys k on k.id = u.key_id and k.project_id = u.project_id
        where k.id is null
            or u.latest > least(k.deactivated_at, k.expires_at) + slack
    )
    select
        w.kind, w.project_id, w.key_id, min(l.at), count(*) || ' records, as ' || min(l.request_id),
        case w.kind when 'inactive_key_used' then 'no request after ' || to_char(w.ended at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') else 'none' end,
        'the last at ' || to_char(max(l.at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    from wrong w
    cross join lateral (
        select r.request_id, r.recorded_at - r.duration_ms * interval '1 millisecond' as at, r.endpoint
        from usage_records r
        where r.project_id = w.project_id
            and r.key_id = w.key_id
            and r.recorded_at >= greatest(from_time, w.ended)
            and r.recorded_at < until_time
            and (r.provider is not null or r.cache_result is not null)
    ) l
    where w.ended is null
        -- An open realtime session is admitted again every 30 seconds.
        or l.at > w.ended + case l.endpoint when 'realtime' then interval '1 minute' else slack end
    group by w.kind, w.project_id, w.key_id, w.ended;

    -- A key is examined if a quarter of an hour has more than a quarter of its limit. Requests that arrive within one minute are recorded
    -- in at most four quarters, unless they last longer. Only minutes with more than half of the limit, and their neighbours, can contain a
    -- window with too many requests.
    return query
    with busiest as materialized (
        select q.project_id, q.key_id, max(q.requests) as requests
        from (
            select s.project_id, s.key_id, sum(s.requests) as requests
            from (
                select u.project_id, u.key_id, u.at, u.requests
                from usage_sums u
                where u.grain = 'quarter'
                    and u.project_id > 0
                    and u.at > from_time - interval '15 minutes'
                    and u.at < until_time
                union all
                select p.project_id, p.key_id, p.at, p.requests from usage_pending p
            ) s
            where of_project is null
                or s.project_id = of_project
            group by s.project_id, s.key_id, s.at
        ) q
        where q.requests > lowest_limit / 4.0
        group by q.project_id, q.key_id
    ),
    keys as materialized (
        select
            k.id, k.project_id, b.requests, x.of_limit,
            -- If the key's own limit has changed since, or an import may have changed it, the plan's limit is the upper bound.
            case
                when exists (
                    select
                    from audit_log l
                    where l.project_id = k.project_id
                        and l.action = 'api_key.updated'
                        and l.target = 'key_' || k.id
                        and l.details ? 'requests_per_minute'
                        and l.recorded_at > from_time - slack
                ) or k.is_imported and exists (
                    select
                    from audit_log l
                    where l.project_id is null
                        and l.action = 'accounts.imported'
                        and l.recorded_at > from_time - slack
                )
                then null
                else k.requests_per_minute
            end as own_limit
        from busiest b
        join api_keys k on k.id = b.key_id and k.project_id = b.project_id
        cross join lateral (
            select case k.type when 'test' then 'test_requests_per_minute' else 'requests_per_minute_per_key' end as of_limit
        ) x
    ),
    lowest as materialized (
        select p.project_id, p.of_limit, l.lowest
        from (select distinct k.project_id, k.of_limit from keys k) p
        cross join lateral limits_in_period(p.project_id, p.of_limit, from_time - slack, until_time) l
    ),
    limited as materialized (
        select k.id, k.project_id, k.of_limit, k.own_limit, least(l.lowest, k.own_limit) as lowest
        from keys k
        join lowest l on l.project_id = k.project_id and l.of_limit = k.of_limit
        where k.requests > least(l.lowest, k.own_limit) / 4.0
    ),
    counted as materialized (
        select r.project_id, r.key_id, date_bin('1 minute', r.recorded_at - r.duration_ms * interval '1 millisecond', 'epoch') as minute, count(*) as requests
        from limited m
        join usage_records r on r.project_id = m.project_id and r.key_id = m.id
        where r.recorded_at >= from_time
            and r.recorded_at < until_time
            and (r.provider is not null or r.cache_result is not null)
            -- Responses of a batch or a session are not requests.
            and r.endpoint not in ('batches', 'message_batches', 'realtime')
        group by r.project_id, r.key_id, minute, m.lowest
        having count(*) > m.lowest / 2.0
    ),
    suspected as materialized (
        select distinct m.project_id, m.id as key_id, c.minute + n.shift as minute, m.of_limit, m.own_limit, m.lowest
        from limited m
        join counted c on c.project_id = m.project_id and c.key_id = m.id
        cross join (values (interval '-1 minute'), (interval '0'), (interval '1 minute')) as n (shift)
    ),
    arrivals as (
        select
            s.project_id, s.key_id, s.of_limit, s.own_limit, s.lowest, a.arrived,
            count(*) over (
                partition by s.project_id, s.key_id order by a.arrived range between current row and window_length following
            ) as requests
        from usage_records r
        cross join lateral (select r.recorded_at - r.duration_ms * interval '1 millisecond' as arrived) a
        join suspected s on s.project_id = r.project_id and s.key_id = r.key_id and s.minute = date_bin('1 minute', a.arrived, 'epoch')
        where r.recorded_at >= from_time
            and r.recorded_at < until_time
            and (of_project is null or r.project_id = of_project)
            and (r.provider is not null or r.cache_result is not null)
            and r.endpoint not in ('batches', 'message_batches', 'realtime')
    ),
    worst as (
        select distinct on (a.project_id, a.key_id, date_bin('1 minute', a.arrived, 'epoch')) a.*
        from arrivals a
        where a.requests > a.lowest
        order by a.project_id, a.key_id, date_bin('1 minute', a.arrived, 'epoch'), a.requests desc
    )
    select
        'rate_exceeded', w.project_id, w.key_id, min(w.arrived), count(*) || ' minutes',
        'at most ' || max(least(l.highest, w.own_limit)) || ' requests a minute', 'up to ' || max(w.requests) || ' in a minute'
    from worst w
    cross join lateral limits_in_period(w.project_id, w.of_limit, w.arrived - slack, w.arrived + interval '1 minute' + slack) l
    where w.requests > least(l.highest, w.own_limit)
        and l.highest is not null
    group by w.project_id, w.key_id;

    -- A client may send an id twice, but no two requests have the same end and duration. Hashes take a third of the memory of texts.
    return query
    with twice as materialized (
        select hashtextextended(r.request_id, date_part('epoch', r.recorded_at)::bigint) as hash
        from usage_records r
        where r.recorded_at >= from_time
            and r.recorded_at < until_time
            and (of_project is null or r.project_id = of_project)
        group by 1
        having count(*) > 1
    )
    select 'recorded_twice', d.project_id, min(d.key_id), min(d.recorded_at), d.request_id, '1 record', sum(d.records) || ' records'
    from (
        select r.project_id, r.request_id, r.recorded_at, min(r.key_id) as key_id, count(*) as records
        from usage_records r
        where r.recorded_at >= from_time
            and r.recorded_at < until_time
            and (of_project is null or r.project_id = of_project)
            and hashtextextended(r.request_id, date_part('epoch', r.recorded_at)::bigint) in (select t.hash from twice t)
        group by r.project_id, r.request_id, r.recorded_at, r.duration_ms
        having count(*) > 1
    ) d
    group by d.project_id, d.request_id;
end;
$$;

comment on function audit_records(timestamptz, timestamptz, bigint) is
    'Finds records that contradict their key, its limits, or themselves. Null: of_project (all).';
