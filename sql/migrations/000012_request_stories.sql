-- step: locked
-- A request's whole story. Columns without a default: rows that exist are not rewritten.

lock table usage_records in access exclusive mode;

alter table usage_records
    add column error_code text,
    add column error_message text,
    add column upstream_status smallint,
    add column upstream_message text,
    add column attempts smallint,
    add column asked_model text,
    add column fallbacks text,
    add column cache_reason text,
    add column cache_id text,
    add column similarity real,
    add column completion_tokens_saved integer,
    add column admission_ms real,
    add column lookup_ms real,
    add column embed_ms real,
    add column upstream_ms real,
    add column first_chunk_ms real,
    add column end_user text,
    add column presumed boolean;

comment on column usage_records.error_code is 'Code of the error that the client got, or client_gone; null for an answer.';
comment on column usage_records.error_message is 'What the client was told, if the proxy said so itself; at most 300 characters.';
comment on column usage_records.upstream_status is 'The status of the first upstream that failed; null: none answered with one.';
comment on column usage_records.upstream_message is 'What that upstream said, without what it quotes of the prompt; at most 300 characters.';
comment on column usage_records.attempts is 'How often upstreams were asked, retries and fallbacks included; null: not at all.';
comment on column usage_records.asked_model is 'The model that was asked for, where a fallback answered.';
comment on column usage_records.fallbacks is 'Fallbacks that were asked, in order, with commas between them.';
comment on column usage_records.cache_reason is 'X-Proxy-Cache-Reason of the answer: why the cache answered, or why not.';
comment on column usage_records.cache_id is 'The cache entry that was served, or the one that nearly was.';
comment on column usage_records.similarity is 'Cosine similarity of that entrys question; null for an exact match.';
comment on column usage_records.completion_tokens_saved is 'Completion tokens served from the cache; null on a miss.';
comment on column usage_records.admission_ms is 'From the requests arrival until it was admitted.';
comment on column usage_records.lookup_ms is 'Looking for the answer in the database, the vector and the judge included; null: not looked for.';
comment on column usage_records.embed_ms is 'Of that, waiting for the questions vector; null: none was asked for.';
comment on column usage_records.upstream_ms is 'From asking the upstream to the head of its answer; null: none answered.';
comment on column usage_records.first_chunk_ms is 'From the requests arrival to the first part of a stream.';
comment on column usage_records.presumed is 'True: nobody knows what the provider charged, and tokens and cost are the most that it may have been; null: they are known.';
comment on column usage_records.end_user is 'Whom the client asks for: safety_identifier, user, or metadata.user_id; at most 128 characters.';

-- What is slow, dear or of an end user is found by itself. An exact hit is in none of them.
-- The recorder waits while they are built; requests do not.
create index usage_records_slow_idx on usage_records (project_id, duration_ms) where duration_ms >= 1000;
create index usage_records_dear_idx on usage_records (project_id, cost_usd) where cost_usd > 0;
create index usage_records_end_user_idx on usage_records (project_id, end_user, recorded_at) where end_user is not null;
