-- Cached responses and vectors, and the objects that providers store for clients.

create table embedding_spaces (
    id integer generated always as identity primary key,
    model text not null,
    dimensions integer not null
        check (dimensions between 1 and 4000),
    precision text not null default 'half'
        check (precision = 'half'),
    created_at timestamptz not null default now(),
    unique (model, dimensions, precision)
);

comment on table embedding_spaces is 'Vectors are comparable only within one space: one embedding model, one number of dimensions, one precision.';
comment on column embedding_spaces.id is 'Referred to by every stored prompt vector.';
comment on column embedding_spaces.model is 'The embedder''s model name.';
comment on column embedding_spaces.dimensions is 'Length of each vector.';
comment on column embedding_spaces.precision is 'How components are stored: half (16 bit).';
comment on column embedding_spaces.created_at is 'When a proxy first used the space.';

create table cache_versions (
    id bigint generated always as identity primary key,
    project_id bigint not null
        references projects (id) on delete cascade,
    test boolean not null,
    namespace text not null,
    name text not null,
    version text not null,
    first_named_at timestamptz not null default now(),
    last_named_at timestamptz not null default now(),
    superseded_at timestamptz,
    purged boolean not null default false,
    unique (project_id, test, namespace, name, version)
);

create unique index cache_versions_newest_idx on cache_versions (project_id, test, namespace, name) where superseded_at is null;
create index cache_versions_unpurged_idx on cache_versions (id) where superseded_at is not null and not purged;

comment on table cache_versions is 'The versions that requests have named in X-Proxy-Cache-Version. Of each name, one is the newest; only its responses are stored and served.';
comment on column cache_versions.id is 'Referred to by cache_entries and cached_vectors.';
comment on column cache_versions.project_id is 'The project whose requests named the version.';
comment on column cache_versions.test is 'Whether test keys named it. They have a cache of their own, and therefore versions of their own.';
comment on column cache_versions.namespace is 'The namespace of these requests. Each has versions of its own.';
comment on column cache_versions.name is 'The part before the @.';
comment on column cache_versions.version is 'The part after the @.';
comment on column cache_versions.first_named_at is 'When a request first named the version.';
comment on column cache_versions.last_named_at is 'When a request last named the version, to within a day.';
comment on column cache_versions.superseded_at is 'When a newer version was first named; of one that was named too late, that time. Null: it is the newest.';
comment on column cache_versions.purged is 'Whether all entries and vectors of a superseded version are deleted.';

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
    version_id bigint,
    unique (project_id, request_hash)
);

create index cache_entries_expiry_idx on cache_entries (project_id, test, expires_at) where expires_at is not null;
create index cache_entries_version_idx on cache_entries (version_id) where version_id is not null;

comment on table cache_entries is 'Complete responses, found by the hash of the whole request. Redis holds copies; this table is authoritative.';
comment on column cache_entries.id is 'Referred to by cache_prompts.';
comment on column cache_entries.project_id is 'The only project that may use this entry.';
comment on column cache_entries.request_hash is 'SHA-256 over the canonical request: namespace, version, endpoint, route and the whole body without fields that cannot change the response.';
comment on column cache_entries.namespace is 'The client''s X-Proxy-Cache-Namespace, empty by default.';
comment on column cache_entries.model is 'The requested model.';
comment on column cache_entries.provider is 'The provider of the response.';
comment on column cache_entries.response is 'The plain (unstreamed) JSON body, as the provider returned it; U+0001 and base64 if the project''s seal_answers was on.';
comment on column cache_entries.prompt_tokens is 'The prompt tokens that a hit saves, as the provider counted them.';
comment on column cache_entries.completion_tokens is 'Completion tokens of the response, as the provider counted them.';
comment on column cache_entries.created_at is 'When the response was stored. Its age counts from this time.';
comment on column cache_entries.expires_at is 'From when on the entry is not served and may be deleted. Ahead of created_at.';
comment on column cache_entries.test is 'Whether a test key sent the request. Such entries expire within a day, and only the latest few of a project are stored.';
comment on column cache_entries.bytes is 'The entry''s share of its project''s cache_bytes.';
comment on column cache_entries.key_id is 'The key that sent the request; null: not known.';
comment on column cache_entries.log_content is 'The setting log_content of that key at the time. An entry stored under off is never shown, whatever the setting becomes.';
comment on column cache_entries.response_id is 'Of a sealed response of /v1/responses: its id, by which it may be deleted.';
comment on column cache_entries.policy is 'The version of the hook''s rules that accepted the response. Null: no hook has checked it.';
comment on column cache_entries.end_user is 'The end user of the request, in the form of name_end_user(); null: it named none.';
comment on column cache_entries.version_id is 'The version in cache_versions that the request named; null: it named none.';

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
    created_at timestamptz not null,
    expires_at timestamptz not null,
    group_key bigint not null generated always as (hashtextextended(encode(context_hash, 'hex'), project_id)) stored,
    name_key bigint not null generated always as (hashtextextended(encode(context_hash || normalized_hash, 'hex'), project_id)) stored,
    word1 integer,
    word2 integer,
    word3 integer,
    check ((space_id is null) = (embedding is null))
);

alter table cache_prompts alter column embedding set storage plain;

-- Statements that do not name the condition cannot use the index: planned for an empty table, they would prefer it to the right one.
create index cache_prompts_newest_idx on cache_prompts (group_key, space_id, created_at) where embedding is not null;
create index cache_prompts_name_key_idx on cache_prompts (name_key);
create index cache_prompts_word1_idx on cache_prompts (word1, word2) where word1 is not null;
create index cache_prompts_word2_idx on cache_prompts (word2, word3) where word2 is not null;
create index cache_prompts_word3_idx on cache_prompts (word3, word1) where word3 is not null;

comment on table cache_prompts is 'The text by which an entry can be found by differently worded requests: the last user message. It is separate from the responses, so that comparing a group of vectors reads few pages.';
comment on column cache_prompts.entry_id is 'The cache entry.';
comment on column cache_prompts.project_id is 'As in cache_entries, repeated for the index.';
comment on column cache_prompts.context_hash is 'SHA-256 over all of the request but this text; only equal contexts are compared.';
comment on column cache_prompts.normalized_hash is 'SHA-256 of the normalized text and the sharing scope: an equal hash is a hit without a vector.';
comment on column cache_prompts.prompt is 'The text as it was sent, for guards to compare with the new question; sealed as the response is.';
comment on column cache_prompts.space_id is 'The embedding space of the vector; null while it is being created, or if the embedder failed.';
comment on column cache_prompts.embedding is 'Vector of the normalized text.';
comment on column cache_prompts.created_at is 'As in cache_entries, repeated so that an age limit needs no join.';
comment on column cache_prompts.expires_at is 'As in cache_entries, repeated so that expiry needs no join. Ahead of created_at.';
comment on column cache_prompts.group_key is 'Hash of project and context, to find a group by; equality of both decides.';
comment on column cache_prompts.name_key is 'Hash of project, context and normalized text, to find a prompt by; equality of all three decides.';
comment on column cache_prompts.word1 is 'Hash of the project, the context and the rarest topic word of the text; null: it has none.';
comment on column cache_prompts.word2 is 'The same of the second topic word.';
comment on column cache_prompts.word3 is 'The same of the third topic word. The indexes find prompts by any one of the three, and by any two.';

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
    version_id bigint,
    primary key (project_id, name)
);

alter table cached_vectors alter column vector set storage external;

create index cached_vectors_expiry_idx on cached_vectors (project_id, test, expires_at) where expires_at is not null;
create index cached_vectors_version_idx on cached_vectors (project_id, version_id) where version_id is not null;

comment on table cached_vectors is 'Embedding vectors, one for each input: those that clients requested, and those of prompts. Redis holds copies; this table is authoritative.';
comment on column cached_vectors.project_id is 'The only project that may use the vector.';
comment on column cached_vectors.name is 'SHA-256 over namespace, version, route, model, dimensions, all other fields that change the response, and the one input.';
comment on column cached_vectors.vector is 'The numbers as the provider returned them, packed by the proxy: for responses, not for comparison.';
comment on column cached_vectors.prompt_tokens is 'The tokens that a hit saves: those of the input, as the provider counted them.';
comment on column cached_vectors.response_model is 'The name of the model in the provider''s response.';
comment on column cached_vectors.created_at is 'When the vector was stored. Its age counts from this time.';
comment on column cached_vectors.expires_at is 'From when on the vector is not served and may be deleted. Ahead of created_at.';
comment on column cached_vectors.bytes is 'The vector''s share of its project''s cache_bytes.';
comment on column cached_vectors.key_id is 'The key that sent the request and paid for it.';
comment on column cached_vectors.version_id is 'As in cache_entries.';

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

comment on table cache_sizes is 'The size of each project''s cache at the last update; cache_size_changes has what followed.';
comment on column cache_sizes.kind is 'answers (cache_entries) or vectors (cached_vectors).';
comment on column cache_sizes.test is 'Whether the entries are those of test keys.';
comment on column cache_sizes.entries is 'The number of entries.';
comment on column cache_sizes.bytes is 'Their size.';

create table cache_size_changes (
    project_id bigint not null,
    kind text not null,
    test boolean not null,
    entries bigint not null,
    bytes bigint not null
);

comment on table cache_size_changes is 'Changes since the last update of cache_sizes. Rows are only appended, so that no transaction waits for a counter.';
comment on column cache_size_changes.project_id is 'The project; no foreign key: it may have been deleted.';
comment on column cache_size_changes.entries is 'The change of the number of entries.';
comment on column cache_size_changes.bytes is 'The change of their size.';

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

comment on table stored_objects is 'Files, batches and other objects that were created through the proxy. No project can access those of another, even if they share an account at the provider.';
comment on column stored_objects.position is 'The order of creation.';
comment on column stored_objects.project_id is 'The project that created it.';
comment on column stored_objects.id is 'The provider''s id.';
comment on column stored_objects.collection is 'files, batches, anthropic_files, message_batches, or a collection that only OpenAI has, such as videos; references: only its id is known.';
comment on column stored_objects.provider is 'The storage provider: a vendor, or aggregator; after a slash the name of the key with which it was created, unless that is default. Nothing after the slash: not created through the proxy.';
comment on column stored_objects.purpose is 'The purpose of a file, as the client gave it.';
comment on column stored_objects.requests is 'Of a batch''s input, the requests in it.';
comment on column stored_objects.object is 'JSON, as the provider last returned it; null: not returned yet.';
comment on column stored_objects.settled_at is 'When the usage of a batch was recorded; null: not yet.';
comment on column stored_objects.expires_at is 'When the provider deletes it; null: never. Ahead: as the provider says.';
comment on column stored_objects.models is 'Of a batch''s input, the requested models; null: not read, because the project allowed any model when it was created.';
comment on column stored_objects.tags is 'Of a batch: the tags of the request that started it, which its usage gets. Null for none.';
comment on column stored_objects.end_user is 'The end user that the metadata of a batch names, in the form of name_end_user(); null: none.';

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

comment on table stored_responses is 'Responses that clients of /v1/responses may continue or read by id, if no provider stores them under the project''s own key: by project and key.';
comment on column stored_responses.project_id is 'The project that sent the request.';
comment on column stored_responses.key_id is 'The key that sent the request. No other key can access the response.';
comment on column stored_responses.id is 'The response''s id.';
comment on column stored_responses.previous_id is 'The response that the request continued; null: none.';
comment on column stored_responses.input is 'JSON list of the request''s own input items, sealed as an entry''s response is; null: too long to be stored.';
comment on column stored_responses.response is 'JSON, as sent to the client, sealed as an entry''s response is.';
comment on column stored_responses.expires_at is 'From when on it is not found any more. Ahead: at most 7 days.';
comment on column stored_responses.item_ids is 'For a response with ids of its provider: the ids of its items, and one that stands for its input. The proxy''s own ids name their project and key.';
comment on column stored_responses.unfinished is 'Whether its provider still generates it in the background. It is then read from the provider.';
comment on column stored_responses.end_user is 'The end user of the request, in the form of name_end_user(); null: it named none.';

create table stored_turns (
    project_id bigint not null
        references projects (id) on delete cascade,
    key_id bigint not null
        references api_keys (id) on delete cascade,
    name text not null
        check (name ~ '^[0-9a-f]{64}$'),
    made_by text not null,
    digest text not null
        check (digest ~ '^[0-9a-f]{64}$'),
    extras text not null,
    end_user text,
    expires_at timestamptz not null,
    primary key (project_id, key_id, name, made_by)
);

create index stored_turns_expiry_idx on stored_turns (expires_at);
create index stored_turns_key_idx on stored_turns (key_id);

comment on table stored_turns is 'Provider extras of assistant messages with tool calls, such as reasoning and signatures, by project and key. Their models require them in the next request, and many clients omit them; then they are restored.';
comment on column stored_turns.key_id is 'The key that sent the request. Extras are restored in no other key''s requests.';
comment on column stored_turns.name is 'Hash of the message''s calls: their ids, functions and arguments, or where ids may repeat, the conversation before them.';
comment on column stored_turns.made_by is 'The provider and its model, with a slash between. Extras are restored in requests to this model alone.';
comment on column stored_turns.digest is 'Hash of the extras: a message that still has them needs nothing.';
comment on column stored_turns.extras is 'JSON, sealed as an entry''s response is.';
