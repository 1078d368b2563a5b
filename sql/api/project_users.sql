create or replace view project_users with (security_invoker = true) as
select
    m.user_id as _id,
    m.project_id as _project_id,
    'user_' || m.user_id as id,
    u.email,
    u.email as name,
    m.role::project_role as role,
    to_unix_seconds(m.created_at) as added_at,
    l.can_log_in,
    to_unix_seconds(l.invited_until) as invited_until,
    to_unix_seconds(l.last_seen_at) as last_seen_at
from memberships m
join users u on u.id = m.user_id
join visible_logins l on l.user_id = m.user_id;

comment on view project_users is 'Members of projects. Administrators see every project without being members.';
comment on column project_users.email is 'The address that the member logs in with.';
