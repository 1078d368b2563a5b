-- For the release before hashes were lists.
create or replace function store_answers(
    project_ids bigint[],
    generations integer[],
    tests boolean[],
    request_hashes bytea,
    namespaces text[],
    endpoints text[],
    models text[],
    providers text[],
    responses bytea,
    response_lengths integer[],
    prompt_tokens integer[],
    completion_tokens integer[],
    ttls_seconds integer[],
    context_hashes bytea,
    normalized_hashes bytea,
    prompts text[],
    space_ids integer[],
    vectors text[]
)
returns table (place integer, entry_id bigint)
language sql
volatile
rows 50
set search_path = model_proxy, public, pg_temp
as $$
    select *
    from store_answers(
        project_ids, generations, tests, split_hashes(request_hashes), namespaces, endpoints, models, providers, responses,
        response_lengths, prompt_tokens, completion_tokens, ttls_seconds, split_hashes(context_hashes),
        split_hashes(normalized_hashes), prompts, space_ids, vectors
    );
$$;

comment on function store_answers(
    bigint[], integer[], boolean[], bytea, text[], text[], text[], text[], bytea, integer[], integer[], integer[], integer[], bytea, bytea, text[],
    integer[], text[]
) is 'As store_answers(bigint[], integer[], boolean[], bytea[], …), with the hashes concatenated.';
