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
    with sums as (
        select
            u.project_id,
            date_trunc('hour', u.recorded_at, 'UTC') as hour,
            u.key_id,
            u.endpoint,
            u.model,
            coalesce(u.provider, '') as provider,
            coalesce(u.cache_result, '') as cache_result,
            (u.status / 100)::smallint as status_class,
            count(*) as requests,
            sum(u.prompt_tokens) as prompt_tokens,
            sum(u.cached_prompt_tokens) as cached_prompt_tokens,
            sum(u.completion_tokens) as completion_tokens,
            sum(u.tokens_saved) as tokens_saved,
            sum(u.cost_usd) as cost_usd,
            sum(u.saved_usd) as saved_usd,
            sum(u.latency_ms::double precision) as latency_ms,
            sum(u.duration_ms::double precision) as duration_ms,
            floor(4 * ln(greatest(u.latency_ms, 0.01)::double precision) / ln(2::double precision))::smallint as bucket
        from unnest(
            recorded_ats, project_ids, key_ids, endpoints, models, providers, cache_results, statuses, prompt_tokens,
            cached_prompt_tokens, completion_tokens, tokens_saved, costs_usd, saved_usd, latencies_ms, durations_ms
        ) as u (
            recorded_at, project_id, key_id, endpoint, model, provider, cache_result, status, prompt_tokens,
            cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
        )
        group by 1, 2, 3, 4, 5, 6, 7, 8, 18
    )
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
        (select coalesce(json_agg(s), '[]') from sums s),
        gen_random_uuid()
    );
$$;

comment on function record_usage(
    timestamptz[], text[], bigint[], bigint[], text[], text[], text[], text[], smallint[], boolean[], integer[], integer[], integer[], integer[],
    numeric[], numeric[], real[], real[]
) is 'As the release before calls it.';
