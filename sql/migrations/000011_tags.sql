-- What clients say a request is for: kept with its record, and summed.

-- step: locked
lock table usage_pending, usage_records in access exclusive mode;

alter table usage_records add column tags jsonb;
alter table usage_pending add column tags jsonb;

comment on column usage_records.tags is 'What the client says the request is for: names and values; null for no tags.';
comment on column usage_pending.tags is 'As in usage_records.';

create table usage_tagged (
    project_id bigint not null,
    at timestamptz not null,
    tags jsonb not null,
    key_id bigint not null,
    endpoint text not null,
    model text not null,
    requests bigint not null,
    hits bigint not null,
    failed bigint not null,
    prompt_tokens bigint not null,
    cached_prompt_tokens bigint not null,
    completion_tokens bigint not null,
    tokens_saved bigint not null,
    cost_usd numeric(18, 9) not null,
    saved_usd numeric(18, 9) not null,
    primary key (project_id, at, tags, key_id, endpoint, model)
) with (fillfactor = 70);

comment on table usage_tagged is 'usage_records with tags, summed up by the hour. A project has at most 500 sets of tags in an hour; those beyond are summed without tags.';
comment on column usage_tagged.project_id is 'As in usage_records.';
comment on column usage_tagged.at is 'Beginning of the hour.';
comment on column usage_tagged.tags is 'As in usage_records; empty for the sets beyond the limit.';
comment on column usage_tagged.key_id is 'As in usage_records.';
comment on column usage_tagged.endpoint is 'As in usage_records.';
comment on column usage_tagged.model is 'As in usage_records.';
comment on column usage_tagged.requests is 'How many records.';
comment on column usage_tagged.hits is 'How many of them the cache answered.';
comment on column usage_tagged.failed is 'How many of them got a status from 400 on.';
comment on column usage_tagged.prompt_tokens is 'Sum over them.';
comment on column usage_tagged.cached_prompt_tokens is 'Sum over them.';
comment on column usage_tagged.completion_tokens is 'Sum over them.';
comment on column usage_tagged.tokens_saved is 'Sum over them.';
comment on column usage_tagged.cost_usd is 'Sum over them.';
comment on column usage_tagged.saved_usd is 'Sum over them.';

alter table usage_tagged enable row level security;
create policy members_see on usage_tagged for select using (project_id in (select visible_projects()));
