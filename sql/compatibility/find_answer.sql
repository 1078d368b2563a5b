-- For the previous release, which asks for one request at a time.
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
language sql
stable
set search_path = public, pg_temp
as $$
    select
        f.entry_id, f.request_hash, f.match, f.similarity, f.response, f.provider, f.prompt_tokens, f.completion_tokens, f.created_at,
        f.expires_at, f.prompt, f.verdict, f.verdict_source
    from find_answers(
        array[of_project], by_request_hash, coalesce(by_context_hash, by_request_hash), coalesce(by_normalized_hash, by_request_hash),
        array[in_space], array[asked::text], array[case when by_context_hash is not null then threshold end], array[max_age_seconds]
    ) f
$$;

comment on function find_answer(bigint, bytea, bytea, bytea, integer, halfvec, double precision, integer) is 'find_answers() for one request.';
