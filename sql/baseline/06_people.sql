-- Access to the dashboard and the admin API: users, memberships, sessions, admin API keys, and the audit log.

create table users (
    id bigint generated always as identity primary key,
    email text not null unique
        check (email = lower(email collate "C") and email ~ '^[^[:space:][:cntrl:]@]{1,64}@[^[:space:][:cntrl:]@]{1,190}$'),
    role text not null
        check (role in ('owner', 'reader')),
    password_hash text,
    created_at timestamptz not null default now()
);

comment on table users is 'People who log in to the dashboard, or on whose behalf an admin API key acts.';
comment on column users.id is 'Referred to by memberships, sessions and admin keys; shown as user_<id>.';
comment on column users.email is 'The e-mail address with which the user logs in, in the form of fold_email().';
comment on column users.role is 'owner: sees and changes everything. reader: sees the projects of the user''s memberships.';
comment on column users.password_hash is 'argon2id, hashed by the proxy; null until the invitation was accepted.';
comment on column users.created_at is 'When the user was added.';

create table user_identities (
    issuer text not null,
    subject text not null,
    user_id bigint not null
        references users (id) on delete cascade,
    created_at timestamptz not null default now(),
    primary key (issuer, subject),
    unique (issuer, user_id)
);

create index user_identities_user_id_idx on user_identities (user_id);

comment on table user_identities is 'Accounts at OpenID Connect providers that log in as a user.';
comment on column user_identities.issuer is 'The provider''s address.';
comment on column user_identities.subject is 'The provider''s id of the person (sub), which is never given to another.';
comment on column user_identities.user_id is 'The user.';
comment on column user_identities.created_at is 'When the person first logged in with it.';

create table memberships (
    project_id bigint not null
        references projects (id) on delete cascade,
    user_id bigint not null
        references users (id) on delete cascade,
    role text not null
        check (role in ('owner', 'member', 'viewer')),
    created_at timestamptz not null default now(),
    primary key (project_id, user_id)
);

create index memberships_user_id_idx on memberships (user_id);

comment on table memberships is 'The projects that a user may see, and the user''s role in each.';
comment on column memberships.project_id is 'The project that the user may see.';
comment on column memberships.user_id is 'The user.';
comment on column memberships.role is 'viewer: reads. member: also changes keys, settings and the cache. owner: also changes provider keys, members, name and archive.';
comment on column memberships.created_at is 'When the user was added to the project.';

create table sessions (
    id bigint generated always as identity primary key,
    user_id bigint not null
        references users (id) on delete cascade,
    token_hash bytea not null unique
        check (octet_length(token_hash) = 32),
    address text not null,
    user_agent text not null,
    created_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    expires_at timestamptz not null
);

create index sessions_expires_at_idx on sessions (expires_at);
create index sessions_user_id_idx on sessions (user_id);

comment on table sessions is 'Browsers that are logged in.';
comment on column sessions.id is 'Identity.';
comment on column sessions.user_id is 'The user who logged in.';
comment on column sessions.token_hash is 'SHA-256 of the cookie.';
comment on column sessions.address is 'Client address at login.';
comment on column sessions.user_agent is 'The User-Agent header at login.';
comment on column sessions.created_at is 'When the user logged in.';
comment on column sessions.last_seen_at is 'Last request, accurate to about a minute.';
comment on column sessions.expires_at is 'When the cookie expires. Ahead of created_at.';

-- Deployed with sql/functions; the trigger needs it now.
create function revoke_session_keys() returns trigger
language plpgsql
as 'begin return null; end';

create trigger sessions_ended after delete on sessions referencing old table as gone
    for each statement execute function revoke_session_keys();

create table invitations (
    token_hash bytea primary key
        check (octet_length(token_hash) = 32),
    user_id bigint not null
        references users (id) on delete cascade,
    purpose text not null default 'invitation'
        check (purpose in ('invitation', 'password_reset')),
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    unique (user_id, purpose)
);

comment on table invitations is 'Tokens with which a user sets a password, once. A new one replaces the user''s earlier one of the same purpose.';
comment on column invitations.token_hash is 'SHA-256 of the token, which is shown once.';
comment on column invitations.user_id is 'The user whose password it sets.';
comment on column invitations.purpose is 'invitation: given out by an administrator or a project owner. password_reset: mailed to a user who asked for it.';
comment on column invitations.created_at is 'When it was created.';
comment on column invitations.expires_at is 'When it expires. Ahead of created_at.';

create table admin_keys (
    id bigint generated always as identity primary key,
    user_id bigint not null
        references users (id) on delete cascade,
    key_hash bytea not null unique
        check (octet_length(key_hash) = 32),
    prefix text not null,
    name text not null
        check (name ~ '^[^[:cntrl:]]{1,100}$'),
    permissions text not null default 'all'
        check (permissions in ('all', 'read_only')),
    scope_project_id bigint
        references projects (id) on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    last_used_at timestamptz
);

create index admin_keys_user_id_idx on admin_keys (user_id);
create index admin_keys_prefix_idx on admin_keys (prefix);
create index admin_keys_scope_project_id_idx on admin_keys (scope_project_id) where scope_project_id is not null;

comment on table admin_keys is 'Keys of the admin API: each has the rights of its user. Only the hash is stored.';
comment on column admin_keys.id is 'Shown as admin_key_<id>.';
comment on column admin_keys.user_id is 'The user on whose behalf the key acts.';
comment on column admin_keys.key_hash is 'SHA-256 of the whole key.';
comment on column admin_keys.prefix is 'The first characters of the key: lgw_admin_ and eight more.';
comment on column admin_keys.name is 'The purpose of the key.';
comment on column admin_keys.permissions is 'all: everything that its user may do. read_only: GET requests only.';
comment on column admin_keys.scope_project_id is 'The only project in which the key may act, as an owner of it; null: all that its user may do.';
comment on column admin_keys.expires_at is 'When the key expires; null: never. Ahead of created_at.';

create table login_attempts (
    subject text primary key,
    attempts integer not null,
    first_at timestamptz not null
);

comment on table login_attempts is 'Recent login attempts, by account and by client address, to limit password guessing.';
comment on column login_attempts.subject is 'account:<email> or address:<client address>.';
comment on column login_attempts.attempts is 'The number of attempts since first_at.';
comment on column login_attempts.first_at is 'When the current count began.';

create table audit_log (
    id bigint generated always as identity primary key,
    recorded_at timestamptz not null default now(),
    actor text not null,
    actor_kind text not null
        check (actor_kind in ('session', 'api_key', 'operator')),
    user_id bigint,
    admin_key_id bigint,
    admin_key_name text,
    address text,
    project_id bigint,
    action text not null,
    target text not null,
    target_name text,
    details jsonb not null default '{}'
);

create index audit_log_project_id_idx on audit_log (project_id, id);

comment on table audit_log is 'Every change of projects, keys, settings, people and caches, written by the function that makes the change, in its transaction.';
comment on column audit_log.id is 'Ascending with time; shown as audit_log-<id>.';
comment on column audit_log.recorded_at is 'When it happened.';
comment on column audit_log.actor is 'A user''s e-mail address, or the database user of an operator with psql.';
comment on column audit_log.actor_kind is 'session: in the dashboard. api_key: with an admin API key. operator: with psql, or the proxy itself.';
comment on column audit_log.user_id is 'The user. No foreign key: the log outlives the objects that it names.';
comment on column audit_log.admin_key_id is 'The admin API key that was used.';
comment on column audit_log.admin_key_name is 'Its name at the time, because the key may be deleted.';
comment on column audit_log.address is 'Client address; null for operators.';
comment on column audit_log.project_id is 'The project of the change; null where it concerns no single one.';
comment on column audit_log.action is 'The action: project.created, api_key.deleted, login.succeeded, ...';
comment on column audit_log.target is 'The id of the changed object in the admin API.';
comment on column audit_log.target_name is 'Its name at the time, because the object may be renamed or deleted; null: it has none.';
comment on column audit_log.details is 'The changed values, never a secret.';

create table idempotent_requests (
    caller text not null,
    key_hash bytea not null
        check (octet_length(key_hash) = 32),
    request_hash bytea not null
        check (octet_length(request_hash) = 32),
    attempt uuid not null,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    target text,
    response bytea,
    primary key (caller, key_hash)
);

create index idempotent_requests_started_at_idx on idempotent_requests (started_at);

comment on table idempotent_requests is 'Changes through the admin API with an Idempotency-Key, so that they are made once; written in the transaction of the change, deleted after a day.';
comment on column idempotent_requests.caller is 'The admin key or the user who sent the request: admin_key_<id> or user_<id>.';
comment on column idempotent_requests.key_hash is 'SHA-256 of the Idempotency-Key.';
comment on column idempotent_requests.request_hash is 'SHA-256 of method, path, query and body.';
comment on column idempotent_requests.attempt is 'Identifies the request that made the change. A further change of the same request is part of it.';
comment on column idempotent_requests.started_at is 'When the change was made.';
comment on column idempotent_requests.finished_at is 'When the response was known; null: it is in flight, or its process ended before.';
comment on column idempotent_requests.target is 'The id of the object in the response; null: unknown, or none.';
comment on column idempotent_requests.response is 'The response''s body, encrypted by the proxy, because it may contain a new key; null: not stored, for lack of an encryption key.';
