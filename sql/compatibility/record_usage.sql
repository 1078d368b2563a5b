create or replace function record_usage(
    recorded_ats timestamptz[],
    request_ids text[],
    project_ids bigint[],
    key_ids bigint[],
    endpoints text[],
    models text[],
    providers text[],
    cache_results text[],
    statuses smallint[],
    streamed boolean[],
    prompt_tokens integer[],
    cached_prompt_tokens integer[],
    completion_tokens integer[],
    tokens_saved integer[],
    costs_usd numeric[],
    saved_usd numeric[],
    latencies_ms real[],
    durations_ms real[],
    tags jsonb[],
    error_codes text[],
    error_messages text[],
    upstream_statuses smallint[],
    upstream_messages text[],
    attempts smallint[],
    asked_models text[],
    fallbacks text[],
    cache_reasons text[],
    cache_ids text[],
    similarities real[],
    completion_tokens_saved integer[],
    admissions_ms real[],
    lookups_ms real[],
    embeds_ms real[],
    upstreams_ms real[],
    first_chunks_ms real[],
    end_users text[],
    sums json,
    spending json,
    batch uuid
)
returns timestamptz
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select record_usage(
        recorded_ats, request_ids, project_ids, key_ids, endpoints, models, providers, cache_results, statuses, streamed, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, costs_usd, saved_usd, latencies_ms, durations_ms, error_codes,
        error_messages, upstream_statuses, upstream_messages, attempts, asked_models, fallbacks, cache_reasons, cache_ids, similarities,
        completion_tokens_saved, admissions_ms, lookups_ms, embeds_ms, upstreams_ms, first_chunks_ms, end_users,
        '{}', '{}', tags, array(select n::integer from generate_series(1, cardinality(tags)) n), sums, spending, batch
    );
$$;

comment on function record_usage(
    timestamptz[], text[], bigint[], bigint[], text[], text[], text[], text[], smallint[], boolean[], integer[], integer[], integer[], integer[],
    numeric[], numeric[], real[], real[], jsonb[], text[], text[], smallint[], text[], smallint[], text[], text[], text[], text[], real[],
    integer[], real[], real[], real[], real[], real[], text[], json, json, uuid
) is 'For the release before, which names no keys of providers and sends tags for each record.';
