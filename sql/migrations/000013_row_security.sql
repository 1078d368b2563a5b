-- What a dashboard query may see. The proxy itself owns these tables, and is not concerned; act_as() gives ownership up first.

-- Policies need these now; sql/functions has them as they are today.
create function current_user_id() returns bigint
language sql
stable
parallel safe
as $$
    select nullif(current_setting('model_proxy.user_id', true), '')::bigint;
$$;

create function visible_projects() returns setof bigint
language sql
stable
security definer
set search_path = public, pg_temp
as $$
    select p.id
    from projects p
    where exists (select 1 from users u where u.id = current_user_id() and u.role = 'owner')
    union
    select m.project_id
    from memberships m
    where m.user_id = current_user_id();
$$;

create function is_administrator() returns boolean
language sql
stable
security definer
set search_path = public, pg_temp
as $$
    select exists (select 1 from users u where u.id = current_user_id() and u.role = 'owner');
$$;

alter table projects enable row level security;
alter table api_keys enable row level security;
alter table provider_keys enable row level security;
alter table monthly_counters enable row level security;
alter table cache_entries enable row level security;
alter table cache_prompts enable row level security;
alter table cached_vectors enable row level security;
alter table usage_records enable row level security;
alter table usage_hourly enable row level security;
alter table latency_hourly enable row level security;
alter table usage_pending enable row level security;
alter table memberships enable row level security;
alter table audit_log enable row level security;
alter table users enable row level security;
alter table invitations enable row level security;
alter table sessions enable row level security;
alter table login_attempts enable row level security;
alter table admin_keys enable row level security;

create policy members_see on projects for select using (id in (select visible_projects()));
create policy members_see on api_keys for select using (project_id in (select visible_projects()));
create policy members_see on provider_keys for select using (project_id in (select visible_projects()));
create policy members_see on monthly_counters for select using (project_id in (select visible_projects()));
create policy members_see on cache_entries for select using (project_id in (select visible_projects()));
create policy members_see on cache_prompts for select using (project_id in (select visible_projects()));
create policy members_see on cached_vectors for select using (project_id in (select visible_projects()));
create policy members_see on usage_records for select using (project_id in (select visible_projects()));
create policy members_see on usage_hourly for select using (project_id in (select visible_projects()));
create policy members_see on latency_hourly for select using (project_id in (select visible_projects()));
create policy members_see on usage_pending for select using (project_id in (select visible_projects()));
create policy members_see on memberships for select using (project_id in (select visible_projects()));
-- What concerns no single project is for administrators.
create policy members_see on audit_log for select using (
    project_id in (select visible_projects()) or (select is_administrator())
);
-- A user sees who else is in the same projects.
create policy members_see on users for select using (
    id = (select current_user_id())
    or (select is_administrator())
    or id in (select m.user_id from memberships m)
);
create policy owners_see on admin_keys for select using (
    user_id = (select current_user_id()) or (select is_administrator())
);
