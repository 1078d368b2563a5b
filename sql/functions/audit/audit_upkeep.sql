create or replace function audit_upkeep(of_project bigint) returns setof audit_observation
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    -- Nothing is maintained while no proxy runs.
    with running as (
        select i.seen_at from installation i where i.seen_at > now() - interval '5 minutes'
    )
    select
        'response_not_settled', o.project_id, null::bigint, o.recorded_at, o.request_id, 'settled or given up within a day',
        format('%s US dollars estimated, asked for %s times', trim_scale(o.usd), o.tries)
    from unreconciled_responses o
    where o.recorded_at < now() - interval '25 hours'
        and (of_project is null or o.project_id = of_project)
        and exists (select from running)
    union all
    select
        'usage_not_summed', p.project_id, null, min(p.at), 'usage_pending', 'added to the sums within seconds', sum(p.requests) || ' requests'
    from usage_pending p
    where p.at < now() - interval '25 hours'
        and (of_project is null or p.project_id = of_project)
        and exists (select from running)
    group by p.project_id
    union all
    select 'partition_missing', null, null, min(a.at), t.name, 'a partition', 'none'
    from (
        values ('usage_records'), ('request_contents'), ('usage_by_quarter'), ('usage_by_hour'), ('latency_by_quarter'), ('latency_by_hour')
    ) as t (name)
    cross join (select now() + g.days * interval '1 day' as at from generate_series(0, 1) as g (days)) a
    where of_project is null
        and not exists (
            select from list_partitions(t.name::regclass) p where p.begins <= a.at and p.ends > a.at
        )
        and exists (select from running)
    group by t.name;
$$;

comment on function audit_upkeep(bigint) is 'Finds overdue maintenance. Null: of_project (all).';
