create or replace function limits_in_period(of_project bigint, of_limit text, from_time timestamptz, until_time timestamptz)
returns table (lowest bigint, highest bigint)
language sql
stable
rows 1
set search_path = model_proxy, pg_temp
as $$
    with moves as (
        select l.id, l.recorded_at, l.details ->> 'was' as was
        from audit_log l
        where l.project_id = of_project
            and l.action = 'project.updated'
            and l.details ? 'plan'
            and l.recorded_at > from_time
    ),
    -- The first change after a time contains the plan that was in force at that time.
    held as (
        select m.was as plan from moves m where m.recorded_at <= until_time
        union
        select coalesce((select m.was from moves m where m.recorded_at > until_time order by m.id limit 1), p.plan)
        from projects p
        where p.id = of_project
    ),
    edits as (
        select l.id, l.recorded_at, h.plan, (l.details -> 'was' ->> of_limit)::bigint as was
        from held h
        join audit_log l on l.target = 'plan_' || h.plan
        where l.project_id is null
            and l.action = 'rate_limit.updated'
            and l.details -> 'was' ? of_limit
            and l.recorded_at > from_time
    ),
    limits as (
        select e.was as value from edits e where e.recorded_at <= until_time
        union all
        select coalesce(
            (select e.was from edits e where e.plan = h.plan and e.recorded_at > until_time order by e.id limit 1),
            (select (to_jsonb(pl) ->> of_limit)::bigint from plans pl where pl.name = h.plan)
        )
        from held h
    )
    select min(l.value), case when bool_and(l.value is not null) then max(l.value) end from limits l;
$$;

comment on function limits_in_period(bigint, text, timestamptz, timestamptz) is
    'The lowest and the highest value of a limit, a column of plans, for a project in a period, according to the audit log. Null: lowest, highest (a plan that the project had was deleted).';
