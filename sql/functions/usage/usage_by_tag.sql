create or replace function usage_by_tag(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    of_tags jsonb,
    of_model text,
    of_key bigint,
    of_key_type text,
    grouped_by text,
    zone text
)
returns table (
    bucket_start timestamptz,
    name text,
    requests bigint,
    hits bigint,
    failed bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    tokens_saved bigint,
    cost_usd numeric,
    saved_usd numeric
)
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take ten times as long as the query.
set jit = off
-- The planner expects few rows, and would sort them: sets of tags are hashed, and in memory, in a tenth of the time.
set enable_sort = off
set work_mem = '64MB'
as $$
    with wanted as (
        select coalesce(of_projects, case when of_key is not null then array(select k.project_id from api_keys k where k.id = of_key) end) as projects
    ),
    tagged as materialized (
        select
            case when grouped_by in ('hour', 'day', 'month') then t.bucket_start end as bucket_start,
            case when grouped_by = 'model' then t.model end as model,
            case when grouped_by = 'api_key' then t.key_id end as key_id,
            case when grouped_by = 'tag' then t.tags end as tags,
            sum(t.requests) as requests, sum(t.hits) as hits, sum(t.failed) as failed, sum(t.prompt_tokens) as prompt_tokens,
            sum(t.completion_tokens) as completion_tokens, sum(t.tokens_saved) as tokens_saved, sum(t.cost_usd) as cost_usd,
            sum(t.saved_usd) as saved_usd
        from wanted w
        cross join lateral usage_with_tags(
            w.projects,
            from_time,
            until_time,
            of_tags,
            case when grouped_by in ('hour', 'day', 'month') then grouped_by else 'all' end,
            zone,
            choose_usage_sums(of_projects, grouped_by = 'api_key' or coalesce(of_key::text, of_key_type) is not null, true)
        ) t
        where (of_model is null or t.model = of_model)
            and (of_key is null or t.key_id = of_key)
            and (of_key_type is null or t.key_id in (select k.id from api_keys k where k.type = of_key_type))
        group by 1, 2, 3, 4
        having sum(t.requests) <> 0
    ),
    named as (
        select
            t.*,
            case grouped_by
                when 'model' then t.model
                when 'api_key' then coalesce((select k.name from api_keys k where k.id = t.key_id), 'key_' || t.key_id)
                when 'tag' then g.name || '=' || g.value
            end as name
        from tagged t
        left join lateral jsonb_each_text(t.tags) as g (name, value) on grouped_by = 'tag'
    )
    select
        n.bucket_start, n.name, sum(n.requests)::bigint, sum(n.hits)::bigint, sum(n.failed)::bigint, sum(n.prompt_tokens)::bigint,
        sum(n.completion_tokens)::bigint, sum(n.tokens_saved)::bigint, sum(n.cost_usd), sum(n.saved_usd)
    from named n
    group by 1, 2
    order by 1, 3 desc, 2
    limit case when grouped_by in ('hour', 'day', 'month') then null else 20 end;
$$;

comment on function usage_by_tag(bigint[], timestamptz, timestamptz, jsonb, text, bigint, text, text, text) is
    'Usage of the requests that have all of these tags, of some or all projects that the current user may see; of one model, key or type of keys (project, test), or of all. grouped_by: hour, day or month of a time zone; or the twenty most used of model, api_key, tag. Null: of_projects, of_model, of_key, of_key_type (any).';
