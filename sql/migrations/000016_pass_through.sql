-- What is passed on: its models, and files and batches that providers keep for projects.

-- squawk-ignore-file
alter table models drop constraint models_kind_check;
alter table models add constraint models_kind_check
    check (kind in ('chat', 'completion', 'embedding', 'image', 'moderation', 'rerank', 'speech', 'transcription'));

comment on column models.kind is 'The operation it serves: chat, completion, embedding, image, moderation, rerank, speech, transcription.';
comment on column usage_records.endpoint is 'chat, completions, embeddings, responses, messages; what is passed on by its path: images/generations, moderations, files.';

create table kept_objects (
    position bigint generated always as identity unique,
    project_id bigint not null
        references projects (id) on delete cascade,
    id text not null
        check (char_length(id) between 1 and 256),
    collection text not null
        check (collection in ('files', 'batches')),
    provider text not null,
    purpose text,
    requests integer not null default 0
        check (requests >= 0),
    object text,
    settled boolean not null default false,
    expires_at timestamptz,
    primary key (project_id, id)
);

comment on table kept_objects is 'Files and batches that were made through the proxy: no project reaches those of another, whoever shares its account at the provider.';
comment on column kept_objects.position is 'In the order in which they were made.';
comment on column kept_objects.project_id is 'The one project that made it.';
comment on column kept_objects.id is 'The provider''s id.';
comment on column kept_objects.collection is 'files or batches.';
comment on column kept_objects.provider is 'Who keeps it: openai, groq or aggregator.';
comment on column kept_objects.purpose is 'What a file is for, as its maker said.';
comment on column kept_objects.requests is 'Of a batch''s input, the requests in it.';
comment on column kept_objects.object is 'JSON, as the provider last told it; null: not told yet.';
comment on column kept_objects.settled is 'Of a batch, whether what it used has been recorded.';
comment on column kept_objects.expires_at is 'From when on the provider has it no more; null: it stays.';

alter table kept_objects enable row level security;
create policy members_see on kept_objects for select using (project_id in (select visible_projects()));
