create or replace function add_pending_usage(
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
-- Its plan is kept, as that of an sql function would not be.
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    -- Added up within the batch: a busy key's thousand records become a few rows.
    insert into usage_pending
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
        sum(u.latency_ms::double precision),
        sum(u.duration_ms::double precision),
        floor(4 * ln(greatest(u.latency_ms, 0.01)::double precision) / ln(2::double precision))::smallint
    from unnest(
        recorded_ats, project_ids, key_ids, endpoints, models, providers, cache_results, statuses, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, costs_usd, saved_usd, latencies_ms, durations_ms
    ) as u (
        recorded_at, project_id, key_id, endpoint, model, provider, cache_result, status, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
    )
    group by 1, 2, 3, 4, 5, 6, 7, 8, 18;
end;
$$;

comment on function add_pending_usage(
    timestamptz[], bigint[], bigint[], text[], text[], text[], text[], smallint[], integer[], integer[], integer[], integer[],
    numeric[], numeric[], real[], real[]
) is 'Notes a batch of usage records for roll_up_usage() to add to the sums by the hour.';
