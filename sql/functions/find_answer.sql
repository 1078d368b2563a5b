create or replace function find_answer(
    of_project bigint,
    by_request_hash bytea,
    by_context_hash bytea,
    by_normalized_hash bytea,
    in_space integer,
    asked halfvec,
    threshold double precision,
    max_age_seconds integer
)
returns table (
    match text,
    similarity double precision,
    response text,
    provider text,
    prompt_tokens integer,
    completion_tokens integer,
    created_at timestamptz,
    expires_at timestamptz,
    prompt text
)
language plpgsql
stable
set search_path = public, pg_temp
-- A setting of the function rather than the session: it holds behind PgBouncer and on every pooled connection.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    oldest timestamptz := case when max_age_seconds is null then '-infinity' else now() - make_interval(secs => max_age_seconds) end;
    has_group boolean;
    has_graph boolean;
begin
    return query
    select 'exact', null::double precision, e.response, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, null::text
    from cache_entries e
    where e.project_id = of_project
        and e.request_hash = by_request_hash
        and e.expires_at > now()
        and e.created_at >= oldest;
    if found or by_context_hash is null then
        return;
    end if;

    select
        exists (
            select 1
            from cache_prompts p
            where p.project_id = of_project
                and p.context_hash = by_context_hash
        ),
        exists (
            select 1
            from cache_prompts p
            where p.project_id = of_project
                and p.context_hash = by_context_hash
                and p.space_id = in_space
                and p.in_graph
        )
    into has_group, has_graph;
    if not has_group then
        return;
    end if;

    -- The newest few: one of them may be vetoed where the next is not.
    return query
    with named as materialized (
        select p.entry_id, p.prompt
        from cache_prompts p
        where p.project_id = of_project
            and p.context_hash = by_context_hash
            and p.normalized_hash = by_normalized_hash
            and p.expires_at > now()
            and p.created_at >= oldest
        order by p.created_at desc
        limit 5
    )
    select 'normalized', 1::double precision, e.response, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, n.prompt
    from named n
    join cache_entries e on e.id = n.entry_id;
    if asked is null then
        return;
    end if;

    -- The nearest few first, the threshold outside: inside, it would be weighed for every row.
    return query
    with compared as materialized (
        select p.entry_id, p.prompt, p.embedding <=> asked as distance
        from cache_prompts p
        where p.project_id = of_project
            and p.context_hash = by_context_hash
            and p.space_id = in_space
            and not p.in_graph
            and p.expires_at > now()
            and p.created_at >= oldest
    ),
    nearest as materialized (
        select c.entry_id, c.prompt, c.distance
        from compared c
        order by c.distance
        limit 5
    )
    select 'similar', 1 - n.distance, e.response, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, n.prompt
    from nearest n
    join cache_entries e on e.id = n.entry_id
    where 1 - n.distance > threshold;

    if not has_graph then
        return;
    end if;

    -- For this transaction. As settings of the function they would cost every miss, and few groups have a graph.
    perform set_config('hnsw.ef_search', '400', true), set_config('hnsw.iterative_scan', 'strict_order', true);

    -- The graph belongs to its space: number and dimensions have to stand in the statement. With the threshold inside, every
    -- miss would walk the whole graph.
    return query execute format(
        $query$
        with nearest as materialized (
            select p.entry_id, p.prompt, p.embedding::halfvec(%1$s) <=> $3 as distance
            from cache_prompts p
            where p.project_id = $1
                and p.context_hash = $2
                and p.space_id = %2$s
                and p.in_graph
                and p.expires_at > now()
                and p.created_at >= $5
            order by p.embedding::halfvec(%1$s) <=> $3
            limit 5
        )
        select 'similar', 1 - n.distance, e.response, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, n.prompt
        from nearest n
        join cache_entries e on e.id = n.entry_id
        where 1 - n.distance > $4
        $query$,
        (select s.dimensions from embedding_spaces s where s.id = in_space),
        in_space
    )
    using of_project, by_context_hash, asked, threshold, oldest;
end;
$$;

comment on function find_answer(bigint, bytea, bytea, bytea, integer, halfvec, double precision, integer) is
    'The stored answer to exactly this request; else, of equal context, up to five of equal normalized prompt, and up to five (ten in groups that reach into the graph) whose prompt vectors are more similar than the threshold, each with its prompt for the guards. A null context hash looks for the exact one alone, a null vector for no similar ones; a null age takes any.';
