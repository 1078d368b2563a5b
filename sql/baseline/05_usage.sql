-- Usage: records, their sums, and the contents of requests.

create table usage_records (
    recorded_at timestamptz not null,
    project_id bigint not null,
    request_id text not null,
    status smallint not null,
    error_code text,
    error_message text,
    endpoint text not null,
    model text not null,
    asked_model text,
    fallbacks text,
    provider text,
    provider_keys text,
    cache_result text
        check (cache_result in ('HIT', 'HIT-SEMANTIC', 'MISS')),
    cache_reason text,
    cache_id text,
    refreshed boolean,
    asked_id text,
    similarity real,
    cache_decision jsonb,
    streamed boolean not null,
    prompt_tokens integer not null,
    cached_prompt_tokens integer not null,
    completion_tokens integer not null,
    tokens_saved integer not null,
    completion_tokens_saved integer,
    cost_usd numeric(18, 9) not null,
    cost_estimated text
        check (cost_estimated in ('client_left', 'provider_failed', 'provider_silent', 'proxy_stopped', 'not_reported')),
    doubtful_usd numeric(18, 9),
    saved_usd numeric(18, 9) not null,
    latency_ms real not null,
    duration_ms real not null,
    admission_ms real,
    lookup_ms real,
    embed_ms real,
    upstream_ms real,
    first_chunk_ms real,
    attempts smallint,
    attempt_list jsonb,
    upstream_status smallint,
    upstream_message text,
    key_id bigint not null,
    end_user text,
    tags jsonb,
    session text,
    cache_write_tokens integer,
    prompt_cache_saved_usd numeric(18, 9)
) partition by range (recorded_at);

create index usage_records_project_id_idx on usage_records (project_id, recorded_at);
-- Slow, expensive and end users' requests have partial indexes. Exact hits are in none of them.
create index usage_records_slow_idx on usage_records (project_id, duration_ms, recorded_at) where duration_ms >= 1000;
create index usage_records_dear_idx on usage_records (project_id, cost_usd, recorded_at) where cost_usd > 0;
create index usage_records_end_user_idx on usage_records (project_id, end_user, recorded_at) where end_user is not null;
create index usage_records_user_tag_idx on usage_records (project_id, (tags ->> 'user_id'), recorded_at) where tags ? 'user_id';
create index usage_records_session_idx on usage_records (project_id, session, recorded_at) where session is not null;
create index usage_records_sessions_idx on usage_records (project_id, recorded_at) where session is not null;
create index usage_records_estimated_idx on usage_records (project_id, recorded_at) where cost_estimated is not null;
create index usage_records_failed_idx on usage_records (project_id, status, recorded_at) where status >= 400;
create index usage_records_failed_slow_idx on usage_records (project_id, duration_ms, recorded_at) where status >= 400 and duration_ms >= 1000;
create index usage_records_failed_dear_idx on usage_records (project_id, cost_usd, recorded_at) where status >= 400 and cost_usd > 0;
create index usage_records_error_idx on usage_records (project_id, error_code, recorded_at) where error_code is not null;
-- A client may choose the id, so the id implies no time. This index takes a hundredth of the space of a B-tree, and of the time to maintain
-- it.
create index usage_records_ids_idx on usage_records using brin (request_id text_bloom_ops(false_positive_rate = 0.001), asked_id text_bloom_ops(false_positive_rate = 0.001)) with (pages_per_range = 64, autosummarize = on);

comment on table usage_records is 'One row for each admitted request, in partitions of a month, or of a day at high volume; written in batches in the background.';
comment on column usage_records.recorded_at is 'When the response ended.';
comment on column usage_records.project_id is 'The project. No foreign key: records are kept after the project is deleted.';
comment on column usage_records.request_id is 'X-Request-Id of the response.';
comment on column usage_records.status is 'HTTP status of the response; 499 if the client disconnected before.';
comment on column usage_records.error_code is 'Code of the error that the client got, or client_gone if the client disconnected (cost_estimated: client_left); null without an error.';
comment on column usage_records.error_message is 'The error message to the client, if the proxy wrote it; at most 300 characters.';
comment on column usage_records.endpoint is 'chat, completions, embeddings, responses, messages; pass-through requests by their path: images/generations, moderations, files.';
comment on column usage_records.model is 'The model that responded: the requested one, or a fallback.';
comment on column usage_records.asked_model is 'The requested name, if it was an alias or a fallback responded.';
comment on column usage_records.fallbacks is 'Fallbacks that were called, in order, separated by commas.';
comment on column usage_records.provider is 'The provider that responded, or that responded first; null if none was reached.';
comment on column usage_records.provider_keys is 'If the project has several keys of the provider: the names of those that were used, in order, separated by commas. A key that was rejected is followed by the status 401, 403 or 429.';
comment on column usage_records.cache_result is 'HIT, HIT-SEMANTIC, MISS; null where the request ended before the cache.';
comment on column usage_records.cache_reason is 'X-Proxy-Cache-Reason of the response: the reason for the hit or the miss.';
comment on column usage_records.cache_id is 'The cache entry that was served, or the nearest one that was not served.';
comment on column usage_records.refreshed is 'True: the request bypassed cached responses (Cache-Control: no-cache), and its response replaces them; null: it did not.';
comment on column usage_records.asked_id is 'The beginning of a hash of the request, which is the same for identical requests of all callers; null: not cached as a whole.';
comment on column usage_records.similarity is 'Cosine similarity of that entry''s question; null for an exact match.';
comment on column usage_records.cache_decision is 'How the lookup compared other wordings: policy, risk (the verifier''s operating point; null: it was not asked), threshold, cosine (of the texts; null: it is the similarity), compared (the number of candidates), scope (who shares the response), veto (the law that the nearest candidate breaks, or prose: it is no plain question), verdict (whose, and what it says) and objections (what spoke most against it, for near misses and verified matches: number, effect on the log odds). Null: nothing was compared.';
comment on column usage_records.streamed is 'Whether the client requested a stream.';
comment on column usage_records.prompt_tokens is 'Prompt tokens that the provider charged for; 0 on a hit.';
comment on column usage_records.cached_prompt_tokens is 'The number of these that the provider had cached.';
comment on column usage_records.completion_tokens is 'Completion tokens that the provider charged for; 0 on a hit.';
comment on column usage_records.tokens_saved is 'Prompt tokens served from the cache; 0 on a miss.';
comment on column usage_records.completion_tokens_saved is 'Completion tokens served from the cache; null on a miss.';
comment on column usage_records.cost_usd is 'The cost, as the provider reported it or by the catalogue''s prices; 0 on a hit.';
comment on column usage_records.cost_estimated is 'Why tokens and cost are estimated: client_left, provider_failed (it reported an error, or broke off), provider_silent, proxy_stopped, not_reported. The estimate is the prompt and the output that arrived. Null: they are as the provider reported them.';
comment on column usage_records.doubtful_usd is 'The amount that the provider may have charged beyond cost_usd. It stays reserved in budgets for six hours. Null: nothing, or not known.';
comment on column usage_records.saved_usd is 'The cost that the hit saved; 0 on a miss.';
comment on column usage_records.latency_ms is 'From the request''s arrival to its response headers.';
comment on column usage_records.duration_ms is 'From the request''s arrival to the last byte.';
comment on column usage_records.admission_ms is 'From the request''s arrival until it was admitted.';
comment on column usage_records.lookup_ms is 'Time of the cache lookup, including the vector and the judge; null: no lookup.';
comment on column usage_records.embed_ms is 'The part of lookup_ms that was spent waiting for the question''s vector; null: none was requested.';
comment on column usage_records.upstream_ms is 'Time from the call of the provider to its response headers; null: none responded.';
comment on column usage_records.first_chunk_ms is 'From the request''s arrival to the first part of a stream.';
comment on column usage_records.attempts is 'The number of upstream calls, including retries and fallbacks; null: none.';
comment on column usage_records.attempt_list is 'The calls of providers if any of them failed, at most the last 50, in order: model, provider, key (its name), kind (of failure), status and ms (until the response began or the call failed). A call without a kind succeeded. The kinds circuit_open and resting mean that the provider was not called.';
comment on column usage_records.upstream_status is 'The status of the first upstream call that failed; null: none failed with a status.';
comment on column usage_records.upstream_message is 'The error message of that upstream call, without quotes of the prompt; at most 300 characters.';
comment on column usage_records.key_id is 'The key.';
comment on column usage_records.end_user is 'The end user that the request names: safety_identifier, user, or metadata.user_id. A name that is longer than 128 characters or unprintable is shortened to its beginning and a hash, as by name_end_user().';
comment on column usage_records.tags is 'The client''s tags: names and values; null for no tags.';
comment on column usage_records.session is 'The agent''s task or conversation to which the request belongs: as a header of a known agent, metadata.session_id, metadata.user_id (Claude Code) or prompt_cache_key names it, or opening- and a hash of the conversation''s beginning; in the form of end_user. Null: a request of its own.';
comment on column usage_records.cache_write_tokens is 'The number of prompt tokens that the provider wrote to its prompt cache and charged extra for; null: none.';
comment on column usage_records.prompt_cache_saved_usd is 'What the provider''s prompt cache saved: the cost by the catalogue''s prices without it, less the cost with it. Below zero if writing cost more than reading saved. Null: it was not used, or the price is not known.';

create table request_contents (
    recorded_at timestamptz not null,
    project_id bigint not null,
    key_id bigint not null,
    request_id text not null,
    sealed_request bytea,
    sealed_response bytea,
    end_user text
) partition by range (recorded_at);

create index request_contents_request_idx on request_contents (project_id, request_id);
create index request_contents_end_user_idx on request_contents (project_id, end_user) where end_user is not null;

comment on table request_contents is 'The bodies of requests and responses, sealed with the encryption key, in daily partitions; only of projects and keys whose log_content is sealed.';
comment on column request_contents.sealed_request is 'The request''s body, truncated if it is long; null: a form, or too long to be stored.';
comment on column request_contents.sealed_response is 'The body of the response, truncated if it is long; null: there was no complete one.';
comment on column request_contents.end_user is 'As in usage_records.';

-- Measured with 1.5 million records of a year, each grain is worth its rows. Without months, a year of all projects takes 200 ms instead of
-- 3; without hours, 30 days by the hour take 57 ms instead of 9; without quarters, days of India would be read record by record. Ids from a
-- table of dimensions, instead of names, would save 30 % of the space, and cost each report a join.
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
    slow_requests bigint not null,
    primary key (project_id, grain, at, key_id, endpoint, model, provider, cache_result, status_class)
) partition by list (grain);

create index usage_sums_at_idx on usage_sums using brin (at);

comment on table usage_sums is 'usage_records summed up by the quarter of an hour, the hour, and the UTC day and month; usage of the last seconds is in usage_pending. There is one partition per grain.';
comment on column usage_sums.project_id is 'As in usage_records; 0: all projects together, by type of key; below 0: the project of this number without its sign, by type of key, without endpoint, model and provider.';
comment on column usage_sums.key_id is 'The key. In sums by type of key, its type, as in key_type_id().';
comment on column usage_sums.grain is 'Length of time that the row covers: quarter (of an hour), hour, day or month.';
comment on column usage_sums.at is 'Start of the time in which the responses ended.';
comment on column usage_sums.provider is 'As in usage_records; empty where none was reached.';
comment on column usage_sums.cache_result is 'As in usage_records; empty where the request ended before the cache.';
comment on column usage_sums.status_class is 'First digit of the HTTP status.';
comment on column usage_sums.requests is 'The number of records.';
comment on column usage_sums.slow_requests is 'The number of them with a latency of a second or more.';

create table usage_sums_by_tag (
    project_id bigint not null,
    grain text not null
        check (grain in ('hour', 'day', 'month')),
    at timestamptz not null,
    tags jsonb not null,
    key_id bigint not null,
    endpoint text not null,
    model text not null,
    requests bigint not null,
    hits bigint not null,
    misses bigint not null,
    failed bigint not null,
    prompt_tokens bigint not null,
    cached_prompt_tokens bigint not null,
    completion_tokens bigint not null,
    tokens_saved bigint not null,
    cost_usd numeric(18, 9) not null,
    saved_usd numeric(18, 9) not null,
    primary key (project_id, grain, at, tags, key_id, endpoint, model)
) partition by list (grain);

create index usage_sums_by_tag_at_idx on usage_sums_by_tag using brin (at);

comment on table usage_sums_by_tag is 'usage_records with tags, summed up by the hour, and the UTC day and month. A project has at most 500 sets of tags in an hour; those beyond are summed without tags, in the days and months too.';
comment on column usage_sums_by_tag.project_id is 'As in usage_records; 0: all projects together, by type of key.';
comment on column usage_sums_by_tag.grain is 'Length of time that the row covers: hour, day or month.';
comment on column usage_sums_by_tag.tags is 'As in usage_records; empty for the sets beyond the limit.';
comment on column usage_sums_by_tag.hits is 'The number of cache hits among them.';
comment on column usage_sums_by_tag.misses is 'The number of cache misses among them. The rest did not reach the cache.';
comment on column usage_sums_by_tag.failed is 'The number of them with a status from 400 on.';

-- Tags are here too, separate from their sets: the most used tags of a month are found in one row for each tag and day, not in one for each
-- set, key and model.
create table usage_sums_by_name (
    project_id bigint not null,
    grain text not null
        check (grain in ('hour', 'day', 'third', 'month')),
    kind text not null
        check (kind in ('end_user', 'provider_key', 'tag')),
    at timestamptz not null,
    name text not null,
    key_type text not null
        check (key_type in ('project', 'test')),
    requests bigint not null,
    hits bigint not null,
    misses bigint not null,
    failed bigint not null,
    tokens bigint not null,
    cost_usd numeric(18, 9) not null,
    saved_usd numeric(18, 9) not null,
    primary key (project_id, grain, kind, at, name, key_type)
) partition by list (grain);

create index usage_sums_by_name_at_idx on usage_sums_by_name using brin (at);
create index usage_sums_by_name_name_idx on usage_sums_by_name (project_id, name);

comment on table usage_sums_by_name is 'usage_records summed up by the end user, the provider key and each tag, and by the UTC day, third of a month and month; by tag also by the hour. Tags are those that usage_sums_by_tag has.';
comment on column usage_sums_by_name.project_id is 'As in usage_records; 0: the tags of all projects together.';
comment on column usage_sums_by_name.grain is 'Length of time that the row covers: hour (tags only), day, third (of a month, from the 1st, 11th or 21st on) or month.';
comment on column usage_sums_by_name.kind is 'Whose name it is: end_user, provider_key or tag.';
comment on column usage_sums_by_name.name is 'The end user as in usage_records, the provider key as name_provider_key() names it, or the tag as name=value.';
comment on column usage_sums_by_name.key_type is 'The type of the keys.';
comment on column usage_sums_by_name.tokens is 'Prompt and completion tokens.';

create table usage_tag_filters (
    project_id bigint not null,
    at timestamptz not null,
    bits bit(32768) not null,
    primary key (project_id, at)
);

create index usage_tag_filters_at_idx on usage_tag_filters using brin (at);

comment on table usage_tag_filters is 'A Bloom filter of the sets of tags whose usage usage_sums_by_tag has without tags: it shows whether an hour may have requests with a tag.';
comment on column usage_tag_filters.at is 'Beginning of the hour.';
comment on column usage_tag_filters.bits is 'The bits of all these sets, as tag_bits() gives them.';

-- Separate from the sums: percentiles read one row for each bucket, not one for each key, model and provider.
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

create index latency_counts_at_idx on latency_counts using brin (at);

comment on table latency_counts is 'Counts of requests by the time until their response began, by the same grains as usage_sums.';
comment on column latency_counts.project_id is 'As in usage_records; 0: all projects together.';
comment on column latency_counts.bucket is 'n for latencies from 2^(n/4) to 2^((n+1)/4) milliseconds.';

create table usage_pending (
    like usage_sums,
    bucket smallint not null,
    tags jsonb,
    miss_reason text,
    end_user text,
    provider_keys text
);

-- The table has no rows yet.
-- squawk-ignore ban-drop-column
alter table usage_pending drop column grain;

comment on table usage_pending is 'Usage of the last seconds, until roll_up_usage() adds it to usage_sums and latency_counts: updating a sum with every batch would cost more than recording itself. Readers add both.';
comment on column usage_pending.at is 'Start of the quarter of an hour.';
comment on column usage_pending.miss_reason is 'cache_reason of misses; null for other requests.';

create table usage_miss_sums (
    project_id bigint not null,
    at timestamptz not null,
    miss_reason text not null,
    requests bigint not null,
    cost_usd numeric(18, 9) not null,
    primary key (project_id, at, miss_reason)
) with (fillfactor = 70);

comment on table usage_miss_sums is 'Misses summed up by their reason and the UTC day.';
comment on column usage_miss_sums.at is 'Start of the day.';
comment on column usage_miss_sums.miss_reason is 'As cache_reason in usage_records; empty where none was given.';

create table rejections_hourly (
    hour timestamptz not null,
    reason text not null,
    project_id bigint not null,
    key_id bigint not null,
    requests bigint not null,
    primary key (hour, reason, project_id, key_id)
);

comment on table rejections_hourly is 'All requests that were rejected with 401, 403 or 429, by hour, reason and key, including those without a known key. Stored as long as usage.';
comment on column rejections_hourly.hour is 'Start of the hour in which they were counted.';
comment on column rejections_hourly.reason is 'Code of the error.';
comment on column rejections_hourly.project_id is 'The key''s project; 0 without a known key. No foreign key: counts are kept after the project is deleted.';
comment on column rejections_hourly.key_id is 'The key, which may be deactivated or expired; 0: none, or an unknown one.';
comment on column rejections_hourly.requests is 'The number of requests, over all proxies.';

-- Sums and counts of each grain, each stored apart: else the rows of a long grain would be scattered among those of the others. Quarters
-- serve time zones and times that whole hours do not fit; months and days make a year fast to read.
do $$
declare
    parent text;
    prefix text;
    grain text;
    is_divided boolean;
begin
    for parent, prefix, grain, is_divided in
        select t.parent, t.prefix, g.grain, t.has_quarters and g.grain in ('quarter', 'hour')
        from (
            values
                ('usage_sums', 'usage_by_', true, '{quarter,hour,day,month}'::text[]),
                ('latency_counts', 'latency_by_', true, '{quarter,hour,day,month}'),
                ('usage_sums_by_tag', 'tags_by_', false, '{hour,day,month}'),
                ('usage_sums_by_name', 'names_by_', false, '{hour,day,third,month}')
        ) as t (parent, prefix, has_quarters, grains)
        cross join unnest(t.grains) as g (grain)
    loop
        execute format(
            'create table %I partition of %I for values in (%L) %s',
            prefix || grain, parent, grain, case when is_divided then 'partition by range (at)' else 'with (fillfactor = 70)' end
        );
        execute format(
            'comment on table %I is %L',
            prefix || grain,
            case grain when 'quarter' then 'By the quarter of an hour' when 'third' then 'By the third of a month' else 'By the ' || grain end
                || case when is_divided then ', in partitions of a month.' else ' of UTC.' end
        );
        continue when not is_divided;
        -- Receives the records of a wrong clock.
        execute format(
            'create table %1$s_before partition of %1$I for values from (minvalue) to (%2$L) with (fillfactor = 70)',
            prefix || grain, date_trunc('month', now(), 'UTC')
        );
        execute format('comment on table %s_before is %L', prefix || grain, 'Rows from before the month in which the database was created.');
    end loop;
end
$$;
