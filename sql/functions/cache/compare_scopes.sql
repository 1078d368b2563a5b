create or replace function compare_scopes(of_project bigint)
returns setof cache_scope_report
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    with asked as materialized (
        select r.recorded_at, r.asked_id, r.key_id, r.end_user
        from usage_records r
        where r.project_id = of_project
            and r.recorded_at > now() - interval '7 days'
            and r.asked_id is not null
            and r.status < 400
        order by r.recorded_at desc
        -- The last hours of a busy project are representative, and are read in less than a second.
        limit 200000
    ),
    circles as (
        select s.scope, s.place, a.recorded_at, lag(a.recorded_at) over w as asked_before_at, a.end_user
        from asked a
        cross join lateral (values
            (1, 'project', '', 0),
            (2, 'key', '', a.key_id),
            (3, 'user', coalesce(a.end_user, ''), case when a.end_user is null then a.key_id else 0 end)
        ) as s (place, scope, circle_user, circle_key)
        window w as (partition by s.place, s.circle_user, s.circle_key, a.asked_id order by a.recorded_at)
    )
    select
        c.scope,
        count(*),
        count(c.end_user),
        count(distinct c.end_user),
        count(*) filter (where c.recorded_at - c.asked_before_at < make_interval(secs => p.cache_ttl_seconds)),
        to_unix_seconds(min(c.recorded_at))
    from circles c
    cross join (select x.cache_ttl_seconds from projects x where x.id = of_project) p
    group by c.place, c.scope
    order by c.place;
$$;

comment on function compare_scopes(bigint) is
    'The hits of a project''s last week under each cache_scope: requests that follow an identical request in the same scope. At most the newest 200,000 requests are read.';
