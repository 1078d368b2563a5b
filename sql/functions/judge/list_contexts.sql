create or replace function list_contexts(of_project bigint)
returns setof cache_context
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select c.instructions_hash, c.misses, to_unix_seconds(c.first_at), to_unix_seconds(c.last_at), c.last_request_id
    from cache_contexts c
    where c.project_id = of_project
    order by c.last_at desc, c.instructions_hash;
$$;

comment on function list_contexts(bigint) is 'The table cache_contexts of one project, latest first.';
