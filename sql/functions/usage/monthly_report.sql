create or replace function monthly_report(project text, month text) returns jsonb
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    first_day date := parse_month(month);
    begins timestamptz := first_day::timestamp at time zone 'utc';
    ends timestamptz := (first_day + interval '1 month')::timestamp at time zone 'utc';
    -- Null: all projects.
    owners bigint[] := case when project <> '' then array[find_project(project)] end;
begin
    return jsonb_build_object(
        'month', to_char(first_day, 'YYYY-MM'),
        'projects', coalesce(
            (select jsonb_agg(p.name order by p.name) from projects p where owners is null or p.id = any (owners)), '[]'
        ),
        'days', coalesce(
            (select jsonb_agg(to_jsonb(d) order by d.bucket_start) from usage_overview(owners, begins, ends, 'day', 'UTC', null, null, null) d), '[]'
        ),
        'models', coalesce((select jsonb_agg(to_jsonb(s)) from usage_shares(owners, begins, ends, 'model', null, null, null, 'cost', 20) s), '[]'),
        'keys', coalesce((select jsonb_agg(to_jsonb(s)) from usage_shares(owners, begins, ends, 'api_key', null, null, null, 'cost', 20) s), '[]'),
        'teams', coalesce((select jsonb_agg(to_jsonb(s) order by s.cost_usd desc, s.name) from grouped_costs(owners, begins, ends, 'team', null) s), '[]'),
        'tags', coalesce((select jsonb_agg(to_jsonb(s)) from usage_shares(owners, begins, ends, 'tag', null, null, null, 'cost', 20) s), '[]'),
        'misses', coalesce(
            (
                select jsonb_agg(to_jsonb(m) order by m.cost_usd desc, m.requests desc, m.name)
                from (
                    select u.miss_reason as name, sum(u.requests)::bigint as requests, sum(u.cost_usd) as cost_usd
                    from (
                        select x.project_id, x.at, x.miss_reason, x.requests, x.cost_usd from usage_miss_sums x
                        union all
                        select p.project_id, p.at, p.miss_reason, p.requests, p.cost_usd from usage_pending p where p.miss_reason is not null
                    ) u
                    where u.at >= begins
                        and u.at < ends
                        and (owners is null or u.project_id = any (owners))
                    group by 1
                    -- The amounts of a record that was settled again may have been subtracted.
                    having sum(u.requests) <> 0
                ) m
            ),
            '[]'
        ),
        'wrong_hits', (
            select count(*)
            from events e
            where e.kind = 'cache.wrong_hit'
                and e.raised_at >= begins
                and e.raised_at < ends
                and (owners is null or e.project_id = any (owners))
        )
    );
end;
$$;

comment on function monthly_report(text, text) is 'Returns the report of a calendar month (UTC, such as 2026-10; empty: the current month) of a project, or of all projects (empty): days, the twenty most expensive models, keys and tags, all teams, cache misses by reason, and the number of hits that people judged wrong. Raises on an unknown project or an invalid month.';
