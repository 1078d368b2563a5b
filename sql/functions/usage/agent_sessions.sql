create or replace function agent_sessions(
    of_project bigint,
    from_time timestamptz,
    until_time timestamptz,
    of_key bigint default null,
    of_key_type text default null,
    of_end_user text default null,
    only_unread boolean default false,
    sorted text default 'newest',
    after_session text default null,
    page_size integer default 20
)
returns table (
    since unix_seconds,
    sessions natural_number,
    cost_usd usd,
    prompt_cache_saved_usd usd,
    unread_sessions natural_number,
    unread_usd usd,
    page agent_session[]
)
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take longer than the query.
set jit = off
-- The newest requests are read in the order of their index, however few requests the planner expects.
set enable_sort = off
set work_mem = '64MB'
as $$
    -- Bounded before the filter: a search for a rare key must not read all records.
    with newest as materialized (
        select
            r.recorded_at, r.session, r.duration_ms, r.status, r.cache_result, r.model, r.end_user, r.key_id, r.prompt_tokens, r.cached_prompt_tokens,
            r.cache_write_tokens, r.completion_tokens, r.cost_usd, r.saved_usd, r.prompt_cache_saved_usd
        from usage_records r
        where r.project_id = of_project
            and r.recorded_at >= from_time
            and r.recorded_at < until_time
            and r.session is not null
        order by r.recorded_at desc
        limit 50000
    ),
    summed as (
        select
            n.session as id,
            min(n.recorded_at - n.duration_ms * interval '1 millisecond') as started_at,
            max(n.recorded_at) as ended_at,
            count(*) as requests,
            count(*) filter (where n.status >= 400) as failed,
            count(*) filter (where n.cache_result in ('HIT', 'HIT-SEMANTIC')) as hits,
            count(*) filter (where n.cache_result = 'MISS') as misses,
            array_agg(distinct n.model order by n.model) as models,
            case when count(*) = count(n.end_user) and min(n.end_user) = max(n.end_user) then min(n.end_user) end as end_user,
            sum(n.prompt_tokens) as prompt_tokens,
            sum(n.cached_prompt_tokens) as cached_prompt_tokens,
            coalesce(sum(n.cache_write_tokens), 0) as cache_write_tokens,
            sum(n.completion_tokens) as completion_tokens,
            sum(n.cost_usd) as cost_usd,
            sum(n.saved_usd) as saved_usd,
            coalesce(sum(n.prompt_cache_saved_usd), 0) as prompt_cache_saved_usd
        from newest n
        where (of_key is null or n.key_id = of_key)
            and (of_key_type is null or (n.key_id in (select test_keys())) = (of_key_type = 'test'))
            and (of_end_user is null or n.end_user = of_end_user)
        group by n.session
    ),
    measured as materialized (
        select
            s.*,
            s.cache_write_tokens > 0 and s.cached_prompt_tokens = 0 and s.ended_at < now() - interval '5 minutes' as is_unread,
            case sorted when 'dearest' then s.cost_usd else extract(epoch from s.ended_at) end as measure
        from summed s
    ),
    listed as (
        select m.*
        from measured m
        where (m.is_unread or not only_unread)
            and (
                after_session is null
                or (m.measure, m.id) < (select a.measure, a.id from measured a where a.id = after_session)
            )
        order by m.measure desc, m.id desc
        limit page_size
    )
    select
        (select case when count(*) = 50000 then to_unix_seconds(min(n.recorded_at)) end from newest n),
        (select count(*) from measured),
        (select coalesce(sum(m.cost_usd), 0) from measured m),
        (select coalesce(sum(m.prompt_cache_saved_usd), 0) from measured m),
        (select count(*) from measured m where m.is_unread),
        (select coalesce(sum(-m.prompt_cache_saved_usd), 0) from measured m where m.is_unread),
        array(
            select row(
                l.id,
                to_unix_seconds(l.started_at),
                to_unix_seconds(l.ended_at),
                l.requests,
                l.failed,
                l.hits,
                l.misses,
                l.models,
                l.end_user,
                l.prompt_tokens,
                l.cached_prompt_tokens,
                l.cache_write_tokens,
                l.completion_tokens,
                l.cost_usd,
                l.saved_usd,
                l.prompt_cache_saved_usd,
                l.is_unread
            )::agent_session
            from listed l
            order by l.measure desc, l.id desc
        );
$$;

comment on function agent_sessions(bigint, timestamptz, timestamptz, bigint, text, text, boolean, text, text, integer) is
    'The sessions of a project within a time: their number, cost and what the provider''s prompt cache saved; the number of those that wrote it without ever reading it (unread), and what that cost; and a page of them, or of the unread ones (only_unread), after the session after_session. Sorted newest or dearest. At most the newest 50,000 requests with a session are read. Null: of_key, of_key_type, of_end_user (any); after_session (the first page); since (all were read; otherwise, from when on they were).';
