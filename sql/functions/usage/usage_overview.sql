create or replace function usage_overview(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    width text,
    zone text,
    of_model text,
    of_key bigint,
    of_key_type text
)
returns table (
    bucket_start timestamptz,
    requests bigint,
    exact_hits bigint,
    semantic_hits bigint,
    misses bigint,
    client_errors bigint,
    server_errors bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    tokens_saved bigint,
    cost_usd numeric,
    saved_usd numeric,
    hit_duration_ms double precision,
    miss_duration_ms double precision
)
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take ten times as long as the query.
set jit = off
as $$
    select
        h.bucket_start,
        sum(h.requests)::bigint,
        coalesce(sum(h.requests) filter (where h.cache_result = 'HIT'), 0)::bigint,
        coalesce(sum(h.requests) filter (where h.cache_result = 'HIT-SEMANTIC'), 0)::bigint,
        coalesce(sum(h.requests) filter (where h.cache_result = 'MISS'), 0)::bigint,
        coalesce(sum(h.requests) filter (where h.status_class = 4), 0)::bigint,
        coalesce(sum(h.requests) filter (where h.status_class = 5), 0)::bigint,
        sum(h.prompt_tokens)::bigint,
        sum(h.completion_tokens)::bigint,
        sum(h.tokens_saved)::bigint,
        sum(h.cost_usd),
        sum(h.saved_usd),
        coalesce(sum(h.duration_ms) filter (where h.cache_result in ('HIT', 'HIT-SEMANTIC')), 0),
        coalesce(sum(h.duration_ms) filter (where h.cache_result = 'MISS' and h.status_class = 2), 0)
    from (
        select u.bucket_start, u.cache_result, u.status_class, u.requests, u.prompt_tokens, u.completion_tokens, u.tokens_saved, u.cost_usd,
            u.saved_usd, u.duration_ms
        from usage_in_range(of_projects, from_time, until_time, width, zone, choose_usage_sums(of_projects, false, of_model is not null), false, of_model is not null) u
        where of_key is null
            and (of_model is null or u.model = of_model)
            and (of_key_type is null or (u.key_id in (select test_keys())) = (of_key_type = 'test'))
        union all
        select u.bucket_start, u.cache_result, u.status_class, u.requests, u.prompt_tokens, u.completion_tokens, u.tokens_saved, u.cost_usd,
            u.saved_usd, u.duration_ms
        from api_keys k
        cross join lateral usage_by_key(array[k.id], from_time, until_time, width, zone) u
        where k.id = of_key
            and (of_key_type is null or k.type = of_key_type)
            and (of_projects is null or k.project_id = any (of_projects))
            and (of_model is null or u.model = of_model)
    ) h
    group by 1
    having sum(h.requests) <> 0
    order by 1;
$$;

comment on function usage_overview(bigint[], timestamptz, timestamptz, text, text, text, bigint, text) is
    'The data of the dashboard''s overview: requests by cache result, tokens, cost and time, by hour, day or month of a time zone, or in one bucket (width: all); of some or all projects that the current user may see; of one model, key or type of keys (project, test), or of all. Buckets without usage are omitted. Null: of_projects, of_model, of_key, of_key_type (any).';
