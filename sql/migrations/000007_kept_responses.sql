-- step: locked
lock table api_keys, projects in share row exclusive mode;

create table kept_responses (
    project_id bigint not null
        references projects (id) on delete cascade,
    key_id bigint not null
        references api_keys (id) on delete cascade,
    id text not null
        check (char_length(id) between 1 and 256),
    previous_id text,
    input text,
    response text not null,
    expires_at timestamptz not null,
    primary key (project_id, key_id, id)
);

create index kept_responses_expiry_idx on kept_responses (expires_at);
create index kept_responses_key_idx on kept_responses (key_id);

comment on table kept_responses is 'Responses that clients of /v1/responses may continue or read by id, where the provider keeps none: by project and key.';
comment on column kept_responses.project_id is 'The one project that asked.';
comment on column kept_responses.key_id is 'The one key that asked: no other reaches the response.';
comment on column kept_responses.id is 'The response''s id.';
comment on column kept_responses.previous_id is 'The response that the request continued; null: none.';
comment on column kept_responses.input is 'JSON list of the request''s own input items; null: too long to be kept.';
comment on column kept_responses.response is 'JSON, as the client got it.';
comment on column kept_responses.expires_at is 'From when on it is not found any more.';

alter table kept_responses enable row level security;
create policy members_see on kept_responses for select using (project_id in (select visible_projects()));
