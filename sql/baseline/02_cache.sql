-- Stored answers and vectors, and what providers keep for clients.

create table embedding_spaces (
    id integer generated always as identity primary key,
    model text not null,
    dimensions integer not null
        check (dimensions between 1 and 4000),
    precision text not null default 'half'
        check (precision = 'half'),
    created_at timestamptz not null default now(),
    has_lists boolean not null default false,
    unique (model, dimensions, precision)
);

comment on table embedding_spaces is 'Vectors are comparable only within one space: one embedding model, one number of dimensions, one precision.';
comment on column embedding_spaces.id is 'Referred to by every stored prompt vector.';
comment on column embedding_spaces.model is 'The embedder''s model name.';
comment on column embedding_spaces.dimensions is 'Length of each vector.';
comment on column embedding_spaces.precision is 'How components are stored: half (16 bit).';
comment on column embedding_spaces.created_at is 'When a proxy first used the space.';
comment on column embedding_spaces.has_lists is 'Whether large groups get lists; without, every prompt of a group is compared.';

create table cache_entries (
    id bigint generated always as identity primary key,
    project_id bigint not null,
    request_hash bytea not null
        check (octet_length(request_hash) = 32),
    namespace text not null default '',
    endpoint text not null,
    model text not null,
    provider text not null,
    response text not null,
    prompt_tokens integer not null default 0,
    completion_tokens integer not null default 0,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    test boolean not null default false,
    bytes integer not null default 0,
    key_id bigint,
    log_content text not null default 'off'
        check (log_content in ('off', 'sealed')),
    response_id text,
    policy text,
    end_user text,
    unique (project_id, request_hash)
);

create index cache_entries_expiry_idx on cache_entries (project_id, test, expires_at) where expires_at is not null;

comment on table cache_entries is 'Whole answers, found by the hash of the whole request. Redis holds copies; this is the truth.';
comment on column cache_entries.id is 'Referred to by cache_prompts.';
comment on column cache_entries.project_id is 'The only project that may be answered from this entry.';
comment on column cache_entries.request_hash is 'SHA-256 over the canonical request: namespace, endpoint, route and the whole body less what cannot change the answer.';
comment on column cache_entries.namespace is 'The client''s X-Proxy-Cache-Namespace, empty by default.';
comment on column cache_entries.model is 'The model as the client asked for it.';
comment on column cache_entries.provider is 'Who answered.';
comment on column cache_entries.response is 'The plain (unstreamed) JSON body, as the provider gave it; U+0001 and base64 where the project''s seal_answers was on.';
comment on column cache_entries.prompt_tokens is 'What a hit saves, as the provider counted it.';
comment on column cache_entries.completion_tokens is 'Completion tokens of the answer, as the provider counted them.';
comment on column cache_entries.created_at is 'When the answer was stored: its age counts from here.';
comment on column cache_entries.expires_at is 'From when on the entry is not served and may be deleted. Ahead of created_at.';
comment on column cache_entries.test is 'Whether a test key asked: such entries live at most a day, and only the latest few of a project are kept.';
comment on column cache_entries.bytes is 'What the entry takes of its project''s cache_bytes.';
comment on column cache_entries.key_id is 'The key that asked for the answer that is stored; null: not known.';
comment on column cache_entries.log_content is 'As the setting was for that key: what was stored under off is never shown, whatever the setting becomes.';
comment on column cache_entries.response_id is 'Of a sealed response of /v1/responses: its id, by which it may be deleted.';
comment on column cache_entries.policy is 'The version of the hook''s rules under which the answer passed. Null: no hook was heard about it.';
comment on column cache_entries.end_user is 'Whom it was asked for, in the form of name_end_user(); null: nobody was named.';

-- Deployed with sql/functions; the trigger needs it now.
create function record_deleted_entries() returns trigger
language plpgsql
as 'begin return null; end';

create trigger answers_deleted after delete on cache_entries referencing old table as gone
    for each statement execute function record_deleted_entries();

create table cache_prompts (
    entry_id bigint primary key
        references cache_entries (id) on delete cascade,
    project_id bigint not null,
    context_hash bytea not null
        check (octet_length(context_hash) = 32),
    normalized_hash bytea not null
        check (octet_length(normalized_hash) = 32),
    prompt text not null,
    space_id integer,
    embedding halfvec,
    in_lists boolean not null default false,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    group_key bigint not null generated always as (hashtextextended(encode(context_hash, 'hex'), project_id)) stored,
    name_key bigint not null generated always as (hashtextextended(encode(context_hash || normalized_hash, 'hex'), project_id)) stored,
    anchor_key bigint,
    check ((space_id is null) = (embedding is null))
);

alter table cache_prompts alter column embedding set storage plain;

create index cache_prompts_compared_idx on cache_prompts (group_key, space_id) where not in_lists and space_id is not null;
create index cache_prompts_name_key_idx on cache_prompts (name_key);
create index cache_prompts_anchor_idx on cache_prompts (coalesce(anchor_key, group_key));

comment on table cache_prompts is 'The one text by which an entry may be found without being asked word for word: the last user message. Kept narrow, apart from the answers, so that comparing a group of vectors reads little.';
comment on column cache_prompts.entry_id is 'The answer.';
comment on column cache_prompts.project_id is 'As in cache_entries, repeated for the index.';
comment on column cache_prompts.context_hash is 'SHA-256 over all of the request but this text; only equal contexts are compared.';
comment on column cache_prompts.normalized_hash is 'SHA-256 of the normalized text, within those who share it: equal means a hit without a vector.';
comment on column cache_prompts.prompt is 'The text as it was sent, for guards to compare with the new question; sealed as the response is.';
comment on column cache_prompts.space_id is 'The embedding space of the vector; null where it is still being made, or the embedder failed.';
comment on column cache_prompts.embedding is 'Vector of the normalized text.';
comment on column cache_prompts.in_lists is 'Whether the prompt is found through the lists of its group. Small groups have none: their prompts are compared one by one.';
comment on column cache_prompts.created_at is 'As in cache_entries, repeated so that an age limit needs no join.';
comment on column cache_prompts.expires_at is 'As in cache_entries, repeated so that expiry needs no join. Ahead of created_at.';
comment on column cache_prompts.group_key is 'Hash of project and context, to find a group by; equality of both decides.';
comment on column cache_prompts.name_key is 'Hash of project, context and normalized text, to find a prompt by; equality of all three decides.';
comment on column cache_prompts.anchor_key is 'Hash of the project, the context and what any question that asks the same has in common with the prompt: its form and the names and numbers in it. Null for prompts of a release that had none: they are compared with every question of their group.';

create table cache_groups (
    group_key bigint not null,
    space_id integer not null
        references embedding_spaces (id) on delete cascade,
    project_id bigint not null
        references projects (id) on delete cascade,
    sampled integer not null
        check (sampled >= 0),
    lists bigint unique,
    deleted_since_build bigint not null default 0,
    primary key (group_key, space_id)
);

create index cache_groups_project_id_idx on cache_groups (project_id);
create index cache_groups_space_id_idx on cache_groups (space_id);

comment on table cache_groups is 'How large groups of comparable prompts are, estimated from every sixteenth prompt: small ones have no row.';
comment on column cache_groups.space_id is 'The embedding space of the vectors counted.';
comment on column cache_groups.project_id is 'The project whose group it is.';
comment on column cache_groups.sampled is 'How many of the prompts that are compared exactly have an id that 16 divides.';
comment on column cache_groups.lists is 'Number of the table that holds the codes of the group''s prompts, in lists; null: it has none.';
comment on column cache_groups.deleted_since_build is 'Prompts that were deleted since the lists were made, and are still in them.';

create sequence cache_lists_numbers;

comment on sequence cache_lists_numbers is 'Numbers of the tables cache_lists_<number>.';

create table cached_vectors (
    project_id bigint not null
        references projects (id) on delete cascade,
    name bytea not null
        check (octet_length(name) = 32),
    vector bytea not null,
    prompt_tokens integer not null,
    response_model text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    test boolean not null default false,
    bytes integer not null generated always as (octet_length(vector) + 150) stored,
    key_id bigint,
    end_user text,
    primary key (project_id, name)
);

alter table cached_vectors alter column vector set storage external;

create index cached_vectors_expiry_idx on cached_vectors (project_id, test, expires_at) where expires_at is not null;

comment on table cached_vectors is 'Embedding vectors that were paid for, one an input: those clients asked for, and those of prompts. Redis holds copies; this is the truth.';
comment on column cached_vectors.project_id is 'The only project that may be given the vector.';
comment on column cached_vectors.name is 'SHA-256 over namespace, route, model, dimensions, all other fields that count, and the one input.';
comment on column cached_vectors.vector is 'The numbers as upstream gave them, packed by the proxy: not for comparing, for giving back.';
comment on column cached_vectors.prompt_tokens is 'What a hit saves: the input''s tokens, as upstream counted them.';
comment on column cached_vectors.response_model is 'What upstream called the model in its answer.';
comment on column cached_vectors.created_at is 'When the vector was stored: its age counts from here.';
comment on column cached_vectors.expires_at is 'From when on the vector is not given out and may be deleted. Ahead of created_at.';
comment on column cached_vectors.bytes is 'What the vector takes of its project''s cache_bytes.';
comment on column cached_vectors.key_id is 'The key that asked for it and paid.';
comment on column cached_vectors.end_user is 'Whom it was asked for, in the form of name_end_user(); null: nobody was named.';

create table cache_sizes (
    project_id bigint not null
        references projects (id) on delete cascade,
    kind text not null
        check (kind in ('answers', 'vectors')),
    test boolean not null,
    entries bigint not null,
    bytes bigint not null,
    primary key (project_id, kind, test)
);

comment on table cache_sizes is 'How much each project keeps, as of the last time that changes were added up.';
comment on column cache_sizes.project_id is 'The project.';
comment on column cache_sizes.kind is 'answers (cache_entries) or vectors (cached_vectors).';
comment on column cache_sizes.test is 'Whether they are those of test keys.';
comment on column cache_sizes.entries is 'How many there are.';
comment on column cache_sizes.bytes is 'How much they take.';

create table cache_size_changes (
    project_id bigint not null,
    kind text not null,
    test boolean not null,
    entries bigint not null,
    bytes bigint not null
);

comment on table cache_size_changes is 'What came and went since cache_sizes was added up: rows are only appended, so that nobody waits for a counter.';
comment on column cache_size_changes.project_id is 'The project; no foreign key: it may be gone by now.';
comment on column cache_size_changes.entries is 'How many more there are; below zero: fewer.';
comment on column cache_size_changes.bytes is 'How much more they take.';

create table stored_objects (
    position bigint generated always as identity unique,
    project_id bigint not null
        references projects (id) on delete cascade,
    id text not null
        check (char_length(id) between 1 and 256),
    collection text not null
        check (collection ~ '^[a-z_]{1,40}$'),
    provider text not null,
    purpose text,
    requests integer not null default 0
        check (requests >= 0),
    object text,
    settled_at timestamptz,
    expires_at timestamptz,
    models text[],
    tags jsonb,
    end_user text,
    primary key (project_id, id)
);

create index stored_objects_id_idx on stored_objects (id);

comment on table stored_objects is 'Files, batches and others that were made through the proxy: no project reaches those of another, whoever shares its account at the provider.';
comment on column stored_objects.position is 'In the order in which they were made.';
comment on column stored_objects.project_id is 'The one project that made it.';
comment on column stored_objects.id is 'The provider''s id.';
comment on column stored_objects.collection is 'files, batches, anthropic_files, message_batches, or what OpenAI alone keeps, such as videos; references: only its id is known.';
comment on column stored_objects.provider is 'Who keeps it: a vendor, or aggregator; after a slash the name of the key it was made with, unless that is default. Nothing after the slash: not made through the proxy.';
comment on column stored_objects.purpose is 'What a file is for, as its maker said.';
comment on column stored_objects.requests is 'Of a batch''s input, the requests in it.';
comment on column stored_objects.object is 'JSON, as the provider last told it; null: not told yet.';
comment on column stored_objects.settled_at is 'Of a batch, when what it used was recorded; null: it was not yet.';
comment on column stored_objects.expires_at is 'From when on the provider has it no more; null: it stays. Ahead: as the provider says.';
comment on column stored_objects.models is 'Of a batch''s input, the models that it asks for; null: not looked at, as the project allowed any when it was made.';
comment on column stored_objects.tags is 'Of a batch: the tags of the request that started it, which its usage gets. Null for none.';
comment on column stored_objects.end_user is 'Of a batch: whom its metadata names, in the form of name_end_user(); null: nobody.';

create table stored_responses (
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
    end_user text,
    item_ids text[] not null default '{}',
    unfinished boolean not null default false,
    primary key (project_id, key_id, id)
);

create index stored_responses_items_idx on stored_responses using gin (item_ids) where item_ids <> '{}';
create index stored_responses_expiry_idx on stored_responses (expires_at);
create index stored_responses_key_idx on stored_responses (key_id);

comment on table stored_responses is 'Responses that clients of /v1/responses may continue or read by id, where no provider keeps them under the project''s own key: by project and key.';
comment on column stored_responses.project_id is 'The one project that asked.';
comment on column stored_responses.key_id is 'The one key that asked: no other reaches the response.';
comment on column stored_responses.id is 'The response''s id.';
comment on column stored_responses.previous_id is 'The response that the request continued; null: none.';
comment on column stored_responses.input is 'JSON list of the request''s own input items, sealed as an entry''s response is; null: too long to be kept.';
comment on column stored_responses.response is 'JSON, as the client got it, sealed as an entry''s response is.';
comment on column stored_responses.expires_at is 'From when on it is not found any more. Ahead: at most 7 days.';
comment on column stored_responses.item_ids is 'Of a response whose provider has made the ids: those of its items, and one that stands for its input. Ids of the proxy''s own say themselves whose they are.';
comment on column stored_responses.unfinished is 'Whether its provider still makes it, in the background: it is asked for the response.';
comment on column stored_responses.end_user is 'Whom it was asked for, in the form of name_end_user(); null: nobody was named.';
