-- Dashboard queries cannot read hashes, invitations and sessions: this view contains the facts derived from them.

create or replace view logins as
select
    u.id as user_id,
    u.password_hash is not null or exists (select from user_identities i where i.user_id = u.id) as can_log_in,
    (select i.expires_at from invitations i where i.user_id = u.id and i.purpose = 'invitation') as invited_until,
    (select max(s.last_seen_at) from sessions s where s.user_id = u.id) as last_seen_at
from users u;

comment on view logins is 'Whether users can log in, and when they were last here.';
comment on column logins.user_id is 'The user.';
comment on column logins.can_log_in is 'Whether the user has a password, or has logged in with an identity provider.';
comment on column logins.invited_until is 'When the invitation expires or has expired; null: there is none.';
comment on column logins.last_seen_at is 'When the user was last seen; null: never.';
