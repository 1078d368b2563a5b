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
set search_path = public, pg_temp
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
    from usage_within(
        of_projects,
        from_time,
        until_time,
        width,
        zone,
        of_projects is not null or of_model is not null or of_key is not null or of_key_type is not null or not is_administrator()
    ) h
    where (of_model is null or h.model = of_model)
        and (of_key is null or h.key_id = of_key)
        and (of_key_type is null or h.key_id in (select k.id from api_keys k where k.type = of_key_type))
    group by 1
    order by 1;
$$;

comment on function usage_overview(bigint[], timestamptz, timestamptz, text, text, text, bigint, text) is
    'The data of the dashboard''s overview: requests by how they were answered, tokens, money and time, by hour, day or month of a time zone; of some or all projects that the current user may see; of one model, key or type of keys (project, test), or of all. Buckets without usage are left out.';
