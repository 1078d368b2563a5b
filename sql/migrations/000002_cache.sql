-- What has been answered before: whole answers, the prompts they can be found by, and vectors.

create table embedding_spaces (
    id integer generated always as identity primary key,
    model text not null,
    dimensions integer not null
        check (dimensions between 1 and 4000),
    precision text not null default 'half'
        check (precision in ('half')),
    created_at timestamptz not null default now(),
    unique (model, dimensions, precision)
);

comment on table embedding_spaces is 'Vectors are comparable only within one space: one embedding model, one number of dimensions, one precision.';
comment on column embedding_spaces.id is 'Referred to by every stored prompt vector.';
comment on column embedding_spaces.model is 'The embedder''s model name.';
comment on column embedding_spaces.dimensions is 'Length of each vector.';
comment on column embedding_spaces.precision is 'How components are stored: half (16 bit).';
comment on column embedding_spaces.created_at is 'When a proxy first used the space.';

create table cache_entries (
    id bigint generated always as identity primary key,
    project_id bigint not null
        references projects (id) on delete cascade,
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
    unique (project_id, request_hash)
);

create index cache_entries_expires_at_idx on cache_entries (expires_at);

comment on table cache_entries is 'Whole answers, found by the hash of the whole request. Redis holds copies; this is the truth.';
comment on column cache_entries.id is 'Referred to by cache_prompts.';
comment on column cache_entries.project_id is 'The only project that may be answered from this entry.';
comment on column cache_entries.request_hash is 'SHA-256 over the canonical request: namespace, endpoint, route and the whole body less what cannot change the answer.';
comment on column cache_entries.namespace is 'The client''s X-Proxy-Cache-Namespace, empty by default.';
comment on column cache_entries.endpoint is 'chat, completions.';
comment on column cache_entries.model is 'The model as the client asked for it.';
comment on column cache_entries.provider is 'Who answered.';
comment on column cache_entries.response is 'The plain (unstreamed) JSON body, as the provider gave it.';
comment on column cache_entries.prompt_tokens is 'What a hit saves, as the provider counted it.';
comment on column cache_entries.completion_tokens is 'Completion tokens of the answer, as the provider counted them.';
comment on column cache_entries.created_at is 'When the answer was stored: its age counts from here.';
comment on column cache_entries.expires_at is 'From when on the entry is not served and may be deleted.';

create table cache_prompts (
    entry_id bigint primary key
        references cache_entries (id) on delete cascade,
    project_id bigint not null,
    context_hash bytea not null
        check (octet_length(context_hash) = 32),
    normalized_hash bytea not null
        check (octet_length(normalized_hash) = 32),
    prompt text not null,
    space_id integer
        references embedding_spaces (id) on delete set null,
    embedding halfvec,
    in_graph boolean not null default false,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    check ((space_id is null) = (embedding is null))
);

alter table cache_prompts alter column embedding set storage plain;

create index cache_prompts_normalized_idx on cache_prompts (project_id, context_hash, normalized_hash);
create index cache_prompts_group_idx on cache_prompts (project_id, context_hash, space_id, in_graph);
create index cache_prompts_space_id_idx on cache_prompts (space_id);

comment on table cache_prompts is 'The one text by which an entry may be found without being asked word for word: the last user message. Kept narrow, apart from the answers, so that comparing a group of vectors reads little.';
comment on column cache_prompts.entry_id is 'The answer.';
comment on column cache_prompts.project_id is 'As in cache_entries, repeated for the index.';
comment on column cache_prompts.context_hash is 'SHA-256 over all of the request but this text; only equal contexts are compared.';
comment on column cache_prompts.normalized_hash is 'SHA-256 of the normalized text: equal means a hit without a vector.';
comment on column cache_prompts.prompt is 'The text as it was sent: guards compare it with the new question.';
comment on column cache_prompts.space_id is 'The embedding space of the vector; null where the embedder failed.';
comment on column cache_prompts.embedding is 'Vector of the normalized text.';
comment on column cache_prompts.in_graph is 'False for the first few thousand prompts of a group, compared exactly; true for those beyond, found through the HNSW graph.';
comment on column cache_prompts.created_at is 'As in cache_entries, repeated so that an age limit needs no join.';
comment on column cache_prompts.expires_at is 'As in cache_entries, repeated so that expiry needs no join.';

create table cached_vectors (
    project_id bigint not null
        references projects (id) on delete cascade,
    name bytea not null
        check (octet_length(name) = 32),
    vector bytea not null,
    prompt_tokens integer not null,
    answered_as text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    primary key (project_id, name)
);

-- Out of line, so that names and expiry stay dense; never compressed, for it is packed already.
alter table cached_vectors alter column vector set storage external;
create index cached_vectors_expires_at_idx on cached_vectors (expires_at);

comment on table cached_vectors is 'Embedding vectors that were paid for, one an input: those clients asked for, and those of prompts. Redis holds copies; this is the truth.';
comment on column cached_vectors.project_id is 'The only project that may be given the vector.';
comment on column cached_vectors.name is 'SHA-256 over namespace, route, model, dimensions, all other fields that count, and the one input.';
comment on column cached_vectors.vector is 'The numbers as upstream gave them, packed by the proxy: not for comparing, for giving back.';
comment on column cached_vectors.prompt_tokens is 'What a hit saves: the input''s tokens, as upstream counted them.';
comment on column cached_vectors.answered_as is 'What upstream called the model in its answer.';
comment on column cached_vectors.created_at is 'When the vector was stored: its age counts from here.';
comment on column cached_vectors.expires_at is 'From when on the vector is not given out and may be deleted.';
