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
    durations_ms real[]
)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    select record_usage(
        recorded_ats,
        request_ids,
        project_ids,
        key_ids,
        endpoints,
        models,
        providers,
        cache_results,
        statuses,
        streamed,
        prompt_tokens,
        cached_prompt_tokens,
        completion_tokens,
        tokens_saved,
        costs_usd,
        saved_usd,
        latencies_ms,
        durations_ms,
        gen_random_uuid()
    );
$$;

comment on function record_usage(
    timestamptz[], text[], bigint[], bigint[], text[], text[], text[], text[], smallint[], boolean[], integer[], integer[], integer[], integer[],
    numeric[], numeric[], real[], real[]
) is 'As the release before calls it.';
