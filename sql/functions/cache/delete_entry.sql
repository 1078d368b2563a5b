create or replace function delete_entry(of_project bigint, of_request text) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    delete from cache_entries e
    where e.project_id = of_project
        and e.request_hash = decode(of_request, 'hex');
$$;

comment on function delete_entry(bigint, text) is 'Deletes the cache entry of a request that the hook rejected. The request is given by its hex hash.';
