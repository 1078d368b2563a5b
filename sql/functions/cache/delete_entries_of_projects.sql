create or replace function delete_entries_of_projects() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    gone_id bigint;
begin
    delete from cache_entries e
    using gone g
    where e.project_id = g.id;

    -- A foreign key has deleted these rows, except in a distributed database.
    for gone_id in select g.id from gone g
    loop
        delete from cached_vectors v where v.project_id = gone_id;
        delete from stored_responses k where k.project_id = gone_id;
    end loop;
    return null;
end;
$$;

-- A foreign key check would take a seventh of the time of storing a response. store_cached_responses() locks the project anyway.
comment on function delete_entries_of_projects() is 'Deletes the cache entries of deleted projects, and their other rows that no foreign key has deleted.';
