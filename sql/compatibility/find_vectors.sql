-- For the release before hashes were lists.
create or replace function find_vectors(of_project bigint, by_names bytea, max_age_seconds integer)
returns table (
    place integer,
    vector bytea,
    prompt_tokens integer,
    answered_as text,
    created_at timestamptz,
    expires_at timestamptz
)
language sql
stable
rows 128
set search_path = model_proxy, public, pg_temp
as $$
    select * from find_vectors(of_project, split_hashes(by_names), max_age_seconds);
$$;

comment on function find_vectors(bigint, bytea, integer) is 'As find_vectors(bigint, bytea[], integer), with the names concatenated.';
