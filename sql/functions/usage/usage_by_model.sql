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
    first_moment timestamptz := in_month::timestamp at time zone 'utc';
    first_after timestamptz := (in_month + interval '1 month')::timestamp at time zone 'utc';
begin
    return query
    select
        r.model,
        r.provider,
        count(*),
        count(*) filter (where r.cache_result = 'HIT'),
        count(*) filter (where r.cache_result = 'HIT-SEMANTIC'),
        count(*) filter (where r.cache_result = 'MISS'),
        count(*) filter (where r.status >= 400),
        round(
            count(*) filter (where r.cache_result in ('HIT', 'HIT-SEMANTIC'))::numeric
                / nullif(count(r.cache_result), 0),
            4
        ),
        coalesce(sum(r.prompt_tokens), 0),
        coalesce(sum(r.completion_tokens), 0),
        coalesce(sum(r.tokens_saved), 0),
        coalesce(sum(r.cost_usd), 0),
        coalesce(sum(r.saved_usd), 0)
    from usage_records r
    where r.project_id = owner_id
        and r.recorded_at >= first_moment
        and r.recorded_at < first_after
    group by grouping sets ((r.model, r.provider), ())
    order by grouping(r.model), count(*) desc, r.model, r.provider;
end;
$$;

comment on function usage_by_model(text, date) is 'A project''s usage in a calendar month (UTC), by model and provider, most used first; the last row, whose model is null, is the total. hit_rate: hits among the requests that reached the cache, 0 to 1. Raises on an unknown project.';
