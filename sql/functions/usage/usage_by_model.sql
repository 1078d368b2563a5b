create or replace function usage_by_model(project text, in_month date)
returns table (
    model text,
    provider text,
    requests bigint,
    exact_hits bigint,
    semantic_hits bigint,
    misses bigint,
    failed bigint,
    hit_rate numeric,
    prompt_tokens bigint,
    completion_tokens bigint,
    saved_tokens bigint,
    cost_usd numeric,
    saved_usd numeric
)
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    owner_id bigint := find_project(project);
    month_start timestamptz := in_month::timestamp at time zone 'utc';
    first_after timestamptz := (in_month + interval '1 month')::timestamp at time zone 'utc';
begin
    return query
    select
        u.model,
        nullif(u.provider, ''),
        coalesce(sum(u.requests), 0)::bigint,
        (coalesce(sum(u.requests) filter (where u.cache_result = 'HIT'), 0))::bigint,
        (coalesce(sum(u.requests) filter (where u.cache_result = 'HIT-SEMANTIC'), 0))::bigint,
        (coalesce(sum(u.requests) filter (where u.cache_result = 'MISS'), 0))::bigint,
        (coalesce(sum(u.requests) filter (where u.status_class >= 4), 0))::bigint,
        round(
            coalesce(sum(u.requests) filter (where u.cache_result in ('HIT', 'HIT-SEMANTIC')), 0) / nullif(sum(u.requests) filter (where u.cache_result <> ''), 0),
            4
        ),
        coalesce(sum(u.prompt_tokens), 0)::bigint,
        coalesce(sum(u.completion_tokens), 0)::bigint,
        coalesce(sum(u.tokens_saved), 0)::bigint,
        coalesce(sum(u.cost_usd), 0),
        coalesce(sum(u.saved_usd), 0)
    from usage_in_range(array[owner_id], month_start, first_after, 'all', 'UTC', 'projects') u
    group by grouping sets ((u.model, u.provider), ())
    order by grouping(u.model), sum(u.requests) desc, u.model, u.provider;
end;
$$;

comment on function usage_by_model(text, date) is 'A project''s usage in a calendar month (UTC), by model and provider, most used first; the last row, whose model is null, is the total. hit_rate: hits among the requests that reached the cache, 0 to 1. Raises on an unknown project.';
