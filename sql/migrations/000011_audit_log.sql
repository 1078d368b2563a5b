-- Who changed what, and projects that are put away.

create table audit_log (
    id bigint generated always as identity primary key,
    recorded_at timestamptz not null default now(),
    actor text not null,
    actor_kind text not null
        check (actor_kind in ('session', 'api_key', 'operator')),
    user_id bigint,
    admin_key_id bigint,
    address text,
    project_id bigint,
    action text not null,
    target text not null,
    details jsonb not null default '{}'
);

create index audit_log_project_id_idx on audit_log (project_id, id);

comment on table audit_log is 'Every change of projects, keys, settings, people and caches, written by the function that made it, in its transaction.';
comment on column audit_log.id is 'In the order of time; shown as audit_log-<id>.';
comment on column audit_log.recorded_at is 'When it happened.';
comment on column audit_log.actor is 'Who: a user''s e-mail address, or the database user of an operator with psql.';
comment on column audit_log.actor_kind is 'session: in the dashboard. api_key: with an admin API key. operator: with psql, or the proxy itself.';
comment on column audit_log.user_id is 'The user. No foreign key: the log outlives what it speaks of.';
comment on column audit_log.admin_key_id is 'The admin API key that was used.';
comment on column audit_log.address is 'Client address; null for operators.';
comment on column audit_log.project_id is 'The project it happened in; null where it concerns no single one.';
comment on column audit_log.action is 'What happened: project.created, api_key.deleted, login.succeeded, ...';
comment on column audit_log.target is 'What it happened to, as the admin API names it.';
comment on column audit_log.details is 'What was changed, never a secret.';

alter table projects add column archived_at timestamptz;

comment on column projects.archived_at is 'When the project was archived, and its keys deactivated; null: in use.';
