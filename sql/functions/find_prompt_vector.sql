create or replace function find_prompt_vector(of_project bigint, in_space integer, by_text_hash bytea) returns halfvec
language sql
stable
set search_path = public, pg_temp
as $$
    select v.embedding
    from prompt_vectors v
    where v.project_id = of_project
        and v.space_id = in_space
        and v.text_hash = by_text_hash
        and v.expires_at > now();
$$;

comment on function find_prompt_vector(bigint, integer, bytea) is 'The vector that a text was already given in a space; null where it was not, or no longer.';
