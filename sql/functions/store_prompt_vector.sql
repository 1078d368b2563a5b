create or replace function store_prompt_vector(of_project bigint, in_space integer, under_text_hash bytea, vector halfvec, ttl_seconds integer)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    insert into prompt_vectors (project_id, space_id, text_hash, embedding, expires_at)
    values (of_project, in_space, under_text_hash, vector, now() + make_interval(secs => ttl_seconds))
    on conflict (project_id, space_id, text_hash) do update
    set embedding = excluded.embedding,
        expires_at = excluded.expires_at;
$$;

comment on function store_prompt_vector(bigint, integer, bytea, halfvec, integer) is 'Keeps the vector of a text, so that it is embedded once.';
