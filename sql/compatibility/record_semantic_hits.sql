create or replace function record_semantic_hits(
    project_ids bigint[],
    request_ids text[],
    asked_hashes text[],
    entry_hashes text[],
    reasons text[],
    similarities double precision[],
    are_shadows boolean[],
    prompt_tokens integer[],
    completion_tokens integer[],
    saved_usd numeric[]
)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    select record_semantic_hits(
        project_ids,
        request_ids,
        asked_hashes,
        entry_hashes,
        reasons,
        similarities,
        are_shadows,
        prompt_tokens,
        completion_tokens,
        saved_usd,
        array_fill(null::text, array[cardinality(request_ids)]),
        array_fill(null::text, array[cardinality(request_ids)]),
        array_fill(null::text, array[cardinality(request_ids)])
    );
$$;

comment on function record_semantic_hits(bigint[], text[], text[], text[], text[], double precision[], boolean[], integer[], integer[], numeric[]) is
    'As the release before calls it.';
