-- For the release before hashes were lists.
create or replace function find_answers(
    project_ids bigint[],
    request_hashes bytea,
    context_hashes bytea,
    normalized_hashes bytea,
    space_ids integer[],
    vectors text[],
    thresholds double precision[],
    max_ages_seconds integer[]
)
returns table (
    place integer,
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
set search_path = model_proxy, public, pg_temp
as $$
    select *
    from find_answers(
        project_ids, split_hashes(request_hashes), split_hashes(context_hashes), split_hashes(normalized_hashes), space_ids, vectors,
        thresholds, max_ages_seconds
    );
$$;

comment on function find_answers(bigint[], bytea, bytea, bytea, integer[], text[], double precision[], integer[]) is
    'As find_answers(bigint[], bytea[], …), with the hashes concatenated.';
