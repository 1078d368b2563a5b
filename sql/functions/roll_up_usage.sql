create or replace function roll_up_usage(
    recorded_ats timestamptz[],
    project_ids bigint[],
    key_ids bigint[],
    endpoints text[],
    models text[],
    providers text[],
    cache_results text[],
    statuses smallint[],
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
    -- One order for all, here and below, so that two batches wait for each other rather than deadlock.
    insert into usage_hourly as h
    select
        u.project_id,
        date_trunc('hour', u.recorded_at, 'UTC'),
        u.key_id,
        u.endpoint,
        u.model,
        coalesce(u.provider, ''),
        coalesce(u.cache_result, ''),
        (u.status / 100)::smallint,
        count(*),
        sum(u.prompt_tokens),
        sum(u.cached_prompt_tokens),
        sum(u.completion_tokens),
        sum(u.tokens_saved),
        sum(u.cost_usd),
        sum(u.saved_usd),
        sum(u.latency_ms),
        sum(u.duration_ms)
    from unnest(
        recorded_ats, project_ids, key_ids, endpoints, models, providers, cache_results, statuses, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, costs_usd, saved_usd, latencies_ms, durations_ms
    ) as u (
        recorded_at, project_id, key_id, endpoint, model, provider, cache_result, status, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
    )
    group by 1, 2, 3, 4, 5, 6, 7, 8
    order by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict on constraint usage_hourly_pkey do update
    set requests = h.requests + excluded.requests,
        prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
        cached_prompt_tokens = h.cached_prompt_tokens + excluded.cached_prompt_tokens,
        completion_tokens = h.completion_tokens + excluded.completion_tokens,
        tokens_saved = h.tokens_saved + excluded.tokens_saved,
        cost_usd = h.cost_usd + excluded.cost_usd,
        saved_usd = h.saved_usd + excluded.saved_usd,
        latency_ms = h.latency_ms + excluded.latency_ms,
        duration_ms = h.duration_ms + excluded.duration_ms;

    insert into latency_hourly as h
    select
        u.project_id,
        date_trunc('hour', u.recorded_at, 'UTC'),
        coalesce(u.cache_result, ''),
        floor(4 * ln(greatest(u.latency_ms, 0.01)::double precision) / ln(2::double precision))::smallint,
        count(*)
    from unnest(recorded_ats, project_ids, cache_results, latencies_ms) as u (recorded_at, project_id, cache_result, latency_ms)
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict on constraint latency_hourly_pkey do update
    set requests = h.requests + excluded.requests;
$$;

comment on function roll_up_usage(
    timestamptz[], bigint[], bigint[], text[], text[], text[], text[], smallint[], integer[], integer[], integer[], integer[],
    numeric[], numeric[], real[], real[]
) is 'Adds a batch of usage records to the sums by the hour, and to the counts of latencies.';
