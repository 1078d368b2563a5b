create or replace function find_in_cache_graph(
    graph bigint,
    of_project bigint,
    by_context_hash bytea,
    by_normalized_hash bytea,
    in_space integer,
    asked halfvec,
    threshold double precision,
    oldest timestamptz
)
returns table (
    entry_id bigint,
    request_hash text,
    match text,
    similarity double precision,
    response text,
    provider text,
    prompt_tokens integer,
    completion_tokens integer,
    created_at timestamptz,
    expires_at timestamptz,
    prompt text,
    verdict text,
    verdict_source text
)
language plpgsql
stable
set search_path = public, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    coded bigint[];
begin
    begin
        -- Planned anew at each call, for it names a table: hence as little as can be.
        execute format('select array(select g.entry_id from cache_graph_%s g order by g.code <~> $1 limit 20)', graph)
        into coded
        using cache_code(asked);
    exception
        when undefined_table then
            -- Rebuilt under another number, or dropped, since the group was read: as if nothing similar were there.
            return;
    end;

    -- Codes come out nearly in the vectors' order: of the nearest twenty, vectors choose five.
    return query
    with nearest as materialized (
        select p.entry_id, p.normalized_hash, p.prompt, p.embedding <=> asked as distance
        from (select distinct u.id from unnest(coded) as u (id)) c
        cross join lateral (
            select x.*
            from cache_prompts x
            where x.entry_id = c.id
            limit 1
        ) p
        where p.project_id = of_project
            and p.context_hash = by_context_hash
            and p.space_id = in_space
            and p.expires_at > now()
            and p.created_at >= oldest
        order by distance
        limit 5
    )
    select e.id, encode(e.request_hash, 'hex'), 'similar', 1 - n.distance, e.response, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, n.prompt, v.verdict, v.source
    from nearest n
    cross join lateral (
        select x.*
        from cache_entries x
        where x.id = n.entry_id
        limit 1
    ) e
    left join lateral (
        select v.verdict, v.source
        from cache_verdicts v
        where v.project_id = of_project
            and v.context_hash = by_context_hash
            and v.one_hash = least(by_normalized_hash, n.normalized_hash)
            and v.other_hash = greatest(by_normalized_hash, n.normalized_hash)
        -- A person's before a review's, and that before the judge's.
        order by array_position(array['person', 'review', 'judge'], v.source)
        limit 1
    ) v on true
    where 1 - n.distance > threshold;
end;
$$;

comment on function find_in_cache_graph(bigint, bigint, bytea, bytea, integer, halfvec, double precision, timestamptz) is
    'Up to five prompts that a group''s graph leads to and whose vectors are more similar than the threshold; as find_answer gives them.';
