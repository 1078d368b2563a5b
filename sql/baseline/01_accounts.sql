-- Authentication, limits and settings: plans, projects, keys, counters.

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
        check (test_requests_per_month >= 0),
    max_cache_ttl_seconds integer not null default 2592000
        check (max_cache_ttl_seconds > 0),
    concurrent_requests integer not null default 1000
        check (concurrent_requests > 0),
    tokens_per_minute_per_key integer
        check (tokens_per_minute_per_key > 0)
);

comment on table plans is 'Limits that projects subscribe to. An operator changes them with SQL; they apply from the next request on.';
comment on column plans.name is 'The name of the plan.';
comment on column plans.requests_per_minute_per_key is 'Maximum number of requests of a project key in any 60 seconds.';
comment on column plans.requests_per_minute_per_address is 'Maximum number of requests of a client address in any 60 seconds, per project.';
comment on column plans.requests_per_month is 'Maximum number of requests of all project keys of a project in a calendar month (UTC).';
comment on column plans.test_requests_per_minute is 'Maximum number of requests of a test key in any 60 seconds.';
comment on column plans.test_requests_per_month is 'Maximum number of requests of all test keys of a project in a calendar month (UTC), separate from the project''s own quota.';
comment on column plans.max_cache_ttl_seconds is 'Maximum time that a response stays in the cache, whatever a project or a request sets.';
comment on column plans.concurrent_requests is 'Maximum number of requests of one key in flight in one process of the proxy.';
comment on column plans.tokens_per_minute_per_key is 'Maximum number of prompt and completion tokens of a project key in any 60 seconds; null: unlimited.';

create table projects (
    id bigint generated always as identity primary key,
    name text not null unique
        check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    plan text not null
        references plans (name) on update cascade on delete restrict,
    created_at timestamptz not null default now(),
    archived_at timestamptz,
    cache_generation integer not null default 1,
    verdict_generation integer not null default 1,
    has_budgets boolean not null default false,
    imported_id text unique
);

create index projects_plan_idx on projects (plan);

comment on table projects is 'A tenant: its plan, settings and cache configuration. Nothing cached or counted is ever shared between two projects. Each setting is a column, created by its row in setting_kinds.';
comment on column projects.id is 'Part of every cache key and of every row that belongs to the project.';
comment on column projects.name is 'The name: letters, digits, dot, dash, underscore.';
comment on column projects.plan is 'The plan whose limits apply from the next request on.';
comment on column projects.created_at is 'When the project was created.';
comment on column projects.archived_at is 'When the project was archived, and its keys deactivated; null: in use.';
comment on column projects.cache_generation is 'Part of every Redis key: incrementing it orphans all that is cached there.';
comment on column projects.verdict_generation is 'Incremented when a person gives or withdraws a verdict on a pair, or corrects a context: copies of verdicts in Redis are then invalid. 1: no person has given any.';
comment on column projects.has_budgets is 'Whether any budget is set: without one, nothing is reserved.';
comment on column projects.imported_id is 'For a project that was imported: the gateway and its id there, such as litellm:team-1. Null: created here.';

-- Deployed with sql/functions; the trigger needs it now.
create function check_settings() returns trigger
language plpgsql
as 'begin return new; end';

create trigger settings_checked before insert or update on projects
    for each row execute function check_settings();

-- Deployed with sql/functions; the trigger needs it now.
create function delete_entries_of_projects() returns trigger
language plpgsql
as 'begin return null; end';

-- Deployed with sql/functions; the triggers need it now.
create function record_limit_changes() returns trigger
language plpgsql
as 'begin return null; end';

create trigger limits_audited after update on plans
    for each row execute function record_limit_changes();
create trigger plan_audited after update of plan on projects
    for each row when (old.plan is distinct from new.plan) execute function record_limit_changes();

create trigger projects_deleted after delete on projects referencing old table as gone
    for each statement execute function delete_entries_of_projects();

create table setting_kinds (
    name text primary key,
    type setting_type not null,
    preset text not null,
    least double precision,
    most double precision,
    words text[] not null,
    help text not null,
    place integer not null default 0,
    area text not null default '',
    title text not null default '',
    choices text[] not null default '{}'
);

comment on table setting_kinds is 'The settings of projects, and their values. A new setting is a row of sql/settings, which creates its column in projects.';
comment on column setting_kinds.name is 'The setting, and the column of projects.';
comment on column setting_kinds.type is 'choice: one of words; number; whole: a number without fraction; text; models: names of models with commas between them; aliases: the same, each as name=model|fallback|…; durations: milliseconds, and model=milliseconds, with commas between them; contexts: hash=question or hash=wording, with commas between them.';
comment on column setting_kinds.preset is 'The value in new projects, and in existing ones when the setting is added.';
comment on column setting_kinds.least is 'The minimum of a number or a duration. Null: none.';
comment on column setting_kinds.most is 'The maximum of a number or a duration, of the length of a text or of the number of names. Null: none.';
comment on column setting_kinds.words is 'The choices; for another type, a description of the value for messages.';
comment on column setting_kinds.help is 'The effect of the setting: a sentence that continues after its name.';
comment on column setting_kinds.place is 'The order on a page.';
comment on column setting_kinds.area is 'The group of settings in which the dashboard shows it.';
comment on column setting_kinds.title is 'The display name.';
comment on column setting_kinds.choices is 'For each of the words of a choice: a title, a colon, and its effect.';

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
    last_used_at timestamptz,
    log_content text
        check (log_content in ('off', 'sealed')),
    requests_per_minute integer
        check (requests_per_minute > 0),
    replaced_by bigint
        references api_keys on delete cascade,
    allowed_models text[],
    allowed_addresses cidr[],
    tokens_per_minute integer
        check (tokens_per_minute > 0),
    minute_counted_until timestamptz,
    session_id bigint,
    imported_hash bytea unique
        check (octet_length(imported_hash) = 32),
    imported_expires_at timestamptz,
    is_imported boolean not null generated always as (coalesce(imported_hash = key_hash, false)) stored,
    redacted_value text not null generated always as (case when starts_with(prefix, 'lgw_') then prefix || '…' else prefix end) stored
);

create unique index api_keys_active_name_idx on api_keys (project_id, name) where deactivated_at is null;
create index api_keys_prefix_idx on api_keys (prefix);
create index api_keys_project_id_idx on api_keys (project_id);
create index api_keys_expiry_idx on api_keys (expires_at) where deactivated_at is null and expires_at is not null;
create index api_keys_replaced_by_idx on api_keys (replaced_by) where replaced_by is not null;
create index api_keys_session_id_idx on api_keys (session_id) where session_id is not null;
create index api_keys_imported_idx on api_keys (expires_at) where imported_hash is not null;

comment on table api_keys is 'Keys that clients authenticate with. Only the hash is stored: a key is shown once, when it is issued.';
comment on column api_keys.id is 'Referred to by usage records.';
comment on column api_keys.project_id is 'The project that the key gives access to.';
comment on column api_keys.key_hash is 'SHA-256 of the whole key; of a key of GoModel, of sk_gom_ and the hexadecimal SHA-256 of the rest.';
comment on column api_keys.prefix is 'The first characters of the key, shown in lists and logs: lgw_proj_ or lgw_test_ and eight more; of an imported key, what its former gateway shows of it.';
comment on column api_keys.type is 'project: standard access. test: uses the sandbox, has separate counters, and is never forwarded.';
comment on column api_keys.name is 'The name of the key; unique among the active keys of a project, so that a rotated key may inherit it.';
comment on column api_keys.created_at is 'When the key was issued.';
comment on column api_keys.expires_at is 'When the key expires and is rejected as invalid; null: never. Ahead of created_at.';
comment on column api_keys.deactivated_at is 'When the key was deactivated; it is rejected as disabled since. Null: active.';
comment on column api_keys.last_used_at is 'Last request with this key, accurate to about a minute.';
comment on column api_keys.log_content is 'Whether the contents of this key''s requests are stored: off or sealed; null: the setting of its project.';
comment on column api_keys.requests_per_minute is 'The key''s own limit, where it is lower than its plan''s; null: the plan''s.';
comment on column api_keys.replaced_by is 'For the former value of a rotated key: the key, to which its requests count until it expires.';
comment on column api_keys.allowed_models is 'Patterns of the model names that the key may request, * standing for any characters, within what its project allows; null: all of that. They do not apply to fallbacks and the judge''s model.';
comment on column api_keys.allowed_addresses is 'Networks from which requests with the key are accepted; null: any.';
comment on column api_keys.tokens_per_minute is 'The key''s own limit, where it is lower than its plan''s; null: the plan''s.';
comment on column api_keys.minute_counted_until is 'Until then the key''s requests a minute are also counted in minute_counts, because a process admits some without Redis; null: never yet. Ahead: at most 150 seconds.';
comment on column api_keys.session_id is 'For a key of the dashboard''s Playground: the login in which it was created and with which it expires. Such keys are not listed. Null for all others.';
comment on column api_keys.imported_hash is 'For a key of another gateway: the hash under which it was imported. It stays when the key is rotated, so that a later import does not restore the former value. Null: issued here.';
comment on column api_keys.imported_expires_at is 'When an imported key expires at its former gateway; null: never, or issued here.';
comment on column api_keys.is_imported is 'Whether the key''s present value comes from another gateway. It may have any format.';
comment on column api_keys.redacted_value is 'The key as it is shown: its prefix, and an ellipsis if it was issued here. What a former gateway shows of a key is already shortened.';

create table vendors (
    name text primary key
        check (name ~ '^[a-z][a-z0-9-]{0,30}$' and name not in ('aggregator', 'answer', 'embeddings', 'sandbox', 'webhook', 'wording')),
    title text
        check (title <> ''),
    base_url text
        check (base_url ~ '^https?://[^/?#@\s]+(/[^?#\s]*)?$'),
    format text not null default 'openai'
        check (format in ('openai', 'anthropic')),
    endpoints text[] not null default '{chat,completions,embeddings}'
        check (endpoints <@ array['chat', 'completions', 'embeddings', 'responses', 'messages'] and cardinality(endpoints) > 0),
    path_template text not null default '{path}'
        check (path_template ~ '^(/([\w.~-]+|\{model\}))*\{path\}$'),
    key_location text
        check (key_location ~ '^(bearer|none|(header|query):[A-Za-z][A-Za-z0-9_-]*)$'),
    query_parameters jsonb not null default '{}'
        check (
            jsonb_typeof(query_parameters) = 'object'
            and not jsonb_path_exists(query_parameters, '$.* ? (@.type() != "string")')
        ),
    sent_headers jsonb not null default '{}'
        check (
            jsonb_typeof(sent_headers) = 'object'
            and not jsonb_path_exists(sent_headers, '$.* ? (@.type() != "string" || !(@ like_regex "^[ -~]*$"))')
            and not jsonb_path_exists(sent_headers, '$.keyvalue() ? (!(@.key like_regex "^[A-Za-z][A-Za-z0-9-]*$"))')
        ),
    allows_private_address boolean,
    models_path text default '/models'
        check (models_path ~ '^/[^?#\s]*$'),
    accepts_stream_options boolean not null default true,
    output_limits text[]
        check (output_limits <@ array['max_tokens', 'max_completion_tokens'] and cardinality(output_limits) > 0),
    turn_rules text[] not null default '{}'
        check (turn_rules <@ array['empty_reasoning', 'google_signatures', 'nine_character_ids', 'no_extras']),
    honours_output_limit boolean not null default true,
    passes text[] default '{}',
    keeps text[] not null default '{}'
        check (keeps <@ array['files', 'batches', 'message_batches', 'anthropic_files']),
    headers text[] not null default '{}',
    model_names text
        -- Fails for an invalid regular expression.
        check (model_names is null or ('' ~ model_names) is not null),
    prefixes_models boolean not null default false,
    makes_models boolean not null default false,
    client_agent text
        check (client_agent is null or ('' ~ client_agent) is not null),
    price_sources text[] not null default '{}',
    place integer not null default 1000,
    source text not null default 'operator'
        check (source in ('seed', 'operator')),
    constraint vendors_address_check check (
        coalesce(allows_private_address, true)
        or (
            base_url ~ '^https:'
            and base_url !~* '^https://(localhost|[^/:]+\.(local|internal|localhost)|(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+|\[[^/]*)(:\d+)?(/|$)'
        )
    )
);

comment on table vendors is 'The providers that requests reach directly. Processes read the rows every two seconds. All columns but name and base_url have defaults.';
comment on column vendors.name is 'As in X-Proxy-Provider, and in capitals, _ for each dash, in the setting of its base address: OPENAI_BASE_URL.';
comment on column vendors.title is 'The display name; null: its name.';
comment on column vendors.base_url is 'The base URL before /chat/completions, in OpenAI''s format. Null: each installation has its own, which the setting of its base address contains.';
comment on column vendors.format is 'The API format: openai or anthropic.';
comment on column vendors.endpoints is 'The endpoints it has: chat, completions, embeddings, responses, messages. Requests to other chat endpoints are translated. With the format anthropic, always messages.';
comment on column vendors.path_template is 'What follows base_url, with the format openai: {path} is an endpoint''s path such as /chat/completions, {model} the name of the requested model. Azure''s deployments: /deployments/{model}{path}.';
comment on column vendors.key_location is 'Where requests contain the key: bearer, none, header:<name> or query:<name>. Null: bearer with the format openai, header:x-api-key with anthropic.';
comment on column vendors.query_parameters is 'Query parameters of each request, such as {"api-version": "2024-10-21"}.';
comment on column vendors.sent_headers is 'Headers of each request. They replace the client''s.';
comment on column vendors.allows_private_address is 'Whether base_url may begin with http:// or name a host of a private network. A name is not resolved. Null: yes, because the row was inserted with SQL; set_vendor() and the admin API require true.';
comment on column vendors.models_path is 'The path of its list of models after base_url; null: it has none. The list is read for projects with a key of the vendor if the catalogue has none of its models.';
comment on column vendors.accepts_stream_options is 'Whether it accepts stream_options. If not, the field is omitted, and streams must report usage without it.';
comment on column vendors.output_limits is 'The fields in which it accepts the limit of a chat response: max_tokens, max_completion_tokens; the preferred one first. A limit in another field is renamed. Null: not known; then both are sent.';
comment on column vendors.honours_output_limit is 'Whether its responses keep that limit. If not, budgets reserve each model''s longest response, as for a model whose exceeded_limit_at is set.';
comment on column vendors.passes is 'Prefixes of its other paths, such as /audio/; null: any.';
comment on column vendors.keeps is 'The collections of objects that it stores for projects: files, batches, message_batches, anthropic_files.';
comment on column vendors.headers is 'Headers of clients that it documents, in lower case; they are forwarded.';
comment on column vendors.model_names is 'A regular expression for native names of its models that no other vendor has. Null: none; then <name>/<model> reaches any of its models.';
comment on column vendors.prefixes_models is 'Whether the names of some of its models begin with its own, such as groq/compound.';
comment on column vendors.makes_models is 'Whether aggregators name models after it.';
comment on column vendors.client_agent is 'A regular expression for the user agent of its own clients; null: it has none.';
comment on column vendors.price_sources is 'Its names in the published price tables of LiteLLM and models.dev, besides its own.';
comment on column vendors.turn_rules is 'What its models require of assistant messages that another model created, in a conversation or a loop of tool calls. empty_reasoning: the field reasoning_content, if only as an empty text. google_signatures: a signature of each call, for which Google documents a placeholder. nine_character_ids: call ids of nine letters and digits. no_extras: no fields of other vendors.';
comment on column vendors.place is 'The order of preference where two vendors have a native model of the same name.';
comment on column vendors.source is 'operator: set by the operator, and not overwritten by seeds; seed: a row of this release.';

-- Deployed with sql/functions; the trigger needs it now.
create function record_vendor_changes() returns trigger
language plpgsql
as 'begin return case tg_op when ''DELETE'' then old else new end; end';

create trigger vendor_changed before insert or update or delete on vendors
    for each row execute function record_vendor_changes();

create table vendor_keys (
    vendor text primary key
        references vendors (name) on delete cascade,
    sealed bytea not null,
    last_four text not null,
    updated_at timestamptz not null default now(),
    version bigint generated always as identity
);

comment on table vendor_keys is 'The installation''s own keys for vendors, sealed before they reach the database. Projects use them that have none of their own for the vendor.';
comment on column vendor_keys.vendor is 'The vendor of the key.';
comment on column vendor_keys.sealed is 'AES-256-GCM: version byte, nonce, ciphertext and tag, with project 0 and the vendor as associated data.';
comment on column vendor_keys.last_four is 'Last four characters of the key, for listing.';
comment on column vendor_keys.updated_at is 'When the key was stored.';
comment on column vendor_keys.version is 'Changes with the key: proxies compare it to discard decrypted keys.';

create table provider_keys (
    project_id bigint not null
        references projects (id) on delete cascade,
    provider text not null
        references vendors (name) on delete restrict,
    sealed bytea not null,
    last_four text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    version bigint generated always as identity,
    name text not null default 'default'
        check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    weight integer not null default 1
        check (weight between 1 and 1000),
    primary key (project_id, provider, name)
);

comment on table provider_keys is 'A project''s own keys for direct providers, sealed before they reach the database.';
comment on column provider_keys.project_id is 'The project that pays the provider.';
comment on column provider_keys.provider is 'The provider of the key.';
comment on column provider_keys.sealed is 'AES-256-GCM: version byte, nonce, ciphertext and tag, with project and provider as associated data.';
comment on column provider_keys.last_four is 'Last four characters of the key, for listing.';
comment on column provider_keys.created_at is 'When the first key for the provider was stored.';
comment on column provider_keys.updated_at is 'When the key was last replaced.';
comment on column provider_keys.version is 'Changes with every change of the project''s keys for the provider, and is unique across projects: proxies compare it to discard decrypted keys.';
comment on column provider_keys.name is 'The name among a project''s keys for one provider; default if none was given.';
comment on column provider_keys.weight is 'The key''s share of requests, relative to the other keys of its provider.';

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

comment on table monthly_counters is 'Requests counted per project, kind of key and calendar month, including those in flight; quotas are checked against them.';
comment on column monthly_counters.project_id is 'The project that is counted.';
comment on column monthly_counters.key_type is 'project: against the plan''s quota. test: against the test quota.';
comment on column monthly_counters.month is 'First day of the month, UTC.';
comment on column monthly_counters.requests is 'Reserved on admission, and refunded if the request was rejected later or failed.';

create table admission_slots (
    slot uuid primary key,
    batch bigint not null,
    month date not null,
    granted integer[] not null,
    used_at timestamptz not null default now()
) with (fillfactor = 20);

comment on table admission_slots is 'The last batch of each slot in which proxies count requests, and its grants, in case its reply is lost. Updating a row in place costs less than inserting one for every batch.';
comment on column admission_slots.slot is 'Created by the proxy; one batch at a time uses it.';
comment on column admission_slots.batch is 'The number of the batch, incremented with each batch of the slot.';
comment on column admission_slots.month is 'The month it was counted in.';
comment on column admission_slots.granted is 'Requests reserved for each key, in the order of the batch.';
comment on column admission_slots.used_at is 'When the batch arrived. Slots that were not used for a day are deleted.';

create unlogged table minute_counts (
    project_id bigint not null,
    key_id bigint not null,
    second bigint not null,
    outside_redis integer not null default 0,
    in_redis integer not null default 0,
    recorded integer not null default 0,
    primary key (project_id, key_id, second)
);

comment on table minute_counts is 'Requests by the second, of keys that a process without Redis admits: see count_minute_requests(). Unlogged: a minute need not outlive a crash.';
comment on column minute_counts.key_id is 'The key.';
comment on column minute_counts.second is 'Seconds since the epoch, by the clock of Redis.';
comment on column minute_counts.outside_redis is 'Admitted by processes without Redis.';
comment on column minute_counts.in_redis is 'Counted in Redis, as last reported by the other processes.';
comment on column minute_counts.recorded is 'Recorded when the first process lost Redis: an estimate of what the other processes counted, until they report it.';

create table applied_batches (
    id uuid primary key,
    applied_at timestamptz not null default now()
);

create index applied_batches_applied_at_idx on applied_batches (applied_at);

comment on table applied_batches is 'Batches of refunds and usage records that were applied, so that a repeated batch has no effect. Stored for a day.';
comment on column applied_batches.id is 'Created by the proxy that sent the batch.';
comment on column applied_batches.applied_at is 'When it was first applied.';

create table service_settings (
    name text primary key,
    value text not null,
    description text not null
);

comment on table service_settings is 'Settings of the whole service that live with the data; an operator updates them with SQL.';
comment on column service_settings.name is 'The setting.';
comment on column service_settings.value is 'Its value, as text.';
comment on column service_settings.description is 'Its effect, unit and range.';

create table installation (
    is_singleton boolean default true primary key
        check (is_singleton),
    id uuid not null default gen_random_uuid(),
    seen_at timestamptz not null default now(),
    retention_clock_at timestamptz not null default now(),
    alerts_measured_at timestamptz
);

comment on table installation is 'One row that identifies the installation.';
comment on column installation.is_singleton is 'Always true: there is no second row.';
comment on column installation.id is 'Created with the database. Change it in a physical copy of a running database before a proxy starts on it.';
comment on column installation.seen_at is 'The time at the last check by a proxy, once a minute.';
comment on column installation.retention_clock_at is 'The time by which old rows are deleted. It follows the clock, but only slowly if that is set forward by more than a month.';
comment on column installation.alerts_measured_at is 'The time at which alerts were measured last; null: never.';

insert into installation default values;
