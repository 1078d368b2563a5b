-- For the release before usage was told apart by the type of key.
create or replace function usage_overview(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    width text,
    zone text,
    of_model text,
    of_key bigint
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
as $$
    select * from usage_overview(of_projects, from_time, until_time, width, zone, of_model, of_key, null);
$$;

comment on function usage_overview(bigint[], timestamptz, timestamptz, text, text, text, bigint) is 'As usage_overview() with the type of key, of all types.';
