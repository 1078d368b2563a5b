create or replace view organization_invites with (security_invoker = true) as
select
    u.id as _id,
    'invite_' || u.id as id,
    u.email,
    u.role::user_role as role,
    case when l.can_log_in then 'accepted' when l.invited_until > now() then 'pending' else 'expired' end::invite_status as status,
    to_unix_seconds(u.created_at) as created_at,
    to_unix_seconds(l.invited_until) as expires_at,
    array(
        select row('proj_' || m.project_id, m.role)::invite_project
        from memberships m
        where m.user_id = u.id
        order by m.project_id
    ) as projects
from users u
join visible_logins l on l.user_id = u.id;

comment on view organization_invites is 'A user, and whether the invitation was accepted. Accepted: the user can log in.';
comment on column organization_invites.expires_at is 'Null: there is none.';
comment on column organization_invites.projects is 'The projects of which the user is a member, as far as the caller may see them.';
comment on column organization_invites.status is 'Accepted: the user can log in.';
