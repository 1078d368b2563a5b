create or replace function find_answer(
    of_project bigint,
    by_request_hash bytea,
    by_context_hash bytea,
    by_normalized_hash bytea,
    max_age_seconds integer
)
returns table (
    match text,
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
language sql
stable
set search_path = public, pg_temp
as $$
    with exact as (
        select e.id, e.response, e.model, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at
        from cache_entries e
        where e.project_id = of_project
            and e.request_hash = by_request_hash
            and e.expires_at > now()
            and (max_age_seconds is null or e.created_at >= now() - make_interval(secs => max_age_seconds))
    ),
    -- The newest few: one of them may be vetoed where the next is not.
    normalized as materialized (
        select p.entry_id, p.prompt
        from cache_prompts p
        where p.project_id = of_project
            and p.context_hash = by_context_hash
            and p.normalized_hash = by_normalized_hash
            and p.expires_at > now()
            and (max_age_seconds is null or p.created_at >= now() - make_interval(secs => max_age_seconds))
            and not exists (select 1 from exact)
        order by p.created_at desc
        limit 5
    )
    select 'exact', x.*, null::text
    from exact x
    union all
    select 'normalized', e.id, e.response, e.model, e.provider, e.prompt_tokens, e.completion_tokens, e.created_at, e.expires_at, n.prompt
    from normalized n
    join cache_entries e on e.id = n.entry_id;
$$;

comment on function find_answer(bigint, bytea, bytea, bytea, integer) is
    'The stored answer to exactly this request; else up to five whose context is equal and whose normalized prompt is, each with its prompt for the guards. A null context hash looks for the exact one alone; a null age takes any.';
