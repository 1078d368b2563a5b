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
-- A setting of the function rather than the session: it holds behind PgBouncer and on every pooled connection.
set plan_cache_mode = force_generic_plan
-- A plan that was made while a table was empty would read all of it once it is not.
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    oldest timestamptz := case when max_age_seconds is null then '-infinity' else now() - make_interval(secs => max_age_seconds) end;
    of_group bigint;
    through_graph bigint;
    coded bigint[];
begin
    return query
    select e.id, encode(e.request_hash, 'hex'), 'exact', null::double precision, e.response, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, null::text, null::text, null::text
    from cache_entries e
    where e.project_id = of_project
        and e.request_hash = by_request_hash
        and e.expires_at > now()
        and e.created_at >= oldest;
    if found or by_context_hash is null then
        return;
    end if;

    -- The newest few: one of them may be vetoed where the next is not.
    return query
    with named as materialized (
        select p.entry_id, p.normalized_hash, p.prompt
        from cache_prompts p
        where p.name_key = hashtextextended(encode(by_context_hash || by_normalized_hash, 'hex'), of_project)
            and p.project_id = of_project
            and p.context_hash = by_context_hash
            and p.normalized_hash = by_normalized_hash
            and p.expires_at > now()
            and p.created_at >= oldest
        order by p.created_at desc
        limit 5
    )
    select e.id, encode(e.request_hash, 'hex'), 'normalized', 1::double precision, e.response, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, n.prompt, v.verdict, v.source
    from named n
    join cache_entries e on e.id = n.entry_id
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
    ) v on true;
    if asked is null then
        return;
    end if;

    of_group := hashtextextended(encode(by_context_hash, 'hex'), of_project);
    select g.graph into through_graph from cache_groups g where g.group_key = of_group and g.space_id = in_space;
    if through_graph is not null then
        coded := find_in_cache_graph(through_graph, asked);
    end if;

    -- The nearest few first, the threshold outside: inside, it would be weighed for every row. Codes come out nearly in the
    -- vectors' order: of the nearest twenty, vectors choose.
    return query
    with compared as (
        select p.entry_id, p.embedding <=> asked as distance
        from cache_prompts p
        where p.group_key = of_group
            and p.space_id = in_space
            and not p.in_graph
            and p.project_id = of_project
            and p.context_hash = by_context_hash
            and p.expires_at > now()
            and p.created_at >= oldest
        union all
        select p.entry_id, p.embedding <=> asked
        from (select distinct u.id from unnest(coded) as u (id)) c
        -- A limit keeps this walk through an index, whatever the planner believes of the table's size.
        cross join lateral (
            select x.*
            from cache_prompts x
            where x.entry_id = c.id
            limit 1
        ) p
        where p.in_graph
            and p.project_id = of_project
            and p.context_hash = by_context_hash
            and p.space_id = in_space
            and p.expires_at > now()
            and p.created_at >= oldest
    ),
    nearest as materialized (
        select c.entry_id, c.distance
        from compared c
        order by c.distance
        limit 5
    )
    select e.id, encode(e.request_hash, 'hex'), 'similar', 1 - n.distance, e.response, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, p.prompt, v.verdict, v.source
    from nearest n
    join cache_prompts p on p.entry_id = n.entry_id
    join cache_entries e on e.id = n.entry_id
    left join lateral (
        select v.verdict, v.source
        from cache_verdicts v
        where v.project_id = of_project
            and v.context_hash = by_context_hash
            and v.one_hash = least(by_normalized_hash, p.normalized_hash)
            and v.other_hash = greatest(by_normalized_hash, p.normalized_hash)
        -- A person's before a review's, and that before the judge's.
        order by array_position(array['person', 'review', 'judge'], v.source)
        limit 1
    ) v on true
    where 1 - n.distance > threshold;
end;
$$;

comment on function find_answer(bigint, bytea, bytea, bytea, integer, halfvec, double precision, integer) is
    'The stored answer to exactly this request; else, of equal context, up to five of equal normalized prompt, and up to five whose prompt vectors are more similar than the threshold, each with its prompt to be proved by and with what a person, or else a review, or else the judge, said of the two. A null context hash looks for the exact one alone, a null vector for no similar ones; a null age takes any.';
