create or replace function quota_usage(project text, in_month date)
returns setof quota
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := find_project(project);
begin
    return query
    select
        t.key_type::key_type,
        coalesce(c.requests, 0)::natural_number,
        t.quota::natural_number,
        greatest(0, t.quota - coalesce(c.requests, 0))
    from projects p
    join plans pl on pl.name = p.plan
    cross join lateral (
        values ('project', pl.requests_per_month), ('test', pl.test_requests_per_month)
    ) as t (key_type, quota)
    left join monthly_counters c on c.project_id = p.id and c.key_type = t.key_type and c.month = in_month
    where p.id = owner_id
    order by t.key_type;
end;
$$;

comment on function quota_usage(text, date) is 'Requests counted against a project''s quotas in a calendar month (UTC), for its project keys and its test keys; the quota is that of its present plan. Raises on an unknown project.';
