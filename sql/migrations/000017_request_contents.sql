-- step: locked
-- What requests said and got, where a project or a key wants it kept.
lock table api_keys in access exclusive mode;

alter table api_keys add column log_content text check (log_content in ('off', 'sealed'));

comment on column api_keys.log_content is 'Whether what this key''s requests say and get is kept: off or sealed; null: as its project has it.';

create table request_contents (
    recorded_at timestamptz not null,
    project_id bigint not null,
    key_id bigint not null,
    request_id text not null,
    sealed_request bytea,
    sealed_response bytea
) partition by range (recorded_at);

create index request_contents_request_idx on request_contents (project_id, request_id);

comment on table request_contents is 'What requests said and got, sealed by the encryption key, in daily partitions; only of projects and keys whose log_content is sealed.';
comment on column request_contents.recorded_at is 'As in usage_records.';
comment on column request_contents.project_id is 'The project.';
comment on column request_contents.key_id is 'The key.';
comment on column request_contents.request_id is 'As in usage_records.';
comment on column request_contents.sealed_request is 'The request''s body, cut where it is long; null: a form, or too long to be kept.';
comment on column request_contents.sealed_response is 'The body of the answer, cut where it is long; null: none that was complete.';

alter table request_contents enable row level security;
create policy members_see on request_contents for select using (project_id in (select visible_projects()));
