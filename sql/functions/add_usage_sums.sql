create or replace function add_usage_sums(rows usage_pending[], grain text, sums regclass, latencies regclass) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    -- The tables differ only in the length of time that a row covers. Planned at each call: calls are a few seconds apart.
    execute format(
        $query$
            insert into %s as h
            select
                t.project_id,
                date_trunc($2, t.hour, 'UTC'),
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
            from unnest($1) t
            group by 1, 2, 3, 4, 5, 6, 7, 8
            on conflict on constraint %I do update
            set requests = h.requests + excluded.requests,
                prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
                cached_prompt_tokens = h.cached_prompt_tokens + excluded.cached_prompt_tokens,
                completion_tokens = h.completion_tokens + excluded.completion_tokens,
                tokens_saved = h.tokens_saved + excluded.tokens_saved,
                cost_usd = h.cost_usd + excluded.cost_usd,
                saved_usd = h.saved_usd + excluded.saved_usd,
                latency_ms = h.latency_ms + excluded.latency_ms,
                duration_ms = h.duration_ms + excluded.duration_ms
        $query$,
        sums, sums || '_pkey'
    )
    using rows, grain;
    execute format(
        $query$
            insert into %s as h
            select
                t.project_id,
                date_trunc($2, t.hour, 'UTC'),
                t.cache_result,
                t.bucket,
                sum(t.requests)
            from unnest($1) t
            group by 1, 2, 3, 4
            on conflict on constraint %I do update
            set requests = h.requests + excluded.requests
        $query$,
        latencies, latencies || '_pkey'
    )
    using rows, grain;
end;
$$;

comment on function add_usage_sums(usage_pending[], text, regclass, regclass) is 'Adds pending rows to each project''s sums and latency counts of this grain: hour, day or month.';
