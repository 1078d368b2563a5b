-- What models cost, and what was used.

create table models (
    provider text not null,
    model text not null,
    kind text not null
        check (kind in ('chat', 'completion', 'embedding', 'image', 'moderation', 'rerank', 'speech', 'transcription')),
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
    capabilities text[] not null default '{}'
        check (capabilities <@ array['audio', 'files', 'images', 'reasoning', 'structured_output', 'tools']),
    listed boolean not null default true,
    primary key (provider, model)
);

comment on table models is 'The catalogue: what each provider offers and asks for it. provider ''aggregator'' rows are named <vendor>/<model>.';
comment on column models.provider is 'openai, anthropic, groq, or aggregator.';
comment on column models.model is 'The name a client sends: native for a direct provider, <vendor>/<model> for the aggregator.';
comment on column models.kind is 'The operation it serves: chat, completion, embedding, image, moderation, rerank, speech, transcription.';
comment on column models.context_tokens is 'Context window; null where the vendor does not say.';
comment on column models.max_output_tokens is 'Longest answer; null where the vendor does not say.';
comment on column models.input_usd_per_million is 'US dollars per million prompt tokens.';
comment on column models.cached_input_usd_per_million is 'US dollars per million prompt tokens that the provider had cached; null: as input.';
comment on column models.cache_write_usd_per_million is 'US dollars per million prompt tokens written to the provider''s cache; null: as input.';
comment on column models.output_usd_per_million is 'US dollars per million completion tokens.';
comment on column models.source is 'Where the price was read.';
comment on column models.as_of is 'When it was read.';
comment on column models.capabilities is 'What a request may hold or ask for besides text: audio, files, images, reasoning, structured_output, tools.';
comment on column models.listed is 'Whether the provider still offers it. What is gone stays, so that what was used can be priced.';

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
    duration_ms real not null,
    id uuid not null default gen_random_uuid()
) partition by range (recorded_at);

create index usage_records_project_id_idx on usage_records (project_id, recorded_at);

comment on table usage_records is 'One row a request that passed admission, in monthly partitions; written in batches off the hot path.';
comment on column usage_records.recorded_at is 'When the answer ended.';
comment on column usage_records.request_id is 'X-Request-Id of the answer.';
comment on column usage_records.project_id is 'The project. No foreign key: records outlive what they speak of.';
comment on column usage_records.key_id is 'The key.';
comment on column usage_records.endpoint is 'chat, completions, embeddings, responses, messages; what is passed on by its path: images/generations, moderations, files.';
comment on column usage_records.model is 'The model that answered: the one that was asked for, or the fallback that stood in for it.';
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
comment on column usage_records.id is 'The record''s own name; a client may send the same X-Request-Id twice.';

create table usage_sums (
    project_id bigint not null,
    grain text not null
        check (grain in ('quarter', 'hour', 'day', 'month')),
    at timestamptz not null,
    key_id bigint not null,
    endpoint text not null,
    model text not null,
    provider text not null,
    cache_result text not null,
    status_class smallint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    cached_prompt_tokens bigint not null,
    completion_tokens bigint not null,
    tokens_saved bigint not null,
    cost_usd numeric(18, 9) not null,
    saved_usd numeric(18, 9) not null,
    latency_ms double precision not null,
    duration_ms double precision not null,
    primary key (project_id, grain, at, key_id, endpoint, model, provider, cache_result, status_class)
) partition by list (grain);

create table usage_by_quarter partition of usage_sums for values in ('quarter') with (fillfactor = 70);
create table usage_by_hour partition of usage_sums for values in ('hour') with (fillfactor = 70);
create table usage_by_day partition of usage_sums for values in ('day') with (fillfactor = 70);
create table usage_by_month partition of usage_sums for values in ('month') with (fillfactor = 70);
create index usage_sums_at_idx on usage_sums using brin (at);

comment on table usage_sums is 'usage_records summed up by the quarter of an hour, the hour, and the UTC day and month; what was recorded in the last seconds is in usage_pending. One partition a grain, so that the few rows of long ones are read alone.';
comment on column usage_sums.project_id is 'As in usage_records; 0: all projects together, without key, model and provider.';
comment on column usage_sums.grain is 'Length of time that the row covers: quarter (of an hour), hour, day or month.';
comment on column usage_sums.at is 'Beginning of the time in which the answers ended.';
comment on column usage_sums.key_id is 'As in usage_records.';
comment on column usage_sums.endpoint is 'As in usage_records.';
comment on column usage_sums.model is 'As in usage_records.';
comment on column usage_sums.provider is 'As in usage_records; empty where none was reached.';
comment on column usage_sums.cache_result is 'As in usage_records; empty where the request ended before the cache.';
comment on column usage_sums.status_class is 'First digit of the HTTP status.';
comment on column usage_sums.requests is 'How many records.';
comment on column usage_sums.prompt_tokens is 'Sum over them.';
comment on column usage_sums.cached_prompt_tokens is 'Sum over them.';
comment on column usage_sums.completion_tokens is 'Sum over them.';
comment on column usage_sums.tokens_saved is 'Sum over them.';
comment on column usage_sums.cost_usd is 'Sum over them.';
comment on column usage_sums.saved_usd is 'Sum over them.';
comment on column usage_sums.latency_ms is 'Sum over them.';
comment on column usage_sums.duration_ms is 'Sum over them.';
comment on table usage_by_quarter is 'Sums by the quarter of an hour: for time zones and spans that whole hours do not fit.';
comment on table usage_by_hour is 'Sums by the hour.';
comment on table usage_by_day is 'Sums by the UTC day.';
comment on table usage_by_month is 'Sums by the UTC month.';

create table latency_counts (
    project_id bigint not null,
    grain text not null
        check (grain in ('quarter', 'hour', 'day', 'month')),
    at timestamptz not null,
    cache_result text not null,
    bucket smallint not null,
    requests bigint not null,
    primary key (project_id, grain, at, cache_result, bucket)
) partition by list (grain);

create table latency_by_quarter partition of latency_counts for values in ('quarter') with (fillfactor = 70);
create table latency_by_hour partition of latency_counts for values in ('hour') with (fillfactor = 70);
create table latency_by_day partition of latency_counts for values in ('day') with (fillfactor = 70);
create table latency_by_month partition of latency_counts for values in ('month') with (fillfactor = 70);
create index latency_counts_at_idx on latency_counts using brin (at);

comment on table latency_counts is 'How many requests took how long until the response began, by the same grains as usage_sums.';
comment on column latency_counts.project_id is 'As in usage_sums.';
comment on column latency_counts.grain is 'As in usage_sums.';
comment on column latency_counts.at is 'As in usage_sums.';
comment on column latency_counts.cache_result is 'As in usage_sums.';
comment on column latency_counts.bucket is 'n for latencies from 2^(n/4) to 2^((n+1)/4) milliseconds.';
comment on column latency_counts.requests is 'How many.';
comment on table latency_by_quarter is 'Counts by the quarter of an hour.';
comment on table latency_by_hour is 'Counts by the hour.';
comment on table latency_by_day is 'Counts by the UTC day.';
comment on table latency_by_month is 'Counts by the UTC month.';

create table usage_pending (
    project_id bigint not null,
    at timestamptz not null,
    key_id bigint not null,
    endpoint text not null,
    model text not null,
    provider text not null,
    cache_result text not null,
    status_class smallint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    cached_prompt_tokens bigint not null,
    completion_tokens bigint not null,
    tokens_saved bigint not null,
    cost_usd numeric(18, 9) not null,
    saved_usd numeric(18, 9) not null,
    latency_ms double precision not null,
    duration_ms double precision not null,
    bucket smallint not null
);

comment on table usage_pending is 'What was recorded in the last seconds, until roll_up_usage() adds it to usage_sums and latency_counts: a row that every batch rewrote would cost more than recording itself. Readers add both up.';
comment on column usage_pending.project_id is 'As in usage_sums.';
comment on column usage_pending.at is 'Beginning of the quarter of an hour.';
comment on column usage_pending.key_id is 'As in usage_sums.';
comment on column usage_pending.endpoint is 'As in usage_sums.';
comment on column usage_pending.model is 'As in usage_sums.';
comment on column usage_pending.provider is 'As in usage_sums.';
comment on column usage_pending.cache_result is 'As in usage_sums.';
comment on column usage_pending.status_class is 'As in usage_sums.';
comment on column usage_pending.requests is 'As in usage_sums.';
comment on column usage_pending.prompt_tokens is 'As in usage_sums.';
comment on column usage_pending.cached_prompt_tokens is 'As in usage_sums.';
comment on column usage_pending.completion_tokens is 'As in usage_sums.';
comment on column usage_pending.tokens_saved is 'As in usage_sums.';
comment on column usage_pending.cost_usd is 'As in usage_sums.';
comment on column usage_pending.saved_usd is 'As in usage_sums.';
comment on column usage_pending.latency_ms is 'As in usage_sums.';
comment on column usage_pending.duration_ms is 'As in usage_sums.';
comment on column usage_pending.bucket is 'As in latency_counts.';

create table refusals_hourly (
    hour timestamptz not null,
    reason text not null,
    requests bigint not null,
    primary key (hour, reason)
);

comment on table refusals_hourly is 'Requests that were refused with 401, 403 or 429, by the hour: no project need be known. Kept as long as usage.';
comment on column refusals_hourly.hour is 'Beginning of the hour in which they were counted.';
comment on column refusals_hourly.reason is 'Code of the error.';
comment on column refusals_hourly.requests is 'How many, over all proxies.';
