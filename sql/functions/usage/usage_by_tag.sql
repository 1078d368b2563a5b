create or replace function usage_by_tag(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    of_tags jsonb,
    of_model text,
    of_key bigint,
    of_key_type text,
    groupings text[],
    width text,
    zone text,
    ordered_by text
)
returns table (
    grouped_by text,
    bucket_start timestamptz,
    name text,
    requests bigint,
    hits bigint,
    misses bigint,
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
-- The planner expects few rows, and would sort them. Hashing sets of tags in memory takes a tenth of the time.
set enable_sort = off
set work_mem = '64MB'
as $$
    -- Materialized: usage_with_tags() is inlined, and would choose the sums anew for each row.
    with wanted as materialized (
        select
            coalesce(of_projects, case when of_key is not null then array(select k.project_id from api_keys k where k.id = of_key) end) as projects,
            choose_usage_sums(of_projects, 'api_key' = any (groupings) or of_key is not null, true) as cut
    ),
    -- The sums are read once for all groupings.
    tagged as materialized (
        select
            case when grouping(t.bucket_start) = 0 then 'time' when grouping(t.model) = 0 then 'model' when grouping(t.key_id) = 0 then 'api_key' else 'tag' end
                as grouped_by,
            t.bucket_start, t.model, t.key_id, t.tags, sum(t.requests) as requests, sum(t.hits) as hits, sum(t.misses) as misses,
            sum(t.failed) as failed,
            sum(t.prompt_tokens) as prompt_tokens, sum(t.completion_tokens) as completion_tokens, sum(t.tokens_saved) as tokens_saved,
            sum(t.cost_usd) as cost_usd, sum(t.saved_usd) as saved_usd
        from (
            select
                u.bucket_start, u.model, u.key_id, case when 'tag' = any (groupings) then u.tags end as tags, u.requests, u.hits, u.misses, u.failed,
                u.prompt_tokens, u.completion_tokens, u.tokens_saved, u.cost_usd, u.saved_usd
            from wanted w
            cross join lateral usage_with_tags(
                w.projects,
                from_time,
                until_time,
                of_tags,
                of_model,
                of_key,
                width,
                zone,
                w.cut
            ) u
            where of_key_type is null
                or (u.key_id in (select test_keys())) = (of_key_type = 'test')
        ) t
        group by grouping sets ((t.bucket_start), (t.model), (t.key_id), (t.tags))
        having sum(t.requests) <> 0
    ),
    named as (
        select
            t.*,
            case t.grouped_by
                when 'model' then t.model
                when 'api_key' then coalesce((select k.name from api_keys k where k.id = t.key_id), 'key_' || t.key_id)
                when 'tag' then g.name || '=' || g.value
            end as name
        from tagged t
        left join lateral jsonb_each_text(t.tags) as g (name, value) on t.grouped_by = 'tag'
        where t.grouped_by = any (groupings)
    ),
    ranked as (
        select
            n.grouped_by, n.bucket_start, n.name, sum(n.requests)::bigint as requests, sum(n.hits)::bigint as hits, sum(n.misses)::bigint as misses,
            sum(n.failed)::bigint as failed,
            sum(n.prompt_tokens)::bigint as prompt_tokens, sum(n.completion_tokens)::bigint as completion_tokens,
            sum(n.tokens_saved)::bigint as tokens_saved, sum(n.cost_usd) as cost_usd, sum(n.saved_usd) as saved_usd,
            row_number() over (
                partition by n.grouped_by
                order by
                    share_measure(ordered_by, sum(n.requests), sum(n.failed), sum(n.prompt_tokens + n.completion_tokens), sum(n.cost_usd)) desc,
                    n.name
            ) as place
        from named n
        group by 1, 2, 3
    )
    select
        r.grouped_by, r.bucket_start, r.name, r.requests, r.hits, r.misses, r.failed, r.prompt_tokens, r.completion_tokens, r.tokens_saved, r.cost_usd,
        r.saved_usd
    from ranked r
    where r.grouped_by = 'time'
        or r.place <= 20
    order by 1, 2, r.place;
$$;

comment on function usage_by_tag(bigint[], timestamptz, timestamptz, jsonb, text, bigint, text, text[], text, text, text) is
    'Usage of the requests that have all of these tags, of some or all projects that the current user may see; of one model, key or type of keys (project, test), or of all. groupings: time, by the hour, day or month (width) of a time zone; the twenty models, api_keys and tags with the most requests, cost, tokens or failed requests (ordered_by: requests, cost, tokens, failed). Null: of_projects, of_model, of_key, of_key_type (any).';
