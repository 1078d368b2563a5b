create or replace function policy_effects(of_project bigint) returns setof setting_effect
language plpgsql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take longer than the queries.
set jit = off
set work_mem = '64MB'
as $$
declare
    most constant integer := 50000;
    week_start constant timestamptz := now() - interval '7 days';
    has_semantic_hits boolean;
    current_ttl integer;
    hits bigint;
    saved numeric;
    looked_up bigint;
    -- The simulated policies. The first is the project's own.
    names text[];
    choices text[];
    ttls interval[];
    scopes text[];
    lost_reasons text[][];
    policies integer;
    -- The change of each policy: hits, US dollars.
    more bigint[];
    usd numeric[];
    -- When the response was cached that each policy would serve, by sharing scope.
    cached_at timestamptz[];
    at integer;
    r record;
    is_fresh boolean;
    was_fresh boolean;
begin
    select
        coalesce(sum(u.requests) filter (where u.cache_result in ('HIT', 'HIT-SEMANTIC')), 0),
        coalesce(sum(u.saved_usd), 0),
        coalesce(sum(u.requests) filter (where u.cache_result <> ''), 0)
    into hits, saved, looked_up
    from usage_in_range(array[of_project], week_start, now() + interval '1 hour', 'all', 'UTC', 'totals') u;
    if looked_up = 0 then
        return;
    end if;
    return query select 'cache_mode', 'off', -hits, (-saved)::usd from projects p where p.id = of_project and p.cache_mode <> 'off';

    return query
    select 'semantic_mode', 'on', count(*), coalesce(sum(h.saved_usd), 0)::usd
    from (
        select s.saved_usd
        from semantic_hits s
        join projects p on p.id = s.project_id
        where s.project_id = of_project
            and p.semantic_mode = 'shadow'
            and s.is_shadow
            and s.served_at >= week_start
        limit most
    ) h
    having count(*) between 1 and most - 1;

    -- Beyond the limit, earlier responses are unknown, and nothing is simulated.
    if (
        select count(*) = most
        from (
            select
            from usage_records u
            where u.project_id = of_project
                and u.recorded_at >= week_start - interval '30 days'
                and u.asked_id is not null
            limit most
        ) u
    ) then
        return;
    end if;

    select
        array_agg(c.setting order by c.place, c.value), array_agg(c.value order by c.place, c.value), array_agg(make_interval(secs => c.ttl) order by c.place, c.value),
        array_agg(c.scope order by c.place, c.value), array_agg(c.lost order by c.place, c.value), count(*)
    into names, choices, ttls, scopes, lost_reasons, policies
    from projects p
    join plans l on l.name = p.plan
    cross join lateral (select least(p.cache_ttl_seconds, l.max_cache_ttl_seconds) as ttl) o
    cross join lateral (
        select 0 as place, '' as setting, '' as value, o.ttl, p.cache_scope as scope, '' as lost
        union all
        select 1, 'cache_scope', s.scope, o.ttl, s.scope, ''
        from unnest(array['project', 'key', 'user']) s (scope)
        where s.scope <> p.cache_scope
        union all
        select 2, 'cache_ttl_seconds', t.ttl::text, t.ttl, p.cache_scope, ''
        from unnest(array[3600, 86400, 604800, 2592000]) t (ttl)
        where t.ttl <> o.ttl and t.ttl <= l.max_cache_ttl_seconds
        union all
        select 3, 'semantic_mode', m.mode, o.ttl, p.cache_scope, 'normalized proved verified judged threshold'
        from unnest(array['shadow', 'off']) m (mode)
        where p.semantic_mode = 'on'
        union all
        select 4, 'semantic_policy', 'proved', o.ttl, p.cache_scope, 'verified judged threshold'
        where p.semantic_mode = 'on' and p.semantic_policy <> 'proved'
    ) c
    where p.id = of_project;
    more := array_fill(0, array[policies]);
    usd := array_fill(0, array[policies]);

    for r in
        select
            x.*,
            row_number() over (partition by x.asked_id, x.is_test order by x.recorded_at, x.request_id) = 1 as is_first,
            count(*) over (partition by x.asked_id, x.is_test) as rows_of_question,
            dense_rank() over (partition by x.asked_id, x.is_test order by x.key_id) as key_place,
            dense_rank() over (partition by x.asked_id, x.is_test order by x.end_user, case when x.end_user is null then x.key_id end) as user_place
        from (
            select
                u.asked_id, u.recorded_at, u.request_id, u.key_id, u.end_user, u.cache_result, u.cache_reason, u.refreshed, u.cost_usd, u.saved_usd,
                -- Test keys have a cache of their own.
                u.key_id in (select test_keys()) as is_test,
                -- As in paid_again().
                least(
                    u.recorded_at - u.duration_ms * interval '1 millisecond' + interval '20 milliseconds', u.recorded_at - interval '1 microsecond'
                ) as sent_at,
                count(*) over (partition by u.asked_id) > 1 as is_repeated
            from usage_records u
            where u.project_id = of_project
                and u.recorded_at >= week_start - interval '30 days'
                and u.asked_id is not null
                and u.status < 400
        ) x
        where x.is_repeated or x.cache_result = 'HIT-SEMANTIC'
        order by x.asked_id, x.is_test, x.recorded_at, x.request_id
    loop
        if r.is_first then
            cached_at := array_fill(null::timestamptz, array[(policies * r.rows_of_question)::integer]);
        end if;
        at := case scopes[1] when 'project' then 0 when 'key' then r.key_place - 1 else r.user_place - 1 end * policies + 1;
        was_fresh := coalesce(cached_at[at] + ttls[1] > r.sent_at, false);
        -- A hit whose response no record explains, such as one with its own time to live, is the same under every policy.
        continue when r.cache_result = 'HIT' and not was_fresh;
        for i in 1..policies loop
            at := case scopes[i] when 'project' then 0 when 'key' then r.key_place - 1 else r.user_place - 1 end * policies + i;
            is_fresh := coalesce(cached_at[at] + ttls[i] > r.sent_at, false);
            if r.cache_result = 'MISS' then
                if i > 1
                    and is_fresh
                    and not was_fresh
                    and coalesce(r.cache_reason, '') not in ('no-store', 'off', 'old-version', 'refused', 'tools')
                    and r.refreshed is not true
                then
                    if r.recorded_at >= week_start then
                        more[i] := more[i] + 1;
                        usd[i] := usd[i] + r.cost_usd;
                    end if;
                elsif r.refreshed or r.cache_reason is null or r.cache_reason not in ('no-store', 'old-version') then
                    cached_at[at] := r.recorded_at;
                end if;
            elsif not is_fresh
                and (r.cache_result = 'HIT' or r.cache_reason = any (string_to_array(lost_reasons[i], ' ')))
            then
                if r.recorded_at >= week_start then
                    more[i] := more[i] - 1;
                    usd[i] := usd[i] - r.saved_usd;
                end if;
                cached_at[at] := r.recorded_at;
            end if;
        end loop;
    end loop;
    for i in 2..policies loop
        return next row(names[i], choices[i], more[i], usd[i])::setting_effect;
    end loop;
end;
$$;

comment on function policy_effects(bigint) is
    'What other values of settings would have changed in a project''s last week: cache hits and savings, compared with what happened. All hits are from sums. For sharing scopes, times to live and match policies, the records are replayed in order: a hit is lost if no identical request had been answered in the scope within the time to live, and a paid request becomes a hit if one had. Replays nothing if a project has 50,000 requests or more in 37 days.';
