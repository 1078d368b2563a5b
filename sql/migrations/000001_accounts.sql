-- Who may call, how often, and with which settings: plans, projects, keys, monthly counters.

create extension if not exists vector;

create table plans (
    name text primary key
        check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    requests_per_minute_per_key integer not null
        check (requests_per_minute_per_key > 0),
    requests_per_minute_per_address integer not null
        check (requests_per_minute_per_address > 0),
    requests_per_month bigint not null
        check (requests_per_month >= 0),
    test_requests_per_minute integer not null default 20
        check (test_requests_per_minute > 0),
    test_requests_per_month bigint not null default 1000
        check (test_requests_per_month >= 0)
);

comment on table plans is 'Limits that projects subscribe to; an operator edits them with SQL and the next request obeys.';
comment on column plans.name is 'How operators and projects refer to the plan.';
comment on column plans.requests_per_minute_per_key is 'Most requests that one project key gets answered in any 60 seconds.';
comment on column plans.requests_per_minute_per_address is 'Most requests that one client address gets answered in any 60 seconds, per project.';
comment on column plans.requests_per_month is 'Most requests that all project keys of a project together get answered in a calendar month (UTC).';
comment on column plans.test_requests_per_minute is 'Most requests that one test key gets answered in any 60 seconds.';
comment on column plans.test_requests_per_month is 'Most requests that all test keys of a project together get answered in a calendar month (UTC), apart from the project''s own quota.';

create table projects (
    id bigint generated always as identity primary key,
    name text not null unique
        check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    plan text not null
        references plans (name) on update cascade on delete restrict,
    semantic_enabled boolean not null default true,
    semantic_threshold double precision not null default 0.95
        check (semantic_threshold between 0 and 1),
    semantic_guards boolean not null default true,
    cache_ttl_seconds integer not null default 604800
        check (cache_ttl_seconds between 0 and 315360000),
    cache_generation integer not null default 1,
    created_at timestamptz not null default now()
);

create index projects_plan_idx on projects (plan);

comment on table projects is 'A tenant: its plan, settings and cache configuration. Nothing cached or counted is ever shared between two projects.';
comment on column projects.id is 'Part of every cache key and of every row that belongs to the project.';
comment on column projects.name is 'What operators call it: letters, digits, dot, dash, underscore.';
comment on column projects.plan is 'The plan whose limits apply from the next request on.';
comment on column projects.semantic_enabled is 'Whether a differently worded question may be answered from the cache.';
comment on column projects.semantic_threshold is 'Cosine similarity above which two questions may count as the same: 0.0 to 1.0.';
comment on column projects.semantic_guards is 'Whether guards (numbers, negation, names, ...) veto similar but different questions.';
comment on column projects.cache_ttl_seconds is 'How long an answer stays in the cache unless the request says otherwise.';
comment on column projects.cache_generation is 'Part of every Redis key: counting it up orphans all that is cached there.';
comment on column projects.created_at is 'When the project was created.';

create table api_keys (
    id bigint generated always as identity primary key,
    project_id bigint not null
        references projects (id) on delete cascade,
    key_hash bytea not null unique
        check (octet_length(key_hash) = 32),
    prefix text not null,
    type text not null
        check (type in ('project', 'test')),
    name text not null
        check (name ~ '^[^[:cntrl:]]{1,100}$'),
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    deactivated_at timestamptz,
    last_used_at timestamptz
);

create index api_keys_project_id_idx on api_keys (project_id);
create index api_keys_prefix_idx on api_keys (prefix);
create unique index api_keys_active_name_idx on api_keys (project_id, name) where deactivated_at is null;

comment on table api_keys is 'Keys that clients authenticate with. Only the hash is kept: a key is seen once, when it is issued.';
comment on column api_keys.id is 'Referred to by usage records.';
comment on column api_keys.project_id is 'The one project that the key opens.';
comment on column api_keys.key_hash is 'SHA-256 of the whole key.';
comment on column api_keys.prefix is 'The first characters of the key, shown in lists and logs: lgw_proj_ or lgw_test_ and eight more.';
comment on column api_keys.type is 'project: standard access. test: answered by the sandbox provider, counted apart, never forwarded.';
comment on column api_keys.name is 'What the key is for; unique among the active keys of a project, so that a rotated key may inherit it.';
comment on column api_keys.created_at is 'When the key was issued.';
comment on column api_keys.expires_at is 'From when on the key is refused as invalid; null: never.';
comment on column api_keys.deactivated_at is 'From when on the key is refused as disabled; null: active.';
comment on column api_keys.last_used_at is 'Last request with this key, accurate to about a minute.';

create table provider_keys (
    project_id bigint not null
        references projects (id) on delete cascade,
    provider text not null
        check (provider in ('openai', 'anthropic', 'groq')),
    sealed bytea not null,
    last_four text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (project_id, provider)
);

comment on table provider_keys is 'A project''s own keys for direct providers, sealed before they reach the database.';
comment on column provider_keys.project_id is 'The project that pays the provider.';
comment on column provider_keys.provider is 'openai, anthropic or groq.';
comment on column provider_keys.sealed is 'AES-256-GCM: version byte, nonce, ciphertext and tag, with project and provider as associated data.';
comment on column provider_keys.last_four is 'Last four characters of the key, for listing.';
comment on column provider_keys.created_at is 'When the provider was first given a key.';
comment on column provider_keys.updated_at is 'When the key was last replaced.';

create table monthly_counters (
    project_id bigint not null
        references projects (id) on delete cascade,
    key_type text not null
        check (key_type in ('project', 'test')),
    month date not null
        check (month = date_trunc('month', month)),
    requests bigint not null default 0
        check (requests >= 0),
    primary key (project_id, key_type, month)
) with (fillfactor = 40);

comment on table monthly_counters is 'Requests answered or being answered, per project, kind of key and calendar month: what quotas are checked against.';
comment on column monthly_counters.project_id is 'The project that is counted.';
comment on column monthly_counters.key_type is 'project: against the plan''s quota. test: against the test quota.';
comment on column monthly_counters.month is 'First day of the month, UTC.';
comment on column monthly_counters.requests is 'Reserved on admission, given back when the request was refused later or failed.';
