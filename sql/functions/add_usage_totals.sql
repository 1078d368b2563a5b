create or replace function add_usage_totals(rows usage_pending[], grain text) returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    insert into usage_totals as h
    select
        grain,
        date_trunc(grain, t.hour, 'UTC'),
        t.endpoint,
        t.cache_result,
        t.status_class,
        sum(t.requests),
        sum(t.prompt_tokens),
        sum(t.cached_prompt_tokens),
        sum(t.completion_tokens),
        sum(t.tokens_saved),
        sum(t.cost_usd),
        sum(t.saved_usd),
        sum(t.latency_ms),
        sum(t.duration_ms)
    from unnest(rows) t
    group by 2, 3, 4, 5
    on conflict on constraint usage_totals_pkey do update
    set requests = h.requests + excluded.requests,
        prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
        cached_prompt_tokens = h.cached_prompt_tokens + excluded.cached_prompt_tokens,
        completion_tokens = h.completion_tokens + excluded.completion_tokens,
        tokens_saved = h.tokens_saved + excluded.tokens_saved,
        cost_usd = h.cost_usd + excluded.cost_usd,
        saved_usd = h.saved_usd + excluded.saved_usd,
        latency_ms = h.latency_ms + excluded.latency_ms,
        duration_ms = h.duration_ms + excluded.duration_ms
$$;

comment on function add_usage_totals(usage_pending[], text) is 'Adds pending rows to the sums over all projects of this grain: hour or day.';
