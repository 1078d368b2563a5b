create or replace function roll_up_usage() returns bigint
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    rolled_up bigint;
begin
    -- One proxy at a time; the others find nothing to do.
    if not pg_try_advisory_xact_lock(hashtext('roll_up_usage')) then
        return 0;
    end if;
    perform set_config('synchronous_commit', 'off', true);

    with taken as materialized (
        delete from usage_pending
        returning *
    ),
    by_hour as (
        insert into usage_hourly as h
        select
            t.project_id,
            t.hour,
            t.key_id,
            t.endpoint,
            t.model,
            t.provider,
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
        from taken t
        group by 1, 2, 3, 4, 5, 6, 7, 8
        on conflict on constraint usage_hourly_pkey do update
        set requests = h.requests + excluded.requests,
            prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
            cached_prompt_tokens = h.cached_prompt_tokens + excluded.cached_prompt_tokens,
            completion_tokens = h.completion_tokens + excluded.completion_tokens,
            tokens_saved = h.tokens_saved + excluded.tokens_saved,
            cost_usd = h.cost_usd + excluded.cost_usd,
            saved_usd = h.saved_usd + excluded.saved_usd,
            latency_ms = h.latency_ms + excluded.latency_ms,
            duration_ms = h.duration_ms + excluded.duration_ms
    ),
    by_day as (
        insert into usage_daily as h
        select
            t.project_id,
            date_trunc('day', t.hour, 'UTC'),
            t.key_id,
            t.endpoint,
            t.model,
            t.provider,
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
        from taken t
        group by 1, 2, 3, 4, 5, 6, 7, 8
        on conflict on constraint usage_daily_pkey do update
        set requests = h.requests + excluded.requests,
            prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
            cached_prompt_tokens = h.cached_prompt_tokens + excluded.cached_prompt_tokens,
            completion_tokens = h.completion_tokens + excluded.completion_tokens,
            tokens_saved = h.tokens_saved + excluded.tokens_saved,
            cost_usd = h.cost_usd + excluded.cost_usd,
            saved_usd = h.saved_usd + excluded.saved_usd,
            latency_ms = h.latency_ms + excluded.latency_ms,
            duration_ms = h.duration_ms + excluded.duration_ms
    ),
    by_month as (
        insert into usage_monthly as h
        select
            t.project_id,
            date_trunc('month', t.hour, 'UTC'),
            t.key_id,
            t.endpoint,
            t.model,
            t.provider,
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
        from taken t
        group by 1, 2, 3, 4, 5, 6, 7, 8
        on conflict on constraint usage_monthly_pkey do update
        set requests = h.requests + excluded.requests,
            prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
            cached_prompt_tokens = h.cached_prompt_tokens + excluded.cached_prompt_tokens,
            completion_tokens = h.completion_tokens + excluded.completion_tokens,
            tokens_saved = h.tokens_saved + excluded.tokens_saved,
            cost_usd = h.cost_usd + excluded.cost_usd,
            saved_usd = h.saved_usd + excluded.saved_usd,
            latency_ms = h.latency_ms + excluded.latency_ms,
            duration_ms = h.duration_ms + excluded.duration_ms
    ),
    totals as (
        insert into usage_totals as h
        select
            g.grain,
            date_trunc(g.grain, t.hour, 'UTC'),
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
        from taken t
        cross join (values ('hour'), ('day')) as g (grain)
        group by 1, 2, 3, 4, 5
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
    ),
    latencies_by_hour as (
        insert into latency_hourly as h
        select
            t.project_id,
            t.hour,
            t.cache_result,
            t.bucket,
            sum(t.requests)
        from taken t
        group by 1, 2, 3, 4
        on conflict on constraint latency_hourly_pkey do update
        set requests = h.requests + excluded.requests
    ),
    latencies_by_day as (
        insert into latency_daily as h
        select
            t.project_id,
            date_trunc('day', t.hour, 'UTC'),
            t.cache_result,
            t.bucket,
            sum(t.requests)
        from taken t
        group by 1, 2, 3, 4
        on conflict on constraint latency_daily_pkey do update
        set requests = h.requests + excluded.requests
    ),
    latencies_by_month as (
        insert into latency_monthly as h
        select
            t.project_id,
            date_trunc('month', t.hour, 'UTC'),
            t.cache_result,
            t.bucket,
            sum(t.requests)
        from taken t
        group by 1, 2, 3, 4
        on conflict on constraint latency_monthly_pkey do update
        set requests = h.requests + excluded.requests
    )
    select count(*) into rolled_up from taken;
    return rolled_up;
end;
$$;

comment on function roll_up_usage() is 'Adds what is pending to the sums and the counts of latencies, by the hour, the day and the month, and returns how many rows that was. Called every few seconds.';
