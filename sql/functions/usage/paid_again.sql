create or replace function paid_again(
    of_project bigint,
    from_time timestamptz,
    until_time timestamptz,
    of_model text default null,
    of_key bigint default null,
    of_key_type text default null,
    of_tags jsonb default null
)
returns table (
    since unix_seconds,
    requests natural_number,
    cost_usd usd,
    questions paid_question[]
)
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take longer than the query.
set jit = off
-- The planner expects few rows of a project, and would sort all of them. An index has them in their order.
set enable_bitmapscan = off
-- With many repeated questions, the sorts would else use the disk.
set work_mem = '64MB'
as $$
    with answered as materialized (
        select
            r.recorded_at, r.request_id, r.asked_id, r.model, r.endpoint, r.cost_usd, r.cache_reason, r.refreshed, r.lookup_ms,
            -- Test keys have a cache of their own.
            r.key_id in (select test_keys()) as is_test,
            case p.cache_scope when 'user' then coalesce(r.end_user, '') else '' end as scope_user,
            case when p.cache_scope = 'key' or p.cache_scope = 'user' and r.end_user is null then r.key_id else 0 end as scope_key,
            -- A record is written shortly after the last byte, when the client may already have sent its next request.
            least(
                r.recorded_at - r.duration_ms * interval '1 millisecond' + interval '20 milliseconds',
                r.recorded_at - interval '1 microsecond'
            ) as sent_at,
            r.cache_result = 'MISS' and (r.refreshed or r.cache_reason is null or r.cache_reason not in ('no-store', 'old-version')) as is_stored,
            coalesce(r.cache_result = 'MISS', false)
                and r.cost_usd > 0
                and r.recorded_at >= from_time
                and (of_model is null or r.model = of_model)
                and (of_key is null or r.key_id = of_key)
                and (of_key_type is null or (r.key_id in (select test_keys())) = (of_key_type = 'test'))
                and (of_tags is null or coalesce(r.tags @> of_tags, false)) as is_paid
        from usage_records r
        join projects p on p.id = r.project_id
        where r.project_id = of_project
            -- The earlier response may be older than the span.
            and r.recorded_at >= from_time - interval '30 days'
            and r.recorded_at < until_time
            and r.asked_id is not null
            and r.status < 400
        order by r.recorded_at desc
        limit 50000
    ),
    repeated as (
        select a.asked_id, a.is_test
        from answered a
        group by a.asked_id, a.is_test
        having count(*) > 1 and bool_or(a.is_paid)
    ),
    -- Each response, and each paid request at the time when it was sent.
    moments as (
        select
            a.*,
            m.is_sent,
            max(m.answered_at) over (partition by a.asked_id, a.is_test order by m.at) as answered_before_at,
            max(m.answered_at) over in_scope as answered_in_scope_at,
            max(m.answered_at) filter (where a.is_stored) over in_scope as stored_before_at
        from answered a
        join repeated using (asked_id, is_test)
        cross join lateral (values (a.recorded_at, a.recorded_at, false), (a.sent_at, null, true)) as m (at, answered_at, is_sent)
        where not m.is_sent
            or a.is_paid
        window in_scope as (partition by a.asked_id, a.is_test, a.scope_user, a.scope_key order by m.at)
    ),
    identical as (
        select
            m.*,
            case
                when m.refreshed or m.cache_reason = 'no-store' then 'no_cache'
                -- Without a lookup, the setting cache_mode excluded the request; with one, only the comparison of questions is off.
                when m.cache_reason = 'off' and m.lookup_ms is null then 'cache_off'
                when m.cache_reason = 'old-version' then 'old_version'
                when m.cache_reason = 'refused' then 'rejected_by_hook'
                when m.answered_in_scope_at is null then 'other_scope'
                when coalesce(m.stored_before_at, m.answered_in_scope_at) + make_interval(secs => t.seconds) <= m.sent_at then 'expired'
                when m.cache_reason = 'tools' then 'tools'
                else 'not_stored'
            end as reason
        from moments m
        cross join (
            select least(p.cache_ttl_seconds, l.max_cache_ttl_seconds) as seconds
            from projects p
            join plans l on l.name = p.plan
            where p.id = of_project
        ) t
        where m.is_sent
            and m.answered_before_at is not null
    ),
    reworded as (
        select distinct on (a.recorded_at, a.request_id)
            a.*,
            case when h.is_shadow then 'shadow' when h.difference is null then 'too_far' else 'difference' end as reason,
            case when not h.is_shadow then h.difference end as difference,
            v.verdict
        from (
            select s.request_id, s.served_at, s.asked_hash, s.entry_hash, s.is_shadow, s.difference
            from semantic_hits s
            where s.project_id = of_project
                and s.served_at >= from_time
                and (s.reason = 'undecided' or s.is_shadow)
            order by s.served_at desc
            limit 20000
        ) h
        join answered a on a.request_id = h.request_id
            -- A client may use an id again.
            and h.served_at between a.recorded_at - interval '5 minutes' and a.recorded_at + interval '5 minutes'
        -- Its own query, so that each near miss reads an index, however few rows the planner expects.
        cross join lateral (
            select p.context_hash, p.normalized_hash
            from cache_entries e
            join cache_prompts p on p.entry_id = e.id
            where e.project_id = of_project and e.request_hash = h.entry_hash
            limit 1
        ) c
        left join lateral find_effective_verdict(of_project, c.context_hash, h.asked_hash, c.normalized_hash) v on true
        where a.is_paid
            and v.verdict is distinct from 'different'
            and (a.recorded_at, a.request_id) not in (select i.recorded_at, i.request_id from identical i)
        order by a.recorded_at, a.request_id
    ),
    paid as (
        select i.recorded_at, i.request_id, i.asked_id, i.model, i.endpoint, i.cost_usd, i.reason, null as difference, null as verdict
        from identical i
        union all
        select s.recorded_at, s.request_id, s.asked_id, s.model, s.endpoint, s.cost_usd, s.reason, s.difference, s.verdict
        from reworded s
    ),
    -- The last request of each question and reason.
    grouped as (
        select *
        from (
            select
                p.*,
                count(*) over w as requests,
                sum(p.cost_usd) over w as total_usd,
                min(p.recorded_at) over w as first_at,
                row_number() over (w order by p.recorded_at desc, p.request_id desc) as place
            from paid p
            window w as (partition by p.asked_id, p.reason, p.difference)
        ) x
        where x.place = 1
    ),
    listed as (
        select * from grouped g order by g.total_usd desc, g.recorded_at desc, g.asked_id limit 20
    )
    select
        (select case when count(*) = 50000 then to_unix_seconds(min(a.recorded_at)) end from answered a),
        (select count(*) from paid),
        (select coalesce(sum(p.cost_usd), 0) from paid p),
        array(
            select row(
                l.recorded_at,
                find_readable_request(of_project, l.request_id, l.recorded_at),
                l.asked_id,
                l.reason,
                l.difference,
                case l.reason
                    when 'no_cache' then 'remove_no_cache'
                    when 'cache_off' then 'enable_cache'
                    when 'other_scope' then 'widen_scope'
                    when 'expired' then 'extend_ttl'
                    when 'shadow' then 'enable_semantic_cache'
                    when 'difference' then case when l.verdict is null then 'confirm_same' end
                    when 'too_far' then case when l.verdict is null then 'confirm_same' end
                end,
                l.requests,
                l.total_usd,
                to_unix_seconds(l.first_at),
                to_unix_seconds(l.recorded_at),
                l.request_id,
                l.model,
                l.endpoint,
                l.verdict
            )::paid_question
            from listed l
            order by l.total_usd desc, l.recorded_at desc, l.asked_id
        );
$$;

comment on function paid_again(bigint, timestamptz, timestamptz, text, bigint, text, jsonb) is
    'The requests of a project within a time that were paid for although the question had been answered before: their number, their cost, and the twenty most expensive questions by reason. Identical requests are compared with those of the 30 days before, and similar questions with the near misses of the last week whose cached response still exists. At most the newest 50,000 requests are read. Null: of_model, of_key, of_key_type, of_tags (any); since (all were read; otherwise, from when on they were).';
