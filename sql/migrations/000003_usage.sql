-- What models cost, and what was used.

create table models (
    provider text not null,
    model text not null,
    kind text not null
        check (kind in ('chat', 'completion', 'embedding')),
    context_tokens integer
        check (context_tokens > 0),
    max_output_tokens integer
        check (max_output_tokens > 0),
    input_usd_per_million numeric(12, 6) not null
        check (input_usd_per_million >= 0),
    cached_input_usd_per_million numeric(12, 6)
        check (cached_input_usd_per_million >= 0),
    cache_write_usd_per_million numeric(12, 6)
        check (cache_write_usd_per_million >= 0),
    output_usd_per_million numeric(12, 6) not null
        check (output_usd_per_million >= 0),
    source text not null,
    as_of date not null,
    primary key (provider, model)
);

comment on table models is 'The catalogue: what each provider offers and asks for it. provider ''aggregator'' rows are named <vendor>/<model>.';
comment on column models.provider is 'openai, anthropic, groq, or aggregator.';
comment on column models.model is 'The name a client sends: native for a direct provider, <vendor>/<model> for the aggregator.';
comment on column models.kind is 'The operation it serves: chat, completion, embedding.';
comment on column models.context_tokens is 'Context window; null where the vendor does not say.';
comment on column models.max_output_tokens is 'Longest answer; null where the vendor does not say.';
comment on column models.input_usd_per_million is 'US dollars per million prompt tokens.';
comment on column models.cached_input_usd_per_million is 'US dollars per million prompt tokens that the provider had cached; null: as input.';
comment on column models.cache_write_usd_per_million is 'US dollars per million prompt tokens written to the provider''s cache; null: as input.';
comment on column models.output_usd_per_million is 'US dollars per million completion tokens.';
comment on column models.source is 'Where the price was read.';
comment on column models.as_of is 'When it was read.';

create table service_settings (
    name text primary key,
    value text not null,
    description text not null
);

comment on table service_settings is 'Settings of the whole service that live with the data; an operator updates them with SQL.';
comment on column service_settings.name is 'The setting.';
comment on column service_settings.value is 'Its value, as text.';
comment on column service_settings.description is 'What it does, its unit and its range.';

create table usage_records (
    recorded_at timestamptz not null,
    request_id text not null,
    project_id bigint not null,
    key_id bigint not null,
    endpoint text not null,
    model text not null,
    provider text,
    cache_result text
        check (cache_result in ('HIT', 'HIT-SEMANTIC', 'MISS')),
    status smallint not null,
    streamed boolean not null,
    prompt_tokens integer not null,
    cached_prompt_tokens integer not null,
    completion_tokens integer not null,
    tokens_saved integer not null,
    cost_usd numeric(18, 9) not null,
    saved_usd numeric(18, 9) not null,
    latency_ms real not null,
    duration_ms real not null
) partition by range (recorded_at);

create index usage_records_project_id_idx on usage_records (project_id, recorded_at);

comment on table usage_records is 'One row a request that passed admission, in monthly partitions; written in batches off the hot path.';
comment on column usage_records.recorded_at is 'When the answer ended.';
comment on column usage_records.request_id is 'X-Request-Id of the answer.';
comment on column usage_records.project_id is 'The project. No foreign key: records outlive what they speak of.';
comment on column usage_records.key_id is 'The key.';
comment on column usage_records.endpoint is 'chat, completions, embeddings.';
comment on column usage_records.model is 'The model as the client asked for it.';
comment on column usage_records.provider is 'Who answered, or first answered; null where none was reached.';
comment on column usage_records.cache_result is 'HIT, HIT-SEMANTIC, MISS; null where the request ended before the cache.';
comment on column usage_records.status is 'HTTP status of the answer; 499 where the client went away first.';
comment on column usage_records.streamed is 'Whether the client asked for a stream.';
comment on column usage_records.prompt_tokens is 'Prompt tokens that the provider charged for; 0 on a hit.';
comment on column usage_records.cached_prompt_tokens is 'Of these, how many the provider had cached on its side.';
comment on column usage_records.completion_tokens is 'Completion tokens that the provider charged for; 0 on a hit.';
comment on column usage_records.tokens_saved is 'Prompt tokens served from the cache; 0 on a miss.';
comment on column usage_records.cost_usd is 'What the provider charged, as it reported or as the catalogue has it; 0 on a hit.';
comment on column usage_records.saved_usd is 'What the same answer would have cost; 0 on a miss.';
comment on column usage_records.latency_ms is 'From the request''s arrival to its response headers.';
comment on column usage_records.duration_ms is 'From the request''s arrival to the last byte.';
