create or replace function find_similar(
    of_project bigint,
    by_context_hash bytea,
    in_space integer,
    asked halfvec,
    threshold double precision,
    max_age_seconds integer
)
returns table (
    similarity double precision,
    entry_id bigint,
    response text,
    model text,
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
-- Settings of the function rather than the session: they hold behind PgBouncer and on every pooled connection.
set plan_cache_mode = force_custom_plan
set hnsw.ef_search = 400
set hnsw.iterative_scan = strict_order
as $$
#variable_conflict use_column
begin
    -- Nearest first, threshold outside: with the threshold inside, every miss would walk the whole graph.
    return query execute format(
        $query$
        with compared as materialized (
            select p.entry_id, p.prompt, p.embedding <=> $4 as distance
            from cache_prompts p
            where p.project_id = $1
                and p.context_hash = $2
                and p.space_id = $3
                and not p.in_graph
                and p.expires_at > now()
                and ($6 is null or p.created_at >= now() - make_interval(secs => $6))
        ),
        exact as materialized (
            select * from compared order by distance limit 5
        ),
        graph as materialized (
            select p.entry_id, p.prompt, p.embedding::halfvec(%1$s) <=> $4 as distance
            from cache_prompts p
            where p.project_id = $1
                and p.context_hash = $2
                and p.space_id = %2$s
                and p.in_graph
                and p.expires_at > now()
                and ($6 is null or p.created_at >= now() - make_interval(secs => $6))
            order by p.embedding::halfvec(%1$s) <=> $4
            limit 5
        ),
        nearest as (
            select * from exact
            union all
            select * from graph
        )
        select 1 - n.distance, e.id, e.response, e.model, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, n.prompt
        from nearest n
        join cache_entries e on e.id = n.entry_id
        where 1 - n.distance > $5
        order by n.distance, e.created_at desc
        limit 5
        $query$,
        (select s.dimensions from embedding_spaces s where s.id = in_space),
        in_space
    )
    using of_project, by_context_hash, in_space, asked, threshold, max_age_seconds;
end;
$$;

comment on function find_similar(bigint, bytea, integer, halfvec, double precision, integer) is
    'Up to five stored answers of equal context whose prompt vectors are more similar than the threshold, most similar first, each with its prompt for the guards. The first few thousand prompts of a group are compared exactly, those beyond through the HNSW graph of their space.';
