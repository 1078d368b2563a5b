-- Row-level security of dashboard queries. It does not apply to the proxy itself, which owns these tables; run_as_actor() switches to the
-- role model_proxy_dashboard.

-- Deployed with sql/functions; policies need them now, and show no rows until then.
create function current_user_id() returns bigint
language sql
stable
as 'select null::bigint';

create function visible_projects() returns setof bigint
language sql
stable
as 'select null::bigint where false';

create function is_administrator() returns boolean
language sql
stable
as 'select false';

create function current_key_project() returns bigint
language sql
stable
as 'select 0::bigint';

-- Rows of a project are visible to users who see the project.
do $$
declare
    of_project regclass;
begin
    for of_project in
        select c.oid
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = current_schema()::regnamespace
            and c.relkind in ('r', 'p')
            and not c.relispartition
            and a.attname = 'project_id'
    loop
        execute format('alter table %s enable row level security', of_project);
        execute format('create policy members_see on %s for select using (project_id in (select visible_projects()))', of_project);
    end loop;
end
$$;

alter table projects enable row level security;
create policy members_see on projects for select using (id in (select visible_projects()));

-- Rows that belong to a restricted row are visible with it.
alter table budget_periods enable row level security;
alter table spend_alerts enable row level security;
create policy members_see on budget_periods for select using (budget_id in (select b.id from budgets b));
create policy members_see on spend_alerts for select using (budget_id in (select b.id from budgets b));

-- Sums and budgets of all projects together, and rows without a project, are visible to administrators.
create policy members_see_totals on usage_sums for select using (project_id < 0 and -project_id in (select visible_projects()));
create policy administrators_see on usage_sums for select using (project_id = 0 and (select is_administrator()));
create policy administrators_see on usage_sums_by_tag for select using (project_id = 0 and (select is_administrator()));
create policy administrators_see on usage_sums_by_name for select using (project_id = 0 and (select is_administrator()));
create policy administrators_see on latency_counts for select using (project_id = 0 and (select is_administrator()));
create policy administrators_see on rejections_hourly for select using ((select is_administrator()));
create policy administrators_see on budgets for select using (project_id is null and is_administrator());
create policy administrators_see on audit_log for select using ((select is_administrator()));

-- A user sees the members of shared projects, because memberships are restricted themselves.
alter table users enable row level security;
alter table vendors enable row level security;
alter table vendor_keys enable row level security;
create policy administrators_see on vendors for select using ((select is_administrator()));
create policy administrators_see on vendor_keys for select using ((select is_administrator()));
alter table admin_keys enable row level security;
create policy members_see on users for select using (
    id = (select current_user_id()) or (select is_administrator()) or id in (select m.user_id from memberships m)
);
create policy owners_see on admin_keys for select using (
    user_id = (select current_user_id()) and (select current_key_project()) is null or (select is_administrator())
);

-- Tables without a policy: a dashboard query sees no rows of them.
alter table user_identities enable row level security;
alter table invitations enable row level security;
alter table sessions enable row level security;
alter table login_attempts enable row level security;
alter table idempotent_requests enable row level security;
alter table budget_reservations enable row level security;
