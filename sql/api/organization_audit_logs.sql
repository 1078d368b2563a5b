create or replace view organization_audit_logs with (security_invoker = true) as
select
    l.id as _id,
    l.recorded_at as _recorded_at,
    l.action as _action,
    l.project_id as _project_id,
    l.user_id as _user_id,
    l.actor as _actor,
    l.target as _target,
    'audit_log_' || l.id as id,
    l.action as type,
    to_unix_seconds(l.recorded_at) as effective_at,
    case
        when l.project_id is not null then row('proj_' || l.project_id, (select p.name from projects p where p.id = l.project_id))::audit_project
    end as project,
    case
        when l.admin_key_id is null then row('session', row(u, l.address)::audit_session, null)::audit_actor
        else row('api_key', null, row('admin_key_' || l.admin_key_id, 'user', l.admin_key_name, u)::audit_api_key)::audit_actor
    end as actor,
    row(l.target, l.target_name, l.details)::audit_change as changed
from audit_log l
-- Changes through psql, or by the proxy itself, have neither session nor key: the database user's name replaces the address.
cross join lateral (select row(coalesce('user_' || l.user_id, l.actor_kind), l.actor)::audit_user as u) a;

comment on view organization_audit_logs is 'Who changed what.';
comment on column organization_audit_logs.type is 'The kind of change. A field of this name has the changed values.';
comment on column organization_audit_logs.project is 'Left out: it concerns no single one.';
comment on column organization_audit_logs.effective_at is 'When it was changed.';
comment on column organization_audit_logs.actor is 'Who changed it.';
comment on column organization_audit_logs.changed is 'The changed values, in the field named by type.';
