create or replace function page_of_requests(
    of_project bigint,
    from_time timestamptz,
    until_time timestamptz,
    of_key bigint,
    of_model text,
    of_result text,
    of_outcome text,
    of_request_id text,
    before_time timestamptz,
    before_request_id text,
    page_size integer
)
returns table (
    recorded_at timestamptz,
    request_id text,
    key_id bigint,
    key_name text,
    key_prefix text,
    endpoint text,
    model text,
    provider text,
    cache_result text,
    status smallint,
    streamed boolean,
    prompt_tokens integer,
    cached_prompt_tokens integer,
    completion_tokens integer,
    tokens_saved integer,
    cost_usd numeric,
    saved_usd numeric,
    latency_ms real,
    duration_ms real,
    tags jsonb
)
language sql
stable
set search_path = public, pg_temp
as $$
    select
        r.recorded_at,
        r.request_id,
        r.key_id,
        k.name,
        k.prefix,
        r.endpoint,
        r.model,
        r.provider,
        r.cache_result,
        r.status,
        r.streamed,
        r.prompt_tokens,
        r.cached_prompt_tokens,
        r.completion_tokens,
        r.tokens_saved,
        r.cost_usd,
        r.saved_usd,
        r.latency_ms,
        r.duration_ms,
        r.tags
    from usage_records r
    left join api_keys k on k.id = r.key_id
    where r.project_id = of_project
        and r.recorded_at >= from_time
        and r.recorded_at < until_time
        and (before_time is null or r.recorded_at <= before_time and (r.recorded_at, r.request_id) < (before_time, before_request_id))
        and (of_key is null or r.key_id = of_key)
        and (of_model is null or r.model = of_model)
        and (of_result is null or r.cache_result = of_result)
        and (of_request_id is null or r.request_id = of_request_id)
        and case of_outcome when 'ok' then r.status < 400 when 'failed' then r.status >= 400 else true end
    order by r.recorded_at desc, r.request_id desc
    limit page_size;
$$;

comment on function page_of_requests(bigint, timestamptz, timestamptz, bigint, text, text, text, text, timestamptz, text, integer) is
    'Single requests of a project within a time, newest first, after a given one; of_outcome: ok or failed. Without content, which is not stored.';
