create or replace view organization_users with (security_invoker = true) as
select
    u.id as _id,
    u.email as _email,
    'user_' || u.id as id,
    u.email,
    u.email as name,
    u.role::user_role as role,
    to_unix_seconds(u.created_at) as added_at,
    l.can_log_in,
    to_unix_seconds(l.invited_until) as invited_until,
    to_unix_seconds(l.last_seen_at) as last_seen_at
from users u
join visible_logins l on l.user_id = u.id;

comment on view organization_users is 'Users of the installation: administrators (owner), and others (reader).';
comment on column organization_users.can_log_in is 'Whether the user can log in. False until the invitation was accepted.';
comment on column organization_users.invited_until is 'When the invitation expires or has expired. Null: there is none.';
comment on column organization_users.last_seen_at is 'Null: never.';
comment on column organization_users.email is 'The address that the user logs in with.';
comment on column organization_users.name is 'As the address.';
