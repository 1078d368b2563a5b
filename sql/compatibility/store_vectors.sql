-- For the release before hashes were lists.
create or replace function store_vectors(
    of_project bigint,
    under_names bytea,
    vectors bytea,
    lengths integer[],
    token_counts integer[],
    model_names text[],
    ttl_seconds integer,
    for_test boolean default false,
    for_generation integer default null
)
returns void
language sql
volatile
set search_path = model_proxy, public, pg_temp
as $$
    select store_vectors(
        of_project, split_hashes(under_names), vectors, lengths, token_counts, model_names, ttl_seconds, for_test, for_generation
    );
$$;

comment on function store_vectors(bigint, bytea, bytea, integer[], integer[], text[], integer, boolean, integer) is
    'As store_vectors(bigint, bytea[], …), with the names concatenated.';
