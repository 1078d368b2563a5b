create or replace view organization_projects with (security_invoker = true) as
select
    p.id as _id,
    p.name as _name,
    p.archived_at is not null as _archived,
    'proj_' || p.id as id,
    p.name,
    to_unix_seconds(p.created_at) as created_at,
    to_unix_seconds(p.archived_at) as archived_at,
    case when p.archived_at is null then 'active' else 'archived' end::project_status as status,
    p.plan,
    case
        when (select has_administrator_role()) then 'owner'
        else (select m.role from memberships m where m.project_id = p.id and m.user_id = (select current_user_id()))
    end::project_role as your_role
from projects p;

comment on view organization_projects is 'Projects, as the admin API shows them.';
comment on column organization_projects.archived_at is 'Null: it is in use.';
comment on column organization_projects.your_role is 'The caller''s; an administrator owns all projects.';
comment on column organization_projects.status is 'An archived project has no valid key.';
