create or replace function usage_buckets(
    from_time timestamptz,
    until_time timestamptz,
    width text,
    groups text[],
    of_projects bigint[],
    of_keys bigint[],
    of_models text[],
    of_endpoints text[],
    by_tag text,
    of_tags jsonb,
    skipped_rows integer,
    max_rows integer
)
returns table (
    bucket_start timestamptz,
    project_id bigint,
    key_id bigint,
    model text,
    tag_value text,
    requests bigint,
    prompt_tokens bigint,
    cached_prompt_tokens bigint,
    completion_tokens bigint,
    tokens_saved bigint,
    cost_usd numeric,
    saved_usd numeric
)
language sql
stable
set search_path = model_proxy, pg_temp
-- As in usage_by_tag().
set jit = off
set enable_sort = off
set work_mem = '64MB'
as $$
    -- Materialized, as in usage_by_tag().
    with chosen as materialized (
        select choose_usage_sums(of_projects, 'api_key_id' = any (groups) or of_keys is not null, true, 'project_id' = any (groups)) as cut
    ),
    tagged as (
        select
            t.bucket_start, t.project_id, t.key_id, t.model, t.endpoint, t.tags ->> by_tag as value, sum(t.requests) as requests,
            sum(t.prompt_tokens) as prompt_tokens, sum(t.cached_prompt_tokens) as cached_prompt_tokens,
            sum(t.completion_tokens) as completion_tokens, sum(t.tokens_saved) as tokens_saved, sum(t.cost_usd) as cost_usd,
            sum(t.saved_usd) as saved_usd
        from chosen c
        cross join lateral usage_with_tags(
            of_projects,
            from_time,
            until_time,
            coalesce(of_tags, '{}'),
            null,
            null,
            case width when '1h' then 'hour' else 'day' end,
            'UTC',
            c.cut
        ) t
        where width <> '1m'
            and (by_tag is not null or of_tags is not null)
        group by 1, 2, 3, 4, 5, 6
    ),
    counted as (
        select
            h.bucket_start,
            h.project_id, h.key_id, h.model, h.endpoint, null as value, h.requests, h.prompt_tokens,
            h.cached_prompt_tokens, h.completion_tokens, h.tokens_saved, h.cost_usd, h.saved_usd
        from usage_in_range(
            of_projects,
            from_time,
            until_time,
            case width when '1h' then 'hour' else 'day' end,
            'UTC',
            choose_usage_sums(
                of_projects,
                'api_key_id' = any (groups) or of_keys is not null,
                'model' = any (groups) or of_models is not null or of_endpoints is not null,
                'project_id' = any (groups)
            )
        ) h
        where width <> '1m'
            and of_tags is null
        union all
        select
            t.bucket_start, t.project_id, t.key_id, t.model, t.endpoint, t.value, t.requests, t.prompt_tokens,
            t.cached_prompt_tokens, t.completion_tokens, t.tokens_saved, t.cost_usd, t.saved_usd
        from tagged t
        union all
        -- All requests include the requests above: subtracting those leaves the requests without such a tag.
        select
            t.bucket_start, t.project_id, t.key_id, t.model, t.endpoint, null, -t.requests, -t.prompt_tokens,
            -t.cached_prompt_tokens, -t.completion_tokens, -t.tokens_saved, -t.cost_usd, -t.saved_usd
        from tagged t
        where of_tags is null
        union all
        -- Minutes are not summed in advance. They are read for a day at most.
        select
            date_trunc('minute', r.at, 'UTC'), r.project_id, r.key_id, r.model, r.endpoint, r.tags ->> by_tag, r.requests, r.prompt_tokens,
            r.cached_prompt_tokens, r.completion_tokens, r.tokens_saved, r.cost_usd, r.saved_usd
        from usage_per_record r
        where width = '1m'
            and r.project_id in (select visible.id from projects visible where of_projects is null or visible.id = any (of_projects))
            and r.at >= from_time
            and r.at < until_time
            and (of_tags is null or r.tags @> of_tags)
    )
    select
        c.bucket_start,
        case when 'project_id' = any (groups) then c.project_id end,
        case when 'api_key_id' = any (groups) then c.key_id end,
        case when 'model' = any (groups) then c.model end,
        c.value,
        sum(c.requests)::bigint,
        sum(c.prompt_tokens)::bigint,
        sum(c.cached_prompt_tokens)::bigint,
        sum(c.completion_tokens)::bigint,
        sum(c.tokens_saved)::bigint,
        sum(c.cost_usd),
        sum(c.saved_usd)
    from counted c
    where (of_keys is null or c.key_id = any (of_keys))
        and (of_models is null or c.model = any (of_models))
        and (of_endpoints is null or c.endpoint = any (of_endpoints))
    group by 1, 2, 3, 4, 5
    having sum(c.requests) > 0
    order by 1, 2, 3, 4, 5
    limit max_rows
    offset skipped_rows;
$$;

comment on function usage_buckets(timestamptz, timestamptz, text, text[], bigint[], bigint[], text[], text[], text, jsonb, integer, integer) is
    'Usage by minute (1m), hour (1h) or UTC day (1d), in groups by any of project_id, api_key_id and model, and by the value of a tag; of_tags selects requests with all of these tags; a null filter selects everything that the current user may see. At most max_rows rows, after skipped_rows; buckets without usage are omitted. Null: of_projects, of_keys, of_models, of_endpoints, by_tag, of_tags (any); project_id, key_id, model, tag_value (all together).';
